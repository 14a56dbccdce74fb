//! Which path and which entropy the next packet takes.
//!
//! A balancer sees identifiers and what became of packets that bore them, and nothing of any controller. It is open: a
//! driver holds a `Box<dyn Balancer>`, asks it before each packet and reports after each call to the sender.

mod ecmp;
mod spray;

use core::fmt::Debug;

use cc_algos::controller::Cause;
use cc_algos::ids::{Entropy, PathId};
use cc_algos::signal::Ecn;
use cc_algos::units::Timestamp;

pub use self::ecmp::Ecmp;
pub use self::spray::Spray;
use super::workspace::Workspace;

/// Where a packet went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The path it took.
    pub path: PathId,
    /// The entropy it carried.
    pub entropy: Entropy,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It arrived unmarked.
    Good,
    /// It arrived marked. Told only where the receiver echoes marks per packet.
    Ecn,
    /// It got lost, as later acknowledgements, the receiver or a switch that trimmed it revealed.
    Nack,
    /// Nothing was heard of it until a retransmission timeout expired or its path was declared dead.
    Timeout,
}

/// Chooses routes. Deterministic: what is random in it comes from its seed.
pub trait Balancer: Debug + Send {
    /// The entropy of the next packet, number `packet_number` on `path`.
    fn next_entropy(&mut self, path: PathId, packet_number: u64) -> Entropy;

    /// The path of the next packet, one of `open` (those that may send now). The first by default.
    fn next_path(&mut self, open: &[PathId]) -> Option<PathId> {
        open.first().copied()
    }

    /// What became of a packet.
    fn on_verdict(&mut self, _now: Timestamp, _route: Route, _verdict: Verdict) {}

    /// Whether [`Balancer::on_verdict`] does anything; if not, it need not be called.
    fn listens(&self) -> bool {
        false
    }

    /// A copy with the same state.
    fn clone_box(&self) -> Box<dyn Balancer>;
}

/// Tells a balancer what the last call to a sender found out.
pub fn report<C>(now: Timestamp, work: &Workspace<C>, balancer: &mut dyn Balancer) {
    if !balancer.listens() {
        return;
    }
    let silent = matches!(work.lost_by, Some(Cause::Timeout { .. } | Cause::PathDead));
    let verdict = if silent { Verdict::Timeout } else { Verdict::Nack };
    for packet in work.lost() {
        balancer.on_verdict(now, Route { path: packet.path, entropy: packet.entropy }, verdict);
    }
    for packet in work.acked().iter().chain(work.spurious()) {
        let verdict = if packet.arrived_as == Some(Ecn::Ce) { Verdict::Ecn } else { Verdict::Good };
        balancer.on_verdict(now, Route { path: packet.path, entropy: packet.entropy }, verdict);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use cc_algos::controller::PacketRecord;

    use super::*;

    fn entropies(mut balancer: impl Balancer, packets: u64) -> Vec<u32> {
        (0..packets).map(|number| balancer.next_entropy(PathId(0), number).0).collect()
    }

    #[test]
    fn ecmp_keeps_a_flow_on_one_route_and_flows_apart() {
        let seen = entropies(Ecmp::new(1), 100);
        assert!(seen.iter().all(|entropy| *entropy == seen[0] && *entropy < 1 << 20), "{seen:?}");
        let flows: BTreeSet<u32> = (0..100).map(|seed| entropies(Ecmp::new(seed), 1)[0]).collect();
        assert!(flows.len() > 95, "of 100 draws from 2^20 hardly two are equal, but there are {}", flows.len());
    }

    #[test]
    fn round_robin_visits_every_entropy_in_turn_from_a_seeded_start() {
        let seen = entropies(Spray::round_robin(9, 4), 8);
        assert!(seen.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 4), "{seen:?}");
    }

    #[test]
    fn random_spraying_is_even_and_repeats_with_its_seed() {
        let seen = entropies(Spray::random(1, 8), 8_000);
        assert_eq!(seen, entropies(Spray::random(1, 8), 8_000));
        assert_ne!(seen, entropies(Spray::random(2, 8), 8_000));
        let mut counts = BTreeMap::new();
        seen.iter().for_each(|entropy| *counts.entry(*entropy).or_insert(0) += 1);
        // 1 000 each; the standard deviation is sqrt(8 000 x 1/8 x 7/8) = 29.6, five of them 148.
        assert_eq!(counts.len(), 8);
        assert!(counts.values().all(|count| (852..=1_148).contains(count)), "{counts:?}");
    }

    #[derive(Debug, Default, Clone)]
    struct Listener(Vec<(u32, Verdict)>);

    impl Balancer for Listener {
        fn next_entropy(&mut self, _path: PathId, _packet_number: u64) -> Entropy {
            Entropy(0)
        }
        fn on_verdict(&mut self, _now: Timestamp, route: Route, verdict: Verdict) {
            self.0.push((route.entropy.0, verdict));
        }
        fn listens(&self) -> bool {
            true
        }
        fn clone_box(&self) -> Box<dyn Balancer> {
            Box::new(self.clone())
        }
    }

    #[test]
    fn a_report_names_each_packets_route_and_fate() {
        let packet = |entropy, arrived_as| {
            let mut record = PacketRecord::new(0, 1_000, Timestamp::ZERO);
            record.entropy = Entropy(entropy);
            record.arrived_as = arrived_as;
            record
        };
        let mut work = Workspace::<()>::new();
        work.acked = vec![packet(1, Some(Ecn::Ect0)), packet(2, Some(Ecn::Ce)), packet(3, None)];
        work.lost = vec![packet(4, None)];
        let timeout = Cause::Timeout { consecutive: 1 };
        for (cause, lost) in [(Cause::Ack, Verdict::Nack), (Cause::Trim, Verdict::Nack), (timeout, Verdict::Timeout)] {
            work.lost_by = Some(cause);
            let mut listener = Listener::default();
            report(Timestamp::ZERO, &work, &mut listener);
            assert_eq!(listener.0, [(4, lost), (1, Verdict::Good), (2, Verdict::Ecn), (3, Verdict::Good)]);
        }
    }
}
