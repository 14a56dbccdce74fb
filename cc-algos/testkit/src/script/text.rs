//! The text form of scripts.

use core::fmt;
use core::str::FromStr;

use cc_algos::registry::Value;
use cc_algos::units::{Rate, Span};

use super::{Csig, Honesty, Move, Network, PathMove, Script};

/// What is wrong with a script's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{part}`: expected {expected}")]
pub struct ScriptError {
    /// The part of the text that is wrong.
    pub part: String,
    /// What was expected in its place.
    pub expected: &'static str,
}

const NETWORK: &str = "one of `rate 10Mbps`, `rtt 40ms`, `mtu 1200`, `buffer 32`, `mark 8`, `ack 2 within 25ms`, `echo`, \
                       `clock 10s`, `resume 100`, `rto 200ms`";
const MOVE: &str = "one of `run 3 rtt`, `run 20 packets`, `send 10 packets`, `trickle 3 for 5 rtt`, `grant 3 for 5 rtt`, \
                    `idle 50 rtt`, `timeout 3`, `lose 1`, `mark 1`, `late 1`, `overtake 3`, `duplicate 1`, `trim 1`, \
                    `lose-acks 1`, `delay 50%`, `rate 250permille`, `mtu 1400`, `migrate`, `dead`, `ecn-unusable`, \
                    `forge-marks 100`, `bleach`, `csig ratio`, `int honest`, `fabric honest`, `near-source 100000`, `cnp`";

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.network)?;
        self.moves.iter().try_for_each(|step| write!(f, " | {step}"))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate, rtt, mtu, buffer, mark_above, ack_every, ack_delay, echo, clock, resume, retransmit_after } =
            self;
        write!(f, "rate {rate}, rtt {rtt}, mtu {mtu}, buffer {buffer}")?;
        if let Some(packets) = mark_above {
            write!(f, ", mark {packets}")?;
        }
        if (*ack_every, *ack_delay) != (1, Span::ZERO) {
            write!(f, ", ack {ack_every} within {ack_delay}")?;
        }
        if *echo {
            f.write_str(", echo")?;
        }
        if *clock > Span::ZERO {
            write!(f, ", clock {clock}")?;
        }
        if let Some(packets) = resume {
            write!(f, ", resume {packets}")?;
        }
        retransmit_after.map_or(Ok(()), |time| write!(f, ", rto {time}"))
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run { rtts } => write!(f, "run {rtts} rtt"),
            Self::RunPackets { packets } => write!(f, "run {packets} packets"),
            Self::Send { packets } => write!(f, "send {packets} packets"),
            Self::Trickle { packets, rtts } => write!(f, "trickle {packets} for {rtts} rtt"),
            Self::Grant { packets, rtts } => write!(f, "grant {packets} for {rtts} rtt"),
            Self::Idle { rtts } => write!(f, "idle {rtts} rtt"),
            Self::Timeout { times } => write!(f, "timeout {times}"),
            Self::Lose(packets) => write!(f, "lose {packets}"),
            Self::Mark(packets) => write!(f, "mark {packets}"),
            Self::Late(packets) => write!(f, "late {packets}"),
            Self::Overtake(packets) => write!(f, "overtake {packets}"),
            Self::Duplicate(packets) => write!(f, "duplicate {packets}"),
            Self::Trim(packets) => write!(f, "trim {packets}"),
            Self::LoseAcks(acks) => write!(f, "lose-acks {acks}"),
            Self::Delay { percent } => write!(f, "delay {percent}%"),
            Self::Rate { permille } => write!(f, "rate {permille}permille"),
            Self::Mtu(bytes) => write!(f, "mtu {bytes}"),
            Self::Path(path) => f.write_str(path.word()),
            Self::ForgeMarks(packets) => write!(f, "forge-marks {packets}"),
            Self::Bleach => f.write_str("bleach"),
            Self::Csig(csig) => write!(f, "csig {}", csig.word()),
            Self::Int(honesty) => write!(f, "int {}", honesty.word()),
            Self::Fabric(honesty) => write!(f, "fabric {}", honesty.word()),
            Self::NearSource { queue_bytes } => write!(f, "near-source {queue_bytes}"),
            Self::CongestionNotification => f.write_str("cnp"),
        }
    }
}

/// Words for the values of an enum, both ways.
macro_rules! words {
    ($type:ident: $($variant:ident = $word:literal),* $(,)?) => {
        impl $type {
            const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            fn of_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

words!(PathMove: Migrate = "migrate", Dead = "dead", EcnUnusable = "ecn-unusable");
words!(Honesty: Absent = "absent", Honest = "honest", Forged = "forged");
words!(Csig: Absent = "absent", Bandwidth = "bandwidth", Ratio = "ratio", HopDelay = "hop-delay", QueueDepth = "queue-depth",
       Changing = "changing", Forged = "forged");

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let mut parts = text.split('|').map(str::trim);
        let network = parts.next().unwrap_or_default().parse()?;
        let moves = parts.map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self { network, moves })
    }
}

impl FromStr for Network {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let mut network = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            network.set(part).ok_or_else(|| ScriptError { part: part.to_owned(), expected: NETWORK })?;
        }
        Ok(network)
    }
}

impl Network {
    fn set(&mut self, part: &str) -> Option<()> {
        let words: Vec<_> = part.split_whitespace().collect();
        match words[..] {
            ["rate", rate] => self.rate = parse_rate(rate)?,
            ["rtt", rtt] => self.rtt = parse_span(rtt)?,
            ["mtu", bytes] => self.mtu = at_least_one(bytes)?,
            ["buffer", packets] => self.buffer = at_least_one(packets)?,
            ["mark", packets] => self.mark_above = Some(packets.parse().ok()?),
            ["ack", every, "within", delay] => {
                self.ack_every = at_least_one(every)?;
                self.ack_delay = parse_span(delay)?;
            }
            ["echo"] => self.echo = true,
            ["clock", clock] => self.clock = parse_span(clock)?,
            ["resume", packets] => self.resume = Some(at_least_one(packets)?),
            ["rto", time] => self.retransmit_after = Some(parse_span(time)?),
            _ => return None,
        }
        Some(())
    }
}

impl FromStr for Move {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let words: Vec<_> = text.split_whitespace().collect();
        parse_move(&words).ok_or_else(|| ScriptError { part: text.to_owned(), expected: MOVE })
    }
}

fn parse_move(words: &[&str]) -> Option<Move> {
    Some(match *words {
        ["run", rtts, "rtt"] => Move::Run { rtts: rtts.parse().ok()? },
        ["run", packets, "packets"] => Move::RunPackets { packets: packets.parse().ok()? },
        ["send", packets, "packets"] => Move::Send { packets: packets.parse().ok()? },
        ["trickle", packets, "for", rtts, "rtt"] => {
            Move::Trickle { packets: packets.parse().ok()?, rtts: rtts.parse().ok()? }
        }
        ["grant", packets, "for", rtts, "rtt"] => {
            Move::Grant { packets: packets.parse().ok()?, rtts: rtts.parse().ok()? }
        }
        ["idle", rtts, "rtt"] => Move::Idle { rtts: rtts.parse().ok()? },
        ["timeout", times] => Move::Timeout { times: times.parse().ok()? },
        ["lose", packets] => Move::Lose(packets.parse().ok()?),
        ["mark", packets] => Move::Mark(packets.parse().ok()?),
        ["late", packets] => Move::Late(packets.parse().ok()?),
        ["overtake", packets] => Move::Overtake(packets.parse().ok()?),
        ["duplicate", packets] => Move::Duplicate(packets.parse().ok()?),
        ["trim", packets] => Move::Trim(packets.parse().ok()?),
        ["lose-acks", acks] => Move::LoseAcks(acks.parse().ok()?),
        ["delay", percent] => Move::Delay { percent: percent.strip_suffix('%')?.parse().ok()? },
        ["rate", permille] => Move::Rate { permille: permille.strip_suffix("permille")?.parse().ok()? },
        ["mtu", bytes] => Move::Mtu(at_least_one(bytes)?),
        ["forge-marks", packets] => Move::ForgeMarks(packets.parse().ok()?),
        ["bleach"] => Move::Bleach,
        ["csig", word] => Move::Csig(Csig::of_word(word)?),
        ["int", word] => Move::Int(Honesty::of_word(word)?),
        ["fabric", word] => Move::Fabric(Honesty::of_word(word)?),
        ["near-source", bytes] => Move::NearSource { queue_bytes: bytes.parse().ok()? },
        ["cnp"] => Move::CongestionNotification,
        [word] => Move::Path(PathMove::of_word(word)?),
        _ => return None,
    })
}

fn at_least_one<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Option<T> {
    text.parse().ok().filter(|number| *number >= T::from(1))
}

fn parse_span(text: &str) -> Option<Span> {
    match Value::Span(Span::ZERO).parse_as(text)? {
        Value::Span(span) => Some(span),
        _ => None,
    }
}

fn parse_rate(text: &str) -> Option<Rate> {
    match Value::Rate(Rate::ZERO).parse_as(text)? {
        Value::Rate(rate) if rate > Rate::ZERO => Some(rate),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reads_as_it_is_written() {
        let text = "rate 10Mbps, rtt 40ms, mtu 1500, buffer 16, mark 4, ack 2 within 25ms, echo, clock 315360000s, resume 9, rto 3s \
                    | run 3 rtt | run 20 packets | send 10 packets | trickle 3 for 5 rtt | grant 2 for 4 rtt | idle 50 rtt \
                    | timeout 3 | lose 1 | mark 2 | late 3 | overtake 4 | duplicate 5 | trim 6 | lose-acks 7 | delay 50% \
                    | rate 250permille | mtu 1400 | migrate | dead | ecn-unusable | forge-marks 8 | bleach | csig ratio \
                    | int honest | fabric forged | near-source 9 | cnp";
        let script = Script::parse(text).unwrap();
        assert_eq!(script.len(), 27);
        assert_eq!(script.to_string(), text);
    }

    #[test]
    fn what_a_network_does_not_name_has_its_default() {
        assert_eq!(Script::parse("").unwrap(), Script::default());
        assert_eq!(Script::parse("rtt 1us").unwrap().network.rate, Network::default().rate);
    }

    #[test]
    fn errors_name_the_part_that_is_wrong() {
        for (text, part) in [
            ("rate 10", "rate 10"),
            ("mtu 0", "mtu 0"),
            ("speed 3", "speed 3"),
            ("| run 3", "run 3"),
            ("| lose", "lose"),
            ("| run 1 rtt | csig blue", "csig blue"),
            ("| lose -1", "lose -1"),
        ] {
            let error = Script::parse(text).unwrap_err();
            assert_eq!(error.part, part);
            assert!(error.to_string().contains("expected one of"), "{error}");
        }
    }
}
