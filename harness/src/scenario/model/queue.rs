//! What stands in front of a link, and what it marks, drops or trims.

use cc_algos::Span;

use super::super::value::Amount;

/// The discipline of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queue {
    /// First in, first out; drops what does not fit.
    DropTail,
    /// RFC 8289.
    CoDel(CoDel),
    /// RFC 8290.
    FqCoDel(CoDel),
    /// RFC 8033.
    Pie(Pie),
    /// RFC 9332.
    DualPi2(DualPi2),
    /// What does not fit loses its payload (NDP, Ultra Ethernet).
    Trimming(Trimming),
}

impl Queue {
    /// Whether it is marked by its backlog from outside. Other disciplines mark by their own law.
    pub const fn marks_by_backlog(&self) -> bool {
        matches!(self, Self::DropTail | Self::Trimming(_))
    }
}

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDel {
    /// Acceptable standing delay; 5 ms in RFC 8289, section 4.4.
    pub target: Span,
    /// Time to react; 100 ms in RFC 8289, section 4.3.
    pub interval: Span,
    /// Whether to mark instead of drop.
    pub ecn: bool,
}

impl Default for CoDel {
    fn default() -> Self {
        Self { target: Span::from_millis(5), interval: Span::from_millis(100), ecn: true }
    }
}

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pie {
    /// Reference delay; 15 ms in RFC 8033, section 4.2.
    pub target: Span,
    /// Time between updates of the probability; 15 ms in RFC 8033, section 4.2.
    pub update: Span,
    /// Whether to mark instead of drop.
    pub ecn: bool,
}

impl Default for Pie {
    fn default() -> Self {
        Self { target: Span::from_millis(15), update: Span::from_millis(15), ecn: true }
    }
}

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2 {
    /// Delay to hold in the classic queue; 15 ms in RFC 9332, appendix A.1.
    pub target: Span,
    /// Delay of the low-latency queue from which it marks; 800 us in RFC 9332, appendix A.1.
    pub mark_from: Span,
    /// Delay beyond that over which marking rises to every packet; 400 us in RFC 9332, appendix A.1.
    pub mark_range: Span,
}

impl Default for DualPi2 {
    fn default() -> Self {
        Self { target: Span::from_millis(15), mark_from: Span::from_micros(800), mark_range: Span::from_micros(400) }
    }
}

/// Parameters of a queue that trims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trimming {
    /// Room for what has no payload; `None` for as much as for data.
    pub control_buffer: Option<Amount>,
    /// Packets without payload that are sent for one of data, while both wait; `None` for all of them. 10 in NDP (SIGCOMM'17),
    /// so that headers of senders that do not slow down leave data some of the link.
    pub control_per_data: Option<u32>,
    /// Which packet is cut.
    pub victim: Victim,
    /// When data is marked.
    pub mark_at: MarkAt,
}

impl Default for Trimming {
    fn default() -> Self {
        Self { control_buffer: None, control_per_data: Some(10), victim: Victim::Arriving, mark_at: MarkAt::Dequeue }
    }
}

/// Which packet is cut when one too many comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The one that comes, as switches do it.
    Arriving,
    /// That or the newest one in the queue, at even odds, as NDP does it.
    ArrivingOrNewest,
}

/// When a packet is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAt {
    /// When it comes, by what it finds.
    Enqueue,
    /// When it leaves, by what it leaves behind.
    Dequeue,
}

/// Marking by backlog.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marking {
    /// Every packet that finds this much queued: DCTCP's K (RFC 8257, section 3.1).
    Step(Amount),
    /// With a probability that rises between two backlogs, as RED on the instantaneous queue does.
    Ramp {
        /// Backlog from which it marks.
        min: Amount,
        /// Backlog from which it marks everything.
        max: Amount,
        /// Probability just below `max`.
        probability: f64,
    },
}

/// A phantom queue: a counter that drains more slowly than the link and is marked by (HULL, NSDI'12; Uno, SC'25).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phantom {
    /// How fast it drains, as a share of the link's rate: 0.95 in HULL, 1/1.05 or 1/1.1 in the artifact of Uno.
    pub drain: f64,
    /// How much it holds at most.
    pub size: Amount,
    /// From which backlog of its own on packets are marked.
    pub marking: Marking,
    /// What fills it.
    pub feed: PhantomFeed,
    /// What becomes of its opinion.
    pub role: PhantomRole,
}

/// What fills a phantom queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhantomFeed {
    /// What comes, whether there is room for it or not.
    Arrivals,
    /// What leaves.
    Departures,
}

/// What becomes of a phantom queue's opinion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhantomRole {
    /// It alone decides.
    Alone,
    /// Either it or the link's own marking.
    Either,
    /// Both of them.
    Both,
    /// Nothing: it is watched.
    Observed,
}
