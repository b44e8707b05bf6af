//! The order of moves.

use crate::quiescence::mvv_lva;
use chess_rules::Move;
use chess_rules::see::{ExchangeStart, PieceValues, SeeDefinition, move_value};
use sargon_corpus::analysis::sargon_move_value;

use crate::{CaptureOrder, Node, Operation, Player, Work};

const CAPTURE: i32 = 1 << 20;
const KILLER: i32 = 1 << 19;
/// The bound of a history score, far below that of a killer.
const MAX_HISTORY: i32 = 1 << 14;
const VALUES: PieceValues = PieceValues::CLASSIC;
/// Centipawns in one of Sargon's points.
const POINT: i32 = 100;

/// A move to be searched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) m: Move,
    pub(crate) is_tactical: bool,
    /// The exchange value, or only its sign, if the order needed it.
    value: Option<i32>,
    key: i32,
}

impl Candidate {
    pub(crate) fn unsorted(node: &Node, m: Move) -> Self {
        Self { m, is_tactical: node.is_tactical(m), value: None, key: 0 }
    }

    /// Returns `true` if the move loses by exchange value, by the player's own definition if its
    /// order has used one.
    pub(crate) fn loses(&self, node: &Node, work: &mut Work) -> bool {
        self.value.map_or_else(|| loses(node, self.m, work), |value| value < 0)
    }
}

/// Compares an exchange value with 0, at no cost where the victim is worth as much as the attacker.
fn loses(node: &Node, m: Move, work: &mut Work) -> bool {
    let worth = |square| node.board.piece_on(square).map_or(0, |kind| VALUES.of(kind));
    if node.position.taken(m).map_or(0, worth) >= worth(m.from) {
        return false;
    }
    work.add(Operation::Threshold, 1);
    !ExchangeStart::after_move(&node.position, m, VALUES).see_ge(0, false)
}

/// What a search has learnt about quiet moves.
pub(crate) struct QuietMoves {
    killers: Vec<[Option<Move>; 2]>,
    history: Vec<i32>,
}

impl QuietMoves {
    pub(crate) fn new(plies: usize) -> Self {
        Self { killers: vec![[None; 2]; plies], history: vec![0; 2 * 64 * 64] }
    }

    fn index(node: &Node, m: Move) -> usize {
        (node.board.side_to_move() as usize * 64 + m.from as usize) * 64 + m.to as usize
    }

    /// Notes that a quiet move caused a cutoff.
    pub(crate) fn reward(&mut self, node: &Node, m: Move, depth: i32, ply: usize) {
        let killers = &mut self.killers[ply];
        if killers[0] != Some(m) {
            *killers = [Some(m), killers[0]];
        }
        let score = &mut self.history[Self::index(node, m)];
        let bonus = (depth * depth).min(400);
        *score += bonus - *score * bonus / MAX_HISTORY;
    }

    fn key(&self, player: &Player, node: &Node, m: Move, ply: usize) -> i32 {
        let killer = self.killers[ply].iter().position(|killer| *killer == Some(m));
        match killer {
            Some(slot) if player.killers => KILLER - slot as i32,
            _ if player.history => self.history[Self::index(node, m)],
            _ => 0,
        }
    }

    /// Appends the moves of a node but `tried`, best first.
    pub(crate) fn append_sorted(
        &self,
        candidates: &mut Vec<Candidate>,
        (player, node, ply): (&Player, &Node, usize),
        tactical_only: bool,
        work: &mut Work,
    ) {
        let first = candidates.len();
        let tried = candidates.first().map(|candidate| candidate.m);
        for m in node.moves(tactical_only).into_iter().filter(|m| Some(*m) != tried) {
            let mut candidate = Candidate::unsorted(node, m);
            if candidate.is_tactical {
                capture_key(&mut candidate, player.order, node, work);
            } else {
                candidate.key = self.key(player, node, m, ply);
            }
            candidates.push(candidate);
        }
        let added = &mut candidates[first..];
        if !(tactical_only && player.order == CaptureOrder::Generated) {
            work.add(Operation::SortedMove, added.len());
            added.sort_by_key(|candidate| -candidate.key);
        }
    }
}

fn capture_key(candidate: &mut Candidate, order: CaptureOrder, node: &Node, work: &mut Work) {
    let m = candidate.m;
    let (value, rank) = match order {
        CaptureOrder::Generated => (None, 0),
        CaptureOrder::MvvLva => (None, mvv_lva(&node.position, m)),
        CaptureOrder::Threshold => {
            let value = if loses(node, m, work) { -1 } else { 0 };
            (Some(value), mvv_lva(&node.position, m))
        }
        CaptureOrder::Exchange(definition) => {
            work.add(cost(definition), 1);
            let value = move_value(&node.position, m, VALUES, definition);
            (Some(value), value)
        }
        CaptureOrder::Sargon => {
            work.add(Operation::Sargon, 1);
            let value = POINT * sargon_move_value(&node.position, m).sargon;
            (Some(value), value)
        }
    };
    candidate.value = value;
    candidate.key =
        if value.is_some_and(|value| value < 0) { rank - CAPTURE } else { rank + CAPTURE };
}

fn cost(definition: SeeDefinition) -> Operation {
    match definition {
        SeeDefinition::Swap | SeeDefinition::SwapPromo => Operation::Swap,
        SeeDefinition::SwapPins => Operation::SwapPins,
        SeeDefinition::Legal => Operation::Legal,
    }
}
