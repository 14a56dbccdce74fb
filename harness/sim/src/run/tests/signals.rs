//! What the network and the receiver tell a sender besides acknowledgements.

use std::sync::{Arc, Mutex};

use cc_algos::controller::{ControllerState, Feedback, Flight, Handover};
use cc_algos::receiver::{AckEvery, Notice, Received, ReceiverPolicy, Reply};
use cc_algos::signal::Signal;
use cc_algos::{Controller, Ecn, Need, Rate, Span, Timestamp};

use super::{dumbbell, experiment, flow, run};
use crate::error::Probability;
use crate::link::impair::LossSpec;
use crate::queue::{Capacity, MarkingSpec};
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
