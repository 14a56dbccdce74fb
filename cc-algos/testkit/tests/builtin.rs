//! Every algorithm of `cc-algos` keeps every property.

use cc_algos::Registry;
use testkit::controller_suite;

controller_suite!(newreno, registered: Registry::builtin(), "newreno");
controller_suite!(cubic, registered: Registry::builtin(), "cubic");
controller_suite!(dctcp, registered: Registry::builtin(), "dctcp");
controller_suite!(fixed_rate, registered: Registry::builtin(), "fixed-rate");
controller_suite!(fixed_window, registered: Registry::builtin(), "fixed-window");
