//! A history as a script: the network it runs on, and what is done on it, move by move.
//!
//! Scripts are what strategies generate, what a failure shrinks to, and what replays it. Their text is one line:
//!
//! ```text
//! rate 10Mbps, rtt 40ms, buffer 32, ack 2 within 25ms | run 3 rtt | lose 1 | run 20 packets | idle 50 rtt | send 10 packets
//! ```
//!
//! The network stands before the first bar; what it does not name has its default. Times of moves count in round trips of
//! that network, so that a move means the same at a microsecond and at ten seconds.

mod text;

use cc_algos::units::{Rate, Span};

pub use text::ScriptError;

/// A network, and what is done on it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Script {
    /// The network.
    pub network: Network,
    /// What is done, in order.
    pub moves: Vec<Move>,
}

/// One link with a drop-tail buffer, and how the receiver acknowledges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Rate of the link.
    pub rate: Rate,
    /// Round trip of a packet over an empty queue, without its time on the link. Below a millisecond the sender is
    /// configured as for a datacentre.
    pub rtt: Span,
    /// Largest packet, bytes.
    pub mtu: u64,
    /// Packets that the buffer holds.
    pub buffer: u32,
    /// Packets in the buffer above which arriving ones are marked, where they allow it.
    pub mark_above: Option<u32>,
    /// Packets that share an acknowledgement.
    pub ack_every: u32,
    /// Longest time that an acknowledgement is held back.
    pub ack_delay: Span,
    /// Whether acknowledgements tell which packets were marked, and when the newest arrived.
    pub echo: bool,
    /// What the clock shows when the flow begins.
    pub clock: Span,
    /// Packets of window that the controller takes over from an earlier one; `None` starts it afresh.
    pub resume: Option<u32>,
    /// Time after which a packet that was not acknowledged counts as lost, as datacentre transports have it; `None` detects
    /// losses as RFC 9002 does.
    pub retransmit_after: Option<Span>,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            rate: Rate::from_mbps(10),
            rtt: Span::from_millis(40),
            mtu: 1_200,
            buffer: 32,
            mark_above: None,
            ack_every: 1,
            ack_delay: Span::ZERO,
            echo: false,
            clock: Span::ZERO,
            resume: None,
            retransmit_after: None,
        }
    }
}

/// Something that is done, or that befalls the next packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Move {
    /// The application has data without end for so many round trips.
    Run {
        /// Round trips.
        rtts: u32,
    },
    /// The application has data without end until so many packets have left.
    RunPackets {
        /// Packets.
        packets: u32,
    },
    /// The application hands over so many packets, and the flow ends when they are settled.
    Send {
        /// Packets.
        packets: u32,
    },
    /// The application hands over so many packets each round trip, and nothing else.
    Trickle {
        /// Packets each round trip.
        packets: u32,
        /// Round trips.
        rtts: u32,
    },
    /// The receiver allows so many packets each round trip; the application has data without end.
    Grant {
        /// Packets each round trip.
        packets: u32,
        /// Round trips.
        rtts: u32,
    },
    /// Nothing is sent for so many round trips.
    Idle {
        /// Round trips.
        rtts: u32,
    },
    /// The link drops everything until so many timeouts in a row have fired.
    Timeout {
        /// Timeouts in a row.
        times: u32,
    },
    /// The next packets are dropped.
    Lose(u32),
    /// The next packets are marked, where they allow it.
    Mark(u32),
    /// The next packets arrive a round trip and a half late: they are declared lost, and acknowledged after all.
    Late(u32),
    /// The next packet is overtaken by so many.
    Overtake(u32),
    /// The next packets arrive twice.
    Duplicate(u32),
    /// The next packets lose their payload at a switch, which the receiver reports.
    Trim(u32),
    /// The next acknowledgements are dropped.
    LoseAcks(u32),
    /// The round trip is longer by so many per cent of its base, from now on.
    Delay {
        /// Per cent of the network's base round trip.
        percent: u32,
    },
    /// The link has so many per mille of the network's rate, from now on.
    Rate {
        /// Per mille of the network's rate; zero counts as one.
        permille: u32,
    },
    /// The path carries packets of so many bytes, from now on.
    Mtu(u64),
    /// The path is another one.
    Path(PathMove),
    /// The next acknowledgement claims so many marks more than there were.
    ForgeMarks(u64),
    /// Codepoints are erased on the way, from now on, or not any more.
    Bleach,
    /// What CSIG tags say, from now on.
    Csig(Csig),
    /// What in-band telemetry says, from now on.
    Int(Honesty),
    /// What hosts' time stamps say (fabric delay and hop count), from now on.
    Fabric(Honesty),
    /// A notice of a switch near the source arrives.
    NearSource {
        /// Bytes that it says are queued.
        queue_bytes: u64,
    },
    /// A congestion notification packet arrives.
    CongestionNotification,
}

/// What becomes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathMove {
    /// Traffic moves to another route.
    Migrate,
    /// All in flight is lost and the path is declared dead; it passes validation again a round trip later.
    Dead,
    /// ECN turns out to be unusable.
    EcnUnusable,
}

/// Whether a signal is there, and can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Honesty {
    /// It is absent.
    #[default]
    Absent,
    /// It tells the truth.
    Honest,
    /// It tells extremes.
    Forged,
}

/// Which CSIG tag packets come back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Csig {
    /// None.
    #[default]
    Absent,
    /// Available bandwidth.
    Bandwidth,
    /// Available share of the capacity.
    Ratio,
    /// Delay at the worst hop.
    HopDelay,
    /// Queue depth at the worst hop.
    QueueDepth,
    /// Each time another of them.
    Changing,
    /// Extremes of all kinds.
    Forged,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// If a word, a number or a unit is not as expected; the error names it.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        text.parse()
    }

    /// Number of its moves: the length by which counter-examples are judged.
    pub const fn len(&self) -> usize {
        self.moves.len()
    }

    /// Whether nothing is done.
    pub const fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }
}
