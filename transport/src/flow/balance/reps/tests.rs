//! Recycling and freezing, by hand.

use super::super::testing::{fate, view};
use super::*;

/// Entropies above those that are drawn show what was recycled.
const DRAWN: u32 = 1_000;

fn reps(explore: u64, buffer: usize) -> Reps {
    let freezing = Span::from_nanos(500);
    let params = RepsParams { buffer, explore, freezing, entropies: DRAWN, ..RepsParams::default() };
    Reps::new(&Setup::new(Timestamp::ZERO, 3), params)
}

fn told(reps: &mut Reps, now: u64, verdict: Verdict, entropies: impl IntoIterator<Item = u32>) {
    entropies.into_iter().for_each(|entropy| reps.on_verdict(&fate(Entropy(entropy), verdict), &view(now)));
}

fn sent(reps: &mut Reps, packets: usize) -> Vec<u32> {
    (0..packets).map(|_| reps.next_entropy(&view(0)).0).collect()
}

fn is_drawn(entropies: &[u32]) -> bool {
    entropies.iter().all(|entropy| *entropy < DRAWN)
}

#[test]
fn entropies_that_came_back_unmarked_are_used_once_more_and_in_order() {
    let mut reps = reps(0, 8);
    told(&mut reps, 0, Verdict::Good, 5_000..5_003);
    told(&mut reps, 0, Verdict::Ecn, [6_000]);
    told(&mut reps, 0, Verdict::Nack, [7_000]);
    assert_eq!(sent(&mut reps, 3), [5_000, 5_001, 5_002]);
    assert!(is_drawn(&sent(&mut reps, 5)), "nothing is fresh");
    told(&mut reps, 0, Verdict::Good, [5_003]);
    assert_eq!(sent(&mut reps, 1), [5_003]);
}

#[test]
fn the_buffer_keeps_the_newest() {
    let mut reps = reps(0, 4);
    told(&mut reps, 0, Verdict::Good, 5_000..5_006);
    assert_eq!(sent(&mut reps, 4), [5_002, 5_003, 5_004, 5_005]);
    assert!(is_drawn(&sent(&mut reps, 1)));
}

#[test]
fn the_first_packets_explore_whatever_came_back() {
    let mut reps = reps(3, 8);
    told(&mut reps, 0, Verdict::Good, [5_000]);
    assert!(is_drawn(&sent(&mut reps, 3)));
    assert_eq!(sent(&mut reps, 1), [5_000]);
}

#[test]
fn frozen_it_draws_nothing_until_the_time_is_over_and_something_comes_back() {
    let mut reps = reps(2, 4);
    sent(&mut reps, 2);
    told(&mut reps, 0, Verdict::Good, 5_000..5_003);
    told(&mut reps, 1_000, Verdict::Timeout, [1]);
    // First what is fresh, then the three that are cached, in turn.
    assert_eq!(sent(&mut reps, 3), [5_000, 5_001, 5_002]);
    assert_eq!(sent(&mut reps, 4), [5_000, 5_001, 5_002, 5_000]);
    told(&mut reps, 1_500, Verdict::Good, [5_009]);
    assert_eq!(sent(&mut reps, 1), [5_009], "at the very end of 500 ns it is still frozen");
    assert!(!is_drawn(&sent(&mut reps, 1)));
    told(&mut reps, 1_501, Verdict::Good, [5_010]);
    assert!(is_drawn(&sent(&mut reps, 2)), "it explores");
    assert_eq!(sent(&mut reps, 1), [5_010]);
    assert!(is_drawn(&sent(&mut reps, 3)));
}

#[test]
fn it_does_not_freeze_while_it_explores_or_with_nothing_cached_it_draws() {
    let mut reps = reps(1, 4);
    told(&mut reps, 0, Verdict::Good, [5_000]);
    told(&mut reps, 0, Verdict::Timeout, [1]);
    sent(&mut reps, 1);
    assert_eq!(sent(&mut reps, 1), [5_000]);
    assert!(is_drawn(&sent(&mut reps, 1)));
    let mut empty = self::reps(0, 4);
    empty.on_probe_timeout(&view(0));
    assert!(is_drawn(&sent(&mut empty, 3)));
}

#[test]
fn what_freezes_it_is_a_choice() {
    for (freeze, by_loss, by_timeout) in
        [(FreezeOn::Never, false, false), (FreezeOn::Timeout, false, true), (FreezeOn::Loss, true, true)]
    {
        for (verdict, freezes) in [(Verdict::Nack, by_loss), (Verdict::Timeout, by_timeout)] {
            let mut reps = reps(0, 4);
            reps.params.freeze = freeze;
            told(&mut reps, 0, Verdict::Good, [5_000]);
            told(&mut reps, 0, verdict, [1]);
            sent(&mut reps, 1);
            assert_eq!(!is_drawn(&sent(&mut reps, 1)), freezes, "{freeze:?} and {verdict:?}");
        }
    }
}
