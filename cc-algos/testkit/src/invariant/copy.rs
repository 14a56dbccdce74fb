//! A copy is the same controller.

use cc_algos::controller::{Controller, PacketTag};

use crate::observe::{Call, Invariant, Step, Violation};

/// From the call on that it was taken at, a copy gives the outputs and shows the state of the original, and leaves the
/// original alone.
#[derive(Debug)]
pub struct Copy {
    /// Calls until the copy is taken.
    wait: u32,
    copy: Option<(Box<dyn Controller>, PacketTag)>,
}

impl Copy {
    /// With a copy that is taken at the call of this number.
    pub const fn at(call: u32) -> Self {
        Self { wait: call, copy: None }
    }
}

impl Invariant for Copy {
    fn before(&mut self, call: &Call<'_>, controller: &dyn Controller) {
        if self.copy.is_none() && self.wait == 0 {
            self.copy = Some((controller.clone_box(), PacketTag::NONE));
        }
        self.wait = self.wait.saturating_sub(1);
        if let Some((copy, tag)) = &mut self.copy {
            *tag = call.apply(&mut **copy);
        }
    }

    fn after(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let Some((copy, tag)) = &self.copy else { return Ok(()) };
        let outputs = crate::observe::Outputs::of(&**copy);
        Violation::unless(outputs == step.after, "a copy with the outputs of the original", || {
            format!("{outputs} of the copy, {} of the original", step.after)
        })?;
        Violation::unless(*tag == step.tag, "a copy that tags packets as the original does", || {
            format!("{tag:?} of the copy, {:?} of the original", step.tag)
        })?;
        let (copied, original) = (copy.state(), step.controller.state());
        Violation::unless(copied == original, "a copy in the state of the original", || {
            format!("{copied:?} of the copy, {original:?} of the original")
        })
    }
}
