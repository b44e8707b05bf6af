//! An exchange step by step, for any values: what Figure 4 of the article shows.

use sargon_reference::{AttackersArray, Colour, Kind};

/// The side that makes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// The side that began.
    Attackers,
    /// The side of the piece on the square.
    Defenders,
}

/// The action of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Takes; the defender is to answer.
    Takes,
    /// Takes, and nobody answers: the end.
    TakesLast,
    /// Too dear to take alone, but the guard is no cheaper: calls the next to its help.
    NeedsHelp,
    /// Too dear to take alone, and nobody stands behind: the end.
    HasNoHelp,
    /// Too dear, and the guard is cheaper: the end.
    Stops,
}

/// A step of an exchange. Roles change after each [`Action::Takes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The side that acts.
    pub party: Party,
    /// Does what.
    pub action: Action,
    /// Points at stake.
    pub stake: u8,
    /// Value of the piece that would capture.
    pub attacker: u8,
    /// Value of the piece ready to recapture.
    pub defender: Option<u8>,
    /// Points lost by the owner of the square after the step.
    pub residue: i16,
}

/// Plays an exchange out by the article's rule: `stake` is what the piece is worth, the lists hold
/// the values of attackers and defenders in the order in which they capture. No steps when nobody
/// attacks.
///
/// # Examples
/// ```
/// use sargon_analysis::{Action, trace};
///
/// // A knight, attacked by two knights and a bishop, guarded by a pawn and a queen.
/// let steps = trace(3, &[3, 3, 3], &[1, 9]);
/// let actions: Vec<Action> = steps.iter().map(|step| step.action).collect();
/// assert_eq!(actions, [Action::Takes, Action::Takes, Action::NeedsHelp, Action::TakesLast]);
/// assert_eq!(steps[3].residue, 1);
/// ```
#[must_use]
pub fn trace(stake: u8, attackers: &[u8], defenders: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut own = attackers.iter().copied();
    let mut others = defenders.iter().copied();
    let mut party = Party::Attackers;
    let mut stake = stake;
    let mut residue = 0;
    let Some(mut attacker) = own.next() else { return steps };
    let mut defender = others.next();
    // Once help has been called, the helper's own value is not held against the stake any more.
    let mut helped = false;
    loop {
        let action = match defender {
            None => Action::TakesLast,
            Some(_) if stake >= attacker && !helped => Action::Takes,
            Some(guard) if guard < attacker => Action::Stops,
            Some(_) if own.len() == 0 => Action::HasNoHelp,
            Some(_) => Action::NeedsHelp,
        };
        if matches!(action, Action::Takes | Action::TakesLast) {
            residue += if party == Party::Attackers { i16::from(stake) } else { -i16::from(stake) };
        }
        steps.push(Step { party, action, stake, attacker, defender, residue });
        match (action, defender) {
            (Action::NeedsHelp, _) => {
                attacker = own.next().unwrap_or(attacker);
                helped = true;
            }
            (Action::Takes, Some(guard)) => {
                helped = false;
                (stake, attacker) = (attacker, guard);
                (own, others) = (others, own);
                party = if party == Party::Attackers { Party::Defenders } else { Party::Attackers };
            }
            _ => return steps,
        }
        defender = others.next();
    }
}

/// The pieces that would capture in the steps of an exchange: each the number of a piece in its
/// side's order, from 0.
///
/// # Examples
/// ```
/// use sargon_analysis::{takers, trace};
///
/// // The knight takes, the pawn takes back, and the second knight calls for the bishop's help.
/// assert_eq!(takers(&trace(3, &[3, 3, 3], &[1, 9])), [0, 0, 1, 2]);
/// ```
#[must_use]
pub fn takers(steps: &[Step]) -> Vec<usize> {
    let (mut own, mut others) = (1, 1);
    let (mut taker, mut guard) = (0, 0);
    let mut takers = Vec::new();
    for step in steps {
        takers.push(taker);
        if step.action == Action::Takes {
            taker = guard;
            (own, others) = (others, own);
        } else {
            taker = own;
            own += 1;
        }
        guard = others;
        others += 1;
    }
    takers
}

/// The kinds of a side's pieces in the order in which the array has them capture. A value of 3 is a
/// knight in the knights' byte and a bishop elsewhere, so that a third knight, which only promotion
/// can make, goes for a bishop.
#[must_use]
pub fn kinds(array: &AttackersArray, colour: Colour) -> Vec<Kind> {
    let bytes = array.to_bytes();
    let section = if colour == Colour::White { &bytes[1..7] } else { &bytes[8..] };
    let entries = section.iter().zip(Kind::ALL);
    let kinds = entries.flat_map(|(byte, slot)| [byte & 15, byte >> 4].map(|v| kind(v, slot)));
    kinds.flatten().take(usize::from(array.count(colour))).collect()
}

/// The array with other values in the place of Sargon's, each by the kind of piece that stands for.
#[must_use]
pub fn revalued(array: &AttackersArray, value: impl Fn(Kind) -> u8) -> AttackersArray {
    let mut bytes = array.to_bytes();
    for section in bytes.chunks_mut(7) {
        for (byte, slot) in section[1..].iter_mut().zip(Kind::ALL) {
            let [low, high] = [*byte & 15, *byte >> 4].map(|v| kind(v, slot).map_or(0, &value));
            *byte = low | high << 4;
        }
    }
    AttackersArray::from_bytes(&bytes)
}

/// The kind of piece that an entry of a slot stands for; `None` for an empty entry.
fn kind(value: u8, slot: Kind) -> Option<Kind> {
    match value {
        0 => None,
        3 if slot == Kind::Knight => Some(Kind::Knight),
        3 => Some(Kind::Bishop),
        _ => Kind::ALL.into_iter().find(|kind| kind.value() == value),
    }
}
