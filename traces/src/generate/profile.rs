//! What was measured on real traces, for the generators to match.
//!
//! The numbers come from [`Trace::stats`](crate::Trace::stats) on the public traces that each entry names; the tests
//! measure those again where they are at hand.

use serde::{Deserialize, Serialize};

/// Shares of seconds at which [`Reference::quantiles_kbps`] stand.
pub(super) const SHARES: [f64; 19] =
    [0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 1.0];

/// The LTE link to imitate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LteProfile {
    /// Verizon, 5.0 Mb/s, rare short outages.
    #[default]
    Verizon,
    /// AT&T while driving, 4.6 Mb/s, one eighth of the time in outages.
    AttDriving,
}

/// The 5G link to imitate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FiveGProfile {
    /// T-Mobile US while driving, 155 Mb/s.
    #[default]
    TmobileDriving,
    /// An Irish operator while driving, 11 Mb/s with rare peaks far above and outages.
    IrelandDriving,
    /// The same without moving, 68 Mb/s with large swings.
    IrelandStatic,
}

/// Statistics of one real trace, and the parameters of the process that come nearest to them.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) source: &'static str,
    /// Length of the real trace.
    pub(super) seconds: u64,
    pub(super) mean_bps: u64,
    /// Quantiles of the rate over seconds, in kb/s, at [`SHARES`].
    pub(super) quantiles_kbps: [u32; 19],
    /// Median, 95th and 99th percentile (nearest rank) of the rate over seconds, in kb/s.
    pub(super) percentiles_kbps: [u32; 3],
    pub(super) variation: f64,
    pub(super) autocorrelation: f64,
    pub(super) change: f64,
    /// Share of time without any delivery for at least 100 ms.
    pub(super) outage_share: f64,
    /// Variation of the rate over 100 ms; `None` where the source has only seconds.
    pub(super) variation_100ms: Option<f64>,
    /// Ours, fitted: the chance that a second begins afresh instead of going on from the one before.
    pub(super) redraw: f64,
    /// Ours, fitted: the correlation of a second that goes on with the one before.
    pub(super) memory: f64,
    /// Ours, fitted where [`variation_100ms`](Self::variation_100ms) is known: how much the rate varies inside a second.
    pub(super) flutter: f64,
    /// Ours: outages inside a second, as a share of all time, on top of whole seconds at rate zero.
    pub(super) inner_outage_share: f64,
}

impl LteProfile {
    pub(super) const fn reference(self) -> &'static Reference {
        match self {
            Self::Verizon => &VERIZON,
            Self::AttDriving => &ATT_DRIVING,
        }
    }
}

impl FiveGProfile {
    pub(super) const fn reference(self) -> &'static Reference {
        match self {
            Self::TmobileDriving => &TMOBILE_DRIVING,
            Self::IrelandDriving => &IRELAND_DRIVING,
            Self::IrelandStatic => &IRELAND_STATIC,
        }
    }
}

static VERIZON: Reference = Reference {
    source: "mahimahi traces, Verizon-LTE-short.down (Verizon LTE, saturated downlink)",
    seconds: 140,
    mean_bps: 5_040_978,
    quantiles_kbps: [
        289, 646, 793, 827, 1035, 1402, 2346, 2858, 3574, 4313, 5240, 6305, 7430, 9776, 10991, 12258, 13151, 14229,
        16785,
    ],
    percentiles_kbps: [4283, 10_840, 13_950],
    variation: 0.635,
    autocorrelation: 0.832,
    change: 0.260,
    outage_share: 0.0323,
    variation_100ms: Some(0.710),
    redraw: 0.04,
    memory: 0.9,
    flutter: 0.27,
    inner_outage_share: 0.0323,
};

static ATT_DRIVING: Reference = Reference {
    source: "mahimahi traces, ATT-LTE-driving-2016.down (AT&T LTE, driving, saturated downlink)",
    seconds: 120,
    mean_bps: 4_572_483,
    quantiles_kbps: [
        229, 271, 289, 315, 469, 812, 1486, 2376, 3285, 3754, 4067, 5126, 6912, 9920, 11142, 12469, 13573, 20327, 27722,
    ],
    percentiles_kbps: [3754, 11_090, 17_160],
    variation: 0.852,
    autocorrelation: 0.622,
    change: 0.350,
    outage_share: 0.1258,
    variation_100ms: Some(1.039),
    redraw: 0.35,
    memory: 0.995,
    flutter: 0.42,
    inner_outage_share: 0.1258,
};

static TMOBILE_DRIVING: Reference = Reference {
    source: "Satellite-vs-Cellular dataset, CoNEXT'23, T-Mobile 5G downlink while driving",
    seconds: 600,
    mean_bps: 155_204_501,
    quantiles_kbps: [
        11, 8185, 11300, 14250, 20600, 38950, 88700, 144_000, 154_500, 161_000, 167_000, 193_500, 220_000, 229_500,
        250_500, 262_500, 287_000, 340_000, 376_000,
    ],
    percentiles_kbps: [161_000, 250_000, 337_000],
    variation: 0.458,
    autocorrelation: 0.825,
    change: 0.152,
    outage_share: 0.0,
    variation_100ms: None,
    redraw: 0.1,
    memory: 0.96,
    flutter: 0.1,
    inner_outage_share: 0.0,
};

static IRELAND_DRIVING: Reference = Reference {
    source: "5G dataset of UCC, MMSys'20, bulk download while driving",
    seconds: 887,
    mean_bps: 11_190_000,
    quantiles_kbps: [
        0, 0, 0, 0, 2, 240, 1455, 2748, 5202, 7874, 10068, 12965, 16600, 22680, 27236, 35006, 62117, 121_013, 161_359,
    ],
    percentiles_kbps: [7874, 27_240, 125_300],
    variation: 1.535,
    autocorrelation: 0.833,
    change: 0.349,
    outage_share: 0.0395,
    variation_100ms: None,
    redraw: 0.0,
    memory: 0.94,
    flutter: 0.1,
    inner_outage_share: 0.0,
};

static IRELAND_STATIC: Reference = Reference {
    source: "5G dataset of UCC, MMSys'20, bulk download without moving",
    seconds: 990,
    mean_bps: 68_110_000,
    quantiles_kbps: [
        0, 0, 1, 2, 2, 8540, 16645, 18341, 19711, 22439, 54318, 83710, 121_938, 187_801, 241_529, 255_322, 265_409,
        273_712, 307_302,
    ],
    percentiles_kbps: [22_430, 241_500, 274_700],
    variation: 1.088,
    autocorrelation: 0.862,
    change: 0.285,
    outage_share: 0.0162,
    variation_100ms: None,
    redraw: 0.08,
    memory: 0.97,
    flutter: 0.1,
    inner_outage_share: 0.0,
};

pub(super) static STARLINK: Reference = Reference {
    source: "Satellite-vs-Cellular dataset, CoNEXT'23, Starlink downlink on the move",
    seconds: 600,
    mean_bps: 123_915_833,
    quantiles_kbps: [
        0, 0, 0, 3000, 22150, 42350, 64100, 84450, 103_000, 122_500, 144_000, 161_500, 185_500, 209_000, 224_000,
        240_000, 244_500, 248_000, 255_000,
    ],
    percentiles_kbps: [122_000, 224_000, 248_000],
    variation: 0.505,
    autocorrelation: 0.794,
    change: 0.239,
    outage_share: 0.0217,
    variation_100ms: None,
    redraw: 0.1,
    memory: 0.7,
    flutter: 0.1,
    inner_outage_share: 0.0,
};
