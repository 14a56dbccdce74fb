//! The properties, by name, and how each is checked on one script.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::failure::Failure;
use crate::invariant::{self, Context};
use crate::network::World;
use crate::observe::{Invariant, Violation};
use crate::script::{Move, Script};
use crate::subject::Subject;
use crate::tap::Tap;
use crate::trial::{self, Found, Trial};

/// The one list of properties: hands each with its name and what it says to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __properties {
    ($($then:tt)*) => {
        $($then)*! {
            stays_sane: Sanity,
                "it never panics, its gauges are finite, and its picture shows the window and rate that it has";
            keeps_its_bounds: Bounds,
                "its window stays between the declared bounds, and its pacing rate positive";
            paces_its_window: Pace,
                "its pacing rate goes with its window until anything speaks of congestion";
            keeps_time: Timers,
                "its timers lie ahead, and do not fire over and over without time passing";
            is_no_better_off_with_congestion: Monotone,
                "losses and marks never leave a larger window or a higher pacing rate than their absence";
            reduces_once_per_window: OncePerWindow,
                "the losses and marks of one window of data reduce it once, unless declared otherwise";
            answers_losses: Answers,
                "the loss of a packet that no reduction covers makes its window smaller, unless declared otherwise";
            collapses_when_nothing_arrives: Collapse,
                "persistent congestion leaves a small window";
            leaves_an_unused_window_alone: Limited,
                "a window that is not in use neither grows, nor shrinks for that";
            wakes_gently: Idle,
                "time spent idle lets nothing grow";
            does_not_mind_batches: Batching,
                "one acknowledgement of many packets means the same as many of one";
            copies_itself: Copy,
                "a copy does what the original does";
            repeats_itself: Repeats,
                "the same calls bring the same outputs";
            recovers: Recovers,
                "clean feedback brings it back to speed, whatever happened before";
            yields: Yields,
                "its window does not outgrow the network: it answers losses or delay, and marks if it asks for them";
            takes_its_room: Room,
                "on a clean network with room for hundreds of packets its window becomes dozens";
            outlasts_a_lull: Lull,
                "a phase in which the application has little to send takes nothing away";
            hands_over: HandsOver,
                "another controller can start from what it hands over";
            stays_small: Memory,
                "what it holds does not grow with the packets that it saw";
            gains_nothing_from_losses: LossRates,
                "in the long run, the mean window does not grow with the rate of losses";
            starts_afresh: Afresh,
                "on another path its window is at most the one that it began with";
            undoes_no_more: Undo,
                "losses that prove spurious give back at most what the last reduction took for them";
        }
    };
}

/// Declares [`Property`].
macro_rules! properties {
    ($($name:ident: $variant:ident, $summary:literal;)*) => {
        /// Something that every controller keeps on every history.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Property {
            $(#[doc = concat!("`", stringify!($name), "`: ", $summary, ".")] $variant,)*
        }

        impl Property {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name: that of the test which [`controller_suite!`](crate::controller_suite) makes of it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name)),* }
            }

            /// What it says, in a line.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary),* }
            }
        }
    };
}

__properties!(properties);

impl Property {
    /// The property of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|property| property.name() == name)
    }

    /// Checks the property on one history.
    ///
    /// # Errors
    ///
    /// What was found if it does not hold. A controller that panics fails every property.
    pub fn check(self, subject: &Subject, script: &Script) -> Result<(), Box<Failure>> {
        let mut seen = None;
        let outcome = quietly(|| self.hold(&mut Trial { subject, script, seen: &mut seen }));
        let moment = seen.and_then(|tap: Tap| tap.lock().moment);
        let (violation, moment) = match outcome {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(found)) => (found.violation, found.moment),
            Err(message) => {
                let expected = "a controller that never panics".to_owned();
                (Violation { expected, found: format!("a panic: {message}") }, moment)
            }
        };
        Err(Box::new(Failure {
            property: self,
            subject: subject.name().to_owned(),
            violation,
            moment,
            script: script.clone(),
        }))
    }

    fn hold(self, trial: &mut Trial<'_>) -> Result<(), Box<Found>> {
        let context = Context { declaration: trial.subject.declaration(), network: &trial.script.network };
        let watch = |invariant: Box<dyn Invariant>| -> Vec<Box<dyn Invariant>> { vec![invariant] };
        let invariants: Vec<Box<dyn Invariant>> = match self {
            Self::Sanity => watch(Box::new(invariant::Sanity)),
            Self::Bounds => watch(Box::new(invariant::Bounds::new(&context))),
            Self::Pace => watch(Box::new(invariant::Pace::new(&context))),
            Self::Timers => watch(Box::<invariant::Timers>::default()),
            Self::Monotone => watch(Box::new(invariant::Monotone::new(&context))),
            Self::OncePerWindow => watch(Box::new(invariant::OncePerWindow::new(&context))),
            Self::Answers => watch(Box::new(invariant::Answers::new(&context))),
            Self::Collapse => watch(Box::new(invariant::Collapse::new(&context))),
            Self::Afresh => watch(Box::new(invariant::Afresh::new(&context, trial.subject))),
            Self::Undo => watch(Box::new(invariant::Undo::new(&context))),
            Self::Limited => watch(Box::new(invariant::Limited::new(&context))),
            Self::Idle => vec![Box::new(invariant::Idle::new(&context)), Box::new(invariant::Silence::new(&context))],
            Self::Batching => watch(Box::new(invariant::Batching::new(&context))),
            Self::Copy => watch(Box::new(invariant::Copy::at(moment_of(trial.script)))),
            Self::Repeats => return trial::repeats_itself(trial),
            Self::Recovers => return trial::recovers(trial),
            Self::Yields => return trial::yields(trial),
            Self::Room => return trial::takes_its_room(trial),
            Self::Lull => return trial::outlasts_a_lull(trial),
            Self::HandsOver => return trial::hands_over(trial),
            Self::Memory => return trial::stays_small(trial),
            Self::LossRates => return trial::more_loss_is_no_better(trial),
        };
        let mut world = World::new(trial.subject, &trial.script.network, invariants);
        *trial.seen = Some(world.tap());
        world.play(&trial.script.moves);
        if self == Self::Undo {
            world.allow(LATE_PACKETS);
            late_losses().for_each(|moves| world.play(&moves));
        }
        world.verdict()
    }

    /// How many histories this one's cost is worth: those of long closed loops are few.
    pub const fn weight(self) -> u32 {
        match self {
            Self::LossRates => 64,
            Self::Memory | Self::Lull => 8,
            Self::Yields | Self::Recovers | Self::Room => 2,
            _ => 1,
        }
    }
}

/// Packets that what follows takes at most.
const LATE_PACKETS: u64 = 600;

/// What may be undone wrongly: two packets come late, and one that is sent about when that shows is lost.
fn late_losses() -> impl Iterator<Item = [Move; 4]> {
    let packets = (6..=36).step_by(6);
    packets.map(|packets| [Move::Late(2), Move::RunPackets { packets }, Move::Lose(1), Move::Run { rtts: 3 }])
}

/// When to take a copy: at a call that differs from script to script.
fn moment_of(script: &Script) -> u32 {
    let network = &script.network;
    (network.buffer.wrapping_mul(31) ^ network.mtu as u32 ^ script.moves.len() as u32) % 64
}

thread_local! {
    /// Where a panic that is being caught came from; `None` while panics are not caught.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work` and catches its panic with what it said, without the noise that panics make otherwise: while a history shrinks
/// there may be hundreds.
fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let former = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let catching = CAUGHT.with_borrow_mut(|caught| match caught {
                Some(message) => {
                    *message = info.to_string().replace('\n', " ");
                    true
                }
                None => false,
            });
            if !catching {
                former(info);
            }
        }));
    });
    CAUGHT.set(Some(String::new()));
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let message = CAUGHT.take().unwrap_or_default();
    outcome.map_err(|_| message)
}
