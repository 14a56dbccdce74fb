//! What losses and marks do, and what undoes it.

use super::*;

#[test]
fn exiting_startup_on_loss_when_application_limited() {
    let mut pipe = Pipe::new();
    pipe.flow.limit = Limit::Application;
    pipe.flow.controller.window = 80 * MTU;
    pipe.steps(400);
    assert_eq!(pipe.phase(), "startup", "application-limited rounds are no plateau");
    // So little is in flight that Drain is over at once.
    pipe.lossy_until("probe_bw_cruise", 10);
    assert!(pipe.bbr().full_bw_reached);
    let longterm = pipe.bbr().model.inflight_longterm.unwrap();
    assert!(longterm >= pipe.bbr().model.bdp(), "{longterm}");
}

#[test]
fn startup_bears_two_percent_of_loss_and_a_single_burst() {
    let mut pipe = Pipe::new();
    pipe.flow.limit = Limit::Application;
    pipe.flow.controller.window = 80 * MTU;
    pipe.steps(400);
    for step in 0..1_000 {
        pipe.step(if step % 100 == 0 { Fate::Lost } else { Fate::Acked });
    }
    assert_eq!(pipe.phase(), "startup", "1 % is below the threshold");
    (0..10).for_each(|_| pipe.step(Fate::Lost));
    pipe.steps(300);
    assert_eq!(pipe.phase(), "startup", "ten packets in a row are one range");
}

#[test]
fn exiting_probe_up_on_loss_when_application_limited() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.flow.limit = Limit::Application;
    pipe.steps(105);
    pipe.lossy_until("probe_bw_down", 10);
    assert!(pipe.bbr().probe.previous.too_high);
    assert_eq!(pipe.bbr().model.inflight_longterm, None, "what an application leaves in flight bounds nothing");
}

#[test]
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.flow.controller.model.inflight_longterm = Some(200 * MTU);
    pipe.steps(105);
    let steps = pipe.lossy_until("probe_bw_down", 10);
    assert!(steps <= 30, "the third loss of a hundred packets is more than 2 %: {steps}");
    // Three packets of 100 in flight are lost before 2 % are crossed; 0.7 of the product is the least.
    let longterm = pipe.bbr().model.inflight_longterm.unwrap();
    assert!((70 * MTU..=101 * MTU).contains(&longterm), "{longterm}");
    assert_eq!(pipe.bbr().undo.state, Some(State::Up));
}

#[test]
fn after_a_probe_that_lost_too_much_the_next_one_only_touches_the_bound() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.steps(105);
    pipe.lossy_until("probe_bw_down", 10);
    let bound = pipe.bbr().model.inflight_longterm.unwrap();
    pipe.until("probe_bw_up");
    pipe.flow.controller.model.inflight_longterm = Some(bound.min(pipe.flow.flight().bytes + 2 * MTU));
    let steps = pipe.until("probe_bw_down");
    assert!(steps <= 20, "three packets at 1.25 times the bandwidth: {steps} ms");
    assert!(pipe.bbr().probe.previous.precautionary && !pipe.bbr().probe.previous.too_high);
    let steps = pipe.until("probe_bw_refill");
    assert!((90..=130).contains(&steps), "a round trip without losses, and no cruise: {steps} ms");
    pipe.until("probe_bw_up");
    let steps = pipe.until("probe_bw_down");
    assert!(steps > 200, "this time it stays: {steps} ms");
}

#[test]
fn spurious_fast_recovery_restores_bounds_and_resumes_the_probe() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.flow.controller.model.inflight_longterm = Some(200 * MTU);
    pipe.steps(105);
    let longterm = pipe.bbr().model.inflight_longterm;
    let lost = pipe.flow.take(5);
    pipe.flow.feed(&Batch { lost: lost.clone(), ..Batch::default() });
    assert_eq!(pipe.phase(), "probe_bw_down");
    assert!(pipe.bbr().model.inflight_longterm < longterm);
    pipe.flow.feed(&Batch { spurious: lost, ..Batch::default() });
    assert_eq!(pipe.phase(), "probe_bw_refill", "back to the probe");
    assert_eq!(pipe.bbr().model.inflight_longterm, longterm);
    assert!(!pipe.bbr().loss_round.has_loss);
}

#[test]
fn a_spurious_time_out_restores_the_window() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    let window = pipe.bbr().window;
    let packets = pipe.flow.in_flight.len();
    let lost = pipe.flow.take(packets);
    pipe.flow.feed(&Batch { lost: lost.clone(), timeout: Some(1), ..Batch::default() });
    assert_eq!(pipe.bbr().window, MTU, "one packet may leave");
    pipe.flow.feed(&Batch { spurious: lost, ..Batch::default() });
    assert!(pipe.bbr().window >= window, "{} of {window}", pipe.bbr().window);
    assert_eq!(pipe.bbr().model.inflight_shortterm, None);
}

#[test]
fn after_a_time_out_the_window_grows_by_what_arrives_until_as_much_as_was_missing() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    let window = pipe.bbr().window;
    let packets = pipe.flow.in_flight.len();
    let lost = pipe.flow.take(packets);
    pipe.flow.feed(&Batch { lost, persistent_congestion: Some(Span::from_secs(1)), ..Batch::default() });
    assert_eq!(pipe.bbr().window, MTU);
    let mut windows = Vec::new();
    for _ in 0..7 {
        pipe.flow.round(|_| Fate::Acked);
        windows.push(pipe.flow.packets());
    }
    assert_eq!(windows[..5], [4, 8, 16, 32, 64]);
    assert!(windows[6] >= window / MTU, "{windows:?}");
}

#[test]
fn a_probe_timeout_alone_changes_nothing() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    let before = pipe.bbr().state();
    pipe.flow.feed(&Batch { timeout: Some(1), ..Batch::default() });
    assert_eq!(pipe.bbr().state(), before);
}

#[test]
fn what_losses_say_waits_for_an_acknowledgement() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    let packets = pipe.flow.in_flight.len();
    let lost = pipe.flow.take(packets);
    pipe.flow.feed(&Batch { lost, timeout: Some(1), ..Batch::default() });
    pipe.flow.send(3);
    let (window, rate) = (pipe.bbr().window, pipe.bbr().pacing_rate());
    assert_eq!(window, MTU, "below what it holds while acknowledgements arrive");
    let lost = pipe.flow.take(1);
    pipe.flow.feed(&Batch { lost, ..Batch::default() });
    assert_eq!((pipe.bbr().window, pipe.bbr().pacing_rate()), (window, rate));
}

#[test]
fn a_round_with_losses_bounds_the_short_term_model_once() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_cruise");
    pipe.steps(300);
    let window = pipe.bbr().window;
    pipe.step(Fate::Lost);
    assert_eq!(pipe.bbr().model.bw_shortterm, None, "not before the round is over");
    pipe.steps(102);
    let (bw, inflight) = (pipe.bbr().model.bw_shortterm.unwrap(), pipe.bbr().model.inflight_shortterm.unwrap());
    // What was delivered in the round is more than 0.7 of the model: 100 packets in 100 ms.
    assert_close(bw.as_bps(), BANDWIDTH.as_bps(), 0.02);
    assert_close(inflight, (window * 7 / 10).max(100 * MTU), 0.02);
    pipe.steps(300);
    assert_eq!(pipe.bbr().model.inflight_shortterm, Some(inflight), "rounds without losses change nothing");
    pipe.until("probe_bw_refill");
    assert_eq!((pipe.bbr().model.bw_shortterm, pipe.bbr().model.inflight_shortterm), (None, None));
}

#[test]
fn a_mark_is_as_good_as_a_loss() {
    let run = |fate| {
        let mut pipe = Pipe::new();
        pipe.until("probe_bw_up");
        pipe.steps(105);
        for step in 0..40 {
            pipe.step(if step % 10 == 0 { fate } else { Fate::Acked });
        }
        (pipe.phase(), pipe.bbr().model.inflight_longterm.is_some())
    };
    assert_eq!(run(Fate::Marked), ("probe_bw_down", true));
    assert_eq!(run(Fate::Lost), ("probe_bw_down", true));
    assert_eq!(run(Fate::Acked), ("probe_bw_up", false));
    let silent = Bbr3Params { ecn: false, ..Bbr3Params::default() };
    assert_eq!(Bbr3::new(silent, &setup()).unwrap().ecn(), Ecn::NotEct);
}

#[test]
fn marks_that_only_counts_tell_of_weigh_as_much() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.steps(105);
    let acked = pipe.flow.take(20);
    let mut feedback = Feedback::new(pipe.flow.now, crate::Cause::Ack);
    feedback.acked = &acked;
    feedback.newly_acked = crate::Tally { bytes: 20 * MTU, packets: 20 };
    feedback.newly_marked = crate::Tally { bytes: 5 * MTU, packets: 5 };
    let flight = pipe.flow.flight();
    pipe.bbr().on_feedback(&feedback, &flight);
    assert!(pipe.bbr().probe.previous.too_high);
    assert_ne!(pipe.phase(), "probe_bw_up");
}

#[test]
fn losses_that_coding_restored_count() {
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    pipe.steps(105);
    let recovered = pipe.flow.take(5);
    pipe.flow.feed(&Batch { recovered, ..Batch::default() });
    assert_eq!(pipe.phase(), "probe_bw_down");
}

#[test]
fn the_inflight_at_a_loss_is_where_losses_crossed_the_threshold() {
    let bbr = Bbr3::new(Bbr3Params::default(), &setup()).unwrap();
    // Nothing lost before: (lost_prefix) / (99 000 + lost_prefix) = 2 %, so lost_prefix = 1 980 / 0.98 = 2 020.
    assert_eq!(bbr.inflight_at_loss(100_000, 1_000, 1_000), 99_000 + 2_020);
    // 1 500 lost before: (1 980 - 1 500) / 0.98 = 490.
    assert_eq!(bbr.inflight_at_loss(100_000, 2_500, 1_000), 99_000 + 490);
    // More than the threshold lost before the packet: nothing of it fitted, and nothing underflows.
    for (in_flight, lost, bytes) in
        [(100_000, 50_000, 1_000), (1_000, 1_000, 1_000), (0, u64::MAX, 1_500), (500, 0, 1_500)]
    {
        assert_eq!(bbr.inflight_at_loss(in_flight, lost, bytes), in_flight.saturating_sub(bytes));
    }
    assert_eq!(bbr.inflight_at_loss(u64::MAX, 0, 0), u64::MAX);
}

#[test]
fn a_packet_lost_without_a_tag_of_its_own_is_no_worse_than_one_with() {
    // The engine clears tags when a controller is replaced: marks before that are not this controller's.
    let mut pipe = Pipe::new();
    pipe.until("probe_bw_up");
    let mut lost = pipe.flow.take(1);
    lost[0] = PacketRecord { tag: PacketTag::NONE, ..lost[0] };
    pipe.flow.feed(&Batch { lost, ..Batch::default() });
    assert_eq!(pipe.phase(), "probe_bw_up", "one packet of a hundred");
}
