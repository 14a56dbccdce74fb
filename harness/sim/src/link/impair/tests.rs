use proptest::prelude::*;

use super::*;

const DATA: PacketInfo = PacketInfo { flow: 0, class: PacketClass::Data };
const ACK: PacketInfo = PacketInfo { flow: 0, class: PacketClass::PureAck };

fn p(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

fn impairments(spec: ImpairmentSpec) -> Impairments {
    Impairments::new(spec, rng::stream(1, "impairments", 0)).unwrap()
}

fn micros(micros: u64) -> SimTime {
    SimTime::ZERO + Span::from_micros(micros)
}

/// Which of `packets` data packets, one a microsecond, are lost.
fn losses(loss: LossSpec, packets: u64) -> Vec<bool> {
    let mut link = impairments(ImpairmentSpec { loss, ..ImpairmentSpec::default() });
    (0..packets).map(|i| link.judge(micros(i), &DATA) == Fate::Lost(LossReason::Loss)).collect()
}

fn delivery(fate: Fate) -> Delivery {
    match fate {
        Fate::Delivered(delivery) => delivery,
        Fate::Lost(reason) => panic!("lost: {reason:?}"),
    }
}

#[test]
fn without_impairments_packets_pass_at_once() {
    let spec = ImpairmentSpec::default();
    assert!(spec.is_none());
    let passed = Delivery { at: micros(7), order: Order::InOrder, condition: Condition::Intact, copies: 1 };
    assert_eq!(impairments(spec).judge(micros(7), &DATA), Fate::Delivered(passed));
}

#[test]
fn bernoulli_loses_its_share() {
    let lost = losses(LossSpec::Bernoulli(p(0.02)), 100_000).iter().filter(|lost| **lost).count();
    // Mean 2 000, standard deviation 44.3; five of them.
    assert!((1_778..=2_222).contains(&lost), "{lost}");
}

#[test]
fn gilbert_elliott_matches_its_closed_forms() {
    // The chain of picoquic's satellite tests: p = 0.01, r = 0.167, all lost while bad.
    let chain = GilbertElliott { to_bad: p(0.01), to_good: p(0.167), loss_good: p(0.0), loss_bad: p(1.0) };
    assert!((chain.stationary_loss() - 0.01 / 0.177).abs() < 1e-12);
    let packets = 1_000_000;
    let lost = losses(LossSpec::GilbertElliott(chain), packets);
    let count = lost.iter().filter(|lost| **lost).count() as f64;
    let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    // Renewal argument: cycles of 1/p + 1/r = 106 packets, so 9 430 bursts; their number has a standard deviation
    // below 97, and the mean length 1/r = 5.99 one of sqrt(1 - r) / r / sqrt(9 430) = 0.056. Five of each.
    assert!((bursts - 9_435.0).abs() < 485.0, "{bursts}");
    assert!((count / bursts - 1.0 / 0.167).abs() < 0.28, "{}", count / bursts);
    // Loss 0.0565: 9 430 bursts of deviation 5.5 give 534 packets, twice that with their number; five of these.
    assert!((count / packets as f64 - chain.stationary_loss()).abs() < 0.005, "{count}");
}

#[test]
fn partial_losses_in_both_states_mix_by_their_shares() {
    let chain = GilbertElliott { to_bad: p(0.3), to_good: p(0.2), loss_good: p(0.1), loss_bad: p(0.6) };
    // 0.4 x 0.1 + 0.6 x 0.6 = 0.4. The chain forgets within 1 / (p + r) = 2 packets, so a million packets have a
    // standard deviation below 0.001.
    assert!((chain.stationary_loss() - 0.4).abs() < 1e-12);
    let lost = losses(LossSpec::GilbertElliott(chain), 1_000_000).iter().filter(|lost| **lost).count();
    assert!((395_000..=405_000).contains(&lost), "{lost}");
}

#[test]
fn periodic_and_scripted_losses_count_data_packets_only() {
    let lost_data = |loss: LossSpec| {
        let mut link = impairments(ImpairmentSpec { loss, ..ImpairmentSpec::default() });
        (0..10_u64)
            .filter(|_| {
                assert!(matches!(link.judge(SimTime::ZERO, &ACK), Fate::Delivered(_)));
                matches!(link.judge(SimTime::ZERO, &DATA), Fate::Lost(_))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(lost_data(LossSpec::Periodic { every: 4, offset: 1 }), [1, 5, 9]);
    assert_eq!(lost_data(LossSpec::Packets([0, 3, 4, 99].into())), [0, 3, 4]);
}

#[test]
fn an_outage_loses_everything_from_its_beginning_until_before_its_end() {
    let outage = |from, until| Outage { from: Span::from_micros(from), until: Span::from_micros(until) };
    let lost = losses(LossSpec::Outages([outage(2, 4), outage(4, 5), outage(8, 9)].into()), 11);
    let when: Vec<_> = (0..11).filter(|i| lost[*i]).collect();
    assert_eq!(when, [2, 3, 4, 8]);
}

#[test]
fn jitter_never_reorders_and_stays_within_its_longest_delay() {
    let max = Span::from_millis(5);
    let ms = Span::from_millis;
    let laws = [
        JitterLaw::Uniform { max },
        JitterLaw::Normal { mean: ms(2), deviation: ms(1), max },
        JitterLaw::Exponential { mean: ms(1), max },
        JitterLaw::Pareto { scale: ms(1), shape: 1.5, max },
    ];
    for law in laws {
        let jitter = Some(JitterSpec::per_packet(law));
        let mut link = impairments(ImpairmentSpec { jitter, ..ImpairmentSpec::default() });
        let mut last = SimTime::ZERO;
        for i in 0..10_000 {
            let now = micros(i * 500);
            let Delivery { at, order, .. } = delivery(link.judge(now, &DATA));
            assert!(at >= last && at >= now && at <= now + max, "{law:?}");
            assert_eq!(order, Order::InOrder);
            last = at;
        }
    }
}

#[test]
fn laws_of_jitter_have_their_means() {
    let (max, ms) = (Span::from_secs(3_600), Span::from_millis);
    // Packets a day apart do not wait for each other. Standard error of the mean of 20 000: law's deviation / 141.
    let cases = [
        (JitterLaw::Uniform { max: ms(10) }, 5.0, 2.9),
        (JitterLaw::Normal { mean: ms(20), deviation: ms(2), max }, 20.0, 2.0),
        (JitterLaw::Exponential { mean: ms(4), max }, 4.0, 4.0),
        // Lomax with shape 4: mean 9 / 3 = 3 ms, deviation mean x sqrt(4 / 2) = 4.2 ms.
        (JitterLaw::Pareto { scale: ms(9), shape: 4.0, max }, 3.0, 4.3),
    ];
    for (law, mean, deviation) in cases {
        let mut random = rng::stream(7, "jitter", 0);
        let mut jitter = Jitter::new(JitterSpec::per_packet(law), random.clone());
        random.jump();
        let sum: f64 = (0..20_000).map(|_| jitter.draw(SimTime::ZERO).as_secs_f64() * 1e3).sum();
        let error: f64 = sum / 20_000.0 - mean;
        assert!(error.abs() < 5.0 * deviation / 141.0, "{law:?}: {error}");
    }
}

#[test]
fn a_held_delay_stays_for_its_time() {
    let jitter = JitterSpec { law: JitterLaw::Uniform { max: Span::from_millis(50) }, hold: Span::from_millis(10) };
    let mut link = Jitter::new(jitter, rng::stream(1, "jitter", 0));
    let delays: Vec<_> = (0..40).map(|ms| link.draw(micros(ms * 1_000))).collect();
    let distinct = delays.chunk_by(|a, b| a == b).map(<[_]>::len).collect::<Vec<_>>();
    assert_eq!(distinct, [10, 10, 10, 10]);
}

#[test]
fn a_packet_held_back_is_overtaken_and_does_not_delay_the_others() {
    let reorder = Some(Reorder { probability: p(0.1), extra: Span::from_micros(50) });
    let mut link = impairments(ImpairmentSpec { reorder, ..ImpairmentSpec::default() });
    let mut held = 0;
    for i in 0..10_000 {
        let Delivery { at, order, .. } = delivery(link.judge(micros(i), &DATA));
        match order {
            Order::InOrder => assert_eq!(at, micros(i)),
            Order::HeldBack => {
                assert_eq!(at, micros(i + 50));
                held += 1;
            }
        }
    }
    // Mean 1 000, standard deviation 30.
    assert!((850..=1_150).contains(&held), "{held}");
}

#[test]
fn duplicates_and_corruption_come_at_their_rates() {
    let spec = ImpairmentSpec { duplicate: p(0.2), corrupt: p(0.1), ..ImpairmentSpec::default() };
    let mut link = impairments(spec);
    let all: Vec<_> = (0..10_000).map(|_| delivery(link.judge(SimTime::ZERO, &DATA))).collect();
    let twice = all.iter().filter(|delivery| delivery.copies == 2).count();
    let corrupt = all.iter().filter(|delivery| delivery.condition == Condition::Corrupt).count();
    // Standard deviations 40 and 30.
    assert!((1_800..=2_200).contains(&twice) && (850..=1_150).contains(&corrupt), "{twice} {corrupt}");
}

#[test]
fn thinning_keeps_every_nth_ack_of_each_flow_and_all_of_a_slow_one() {
    let ack_thinning = Some(AckThinning { every: 3, hold: Span::from_millis(10) });
    let mut link = impairments(ImpairmentSpec { ack_thinning, ..ImpairmentSpec::default() });
    let mut passes = |us, packet| matches!(link.judge(micros(us), &packet), Fate::Delivered(_));
    let fast: Vec<_> = (0..9).filter(|i| passes(*i, ACK)).collect();
    assert_eq!(fast, [0, 3, 6]);
    // Another flow counts for itself, data always passes.
    assert!(passes(9, PacketInfo { flow: 1, ..ACK }) && passes(9, DATA));
    // One ACK each 10 ms passes whole.
    assert!((1..20).all(|i| passes(i * 10_000 + 9, ACK)));
}

#[test]
fn the_luck_of_a_packet_does_not_depend_on_other_impairments() {
    let plain = ImpairmentSpec { loss: LossSpec::Bernoulli(p(0.1)), ..ImpairmentSpec::default() };
    let law = JitterLaw::Uniform { max: Span::from_nanos(900) };
    let all = ImpairmentSpec {
        duplicate: p(0.5),
        corrupt: p(0.5),
        reorder: Some(Reorder { probability: p(0.5), extra: Span::from_micros(1) }),
        jitter: Some(JitterSpec::per_packet(law)),
        ..plain.clone()
    };
    let fates = |spec| {
        let mut link = impairments(spec);
        (0..1_000).map(|i| matches!(link.judge(micros(i), &DATA), Fate::Lost(_))).collect::<Vec<_>>()
    };
    assert_eq!(fates(plain), fates(all));
}

#[test]
fn nonsense_is_refused_with_the_rule_it_breaks() {
    let message = |loss: LossSpec| {
        let spec = ImpairmentSpec { loss, ..ImpairmentSpec::default() };
        Impairments::new(spec, rng::stream(1, "impairments", 0)).unwrap_err().to_string()
    };
    assert_eq!(message(LossSpec::Periodic { every: 0, offset: 0 }), "loss period is 0, expected at least 1 packet");
    assert_eq!(message(LossSpec::Periodic { every: 2, offset: 2 }), "loss offset is 2, expected less than the period");
    assert_eq!(message(LossSpec::Packets([].into())), "lost packets is empty, expected at least one packet number");
    assert!(message(LossSpec::Packets([3, 3].into())).contains("entry 1 (counted from 0): expected ascending numbers"));
    let still = GilbertElliott { to_bad: p(0.0), to_good: p(0.0), loss_good: p(0.0), loss_bad: p(1.0) };
    assert!(message(LossSpec::GilbertElliott(still)).contains("transition"));
    let backwards = Outage { from: Span::from_secs(2), until: Span::from_secs(1) };
    assert!(message(LossSpec::Outages([backwards].into())).contains("an end after its beginning"));
    let zero = JitterSpec::per_packet(JitterLaw::Uniform { max: Span::ZERO });
    assert!(zero.validate().is_err());
    let law = JitterLaw::Pareto { scale: Span::from_millis(1), shape: f64::NAN, max: Span::from_millis(1) };
    assert!(JitterSpec::per_packet(law).validate().unwrap_err().to_string().contains("NaN"));
    assert!(AckThinning { every: 0, hold: Span::ZERO }.validate().is_err());
}

proptest! {
    #[test]
    fn the_same_seed_gives_the_same_fates_and_arrivals_in_order(
        seed: u64, loss in 0.0..=1.0_f64, gaps in prop::collection::vec(0_u64..u64::MAX / 64, 1..64),
    ) {
        let spec = ImpairmentSpec {
            loss: LossSpec::Bernoulli(p(loss)),
            jitter: Some(JitterSpec::per_packet(JitterLaw::Exponential { mean: Span::from_secs(1), max: Span::MAX })),
            reorder: Some(Reorder { probability: p(0.2), extra: Span::MAX }),
            ..ImpairmentSpec::default()
        };
        let run = || {
            let mut link = Impairments::new(spec.clone(), rng::stream(seed, "impairments", 0)).unwrap();
            let mut now = SimTime::ZERO;
            let fates = gaps.iter().map(|gap| {
                now = now.plus_picos(*gap);
                link.judge(now, &DATA)
            });
            fates.collect::<Vec<_>>()
        };
        let fates = run();
        prop_assert_eq!(&fates, &run());
        let in_order: Vec<_> = fates.iter().filter_map(|fate| match fate {
            Fate::Delivered(Delivery { at, order: Order::InOrder, .. }) => Some(*at),
            _ => None,
        }).collect();
        prop_assert!(in_order.is_sorted());
    }
}

#[test]
fn a_step_down_of_the_schedule_releases_what_left_meanwhile_in_one_burst_and_in_order() {
    let step = |at, delay| JitterStep { at: Span::from_micros(at), delay: Span::from_micros(delay) };
    let jitter_schedule = JitterSchedule::new([step(0, 0), step(10, 30), step(20, 0)]).unwrap();
    let mut link = impairments(ImpairmentSpec { jitter_schedule, ..ImpairmentSpec::default() });
    let mut arrives = |at| {
        let delivery = delivery(link.judge(micros(at), &DATA));
        assert_eq!(delivery.order, Order::InOrder);
        delivery.at
    };
    assert_eq!(arrives(5), micros(5));
    assert_eq!(arrives(12), micros(42));
    assert_eq!(arrives(19), micros(49));
    for at in [21, 30, 48] {
        assert_eq!(arrives(at), micros(49), "they wait for the one before");
    }
    assert_eq!(arrives(60), micros(60));
}

#[test]
fn blocks_lose_so_many_packets_together_as_their_law_says() {
    let probabilities = [p(0.1), p(0.05), p(0.02)];
    let blocks = BlockLoss { length: 10, probabilities: probabilities.into() };
    // (0.1 + 2 x 0.05 + 3 x 0.02) / 10; the artifact's: (3.0e-4 + 2 x 7.5e-5 + 3 x 1.6e-5) / 10.
    assert!((blocks.stationary_loss() - 0.026).abs() < 1e-12);
    let artifact = BlockLoss { length: 10, probabilities: [p(3.0e-4), p(7.5e-5), p(1.6e-5)].into() };
    assert!((artifact.stationary_loss() - 4.98e-5).abs() < 1e-12);
    let lost = losses(LossSpec::Blocks(blocks), 100_000);
    let (mut by_count, mut by_place) = ([0_u32; 4], [0_u32; 10]);
    let mut of_block = [0_usize; 10_000];
    for (packet, _) in lost.iter().enumerate().filter(|(_, lost)| **lost) {
        of_block[packet / 10] += 1;
        by_place[packet % 10] += 1;
    }
    of_block.iter().for_each(|count| by_count[*count] += 1);
    // 10 000 blocks: five standard deviations of sqrt(n q (1 - q)).
    for (count, probability) in [(1, 0.1_f64), (2, 0.05), (3, 0.02)] {
        let (expected, deviation) = (10_000.0 * probability, (10_000.0 * probability * (1.0 - probability)).sqrt());
        let seen = f64::from(by_count[count]);
        assert!((seen - expected).abs() < 5.0 * deviation, "{count}: {seen} blocks for {expected}");
    }
    assert!(by_place.iter().all(|count| (180..340).contains(count)), "each place has 260: {by_place:?}");
}

#[test]
fn impossible_blocks_are_refused() {
    let message = |length, probabilities: &[f64]| {
        let probabilities = probabilities.iter().map(|value| p(*value)).collect();
        LossSpec::Blocks(BlockLoss { length, probabilities }).validate().unwrap_err().to_string()
    };
    assert!(message(0, &[0.1]).contains("1 to 64"));
    assert!(message(65, &[0.1]).contains("1 to 64"));
    assert!(message(10, &[]).contains("one at least"));
    assert!(message(1, &[0.1, 0.1]).contains("no more than its packets"));
    assert!(message(10, &[0.6, 0.6]).contains("at most 1"));
}
