//! What is put to the test: a way to build the controller, and what it says of itself.

use core::fmt;
use std::sync::Arc;

use cc_algos::controller::{Controller, Setup};
use cc_algos::declare::{Declaration, Family};
use cc_algos::receiver::{AckEvery, ReceiverPolicy};
use cc_algos::registry::{Registry, RegistryError};

type Build = dyn Fn(&Setup) -> Box<dyn Controller> + Send + Sync;
type BuildReceiver = dyn Fn(AckEvery) -> Box<dyn ReceiverPolicy> + Send + Sync;

/// A controller to be tested: its name, how to build one, and its declaration.
#[derive(Clone)]
pub struct Subject {
    name: String,
    declaration: Declaration,
    build: Arc<Build>,
    build_receiver: Arc<BuildReceiver>,
}

impl Subject {
    /// Controllers that `build` makes, which declare nothing but a family.
    pub fn new<C: Controller + 'static>(
        name: impl Into<String>,
        build: impl Fn(&Setup) -> C + Send + Sync + 'static,
    ) -> Self {
        Self::boxed(name, move |setup| Box::new(build(setup)))
    }

    /// The same, of controllers whose type is known only when they are built.
    pub fn boxed(
        name: impl Into<String>,
        build: impl Fn(&Setup) -> Box<dyn Controller> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            declaration: Declaration::new(Family::default()),
            build: Arc::new(build),
            build_receiver: Arc::new(|rule| Box::new(rule)),
        }
    }

    /// With what the controllers say of themselves.
    #[must_use]
    pub fn declaring(mut self, declaration: Declaration) -> Self {
        self.declaration = declaration;
        self
    }

    /// The algorithm that a registry knows as `spec`, such as `cubic?beta=0.5`, with its declaration and its receiver.
    ///
    /// # Errors
    ///
    /// If the registry knows no such algorithm or parameter.
    pub fn registered(registry: &Registry, spec: &str) -> Result<Self, RegistryError> {
        let args = registry.resolve(spec)?;
        let declaration = registry.find(args.algorithm())?.declaration().clone();
        let (registry, resolved) = (Arc::new(registry.clone()), Arc::new(args));
        let (for_receiver, args) = ((Arc::clone(&registry), Arc::clone(&resolved)), resolved);
        Ok(Self {
            name: spec.to_owned(),
            declaration,
            build: Arc::new(move |setup| registry.build_args(&args, setup).unwrap_or_else(|error| panic!("{error}"))),
            build_receiver: Arc::new(move |rule| {
                let (registry, args) = &for_receiver;
                registry.build_receiver(args, rule.clone()).unwrap_or_else(|_| Box::new(rule))
            }),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it says of itself.
    pub const fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// A fresh controller.
    pub fn build(&self, setup: &Setup) -> Box<dyn Controller> {
        (self.build)(setup)
    }

    /// The receiver's half, around an acknowledgement rule.
    pub fn build_receiver(&self, rule: AckEvery) -> Box<dyn ReceiverPolicy> {
        (self.build_receiver)(rule)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("name", &self.name)
            .field("declaration", &self.declaration)
            .finish_non_exhaustive()
    }
}
