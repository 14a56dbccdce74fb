//! The properties, by name, and how each is checked on one script.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::failure::Failure;
use crate::invariant::{self, Context};
use crate::network::World;
use crate::observe::{Invariant, Moment, Violation};
use crate::script::Script;
use crate::subject::Subject;
use crate::tap::Tap;

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
        let outcome = quietly(|| self.hold(subject, script, &mut seen));
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

    fn hold(self, subject: &Subject, script: &Script, seen: &mut Option<Tap>) -> Result<(), Box<Found>> {
        let context = Context { declaration: subject.declaration(), network: &script.network };
        let invariant: Box<dyn Invariant> = match self {
            Self::Sanity => Box::new(invariant::Sanity),
            Self::Bounds => Box::new(invariant::Bounds::new(&context)),
        };
        let mut world = World::new(subject, &script.network, vec![invariant]);
        *seen = Some(world.tap());
        world.play(&script.moves);
        match world.violation() {
            Some((violation, moment)) => Err(Box::new(Found { violation, moment: Some(moment) })),
            None => Ok(()),
        }
    }
}

/// What does not hold, and where.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) violation: Violation,
    pub(crate) moment: Option<Moment>,
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
