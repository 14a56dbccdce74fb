//! What held a sender back, and when.

use cc_algos::controller::Limit;

/// For each limit, the number that the next packet would have had when it last stopped the sender. Zero, what it is at
/// first, says that no packet sent was followed by that limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    window: u64,
    application: u64,
    pacing: u64,
    receiver: u64,
}

impl Limits {
    /// The sender was stopped by `limit` when packet `next` would have been the next one.
    #[inline]
    pub(crate) fn mark(&mut self, limit: Limit, next: u64) {
        match limit {
            Limit::Window => self.window = next,
            Limit::Application => self.application = next,
            Limit::Pacing => self.pacing = next,
            Limit::Receiver => self.receiver = next,
        }
    }

    /// What stopped the sender after packet `newest` had left. The window counts before all others: if it stopped the
    /// sender at any time since, it was in use. A sender that nothing stopped had no more to send.
    #[inline]
    pub(crate) fn since(&self, newest: u64) -> Limit {
        let marks = [
            (self.window, Limit::Window),
            (self.receiver, Limit::Receiver),
            (self.application, Limit::Application),
            (self.pacing, Limit::Pacing),
        ];
        marks.iter().find(|(next, _)| *next > newest).map_or(Limit::Application, |&(_, limit)| limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_for_packets_sent_before_it_stopped_the_sender() {
        let mut limits = Limits::default();
        limits.mark(Limit::Window, 10);
        assert_eq!(limits.since(9), Limit::Window);
        assert_eq!(limits.since(10), Limit::Application, "packet 10 left after that");
        limits.mark(Limit::Pacing, 12);
        assert_eq!(limits.since(10), Limit::Pacing);
        assert_eq!(limits.since(8), Limit::Window, "the window counts before the pacer");
    }
}
