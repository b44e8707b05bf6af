//! The two ways to play a battle out: XCHNG's, which looks one step ahead, and minimax.

use super::queue::{Capturer, Queue, Side};

/// Sargon's rule: a piece that is dearer than what it takes captures a guarded piece only when each
/// guard is at least as dear and another of its side stands behind it.
pub(super) fn stop_rule(mut stake: i32, queue: &mut impl Queue) -> i32 {
    let mut side = Side::Attacker;
    let mut sign = 1;
    let mut residue = 0;
    let Some(mut attacker) = queue.next(side) else { return 0 };
    loop {
        let mut guard = queue.next(side.other());
        if stake < attacker.cost {
            while let Some(answer) = guard {
                if answer.cost < attacker.cost {
                    return residue;
                }
                let Some(next) = queue.next(side) else { return residue };
                attacker = next;
                guard = queue.next(side.other());
            }
        }
        residue += sign * gain(stake, attacker);
        let Some(answer) = guard else { return residue };
        (stake, attacker) = (attacker.becomes, answer);
        (side, sign) = (side.other(), -sign);
    }
}

/// Each side captures as long as that is worth more to it than stopping, with everything after it
/// known.
pub(super) fn minimax(stake: i32, queue: &mut impl Queue) -> i32 {
    let mut stake = stake;
    let mut side = Side::Attacker;
    let mut gains = Vec::new();
    while let Some(capturer) = queue.next(side) {
        gains.push(gain(stake, capturer));
        (stake, side) = (capturer.becomes, side.other());
    }
    gains.into_iter().rev().fold(0, |answer, gain| (gain - answer).max(0))
}

/// Points that a capture wins at once: the piece taken, and the gain of a promotion.
fn gain(stake: i32, capturer: Capturer) -> i32 {
    stake + capturer.becomes - capturer.cost
}
