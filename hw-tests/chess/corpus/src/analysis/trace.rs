//! An exchange step by step, for any values, as in Figure 4 of the article.

use sargon_reference::{AttackersArray, Colour, PieceKind};

/// The side that makes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeSide {
    /// The side that began.
    Attackers,
    /// The side of the piece on the square.
    Defenders,
}

/// The decision in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepAction {
    /// Takes; the defender captures next.
    Takes,
    /// Takes, and nothing recaptures: the end.
    TakesLast,
    /// The attacker is worth more than the piece, no more than its guard: bring in the next.
    NeedsHelp,
    /// As [`Self::NeedsHelp`], without a next attacker: the end.
    HasNoHelp,
    /// The attacker is worth more than the piece and its guard: the end.
    Stops,
}

/// A step of an exchange. Roles change after each [`StepAction::Takes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeStep {
    /// The side that acts.
    pub party: ExchangeSide,
    /// The decision.
    pub action: StepAction,
    /// Points at stake.
    pub stake: u8,
    /// Value of the piece that would capture.
    pub attacker: u8,
    /// Value of the piece ready to recapture.
    pub defender: Option<u8>,
    /// Points lost by the owner of the square after the step.
    pub residue: i16,
}

/// Returns the steps of an exchange by the article's rule; none without attackers. `stake` is the
/// value of the piece; the lists are the values of attackers and defenders in the order in which
/// they capture.
///
/// # Examples
/// ```
/// use sargon_corpus::analysis::{StepAction, exchange_steps};
///
/// // A knight, attacked by two knights and a bishop, guarded by a pawn and a queen.
/// let steps = exchange_steps(3, &[3, 3, 3], &[1, 9]);
/// let actions: Vec<StepAction> = steps.iter().map(|step| step.action).collect();
/// let [takes, help] = [StepAction::Takes, StepAction::NeedsHelp];
/// assert_eq!(actions, [takes, takes, help, StepAction::TakesLast]);
/// assert_eq!(steps[3].residue, 1);
/// ```
pub fn exchange_steps(stake: u8, attackers: &[u8], defenders: &[u8]) -> Vec<ExchangeStep> {
    let mut steps = Vec::new();
    let mut own = attackers.iter().copied();
    let mut others = defenders.iter().copied();
    let mut party = ExchangeSide::Attackers;
    let mut stake = stake;
    let mut residue = 0;
    let Some(mut attacker) = own.next() else { return steps };
    let mut defender = others.next();
    // Only the first attacker's value is compared with the stake, not that of helpers.
    let mut helped = false;
    loop {
        let action = match defender {
            None => StepAction::TakesLast,
            Some(_) if stake >= attacker && !helped => StepAction::Takes,
            Some(guard) if guard < attacker => StepAction::Stops,
            Some(_) if own.len() == 0 => StepAction::HasNoHelp,
            Some(_) => StepAction::NeedsHelp,
        };
        if matches!(action, StepAction::Takes | StepAction::TakesLast) {
            residue +=
                if party == ExchangeSide::Attackers { i16::from(stake) } else { -i16::from(stake) };
        }
        steps.push(ExchangeStep { party, action, stake, attacker, defender, residue });
        match (action, defender) {
            (StepAction::NeedsHelp, _) => {
                attacker = own.next().unwrap_or(attacker);
                helped = true;
            }
            (StepAction::Takes, Some(guard)) => {
                helped = false;
                (stake, attacker) = (attacker, guard);
                (own, others) = (others, own);
                party = if party == ExchangeSide::Attackers {
                    ExchangeSide::Defenders
                } else {
                    ExchangeSide::Attackers
                };
            }
            _ => return steps,
        }
        defender = others.next();
    }
}

/// Returns the piece that would capture in each step: its index in its side's order, from 0.
///
/// # Examples
/// ```
/// use sargon_corpus::analysis::{capturing_pieces, exchange_steps};
///
/// // The knight takes, the pawn takes back, and the second knight calls for the bishop's help.
/// assert_eq!(capturing_pieces(&exchange_steps(3, &[3, 3, 3], &[1, 9])), [0, 0, 1, 2]);
/// ```
pub fn capturing_pieces(steps: &[ExchangeStep]) -> Vec<usize> {
    let (mut own, mut others) = (1, 1);
    let (mut taker, mut guard) = (0, 0);
    let mut pieces = Vec::new();
    for step in steps {
        pieces.push(taker);
        if step.action == StepAction::Takes {
            taker = guard;
            (own, others) = (others, own);
        } else {
            taker = own;
            own += 1;
        }
        guard = others;
        others += 1;
    }
    pieces
}

/// Returns the kinds of a side's pieces in the array's order of capture. A value of 3 is a
/// knight in the knights' byte and a bishop elsewhere, so that a third knight, which only promotion
/// can make, counts as a bishop.
pub fn capturer_kinds(array: &AttackersArray, colour: Colour) -> Vec<PieceKind> {
    let bytes = array.to_bytes();
    let section = if colour == Colour::White { &bytes[1..7] } else { &bytes[8..] };
    let entries = section.iter().zip(PieceKind::ALL);
    let kinds = entries.flat_map(|(byte, slot)| [byte & 15, byte >> 4].map(|v| kind(v, slot)));
    kinds.flatten().take(usize::from(array.count(colour))).collect()
}

/// Returns the array with other values in place of Sargon's, by the kind of each piece.
pub fn with_values(array: &AttackersArray, value: impl Fn(PieceKind) -> u8) -> AttackersArray {
    let mut bytes = array.to_bytes();
    for section in bytes.chunks_mut(7) {
        for (byte, slot) in section[1..].iter_mut().zip(PieceKind::ALL) {
            let [low, high] = [*byte & 15, *byte >> 4].map(|v| kind(v, slot).map_or(0, &value));
            *byte = low | high << 4;
        }
    }
    AttackersArray::from_bytes(&bytes)
}

/// The kind of piece that an entry of a slot stands for; `None` for an empty entry.
fn kind(value: u8, slot: PieceKind) -> Option<PieceKind> {
    match value {
        0 => None,
        3 if slot == PieceKind::Knight => Some(PieceKind::Knight),
        3 => Some(PieceKind::Bishop),
        _ => PieceKind::ALL.into_iter().find(|kind| kind.value() == value),
    }
}
