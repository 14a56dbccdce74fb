//! Shorter histories that break the same property: what a strategy cannot leave out, such as a move in the middle of a shape.

use cc_algos::units::Span;

use crate::script::{Network, Script};

/// Most histories that are tried.
const PATIENCE: u32 = 512;

/// The script without the moves, and on a network without the peculiarities, that it `fails` without as well.
pub(crate) fn shorten(script: Script, mut fails: impl FnMut(&Script) -> bool) -> Script {
    let mut shortest = script;
    let mut left = PATIENCE;
    loop {
        let shorter = candidates(&shortest).take(left as usize).find(|candidate| {
            left -= 1;
            fails(candidate)
        });
        match shorter {
            Some(shorter) => shortest = shorter,
            None => return shortest,
        }
    }
}

/// Scripts that leave out one thing, the last moves first.
fn candidates(script: &Script) -> impl Iterator<Item = Script> {
    let without_move = (0..script.moves.len()).rev().map(|index| {
        let mut shorter = script.clone();
        shorter.moves.remove(index);
        shorter
    });
    let plainer = plainer(&script.network)
        .into_iter()
        .filter(|network| *network != script.network)
        .map(|network| Script { network, ..script.clone() });
    without_move.chain(plainer)
}

/// The network without one of its peculiarities each.
fn plainer(network: &Network) -> [Network; 6] {
    [
        Network { mark_above: None, ..network.clone() },
        Network { ack_every: 1, ack_delay: Span::ZERO, ..network.clone() },
        Network { echo: false, ..network.clone() },
        Network { clock: Span::ZERO, ..network.clone() },
        Network { resume: None, ..network.clone() },
        Network { retransmit_after: None, ..network.clone() },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Move;

    #[test]
    fn what_a_failure_does_not_need_is_left_out() {
        let script =
            Script::parse("rtt 1ms, mark 3, echo, resume 9 | run 2 rtt | lose 1 | run 3 rtt | idle 5 rtt | lose 2")
                .unwrap();
        let fails = |script: &Script| script.network.echo && script.moves.contains(&Move::Lose(1)) && script.len() >= 2;
        let shortest = shorten(script, fails);
        assert_eq!(shortest.to_string(), "rate 10Mbps, rtt 1ms, mtu 1200, buffer 32, echo | run 2 rtt | lose 1");
    }

    #[test]
    fn what_needs_everything_stays_as_it_is() {
        let script = Script::parse("rtt 1ms | run 2 rtt | lose 1").unwrap();
        assert_eq!(shorten(script.clone(), |shorter| *shorter == script), script);
    }
}
