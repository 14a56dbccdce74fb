//! The lines of a connection matrix.

use std::collections::BTreeMap;
use std::str::SplitWhitespace;

use cc_algos::Span;
use cc_algos::registry::nearest;
use sim::spec::{FlowEnd, TriggerKind};

use super::{Connection, Failure, MatrixError, Trigger, fault};

/// Largest size and latest start that a run can hold: 2^61 B and thirty days.
const MAX_SIZE: u64 = 1 << 61;
const MAX_START_US: u64 = 30 * 24 * 3_600 * 1_000_000;

/// A connection with the triggers that it names.
pub(super) struct ConnectionLine {
    pub(super) connection: Connection,
    trigger: Option<u64>,
    sets_off: Vec<(u64, FlowEnd)>,
}

/// The whole file as it stands.
#[derive(Default)]
pub(super) struct File {
    pub(super) nodes: u64,
    counts: BTreeMap<&'static str, (usize, u64)>,
    pub(super) connections: Vec<ConnectionLine>,
    /// Line and kind by number.
    triggers: BTreeMap<u64, (usize, TriggerKind)>,
    pub(super) failures: Vec<Failure>,
}

const HEADERS: [&str; 4] = ["Nodes", "Connections", "Triggers", "Failures"];
const CONNECTION_KEYS: [&str; 7] = ["id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio"];
const TRIGGER_KEYS: [&str; 5] = ["id", "oneshot", "multishot", "barrier", "count"];
const FAILURE_KEYS: [&str; 3] = ["switch_type", "switch_id", "link_id"];
const TIERS: [&str; 3] = ["TOR", "AGG", "CORE"];

/// The words of one line.
struct Words<'a> {
    line: usize,
    words: SplitWhitespace<'a>,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.words.next()
    }

    fn value(&mut self, key: &str, expected: &str) -> Result<&'a str, MatrixError> {
        self.next().ok_or_else(|| fault(self.line, format!("`{key}`: expected {expected}, found nothing")))
    }

    fn number(&mut self, key: &str) -> Result<u64, MatrixError> {
        let expected = "a whole number";
        let word = self.value(key, expected)?;
        word.parse().map_err(|_| fault(self.line, format!("`{key}`: expected {expected}, found {word}")))
    }

    /// A number that names something: not 0.
    fn name(&mut self, key: &str) -> Result<u64, MatrixError> {
        match self.number(key)? {
            0 => Err(fault(self.line, format!("`{key}`: expected a number above 0, found 0"))),
            number => Ok(number),
        }
    }

    fn short(&mut self, key: &str) -> Result<u32, MatrixError> {
        let number = self.number(key)?;
        u32::try_from(number).map_err(|_| fault(self.line, format!("`{key}`: {number} is out of range")))
    }

    /// Microseconds with a fraction, to the nanosecond.
    fn micros(&mut self, key: &str) -> Result<Span, MatrixError> {
        let expected = "microseconds from 0, at most thirty days";
        let word = self.value(key, expected)?;
        let wrong = || fault(self.line, format!("`{key}`: expected {expected}, found {word}"));
        let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) {
            return Err(wrong());
        }
        let micros: u64 = whole.parse().ok().filter(|micros| *micros <= MAX_START_US).ok_or_else(wrong)?;
        // Nanoseconds are the first three digits of the fraction.
        let nanos =
            fraction.bytes().chain(*b"000").take(3).fold(0_u64, |nanos, digit| nanos * 10 + u64::from(digit - b'0'));
        Ok(Span::from_nanos(micros * 1_000 + nanos))
    }

    fn unknown(&self, what: &str, word: &str, known: &[&'static str]) -> MatrixError {
        let hint = match nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("expected one of {}", known.join(", ")),
        };
        fault(self.line, format!("unknown {what} `{word}`: {hint}"))
    }
}

/// Puts a value into its place unless one stands there.
fn set<T>(line: usize, key: &str, slot: &mut Option<T>, value: T) -> Result<(), MatrixError> {
    if slot.is_some() {
        return Err(fault(line, format!("`{key}` a second time")));
    }
    *slot = Some(value);
    Ok(())
}

impl File {
    pub(super) fn read(text: &str) -> Result<Self, MatrixError> {
        let mut file = Self::default();
        let mut ids = BTreeMap::new();
        for (line, content) in (1..).zip(text.lines()) {
            let mut words = Words { line, words: content.split_whitespace() };
            let Some(first) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            if let Some(header) = HEADERS.into_iter().find(|header| *header == first) {
                let count = words.number(header)?;
                if file.counts.insert(header, (line, count)).is_some() {
                    return Err(fault(line, format!("`{header}` a second time")));
                }
            } else if let Some((source, destination)) = first.split_once("->") {
                let read = file.read_connection((source, destination), &mut words)?;
                if let Some(id) = read.connection.id
                    && let Some(other) = ids.insert(id, line)
                {
                    return Err(fault(line, format!("id {id} is that of line {other} already")));
                }
                file.connections.push(read);
            } else if first == "trigger" {
                file.read_trigger(&mut words)?;
            } else if first == "failure" {
                file.read_failure(&mut words)?;
            } else {
                let known = ["Nodes", "Connections", "Triggers", "Failures", "trigger", "failure"];
                return Err(words.unknown("line", first, &known));
            }
            if let Some(word) = words.next().filter(|word| !word.starts_with('#')) {
                return Err(fault(line, format!("`{word}`: expected nothing more")));
            }
        }
        file.nodes = file.counts.get("Nodes").map_or(0, |count| count.1);
        Ok(file)
    }

    fn read_connection(&self, ends: (&str, &str), words: &mut Words<'_>) -> Result<ConnectionLine, MatrixError> {
        let line = words.line;
        let host = |text: &str| {
            text.parse().map_err(|_| {
                fault(line, format!("expected `HOST->HOST` with whole numbers, found {}->{}", ends.0, ends.1))
            })
        };
        let (source, destination) = (host(ends.0)?, host(ends.1)?);
        if source == destination {
            return Err(fault(line, format!("host {source} sends to itself: expected another destination")));
        }
        let (mut id, mut start, mut size, mut trigger, mut sets_off) = (None, None, None, None, Vec::new());
        while let Some(key) = words.next().filter(|word| !word.starts_with('#')) {
            match key {
                "id" => set(line, key, &mut id, words.name(key)?)?,
                "start" => set(line, key, &mut start, words.micros(key)?)?,
                "size" => set(line, key, &mut size, words.number(key)?)?,
                "trigger" => set(line, key, &mut trigger, words.name(key)?)?,
                "send_done_trigger" => sets_off.push((words.name(key)?, FlowEnd::Completed)),
                "recv_done_trigger" => sets_off.push((words.name(key)?, FlowEnd::Received)),
                "prio" => {
                    words.number(key)?;
                }
                _ => return Err(words.unknown("word", key, &CONNECTION_KEYS)),
            }
        }
        let size = size.ok_or_else(|| fault(line, "no `size`"))?;
        if !(1..=MAX_SIZE).contains(&size) {
            return Err(fault(line, format!("`size`: expected 1 to {MAX_SIZE} bytes, found {size}")));
        }
        match (start, trigger) {
            (None, None) => return Err(fault(line, "neither `start` nor `trigger`")),
            (Some(_), Some(_)) => return Err(fault(line, "both `start` and `trigger`")),
            _ => {}
        }
        let connection = Connection { line, id, source, destination, size, start };
        Ok(ConnectionLine { connection, trigger, sets_off })
    }

    fn read_trigger(&mut self, words: &mut Words<'_>) -> Result<(), MatrixError> {
        let line = words.line;
        let (mut id, mut kind, mut count) = (None, None, None);
        while let Some(key) = words.next().filter(|word| !word.starts_with('#')) {
            match key {
                "id" => set(line, key, &mut id, words.name(key)?)?,
                "count" => set(line, key, &mut count, words.short(key)?)?,
                "oneshot" | "multishot" | "barrier" => set(line, "a kind", &mut kind, key)?,
                _ => return Err(words.unknown("word", key, &TRIGGER_KEYS)),
            }
        }
        let id = id.ok_or_else(|| fault(line, "a trigger without `id`"))?;
        let kind = match (kind, count) {
            (Some("multishot"), None) => TriggerKind::Next,
            (Some("barrier"), Some(after)) if after > 0 => TriggerKind::All { after },
            (Some("barrier"), _) => return Err(fault(line, "a barrier needs a `count` above 0")),
            (Some(_), None) => TriggerKind::All { after: 1 },
            (Some(kind), Some(_)) => {
                return Err(fault(line, format!("`count` of a {kind} trigger: only a barrier has one")));
            }
            (None, _) => return Err(fault(line, "a trigger without a kind: expected oneshot, multishot or barrier")),
        };
        match self.triggers.insert(id, (line, kind)) {
            Some((other, _)) => Err(fault(line, format!("trigger {id} stands in line {other} already"))),
            None => Ok(()),
        }
    }

    fn read_failure(&mut self, words: &mut Words<'_>) -> Result<(), MatrixError> {
        let line = words.line;
        let (mut tier, mut switch, mut link) = (None, None, None);
        while let Some(key) = words.next().filter(|word| !word.starts_with('#')) {
            match key {
                "switch_type" => {
                    let name = words.value(key, "TOR, AGG or CORE")?;
                    let index = (0..).zip(TIERS).find(|(_, tier)| *tier == name);
                    let (index, _) = index.ok_or_else(|| words.unknown("switch_type", name, &TIERS))?;
                    set(line, key, &mut tier, index)?;
                }
                "switch_id" => set(line, key, &mut switch, words.short(key)?)?,
                "link_id" => set(line, key, &mut link, words.short(key)?)?,
                _ => return Err(words.unknown("word", key, &FAILURE_KEYS)),
            }
        }
        let missing = |key: &str| fault(line, format!("a failure without `{key}`"));
        self.failures.push(Failure {
            line,
            tier: tier.ok_or_else(|| missing("switch_type"))?,
            switch: switch.ok_or_else(|| missing("switch_id"))?,
            link: link.ok_or_else(|| missing("link_id"))?,
        });
        Ok(())
    }

    /// The header says how many lines of each kind there are.
    pub(super) fn check_counts(&self) -> Result<(), MatrixError> {
        for header in ["Nodes", "Connections"] {
            if !self.counts.contains_key(header) {
                return Err(fault(0, format!("no `{header}`: expected it with a count before the connections")));
            }
        }
        if self.nodes == 0 {
            return Err(fault(self.counts["Nodes"].0, "`Nodes`: expected a number above 0, found 0"));
        }
        let found = [
            ("Connections", self.connections.len()),
            ("Triggers", self.triggers.len()),
            ("Failures", self.failures.len()),
        ];
        for (header, found) in found {
            let (line, stated) = self.counts.get(header).copied().unwrap_or((0, 0));
            if stated != found as u64 {
                return Err(fault(line, format!("`{header}` says {stated}, but there are {found}")));
            }
        }
        if self.connections.is_empty() {
            return Err(fault(0, "no connections: expected at least one"));
        }
        Ok(())
    }

    /// Triggers with what sets them off and what they start, each by its place.
    pub(super) fn triggers(&self) -> Result<Vec<Trigger>, MatrixError> {
        let mut triggers: BTreeMap<u64, Trigger> = self
            .triggers
            .iter()
            .map(|(id, (_, kind))| (*id, Trigger { kind: *kind, causes: Vec::new(), starts: Vec::new() }))
            .collect();
        let mut named = |line: usize, id: u64, change: &mut dyn FnMut(&mut Trigger)| match triggers.get_mut(&id) {
            Some(trigger) => {
                change(trigger);
                Ok(())
            }
            None => Err(fault(line, format!("trigger {id} does not exist: expected a line `trigger id {id} ...`"))),
        };
        for (index, line) in self.connections.iter().enumerate() {
            let number = line.connection.line;
            if let Some(id) = line.trigger {
                named(number, id, &mut |trigger| trigger.starts.push(index))?;
            }
            for &(id, end) in &line.sets_off {
                named(number, id, &mut |trigger| trigger.causes.push((index, end)))?;
            }
        }
        for ((id, trigger), (line, _)) in triggers.iter().zip(self.triggers.values()) {
            check_trigger(*line, *id, trigger)?;
        }
        Ok(triggers.into_values().collect())
    }
}

/// As often as it needs to be set off, and not oftener where that would be an error in htsim.
fn check_trigger(line: usize, id: u64, trigger: &Trigger) -> Result<(), MatrixError> {
    let causes = trigger.causes.len();
    match trigger.kind {
        TriggerKind::All { after } if causes != after as usize => {
            let what = if after == 1 { "a oneshot trigger" } else { "a barrier" };
            let problem = format!("trigger {id} is set off by {causes} connections: expected {after}, as {what} needs");
            Err(fault(line, problem))
        }
        _ if trigger.starts.is_empty() => Err(fault(line, format!("trigger {id} starts no connection"))),
        _ => Ok(()),
    }
}
