//! What a workload does.

use cc_algos::Span;

use super::sizes::Sizes;

/// What a workload does. Times are from the start of the run; a `jitter` delays each start by a random time below it.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Long flows, together or one after another.
    Bulk {
        /// How many.
        flows: u32,
        /// How much each sends.
        volume: Volume,
        /// When the first starts.
        start: Span,
        /// Time from one start to the next.
        stagger: Span,
        /// How long each sends, if it is to leave before the end.
        hold: Option<Span>,
        /// Random delay of each start.
        jitter: Span,
    },
    /// Open-loop flows with Poisson arrivals between random hosts.
    Poisson {
        /// Their sizes.
        sizes: Sizes,
        /// How often they come.
        arrivals: Arrivals,
        /// When they begin to come.
        start: Span,
        /// When they cease to come; `None` for the end of the run.
        stop: Option<Span>,
    },
    /// Requests with Poisson arrivals; each is answered once it has arrived.
    RequestResponse {
        /// Sizes of requests.
        request: Sizes,
        /// Sizes of responses.
        response: Sizes,
        /// How often requests come. A load counts responses.
        arrivals: Arrivals,
        /// Time from a request's last byte to the response's start.
        think: Span,
        /// When requests begin to come.
        start: Span,
        /// When requests cease to come; `None` for the end of the run.
        stop: Option<Span>,
    },
    /// Many senders to one receiver at once, again and again.
    Incast {
        /// Senders at a time.
        fan_in: u32,
        /// What each sends.
        sizes: Sizes,
        /// How many times.
        epochs: u32,
        /// Time from one epoch to the next.
        period: Span,
        /// When the first begins.
        start: Span,
        /// Random delay of each start.
        jitter: Span,
    },
    /// Every host sends to another and hears from another.
    Permutation {
        /// What each sends.
        volume: Volume,
        /// When.
        start: Span,
        /// Random delay of each start.
        jitter: Span,
    },
    /// Flows one by one, from a connection matrix of htsim.
    Matrix {
        /// Where it stands.
        source: MatrixSource,
        /// Which of them.
        only: Only,
    },
    /// Flows that send bursts and pause.
    OnOff {
        /// How many.
        flows: u32,
        /// Bytes of a burst.
        burst: u64,
        /// From the start of one burst to the next.
        period: Span,
        /// When the first starts.
        start: Span,
        /// Random delay of each start.
        jitter: Span,
    },
}

impl Pattern {
    /// Its name in scenarios.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Bulk { .. } => "bulk",
            Self::Poisson { .. } => "poisson",
            Self::RequestResponse { .. } => "request-response",
            Self::Incast { .. } => "incast",
            Self::Permutation { .. } => "permutation",
            Self::Matrix { .. } => "matrix",
            Self::OnOff { .. } => "on-off",
        }
    }

    /// All kinds with a line each.
    pub const KINDS: [(&'static str, &'static str); 7] = [
        ("bulk", "long flows, together or staggered; they may leave again"),
        ("poisson", "open-loop flows with Poisson arrivals at a load of the bottleneck, sizes from a distribution"),
        ("request-response", "small requests with Poisson arrivals whose arrival triggers a response"),
        ("incast", "many senders to one receiver at once, in epochs"),
        ("permutation", "every host sends to another and hears from another"),
        ("matrix", "flows one by one from a connection matrix of htsim (.cm), with what starts what"),
        ("on-off", "flows that send bursts and pause"),
    ];

    /// The sizes it draws from.
    pub fn sizes(&self) -> Vec<&Sizes> {
        match self {
            Self::Bulk { volume, .. } | Self::Permutation { volume, .. } => match volume {
                Volume::Unlimited => Vec::new(),
                Volume::Sized(sizes) => vec![sizes],
            },
            Self::Poisson { sizes, .. } | Self::Incast { sizes, .. } => vec![sizes],
            Self::RequestResponse { request, response, .. } => vec![request, response],
            Self::Matrix { .. } | Self::OnOff { .. } => Vec::new(),
        }
    }
}

/// Where a connection matrix stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatrixSource {
    /// In a file, relative to the scenario's.
    File(String),
    /// In the scenario itself, as the text of such a file.
    Text(String),
}

/// Which flows of a matrix a workload has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// All of them.
    All,
    /// Those within a datacentre.
    Intra,
    /// Those between datacentres.
    Inter,
}

/// How much a flow sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Volume {
    /// As much as it can.
    Unlimited,
    /// So much.
    Sized(Sizes),
}

/// How often flows come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// So that their application bytes come to this share of the bottleneck's rate; on a star or fat-tree, of every host's
    /// link.
    Load(f64),
    /// So many a second.
    PerSecond(f64),
}
