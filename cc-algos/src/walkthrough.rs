//! What each family of laws needs, and where this crate's trait gives it: the check that an algorithm to come needs no
//! change of the trait that breaks the others. Every event is a `#[non_exhaustive]` struct or enum with a constructor, and
//! every method but the essential ones has a body, so that what is still missing for some law can be added.
//!
//! ## Sender-driven laws
//!
//! | law | needs | given by |
//! |---|---|---|
//! | NewReno, CUBIC | losses by send time, one reduction a round trip | [`Feedback::lost`], [`PacketRecord::sent_at`], [`algo::recovery`] |
//! | | growth only when the window is used | [`Flight::limit`], [`Limit::allows_growth`] |
//! | | spurious losses, idleness, persistent congestion | [`Feedback::spurious`], [`Signal::Restart`], [`Feedback::persistent_congestion`] |
//! | DCTCP | share of marked bytes a window | [`Feedback::newly_marked`], [`Feedback::newly_acked`], [`RoundCounter`] |
//! | Prague | ECT(1), exact CE counts | [`Controller::ecn`], [`Feedback::ecn`] |
//! | BBRv3 | delivery-rate samples, app-limited or not | [`Feedback::delivery`], [`DeliverySample::is_app_limited`] |
//! | | state at the send of *lost* packets: in flight, delivered, lost | [`PacketRecord::at_send`] in [`Feedback::lost`] and [`Feedback::recovered_packets`] |
//! | | rounds by delivered bytes; windowed extremes | [`SendState::delivered`], [`Flight::delivered`], [`RoundCounter`], [`WindowedMax`] |
//! | | a random wait before a probe | [`Setup::seed`] |
//! | | pacing rate, quantum, window | [`Controller::pacing_rate`], [`Controller::send_quantum`], [`Controller::window`] |
//! | | undo, restart from idle | [`Feedback::spurious`], [`Signal::Restart`] |
//! | Copa | RTT samples with time, the smallest over half an sRTT | [`Feedback::rtt`], [`Flight::smoothed_rtt`], [`WindowedMin`] |
//! | | velocity once a round trip; pacing at twice the window a standing RTT | [`PacketRecord::sent_at`], [`Controller::pacing_rate`] |
//! | | loss rate, to notice competitors that fill buffers | [`Feedback::newly_lost`], [`Feedback::newly_acked`] |
//! | Swift | fabric delay apart from the hosts' share, hop count | [`Feedback::fabric_delay`], [`Feedback::hops`]; the hosts' share is the rest of [`Feedback::rtt`] |
//! | | windows below one packet | [`Controller::window`] in bytes; the engine spaces packets by RTT x packet / window |
//! | | timeouts in a row | [`Cause::Timeout`] |
//! | HPCC, PowerTCP | bytes sent, queue, rate and clock of each hop, and route changes | [`Feedback::int`], [`IntHop::port`] |
//! | | one reference window a round trip | [`PacketRecord::packet_number`] against [`Flight::next_packet_number`] |
//! | | base RTT, start at line rate | [`Flight::min_rtt`] or [`Setup::oracle`], [`Setup::local_line_rate`] |
//! | NSCC with trimming | trims told apart from losses, their bytes at once | [`Cause::Trim`] with [`Feedback::lost`] |
//! | | delay and mark of each acknowledged packet | [`Feedback::rtt`], [`PacketRecord::arrived_as`], [`Feedback::newly_marked`] |
//! | | bytes achieved in a base RTT; bytes in flight to ignore after quick adapt | [`Feedback::newly_acked`], [`Flight::bytes`] |
//! | CSIG laws | type, value, locator and age of a sample, never mixed over routes | [`Feedback::csig`]: [`CsigSample`] names path and entropy; no tag is an empty slice |
//! | UnoCC | epochs by send time, marks within them, bytes acknowledged | [`PacketRecord::sent_at`], [`PacketRecord::arrived_as`], [`Feedback::acked`] |
//! | | intra-datacentre RTT and product, which an inter-datacentre flow cannot measure | [`Setup::host_view`] |
//! | | its own base RTT and product, estimated or given | [`Flight::min_rtt`], [`Feedback::delivery`]; [`Setup::oracle`] |
//! | | a block that could not be decoded | [`Cause::BlockNack`], [`PacketRecord::block`] |
//! | | one window over many routes | [`PacketRecord::entropy`], [`Sent::entropy`] |
//! | coded transports | losses that coding restored are congestion and have left flight | [`Feedback::recovered`], [`Feedback::recovered_packets`] |
//! | LIA, OLIA, BALIA | windows and RTTs of all paths | [`Flight::siblings`]: [`PathSnapshot::window`], [`PathSnapshot::smoothed_rtt`]; the own path's from [`Flight`] |
//! | | bytes between losses (OLIA) | [`PathSnapshot::bytes_between_losses`], [`PathSnapshot::bytes_since_loss`]; the own path's from [`Feedback`] |
//! | any, on a lost path | the flight is gone; the path is another or back | [`Cause::PathDead`], [`Signal::PathChange`] |
//! | any, in the place of another | where to start from | [`Setup::handover`], [`Controller::handover`] |
//!
//! ## Laws that the network or the receiver drives
//!
//! | law | needs | given by |
//! |---|---|---|
//! | DCQCN | congestion notification packets, at the receiver and at the sender | [`Notice::CongestionNotification`], [`Signal::CongestionNotification`] |
//! | | timers and byte counter of its increase; rate, not window | [`Controller::next_timer`], [`Controller::on_timer`], [`Controller::on_sent`], [`Controller::pacing_rate`] |
//! | QCN, Annulus, Bolt | a notice straight from a switch, and how old its cause is | [`Signal::NearSource`], [`NearSource::triggered_by_sent_at`] |
//! | EQDS, RCCC | paced credits at the receiver | [`ReceiverPolicy::next_timer`], [`ReceiverPolicy::on_timer`], [`Notice::Credit`] |
//! | | what the sender still has to send | [`Received::backlog`] |
//! | | credits at the sender, spent by sending | [`Signal::Credit`], [`Controller::on_sent`]; the window is what is in flight plus credit left |
//!
//! A law of the last kind that serves a whole host shares its state between its policies: they are objects of the embedder,
//! who hands each connection one.
//!
//! ## What laws must bear
//!
//! * `arrived_as` is `None` where the receiver echoes counts only: `newly_marked` is there in both cases.
//! * A feedback without acknowledged packets has no RTT and no delivery rate.
//! * Signals are untrusted: an echo may claim more marks than packets, a tag may be forged. A law bounds what each can do.
//! * A controller shared by several paths sees packet numbers of each; times and delivered bytes order them all.

#[cfg(doc)]
use crate::{
    algo,
    controller::*,
    estimate::*,
    receiver::*,
    signal::{CsigSample, IntHop, NearSource, Signal},
};
