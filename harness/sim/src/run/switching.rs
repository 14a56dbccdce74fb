//! Which of several ports a switch takes.

use std::collections::BTreeMap;

use super::Simulation;
use crate::spec::Switching;
use crate::time::SimTime;

/// A flow at a switch, on its way to a host: its packets and its acknowledgements are apart.
type Stream = (u32, u32, u32);

/// The burst that a stream is in.
#[derive(Clone, Copy)]
struct Flowlet {
    last: SimTime,
    port: u32,
}

/// The bursts that pass switches, while these look for gaps. Real tables are of fixed size, and flows collide in them.
#[derive(Default)]
pub(super) struct Flowlets(BTreeMap<Stream, Flowlet>);

impl Simulation<'_> {
    /// The port by which a switch sends a packet on.
    #[inline]
    pub(super) fn next_port(&mut self, switch: u32, packet: u32) -> u32 {
        match self.experiment.switching {
            Switching::Ecmp => self.wiring.router.route(switch, self.arena.get(packet)),
            other => self.choose_port(other, switch, packet),
        }
    }

    fn choose_port(&mut self, switching: Switching, switch: u32, packet: u32) -> u32 {
        let content = self.arena.get(packet);
        let choices = self.wiring.router.choices(switch, content.destination);
        if choices.count == 1 {
            return choices.first;
        }
        let random = choices.scatter(switch, content);
        match switching {
            Switching::Ecmp => choices.spread(switch, content),
            Switching::Spray => random,
            Switching::Flowlet { gap } => {
                let stream = (switch, content.flow, content.destination);
                let flowlet = self.flowlets.0.entry(stream).or_insert(Flowlet { last: self.now, port: random });
                if self.now > flowlet.last + gap {
                    flowlet.port = random;
                }
                flowlet.last = self.now;
                flowlet.port
            }
            Switching::Adaptive => {
                // Ports with equal backlogs: the first from a random one on.
                let from = random - choices.first;
                let ports = (0..choices.count).map(|index| choices.first + (from + index) % choices.count);
                let (now, arena, all) = (self.now, &mut self.arena, &mut self.ports);
                ports.min_by_key(|port| all[*port as usize].backlog(now, arena)).unwrap_or(random)
            }
        }
    }
}
