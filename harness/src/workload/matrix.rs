//! Connection matrices of the htsim family (`.cm`): flows one by one, with triggers and failures.
//!
//! ```text
//! Nodes 256                                    hosts
//! Connections 3
//! Triggers 1
//! Failures 1
//! 0->9 id 1 start 12.5 size 100000             microseconds, bytes
//! 1->9 id 2 start 0 size 100000 send_done_trigger 7
//! 9->1 id 3 trigger 7 size 5000 recv_done_trigger 8
//! trigger id 7 oneshot                         or `multishot`, or `barrier count 4`
//! failure switch_type CORE switch_id 3 link_id 0
//! ```
//!
//! Read: `connection_matrix.cpp` and `trigger.cpp` of csg-htsim and of the artifact of Uno. What those programs stop at without
//! a word, or never start, is an error here with its line.
//!
//! | what | there | here |
//! |---|---|---|
//! | `start` | microseconds in the artifact of Uno, picoseconds in csg-htsim | microseconds |
//! | `size 0` | without end | refused |
//! | the same `id` twice | accepted | refused |
//! | `prio` | a priority | read, without effect: packets have none |
//! | `Nodes` below the hosts named | accepted | the same |

mod read;

use std::collections::BTreeMap;

use cc_algos::Span;
use sim::spec::{FlowEnd, TriggerKind};

/// A matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Hosts, by the header.
    pub nodes: u64,
    /// Flows, in the order of the file.
    pub connections: Vec<Connection>,
    /// What starts those that wait.
    pub triggers: Vec<Trigger>,
    /// Links that do not work.
    pub failures: Vec<Failure>,
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Where it stands in the file, from 1.
    pub line: usize,
    /// Its own number, if it has one.
    pub id: Option<u64>,
    /// The host that sends.
    pub source: u32,
    /// The host that receives.
    pub destination: u32,
    /// Bytes.
    pub size: u64,
    /// When it begins; `None` if a trigger starts it.
    pub start: Option<Span>,
}

/// What starts connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// When it does.
    pub kind: TriggerKind,
    /// Connections, by their place in [`Matrix::connections`], whose ends set it off.
    pub causes: Vec<(usize, FlowEnd)>,
    /// The connections that it starts, likewise.
    pub starts: Vec<usize>,
}

/// A link that carries nothing, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where it stands in the file, from 1.
    pub line: usize,
    /// Of which tier the switch is: 0 edge, 1 aggregation, 2 core.
    pub tier: u32,
    /// Which of these, by number.
    pub switch: u32,
    /// Which of its links upwards; of a core downwards.
    pub link: u32,
}

/// Why a matrix was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", match line { 0 => String::new(), line => format!("line {line}: ") })]
pub struct MatrixError {
    /// The line, from 1; 0 where the whole file is meant.
    pub line: usize,
    /// What is wrong, and what was expected.
    pub problem: String,
}

fn fault(line: usize, problem: impl Into<String>) -> MatrixError {
    MatrixError { line, problem: problem.into() }
}

impl Matrix {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If a line is not understood, counts do not fit, or a connection can never start.
    pub fn parse(text: &str) -> Result<Self, MatrixError> {
        let file = read::File::read(text)?;
        file.check_counts()?;
        let triggers = file.triggers()?;
        let matrix = Self {
            nodes: file.nodes,
            connections: file.connections.into_iter().map(|line| line.connection).collect(),
            triggers,
            failures: file.failures,
        };
        matrix.check_starts()?;
        Ok(matrix)
    }

    /// Checks that hosts exist.
    ///
    /// # Errors
    ///
    /// Names the line of the first connection that names a host beyond `hosts`.
    pub fn check_hosts(&self, hosts: u32) -> Result<(), MatrixError> {
        for connection in &self.connections {
            for host in [connection.source, connection.destination] {
                if host >= hosts {
                    return Err(fault(
                        connection.line,
                        format!("host {host} does not exist: there are {hosts}, from 0"),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Lets every connection end as soon as it may, and sees which never begin.
    fn check_starts(&self) -> Result<(), MatrixError> {
        let mut begun: Vec<bool> = self.connections.iter().map(|connection| connection.start.is_some()).collect();
        let mut ready: Vec<usize> = (0..begun.len()).filter(|index| begun[*index]).collect();
        let mut causes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, trigger) in self.triggers.iter().enumerate() {
            trigger.causes.iter().for_each(|(connection, _)| causes.entry(*connection).or_default().push(index));
        }
        let mut times = vec![0_u32; self.triggers.len()];
        while let Some(ended) = ready.pop() {
            for &index in causes.get(&ended).into_iter().flatten() {
                let Trigger { kind, starts, .. } = &self.triggers[index];
                let started = match kind {
                    TriggerKind::All { after } if times[index] + 1 == *after => &starts[..],
                    TriggerKind::All { .. } => &[],
                    TriggerKind::Next => starts.get(times[index] as usize).map_or(&[][..], std::slice::from_ref),
                };
                times[index] += 1;
                for &next in started {
                    begun[next] = true;
                    ready.push(next);
                }
            }
        }
        match begun.iter().position(|begun| !begun) {
            Some(never) => {
                let connection = &self.connections[never];
                let problem = "never starts: its trigger waits, perhaps by way of others, for this connection, or is set off too few times";
                Err(fault(connection.line, format!("{}->{} {problem}", connection.source, connection.destination)))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
