//! What of UnoCC can be set.

use crate::algo::InvalidParam;
use crate::algo::newreno::packets;
use crate::registry::{Args, Param, Value};

/// Parameters of [`Uno`](super::Uno).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct UnoParams {
    /// BDPs that a round trip of unmarked packets adds; above 0, at most 1.
    pub increase: f64,
    /// Packets that it adds at least; 0 or more.
    pub min_increase: f64,
    /// The constant K of the decrease, in nearby BDPs; above 0, at most 1/3, where the decrease would be the whole window.
    pub k: f64,
    /// Weight of the newest epoch's share of marks; above 0, at most 1.
    pub weight: f64,
    /// Whether epochs that bring fewer marks than those before let the window grow.
    pub draining: bool,
    /// How often the bytes of such an epoch count once more; 0 to 1.
    pub drain_gain: f64,
    /// Base RTTs up to which only a phantom queue is congested; at least 1.
    pub phantom_rtt: f64,
    /// Share of the decrease that phantom congestion alone brings about; above 0, at most 1.
    pub gentle: f64,
    /// Whether the window becomes what was achieved when that is far less.
    pub quick_adapt: bool,
    /// Share of the window, acknowledged in a period, below which it adapts; above 0, at most 1.
    pub adapt_below: f64,
    /// Share of what was acknowledged that it adapts to; above 0, at most 1.
    pub adapt_to: f64,
    /// Base RTTs to stay below; above 1.
    pub target: f64,
    /// Whether distant flows answer a delay above the target where nothing marks.
    pub delay: bool,
    /// Whether the increase speeds up with clean epochs.
    pub fast_increase: bool,
    /// Bytes that a lost byte takes; 0 to 10.
    pub loss: f64,
    /// Largest window, BDPs; above 0.
    pub max_window: f64,
    /// Packets to start with; at least one.
    pub initial_window: u64,
    /// Packets never to go below; at least one.
    pub min_window: u64,
}

impl Default for UnoParams {
    fn default() -> Self {
        Self {
            increase: 0.001,
            min_increase: 0.04,
            k: 1.0 / 7.0,
            weight: 0.65,
            draining: true,
            drain_gain: 0.0,
            phantom_rtt: 1.055,
            gentle: 0.35,
            quick_adapt: true,
            adapt_below: 0.5,
            adapt_to: 0.96,
            target: 1.05,
            delay: true,
            fast_increase: false,
            loss: 1.0,
            max_window: 1.0,
            initial_window: 10,
            min_window: 1,
        }
    }
}

impl UnoParams {
    pub(super) fn validate(&self) -> Result<(), InvalidParam> {
        let share = |value: f64| value > 0.0 && value <= 1.0;
        InvalidParam::unless(share(self.increase), "increase", "above 0, at most 1 BDP")?;
        let least = self.min_increase >= 0.0 && self.min_increase.is_finite();
        InvalidParam::unless(least, "min_increase", "0 packets or more")?;
        InvalidParam::unless(self.k > 0.0 && self.k <= 1.0 / 3.0, "k", "above 0, at most 1/3")?;
        InvalidParam::unless(share(self.weight), "weight", "a weight above 0, at most 1")?;
        InvalidParam::unless((0.0..=1.0).contains(&self.drain_gain), "drain_gain", "0 to 1")?;
        InvalidParam::unless(self.phantom_rtt >= 1.0 && self.phantom_rtt.is_finite(), "phantom_rtt", "1 or more")?;
        InvalidParam::unless(share(self.gentle), "gentle", "a share above 0, at most 1")?;
        InvalidParam::unless(share(self.adapt_below), "adapt_below", "a share above 0, at most 1")?;
        InvalidParam::unless(share(self.adapt_to), "adapt_to", "a share above 0, at most 1")?;
        InvalidParam::unless(self.target > 1.0 && self.target.is_finite(), "target", "a number of base RTTs above 1")?;
        InvalidParam::unless((0.0..=10.0).contains(&self.loss), "loss", "0 to 10")?;
        InvalidParam::unless(self.max_window > 0.0 && self.max_window.is_finite(), "max_window", "BDPs, above 0")?;
        InvalidParam::unless(self.initial_window > 0, "initial_window", "at least one packet")?;
        InvalidParam::unless(self.min_window > 0, "min_window", "at least one packet")
    }
}

/// For the registry.
pub(super) fn all() -> Vec<Param> {
    let default = UnoParams::default();
    let number = |name, value, help| Param::new(name, Value::Number(value), help);
    let switch = |name, value, help| Param::new(name, Value::Switch(value), help);
    vec![
        number("increase", default.increase, "BDPs that a round trip adds").within(1e-6, 1.0),
        number("min_increase", default.min_increase, "packets that it adds at least").within(0.0, 10.0),
        number("k", default.k, "constant of the decrease, nearby BDPs").within(1e-6, 0.333),
        number("weight", default.weight, "weight of the newest epoch's share of marks").within(1e-3, 1.0),
        switch("draining", default.draining, "grow while marks get fewer"),
        number("drain_gain", default.drain_gain, "how often bytes count once more while marks get fewer")
            .within(0.0, 1.0),
        number("phantom_rtt", default.phantom_rtt, "base RTTs up to which only a phantom queue is congested")
            .within(1.0, 100.0),
        number("gentle", default.gentle, "share of the decrease for phantom congestion alone").within(1e-3, 1.0),
        switch("quick_adapt", default.quick_adapt, "set the window to what was achieved when that is far less"),
        number("adapt_below", default.adapt_below, "share of the window below which it adapts").within(1e-3, 1.0),
        number("adapt_to", default.adapt_to, "share of what was achieved that it adapts to").within(1e-3, 1.0),
        number("target", default.target, "base RTTs to stay below").within(1.001, 100.0),
        switch("delay", default.delay, "distant flows answer delay where nothing marks"),
        switch("fast_increase", default.fast_increase, "speed up with clean epochs"),
        number("loss", default.loss, "bytes that a lost byte takes").within(0.0, 10.0),
        number("max_window", default.max_window, "largest window, BDPs").within(0.01, 100.0),
        packets("initial_window", default.initial_window, "packets to start with"),
        packets("min_window", default.min_window, "packets never to go below"),
    ]
}

/// As the registry resolved them.
pub(super) fn read(args: &Args) -> UnoParams {
    UnoParams {
        increase: args.number("increase"),
        min_increase: args.number("min_increase"),
        k: args.number("k"),
        weight: args.number("weight"),
        draining: args.switch("draining"),
        drain_gain: args.number("drain_gain"),
        phantom_rtt: args.number("phantom_rtt"),
        gentle: args.number("gentle"),
        quick_adapt: args.switch("quick_adapt"),
        adapt_below: args.number("adapt_below"),
        adapt_to: args.number("adapt_to"),
        target: args.number("target"),
        delay: args.switch("delay"),
        fast_increase: args.switch("fast_increase"),
        loss: args.number("loss"),
        max_window: args.number("max_window"),
        initial_window: args.integer("initial_window"),
        min_window: args.integer("min_window"),
    }
}
