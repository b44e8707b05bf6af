//! XCHNG's stop rule, which looks one step ahead, and minimax, for the result of an exchange.

use super::capture_order::{CaptureOrder, CapturerPoints, ExchangeRole};

/// Sargon's rule: an attacker worth more than the captured piece captures a guarded one only if
/// each guard is worth at least as much and another attacker follows.
pub(super) fn resolve_by_stop_rule(mut stake: i32, queue: &mut impl CaptureOrder) -> i32 {
    let mut side = ExchangeRole::Attacker;
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

/// Minimax: each side captures as long as that is better than stopping.
pub(super) fn resolve_by_minimax(stake: i32, queue: &mut impl CaptureOrder) -> i32 {
    let mut stake = stake;
    let mut side = ExchangeRole::Attacker;
    let mut gains = Vec::new();
    while let Some(capturer) = queue.next(side) {
        gains.push(gain(stake, capturer));
        (stake, side) = (capturer.becomes, side.other());
    }
    gains.into_iter().rev().fold(0, |answer, gain| (gain - answer).max(0))
}

/// Points that a capture wins at once: the piece taken, and the gain of a promotion.
pub(super) fn gain(stake: i32, capturer: CapturerPoints) -> i32 {
    stake + capturer.becomes - capturer.cost
}
