//! BBR, version 1: ACM Queue 14(5), 2016, and what was found of it since.

use cc_algos::{ControllerState, Rate, Span, Timestamp};
use cwndtunnel_tests::{
    MTU, Watch, at, bulk, contestant, delivery_rate, drop_tail, dumbbell, experiment, experiment_of, losing,
    mean_backlog, payload, probability, run, seconds,
};
use sim::Outcome;
use sim::link::impair::LossSpec;
use sim::link::{Change, ServiceSpec};
use sim::queue::{Capacity, Excess, PolicerSpec};
use sim::spec::{LinkSpec, Start};

/// The path of most tests here: a bandwidth-delay product of 67 packets.
pub(crate) const RATE: Rate = Rate::from_mbps(20);
pub(crate) const RTT: Span = Span::from_millis(40);

/// That path with a buffer of so many bandwidth-delay products.
pub(crate) fn path(buffer: f64) -> LinkSpec {
    buffered(RATE, RTT, buffer)
}

pub(crate) fn buffered(rate: Rate, rtt: Span, buffer: f64) -> LinkSpec {
    let bytes = rate.bytes_in(rtt) as f64 * buffer;
    drop_tail(rate, rtt.mul_div(1, 2), Capacity::Bytes(bytes as u64))
}

/// One flow over a link, watched from inside.
pub(crate) fn alone(algorithm: &str, link: LinkSpec, duration: f64) -> (Outcome, Watch) {
    let (contestant, watch) = Watch::over(algorithm);
    let mut experiment = experiment_of(vec![contestant], dumbbell(1, link), bulk(1), seconds(duration));
    experiment.sample_every = Some(Span::from_millis(10));
    (run(&experiment), watch)
}

/// Two flows over a link of `buffer` bandwidth-delay products, of which the second begins after three seconds. Their shares
/// of the link over the last 20 of 40 seconds, and the share of packets that each lost over all.
pub(crate) fn against(first: &str, second: &str, buffer: f64) -> ([f64; 2], [f64; 2]) {
    let mut flows = bulk(2);
    flows[1].contestant = 1;
    flows[1].start = Start::At(at(seconds(3.0)));
    let contestants = vec![contestant(first), contestant(second)];
    let mut experiment = experiment_of(contestants, dumbbell(2, path(buffer)), flows, seconds(40.0));
    experiment.sample_every = Some(Span::from_millis(100));
    let outcome = run(&experiment);
    let lost = |flow: usize| outcome.flows[flow].lost as f64 / outcome.flows[flow].packets_sent as f64;
    ([0, 1].map(|flow| share(&outcome, flow, RATE, (20.0, 40.0))), [lost(0), lost(1)])
}

/// The share of a link that a flow's full packets use between two times, seconds.
pub(crate) fn share(outcome: &Outcome, flow: usize, rate: Rate, (from, to): (f64, f64)) -> f64 {
    let wire = delivery_rate(outcome, flow, at(seconds(from)), at(seconds(to))) * MTU as f64 / payload(MTU) as f64;
    wire * 8.0 / rate.as_bps() as f64
}

/// A link whose rate changes after ten seconds.
pub(crate) fn changing(buffer: f64, to: Rate) -> LinkSpec {
    let fixed = ServiceSpec::fixed(RATE).expect("a rate");
    let service = fixed.with_changes([(seconds(10.0), Change::Rate(to))]).expect("one change");
    LinkSpec { service, ..path(buffer) }
}

/// A link ten times as fast as its policer.
pub(crate) fn policed() -> LinkSpec {
    let mut link = LinkSpec::fixed(Rate::from_mbps(100), RTT.mul_div(1, 2));
    link.policer = Some(PolicerSpec { rate: Rate::from_mbps(10), burst_bytes: 100_000, excess: Excess::Drop });
    link
}

/// Windows in whole packets and rates in Mb/s, four times a second.
pub(crate) fn course(watch: &Watch, quarters: u64) -> String {
    let picture = |quarter: u64| {
        let state = watch.state_at(at(Span::from_millis(250 * quarter)));
        format!("{}:{}", state.window / MTU, state.pacing_rate.unwrap_or_default().as_bps() / 1_000_000)
    };
    (1..=quarters).map(picture).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_link_is_full_and_its_queue_is_not() {
    for buffer in [1.0, 4.0] {
        let (outcome, _) = alone("bbr", path(buffer), 9.0);
        // It paces at 99 % of the bandwidth, apart from the eighth of the time when it probes and the one when it yields.
        let used = share(&outcome, 0, RATE, (2.0, 9.0));
        assert!((0.975..=1.01).contains(&used), "{used}");
        let backlog = mean_backlog(&outcome, 0) / RATE.bytes_in(RTT) as f64;
        assert!(backlog < 0.25, "{backlog} bandwidth-delay products");
    }
}

#[test]
fn the_states_follow_one_another_as_published() {
    let (_, watch) = alone("bbr", path(4.0), 9.0);
    let phases: Vec<_> = watch.phases().iter().map(|(_, phase)| *phase).collect();
    assert_eq!(phases[..2], ["startup", "drain"]);
    assert!(phases[2..].iter().all(|phase| phase.starts_with("probe_bw_")), "{phases:?}");
    // Eight phases of a min_rtt each; the one that probes goes on until 1.25 BDP are in flight.
    let ups = watch.begins("probe_bw_up");
    for pair in ups.windows(2).skip(1) {
        let rounds = pair[1].saturating_since(pair[0]).as_secs_f64() / RTT.as_secs_f64();
        assert!((7.0..=9.0).contains(&rounds), "{rounds}");
    }
    let gains = [("probe_bw_up", 1.25), ("probe_bw_down", 0.75), ("probe_bw_cruise", 1.0)];
    for (phase, gain) in gains {
        let state = watch.state_at(watch.begins(phase)[3]);
        let paced = state.pacing_rate.expect("it paces").as_bps() as f64 / RATE.as_bps() as f64;
        assert!((paced / (0.99 * gain) - 1.0).abs() < 0.01, "{phase}: {paced}");
    }
}

#[test]
fn every_ten_seconds_it_empties_the_pipe_for_200_ms() {
    let (_, watch) = alone("bbr", path(1.0), 25.0);
    let begins = watch.begins("probe_rtt");
    let phases = watch.phases();
    assert_eq!(begins.len(), 2, "{begins:?}");
    let apart = begins[1].saturating_since(begins[0]).as_secs_f64();
    assert!((10.0..10.6).contains(&apart), "{apart}");
    for begin in begins {
        let end = phases.iter().find(|(at, _)| *at > begin).expect("it ends").0;
        let lasted = end.saturating_since(begin);
        assert!((Span::from_millis(200)..Span::from_millis(330)).contains(&lasted), "{lasted}");
        assert_eq!(watch.state_at(begin + Span::from_millis(150)).window, 4 * MTU);
        assert!(watch.state_at(end + Span::from_millis(100)).window > 60 * MTU, "the window is back");
    }
}

/// CACM 60(2), 2017, figure 8 (its setting by memory): 100 Mb/s and 100 ms, losses at random. BBR gets what is left up to
/// some 5 %, and half or more of it at 15 %; CUBIC has lost nine tenths at 0.1 %.
#[test]
fn random_losses_hardly_slow_it_down() {
    let rate = Rate::from_mbps(100);
    let rtt = Span::from_millis(100);
    let used = |algorithm: &str, loss: f64| {
        let link = losing(buffered(rate, rtt, 1.0), LossSpec::Bernoulli(probability(loss)));
        let mut experiment = experiment(algorithm, dumbbell(1, link), bulk(1), seconds(9.5));
        experiment.sample_every = Some(Span::from_millis(100));
        share(&run(&experiment), 0, rate, (3.0, 9.5))
    };
    for (loss, least) in [(0.001, 0.95), (0.01, 0.93), (0.05, 0.85), (0.15, 0.5)] {
        let share = used("bbr", loss);
        assert!(share > least, "{share} at {loss}");
    }
    for loss in [0.001, 0.01, 0.05] {
        let share = used("cubic", loss);
        assert!(share < 0.1, "{share} at {loss}");
    }
}

/// Hock et al., ICNP'17, section V, and Ware et al., IMC'19: it crowds loss-based flows out of shallow buffers, and holds
/// about 40 % beside one of them in deep ones.
#[test]
fn it_crowds_cubic_out_of_shallow_buffers_and_not_out_of_deep_ones() {
    let ([bbr, cubic], lost) = against("bbr", "cubic", 0.5);
    assert!(bbr > 0.85 && cubic < 0.1, "{bbr} {cubic}");
    assert!(lost[1] > 0.05, "{lost:?}");
    let ([bbr, cubic], _) = against("bbr", "cubic", 4.0);
    assert!((0.3..0.5).contains(&bbr) && cubic > 0.5, "{bbr} {cubic}");
}

#[test]
fn flows_share_a_deep_buffer_without_loss() {
    let (shares, lost) = against("bbr", "bbr", 4.0);
    assert!(shares.iter().all(|share| (0.4..0.6).contains(share)), "{shares:?}");
    assert!(lost.iter().all(|lost| *lost < 1e-3), "{lost:?}");
}

/// ACM Queue, figure 3: the bandwidth grows by a quarter in each cycle of eight RTTs, and a fall is known after ten rounds.
#[test]
fn it_follows_changes_of_bandwidth() {
    let (_, watch) = alone("bbr", changing(4.0, Rate::from_mbps(80)), 13.0);
    let bw_at = |watch: &Watch, seconds_: f64| watch.gauge_at("bw_bps", at(seconds(seconds_))).expect("it has one");
    // ln 4 / ln 1.25 = 6.2 cycles of 0.32 s.
    let risen = bw_at(&watch, 12.6);
    assert!(risen > 0.98 * 80e6, "{risen}");
    let (_, watch) = alone("bbr", changing(4.0, Rate::from_mbps(5)), 14.0);
    let fallen = bw_at(&watch, 13.0);
    assert!((fallen / 5e6 - 1.0).abs() < 0.02, "{fallen}");
}

/// Flach et al., SIGCOMM'16: the flow finds out the policer's rate, and keeps to it for 48 round trips.
#[test]
fn it_keeps_to_the_rate_of_a_policer() {
    let (outcome, watch) = alone("bbr", policed(), 4.0);
    let policed_at = |state: &ControllerState| state.gauges().find(|(name, _)| *name == "policed_bps");
    let states = watch.states();
    let (found, state) = states.iter().find(|(_, state)| policed_at(state).is_some()).expect("it is found");
    assert!((policed_at(state).expect("found").1 / 10e6 - 1.0).abs() < 0.05, "{state:?}");
    let after = |at: &Timestamp, state: &ControllerState| at > found && policed_at(state).is_none();
    let (end, _) = states.iter().find(|(at, state)| after(at, state)).expect("it is given up");
    let rounds = end.saturating_since(*found).as_secs_f64() / RTT.as_secs_f64();
    assert!((46.0..=52.0).contains(&rounds), "{rounds}");
    let used = share(&outcome, 0, Rate::from_mbps(10), (1.0, 4.0));
    assert!(used > 0.95, "{used}");
    let (_, heedless) = alone("bbr?policer=off", policed(), 4.0);
    assert!(heedless.states().iter().all(|(_, state)| policed_at(state).is_none()));
}

#[test]
fn a_run_is_as_recorded() {
    let (_, watch) = alone("bbr", path(1.0), 11.0);
    insta::assert_snapshot!(course(&watch, 43), @"202:55 131:19 148:24 144:19 144:19 144:19 146:24 144:19 144:19 144:19 146:24 144:19 144:19 144:14 144:24 144:19 144:19 144:14 144:19 144:19 144:19 144:14 144:19 144:19 144:19 146:24 144:19 144:19 144:19 146:24 144:19 144:19 144:19 146:24 144:19 144:19 144:14 144:19 144:19 144:19 4:19 144:19 146:24");
}
