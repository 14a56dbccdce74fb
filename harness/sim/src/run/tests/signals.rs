//! What the network and the receiver tell a sender besides acknowledgements.

use std::sync::{Arc, Mutex};

use cc_algos::controller::{ControllerState, Feedback, Flight, Handover};
use cc_algos::receiver::{AckEvery, Notice, Received, ReceiverPolicy, Reply};
use cc_algos::signal::{IntHop, Signal};
use cc_algos::{Controller, Ecn, Need, Rate, Span, Timestamp};

use super::{dumbbell, experiment, flow, run};
use crate::error::Probability;
use crate::link::impair::{LossSpec, Reorder};
use crate::queue::{Capacity, DisciplineSpec, FqCodelSpec, MarkingSpec};
use crate::spec::{Contestant, Experiment, FatTree, LinkSpec, Load, Topology};

/// What a [`Listener`] was told.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) signals: Vec<(Timestamp, Signal)>,
    acknowledged: Vec<Acknowledged>,
}

/// Parts of a feedback that an acknowledgement caused.
#[derive(Clone, Debug, PartialEq)]
struct Acknowledged {
    rtt: Span,
    ack_delay: Span,
    fabric_delay: Option<Span>,
    hops: Option<u8>,
    /// Largest packet newly acknowledged.
    newest: u64,
    int: Vec<IntHop>,
}

/// A fixed window that writes down what it is told.
#[derive(Clone, Debug)]
struct Listener {
    window: u64,
    heard: Arc<Mutex<Heard>>,
}

impl Controller for Listener {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &Flight<'_>) {
        let Some(rtt) = feedback.rtt else { return };
        self.heard.lock().unwrap().acknowledged.push(Acknowledged {
            rtt: rtt.latest,
            ack_delay: rtt.ack_delay,
            fabric_delay: feedback.fabric_delay,
            hops: feedback.hops,
            newest: feedback.acked.last().map_or(0, |packet| packet.packet_number),
            int: feedback.int.to_vec(),
        });
    }

    fn on_signal(&mut self, now: Timestamp, signal: &Signal, _: &Flight<'_>) {
        self.heard.lock().unwrap().signals.push((now, *signal));
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn state(&self) -> ControllerState {
        ControllerState::new(self.window, "fixed")
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn handover(&self) -> Handover {
        Handover::of_window(self.window)
    }
}

/// A contestant of [`Listener`]s, and what all of them hear.
pub(super) fn listener(window: u64) -> (Contestant, Arc<Mutex<Heard>>) {
    let heard = Arc::new(Mutex::new(Heard::default()));
    let listener = Listener { window, heard: Arc::clone(&heard) };
    (Contestant::new("listener", move |_| listener.clone_box()), heard)
}

/// A policy of the tests: congestion notifications of marks as DCQCN sends them, and credits by a timer.
#[derive(Clone, Debug)]
struct Policy {
    rule: AckEvery,
    interval: Span,
    notified_at: Option<Timestamp>,
    credit_at: Option<Timestamp>,
    granted: Arc<Mutex<u64>>,
}

impl ReceiverPolicy for Policy {
    fn on_received(&mut self, packet: &Received) -> Reply {
        let notice_due = self.notified_at.is_none_or(|at| packet.now >= at + self.interval);
        let notify = packet.ecn == Ecn::Ce && notice_due;
        if notify {
            self.notified_at = Some(packet.now);
        }
        self.credit_at.get_or_insert(packet.now + self.interval);
        Reply { notice: notify.then_some(Notice::CongestionNotification), ..self.rule.on_received(packet) }
    }

    fn on_timer(&mut self, now: Timestamp) -> Option<Notice> {
        self.credit_at = Some(now + self.interval);
        *self.granted.lock().unwrap() += 1_000;
        Some(Notice::Credit { bytes: 1_000 })
    }

    fn next_timer(&self) -> Option<Timestamp> {
        self.credit_at
    }

    fn clone_box(&self) -> Box<dyn ReceiverPolicy> {
        Box::new(self.clone())
    }
}

/// A bottleneck of 100 Mb/s and 2 ms of RTT that marks above 20 packets, a window of 100 packets, and the policy above.
fn marked(interval: Span) -> (Experiment, Arc<Mutex<Heard>>, Arc<Mutex<u64>>) {
    let (mut contestant, heard) = listener(120_000);
    let granted = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&granted);
    contestant.build_receiver = Arc::new(move |rule| {
        let granted = Arc::clone(&counter);
        Box::new(Policy { rule, interval, notified_at: None, credit_at: None, granted })
    });
    let mut topology = dumbbell(1, 100, 1, Capacity::Unlimited);
    let Topology::Dumbbell(links) = &mut topology else { unreachable!() };
    links.bottleneck.marking = MarkingSpec::Threshold { bytes: 24_000 };
    let mut experiment = experiment(topology, vec![flow(0, 1, Load::Unlimited)], "newreno", 1);
    experiment.contestants = vec![contestant];
    (experiment, heard, granted)
}

#[test]
fn congestion_notifications_reach_the_sender_at_most_once_per_interval() {
    let interval = Span::from_millis(10);
    let (experiment, heard, _) = marked(interval);
    let outcome = run(&experiment).unwrap();
    let heard = heard.lock().unwrap();
    let notified = heard.signals.iter().filter(|(_, signal)| *signal == Signal::CongestionNotification);
    let times: Vec<Timestamp> = notified.map(|(at, _)| *at).collect();
    // Marks come all the time, more than 5 000 of them: a notice each 10 ms and the next mark, for a second.
    assert!(outcome.flows[0].marked > 5_000, "{outcome:?}");
    assert!((95..=100).contains(&times.len()), "{}", times.len());
    // On the way back a notice waits for one acknowledgement at most, 6 us at 100 Mb/s.
    let jitter = Span::from_micros(10);
    assert!(times.windows(2).all(|pair| pair[1] + jitter >= pair[0] + interval), "{times:?}");
}

#[test]
fn notices_use_the_way_back_like_other_packets() {
    let bytes_back = |interval| run(&marked(interval).0).unwrap().ports[1].bytes;
    // In a second about 100 notifications and 100 credits against 1 of each.
    let (many, few) = (bytes_back(Span::from_millis(10)), bytes_back(Span::from_secs(1)));
    // 28 B of IP and UDP, 8 B connection id, 1 B flags, 1 to 2 B packet number, 16 B tag, and the frame: 2 B, or 3 to 5 B.
    let each = (many - few) as f64 / 198.0;
    assert!((57.0..61.0).contains(&each), "{each} B a notice");
}

#[test]
fn credits_add_up_to_what_was_granted_though_notices_are_lost() {
    let (mut experiment, heard, granted) = marked(Span::from_millis(1));
    let Topology::Dumbbell(links) = &mut experiment.topology else { unreachable!() };
    links.reverse.impairments.loss = LossSpec::Bernoulli(Probability::new(0.3).unwrap());
    links.reverse.impairments.duplicate = Probability::new(0.3).unwrap();
    run(&experiment).unwrap();
    let heard = heard.lock().unwrap();
    let credits = heard.signals.iter().filter_map(|(_, signal)| match signal {
        Signal::Credit { bytes } => Some(*bytes),
        _ => None,
    });
    let (count, received) = (credits.clone().count() as u64, credits.sum::<u64>());
    let granted = *granted.lock().unwrap();
    // About 1 000 grants. Ten in a row are lost with a chance of 6e-6.
    assert!(granted > 900_000, "{granted}");
    assert!(received <= granted && received + 10_000 >= granted, "{received} of {granted}");
    assert!(count * 1_000 < granted * 8 / 10, "{count} notices: some were lost");
}

#[test]
fn runs_with_notices_repeat_to_the_byte() {
    let outcomes = [(); 2].map(|()| {
        let (experiment, heard, _) = marked(Span::from_millis(3));
        let outcome = run(&experiment).unwrap();
        let signals = heard.lock().unwrap().signals.clone();
        (outcome, signals)
    });
    assert_eq!(outcomes[0], outcomes[1]);
}

/// One flow of ten packets over a fat-tree of 16 hosts.
fn over_a_fat_tree(destination: u32, need: Option<Need>) -> Vec<Acknowledged> {
    let link = LinkSpec::fixed(Rate::from_gbps(10), Span::from_micros(1));
    let topology = Topology::FatTree(FatTree { k: 4, link: link.clone(), host_up: link });
    let (contestant, heard) = listener(12_000);
    let mut experiment = experiment(topology, vec![flow(0, destination, Load::Bytes(10_000))], "newreno", 1);
    experiment.contestants = vec![need.into_iter().fold(contestant, Contestant::needing)];
    run(&experiment).unwrap();
    let acknowledged = heard.lock().unwrap().acknowledged.clone();
    assert!(acknowledged.len() >= 5, "{acknowledged:?}");
    acknowledged
}

#[test]
fn flows_that_ask_are_told_how_many_switches_their_packets_pass() {
    // Hosts 0 and 1 share an edge switch, 2 has another in the same pod, 15 is in another pod.
    for (destination, switches) in [(1, 1), (2, 3), (15, 5)] {
        let asked = over_a_fat_tree(destination, Some(Need::HopCount));
        assert!(asked.iter().all(|one| one.hops == Some(switches)), "to {destination}: {asked:?}");
        let others = over_a_fat_tree(destination, None);
        assert!(others.iter().all(|one| one.hops.is_none()), "to {destination}: {others:?}");
    }
}

#[test]
fn the_fabric_delay_is_the_rtt_without_the_receivers_delay() {
    let (mut experiment, heard, _) = marked(Span::from_secs(1));
    // A window of one packet: each is acknowledged 25 ms after it has come, since none follows.
    let (contestant, alone) = listener(1_200);
    experiment.contestants = vec![contestant];
    run(&experiment).unwrap();
    assert!(heard.lock().unwrap().acknowledged.is_empty());
    let acknowledged = alone.lock().unwrap().acknowledged.clone();
    assert!(acknowledged.len() > 30, "{acknowledged:?}");
    for one in acknowledged {
        assert_eq!(one.ack_delay, Span::from_millis(25));
        assert_eq!(one.fabric_delay, Some(one.rtt - one.ack_delay));
        // 2 ms of propagation in both bottlenecks and 40 us at hosts; 1 200 B and some 60 B take 101 us at 100 Mb/s.
        let expected = Span::from_micros(2_141);
        assert!(one.fabric_delay.is_some_and(|delay| delay.abs_diff(expected) < Span::from_micros(5)), "{one:?}");
    }
}

/// The dumbbell of [`marked`] with a flow that asks for telemetry.
fn asking(load: Load) -> (Experiment, Arc<Mutex<Heard>>) {
    let (mut experiment, _, _) = marked(Span::from_secs(1));
    let (contestant, heard) = listener(120_000);
    experiment.contestants = vec![contestant.needing(Need::Int)];
    experiment.flows = vec![flow(0, 1, load)];
    (experiment, heard)
}

/// Ports of that dumbbell: the sender's host, the bottleneck, the link to the receiver.
const PORTS: [u32; 3] = [0, 4, 3];

#[test]
fn telemetry_of_a_full_bottleneck_gives_its_rate_its_queue_and_its_count() {
    let (mut experiment, heard) = asking(Load::Unlimited);
    experiment.sample_every = Some(Span::from_millis(7));
    let outcome = run(&experiment).unwrap();
    let heard = heard.lock().unwrap();
    let stacks: Vec<_> = heard.acknowledged.iter().map(|one| (one.newest, &one.int)).collect();
    assert!(stacks.len() > 2_500 && stacks.iter().all(|(_, int)| int.iter().map(|hop| hop.port).eq(PORTS)));
    for (newest, int) in &stacks {
        // Each packet has grown by one record of 20 B since it left its host, and nothing was lost.
        assert_eq!(int[1].tx_bytes - int[0].tx_bytes, 20 * (newest + 1), "packet {newest}");
        assert!(int[0].at < int[1].at && int[1].at < int[2].at, "{int:?}");
        assert_eq!((int[1].rate, int[2].rate), (Rate::from_mbps(100), Rate::from_gbps(10)));
        assert_eq!(int[2].queue_bytes, 0, "nothing queues behind the bottleneck");
    }
    // Once the pacer knows the RTT, the queue never runs dry, so that what leaves between two records is what the link
    // carries: 12.5 B a microsecond, but for the nanosecond that times are cut to.
    let settled = stacks.iter().position(|(_, int)| int[1].at > Timestamp::ZERO + Span::from_millis(500)).unwrap();
    assert!(settled + 1_500 < stacks.len());
    for pair in stacks[settled..].windows(2) {
        let (before, after) = (pair[0].1[1], pair[1].1[1]);
        let nanos = after.at.saturating_since(before.at).as_nanos();
        let carried = (after.tx_bytes - before.tx_bytes) * 80;
        assert!(carried.abs_diff(nanos) <= 1, "{carried} ns of bytes in {nanos} ns");
    }
    // Sampled in between, the queue holds what a packet leaves behind, and perhaps the packet itself or one that has come.
    let (_, last) = stacks[stacks.len() - 1];
    let packet = experiment.endpoints.sender.mtu + 40;
    for sample in outcome.samples.iter().skip(75) {
        let backlog = sample.ports[0].backlog;
        assert!(backlog.abs_diff(last[1].queue_bytes) <= 2 * packet, "{backlog} and {last:?}");
    }
    let unreported = outcome.ports[0].bytes - last[1].tx_bytes;
    // What 2 ms of propagation hold, 25 000 B, and a packet or two that wait for their acknowledgement.
    assert!((25_000..25_000 + 4 * packet).contains(&unreported), "{unreported} B on their way");
}

#[test]
fn telemetry_weighs_what_its_encoding_takes() {
    let bytes = |experiment: &Experiment| {
        let ports = run(experiment).unwrap().ports;
        (ports[0].bytes, ports[1].bytes)
    };
    let (mut experiment, _) = asking(Load::Bytes(500));
    let (with, with_back) = bytes(&experiment);
    experiment.contestants[0].needs.clear();
    let (without, without_back) = bytes(&experiment);
    // On the bottleneck the prefix of 2 B and records of the host's port and its own; back, a count and three records.
    assert_eq!((with - without, with_back - without_back), (2 + 2 * 20, 1 + 3 * 20));
}

#[test]
fn telemetry_names_every_port_of_the_way() {
    for (destination, ports) in [(1, 2), (2, 4), (15, 6)] {
        for one in over_a_fat_tree(destination, Some(Need::Int)) {
            assert_eq!(one.int.len(), ports, "to {destination}: {one:?}");
            assert_eq!((one.int[0].port, one.int[ports - 1].port), (0, 16 + destination));
            assert!(one.int.is_sorted_by_key(|hop| hop.at), "{one:?}");
        }
        assert!(over_a_fat_tree(destination, None).iter().all(|one| one.int.is_empty()));
    }
}

#[test]
fn queues_that_decide_at_dequeue_write_telemetry_too() {
    let (mut experiment, heard) = asking(Load::Unlimited);
    let Topology::Dumbbell(links) = &mut experiment.topology else { unreachable!() };
    links.bottleneck.marking = MarkingSpec::None;
    links.bottleneck.discipline = DisciplineSpec::FqCodel(FqCodelSpec::default());
    run(&experiment).unwrap();
    let heard = heard.lock().unwrap();
    let bottleneck: Vec<_> = heard.acknowledged.iter().skip(100).map(|one| one.int[1]).collect();
    assert!(bottleneck.len() > 3_000);
    for pair in bottleneck.windows(2) {
        let nanos = pair[1].at.saturating_since(pair[0].at).as_nanos();
        let carried = (pair[1].tx_bytes - pair[0].tx_bytes) * 80;
        assert!(carried.abs_diff(nanos) <= 1, "{carried} ns of bytes in {nanos} ns");
        assert!(pair[0].queue_bytes > 50_000, "{pair:?}");
    }
}

#[test]
fn packets_that_a_link_doubles_or_holds_back_bring_no_telemetry_rather_than_half_of_it() {
    let (mut experiment, heard) = asking(Load::Unlimited);
    let Topology::Dumbbell(links) = &mut experiment.topology else { unreachable!() };
    let some = Probability::new(0.2).unwrap();
    links.bottleneck.impairments.duplicate = some;
    links.bottleneck.impairments.loss = LossSpec::Bernoulli(some);
    links.bottleneck.impairments.reorder = Some(Reorder { probability: some, extra: Span::from_millis(3) });
    run(&experiment).unwrap();
    let heard = heard.lock().unwrap();
    let (whole, none): (Vec<_>, Vec<_>) = heard.acknowledged.iter().partition(|one| !one.int.is_empty());
    assert!(whole.len() > 500 && none.len() > 20, "{} and {}", whole.len(), none.len());
    assert!(whole.iter().all(|one| one.int.iter().map(|hop| hop.port).eq(PORTS)));
}

#[test]
fn ports_that_write_telemetry_treat_all_packets_as_others_do() {
    for algorithm in ["dctcp", "cubic"] {
        let (mut experiment, _, _) = marked(Span::from_secs(1));
        experiment.contestants = vec![super::contestant(algorithm)];
        let plain = run(&experiment).unwrap();
        experiment.contestants.push(listener(1).0.needing(Need::Int));
        assert_eq!(run(&experiment).unwrap(), plain, "{algorithm}");
    }
}
