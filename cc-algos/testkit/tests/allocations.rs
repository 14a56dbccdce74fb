//! Built-in algorithms allocate nothing once they have seen some feedback, whatever happens to them.

use std::sync::{Arc, Mutex, MutexGuard};

use cc_algos::controller::{Controller, ControllerState, Feedback, Flight, Handover, PacketTag, Sent};
use cc_algos::registry::Algorithm;
use cc_algos::signal::{Ecn, Signal};
use cc_algos::units::{Rate, Timestamp};
use cc_algos::{Registry, Span};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use testkit::network::{World, setup};
use testkit::observe::Call;
use testkit::{Script, Subject, strategy};

/// Histories for each algorithm.
const CASES: u32 = 48;
/// Feedbacks after which a controller has allocated all that it needs.
const SETTLED: u64 = 150;
/// Feedbacks up to which it is watched.
const END: u64 = 600;

/// What a controller was told, and what it allocated meanwhile.
#[derive(Debug, Default)]
struct Count {
    feedbacks: u64,
    allocations: u64,
}

type SharedCount = Arc<Mutex<Count>>;

fn lock(count: &SharedCount) -> MutexGuard<'_, Count> {
    count.lock().expect("no controller panics")
}

/// Counts what the controller inside allocates.
#[derive(Debug)]
struct Meter {
    inside: Box<dyn Controller>,
    count: SharedCount,
}

impl Meter {
    fn call(&mut self, call: &Call<'_>) -> PacketTag {
        let mut tag = PacketTag::NONE;
        let inside = &mut *self.inside;
        let allocated = allocation_counter::measure(|| {
            tag = call.apply(inside);
            inside.window();
            inside.pacing_rate();
            inside.next_timer();
        });
        let mut count = lock(&self.count);
        count.feedbacks += u64::from(call.feedback().is_some());
        if count.feedbacks > SETTLED {
            count.allocations += allocated.count_total;
        }
        tag
    }
}

impl Controller for Meter {
    fn on_sent(&mut self, sent: &Sent, flight: &Flight<'_>) -> PacketTag {
        self.call(&Call::Sent(sent, flight))
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>, flight: &Flight<'_>) {
        self.call(&Call::Feedback(feedback, flight));
    }
    fn on_signal(&mut self, now: Timestamp, signal: &Signal, flight: &Flight<'_>) {
        self.call(&Call::Signal(now, signal, flight));
    }
    fn on_timer(&mut self, now: Timestamp, flight: &Flight<'_>) {
        self.call(&Call::Timer(now, flight));
    }
    fn next_timer(&self) -> Option<Timestamp> {
        self.inside.next_timer()
    }
    fn window(&self) -> u64 {
        self.inside.window()
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.inside.pacing_rate()
    }
    fn send_quantum(&self) -> Option<u64> {
        self.inside.send_quantum()
    }
    fn ecn(&self) -> Ecn {
        self.inside.ecn()
    }
    fn state(&self) -> ControllerState {
        self.inside.state()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        self.inside.clone_box()
    }
    fn handover(&self) -> Handover {
        self.inside.handover()
    }
}

/// Plays a history over and over, until there was enough feedback, or as often as may bring it.
fn count(subject: &Subject, script: &Script) -> Count {
    let count = SharedCount::default();
    let inside = subject.build(&setup(&script.network));
    let meter = Meter { inside, count: Arc::clone(&count) };
    let mut world = World::with_controller(subject, &script.network, Box::new(meter));
    for _ in 0..40 {
        world.play(&script.moves);
        world.run_rtts(2);
        if lock(&count).feedbacks >= END {
            break;
        }
    }
    std::mem::take(&mut *lock(&count))
}

/// The first history of some on which the subject allocates, and how many feedbacks were watched.
fn watch(subject: &Subject) -> (u64, Result<(), String>) {
    let config = Config { cases: CASES, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..Config::default() };
    let watched = std::cell::Cell::new(0);
    let outcome = TestRunner::new(config).run(&strategy::script(), |script| {
        let Count { feedbacks, allocations } = count(subject, &script);
        watched.set(watched.get() + feedbacks.saturating_sub(SETTLED));
        match allocations {
            0 => Ok(()),
            _ => Err(TestCaseError::fail(format!("{allocations} allocations in {feedbacks} feedbacks of {script}"))),
        }
    });
    (watched.get(), outcome.map_err(|error| error.to_string()))
}

#[test]
fn no_built_in_algorithm_allocates_in_steady_state() {
    let registry = Registry::builtin();
    for name in registry.iter().map(Algorithm::name) {
        let (watched, outcome) = watch(&Subject::registered(&registry, name).unwrap());
        assert_eq!(outcome, Ok(()), "{name}");
        assert!(watched > 5_000, "{name}: only {watched} feedbacks were watched");
    }
}

#[test]
fn an_allocation_in_ten_feedbacks_is_found() {
    #[derive(Clone, Debug, Default)]
    struct Forgetful {
        feedbacks: u64,
        last: Option<Box<Span>>,
    }

    impl Controller for Forgetful {
        fn on_feedback(&mut self, feedback: &Feedback<'_>, _flight: &Flight<'_>) {
            self.feedbacks += 1;
            if self.feedbacks.is_multiple_of(10) {
                self.last = feedback.rtt.map(|sample| Box::new(sample.latest));
            }
        }
        fn window(&self) -> u64 {
            100_000
        }
        fn state(&self) -> ControllerState {
            ControllerState::new(self.window(), "forgetful")
        }
        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(self.clone())
        }
        fn handover(&self) -> Handover {
            Handover::of_window(self.window())
        }
    }

    let (_, outcome) = watch(&Subject::new("forgetful", |_| Forgetful::default()));
    assert!(outcome.is_err_and(|message| message.contains("allocations in")));
}
