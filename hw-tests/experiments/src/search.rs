//! The search: iterative deepening, principal variation search, a table of positions, reductions of
//! late moves, quiescence.

use chess_rules::Move;

use crate::evaluation::{HangingPieces, static_score};
use crate::ordering::{Candidate, QuietMoves};
use crate::{LeafRule, Node, Operation, Player, Work};

/// The score of a mate on the board, less its distance in plies.
pub const MATE: i32 = 30_000;
/// Scores beyond this are mates.
const MATE_BOUND: i32 = MATE - 1000;
const MAX_PLY: usize = 64;
const TABLE_ENTRIES: usize = 1 << 16;
/// Reductions begin at this depth and this number of moves tried, and grow at a later number.
const REDUCED_DEPTH: i32 = 3;
const REDUCED_MOVES: usize = 3;
const REDUCED_TWICE: usize = 12;
/// Half moves without capture or pawn move after which a game is drawn.
pub(crate) const DRAWN_HALFMOVES: u8 = 100;

/// The end of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The depth in plies, at most 40.
    pub depth: i32,
    /// Nanoseconds of counted work; depth 1 is always completed.
    pub ns: u64,
}

impl Limit {
    /// A search to a depth.
    pub fn depth(depth: i32) -> Self {
        Self { depth, ns: u64::MAX }
    }

    /// A search by counted work.
    pub fn ns(ns: u64) -> Self {
        Self { depth: 40, ns }
    }
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The best move; `None` if there is no legal one.
    pub best: Option<Move>,
    /// Centipawns for the side to move; beyond [`MATE`] less 1,000 a mate.
    pub score: i32,
    /// The last depth completed.
    pub depth: i32,
    /// The work of the search.
    pub work: Work,
}

#[derive(Clone, Copy, PartialEq)]
enum Bound {
    Lower,
    Exact,
    Upper,
}

#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    best: Option<Move>,
    score: i32,
    depth: i32,
    bound: Bound,
}

/// A searcher with what it remembers from move to move of a game.
pub struct Search {
    player: Player,
    table: Vec<Option<Entry>>,
    quiet: QuietMoves,
    work: Work,
    limit: u64,
    is_stopped: bool,
    /// Hash keys of the game and of the line searched.
    keys: Vec<u64>,
    root_best: Option<Move>,
}

impl Search {
    /// Creates a searcher that remembers nothing.
    pub fn new(player: Player) -> Self {
        Self {
            player,
            table: vec![None; TABLE_ENTRIES],
            quiet: QuietMoves::new(MAX_PLY + 1),
            work: Work::default(),
            limit: u64::MAX,
            is_stopped: false,
            keys: Vec::new(),
            root_best: None,
        }
    }

    /// Searches a position; `earlier` are the keys of the positions of the game before it.
    pub fn run(&mut self, node: &Node, earlier: &[u64], limit: Limit) -> Found {
        self.work = Work::default();
        self.keys = earlier.to_vec();
        self.limit = u64::MAX;
        self.is_stopped = false;
        let mut found = Found { best: None, score: 0, depth: 0, work: self.work };
        for depth in 1..=limit.depth {
            self.root_best = None;
            let score = self.negamax(node, depth, 0, (-MATE, MATE));
            if self.is_stopped {
                break;
            }
            found = Found { best: self.root_best, score, depth, work: self.work };
            if score.abs() > MATE_BOUND || found.best.is_none() {
                break;
            }
            self.limit = limit.ns;
        }
        Found { work: self.work, ..found }
    }

    fn spend(&mut self, operation: Operation) -> bool {
        self.work.add(operation, 1);
        self.is_stopped |= self.work.ns >= self.limit;
        self.is_stopped
    }

    fn is_draw(&self, node: &Node) -> bool {
        let clock = node.board.halfmove_clock();
        let key = node.board.hash();
        let back = self.keys.iter().rev().take(usize::from(clock));
        clock >= DRAWN_HALFMOVES || back.skip(1).step_by(2).any(|earlier| *earlier == key)
    }

    fn negamax(&mut self, node: &Node, depth: i32, ply: usize, window: (i32, i32)) -> i32 {
        let in_check = node.is_check();
        // A side in check is never evaluated without an answer.
        let depth = depth.max(i32::from(in_check));
        if depth <= 0 || ply >= MAX_PLY {
            return self.leaf(node, ply, window);
        }
        if self.spend(Operation::Node) || (ply > 0 && self.is_draw(node)) {
            return 0;
        }
        let entry = self.lookup(node);
        let score = entry.and_then(|entry| cutoff(&entry, depth, ply, window));
        if let Some(score) = score.filter(|_| window.1 - window.0 == 1) {
            return score;
        }
        let first = entry.and_then(|entry| entry.best).filter(|m| node.board.is_legal(*m));
        self.keys.push(node.board.hash());
        let found = self.best_move(node, first, (depth, ply), window);
        self.keys.pop();
        let Some((best_move, best)) = found.filter(|_| !self.is_stopped) else {
            return if in_check && !self.is_stopped { ply as i32 - MATE } else { 0 };
        };
        if ply == 0 {
            self.root_best = Some(best_move);
        }
        let bound = match best {
            _ if best >= window.1 => Bound::Lower,
            _ if best > window.0 => Bound::Exact,
            _ => Bound::Upper,
        };
        self.store(node, Entry { key: 0, best: Some(best_move), score: best, depth, bound }, ply);
        best
    }

    /// Searches the moves of a node, `first` before the others are generated; `None` if there are
    /// none, meaningless if the search was stopped.
    fn best_move(
        &mut self,
        node: &Node,
        first: Option<Move>,
        (depth, ply): (i32, usize),
        (mut alpha, beta): (i32, i32),
    ) -> Option<(Move, i32)> {
        let mut candidates: Vec<_> =
            first.into_iter().map(|m| Candidate::unsorted(node, m)).collect();
        let mut is_sorted = false;
        let mut best = None;
        for tried in 0.. {
            if tried == candidates.len() && !is_sorted {
                is_sorted = true;
                let at = (&self.player, node, ply);
                self.quiet.append_sorted(&mut candidates, at, false, &mut self.work);
            }
            let Some(candidate) = candidates.get(tried) else { break };
            let score = self.candidate_score(node, candidate, (depth, ply, tried), (alpha, beta));
            if best.is_none_or(|(_, best)| score > best) {
                best = Some((candidate.m, score));
            }
            alpha = alpha.max(score);
            if self.is_stopped || alpha >= beta {
                if !candidate.is_tactical && !self.is_stopped {
                    self.quiet.reward(node, candidate.m, depth, ply);
                }
                break;
            }
        }
        best
    }

    /// Searches a move: the first with the whole window, the others with an empty one, and again
    /// where they turn out better.
    fn candidate_score(
        &mut self,
        node: &Node,
        candidate: &Candidate,
        (depth, ply, tried): (i32, usize, usize),
        (alpha, beta): (i32, i32),
    ) -> i32 {
        let after = node.play(candidate.m);
        let full = |search: &mut Self, depth: i32, alpha: i32, beta: i32| {
            -search.negamax(&after, depth, ply + 1, (-beta, -alpha))
        };
        if tried == 0 {
            return full(self, depth - 1, alpha, beta);
        }
        let is_late = depth >= REDUCED_DEPTH && tried >= REDUCED_MOVES && !node.is_check();
        let is_reduced = is_late && self.is_reduced(node, candidate, after.is_check());
        let reduction = i32::from(is_reduced) + i32::from(is_reduced && tried >= REDUCED_TWICE);
        let mut score = full(self, depth - 1 - reduction, alpha, alpha + 1);
        if score > alpha && reduction > 0 {
            score = full(self, depth - 1, alpha, alpha + 1);
        }
        if score > alpha && score < beta {
            score = full(self, depth - 1, alpha, beta);
        }
        score
    }

    fn is_reduced(&mut self, node: &Node, candidate: &Candidate, gives_check: bool) -> bool {
        let player = &self.player;
        let if_losing = match (candidate.is_tactical, gives_check) {
            (true, _) => player.reduces_captures,
            (false, true) => player.reduces_checks,
            (false, false) => return player.reduces_quiets,
        };
        if_losing && candidate.loses(node, &mut self.work)
    }

    fn leaf(&mut self, node: &Node, ply: usize, window: (i32, i32)) -> i32 {
        let rule = self.player.leaf;
        if rule == LeafRule::Quiescence {
            return self.quiescence(node, ply, window);
        }
        self.spend(Operation::Leaf);
        if rule == LeafRule::Static {
            return static_score(&node.board);
        }
        self.work.add(Operation::Residues, 1);
        static_score(&node.board) + HangingPieces::of(node).score(rule)
    }

    fn quiescence(&mut self, node: &Node, ply: usize, (mut alpha, beta): (i32, i32)) -> i32 {
        if self.spend(Operation::Leaf) {
            return 0;
        }
        let mut best = static_score(&node.board);
        alpha = alpha.max(best);
        if alpha >= beta || ply >= MAX_PLY {
            return best;
        }
        let mut candidates = Vec::new();
        let at = (&self.player, node, ply);
        self.quiet.append_sorted(&mut candidates, at, true, &mut self.work);
        for candidate in candidates {
            if self.player.drops_losing && candidate.loses(node, &mut self.work) {
                continue;
            }
            let score = -self.quiescence(&node.play(candidate.m), ply + 1, (-beta, -alpha));
            if self.is_stopped {
                return 0;
            }
            best = best.max(score);
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        best
    }

    fn lookup(&self, node: &Node) -> Option<Entry> {
        let key = node.board.hash();
        self.table[key as usize % TABLE_ENTRIES].filter(|entry| entry.key == key)
    }

    /// Stores an entry; mates are stored by their distance from this node.
    fn store(&mut self, node: &Node, entry: Entry, ply: usize) {
        let key = node.board.hash();
        let score = entry.score + mate_offset(entry.score, ply);
        self.table[key as usize % TABLE_ENTRIES] = Some(Entry { key, score, ..entry });
    }
}

/// Returns what turns a mate's distance from the root into that from a node.
fn mate_offset(score: i32, ply: usize) -> i32 {
    match score {
        _ if score > MATE_BOUND => ply as i32,
        _ if score < -MATE_BOUND => -(ply as i32),
        _ => 0,
    }
}

/// Returns the score of an entry if it decides a node.
fn cutoff(entry: &Entry, depth: i32, ply: usize, (alpha, beta): (i32, i32)) -> Option<i32> {
    let score = entry.score - mate_offset(entry.score, ply);
    let decides = match entry.bound {
        Bound::Exact => true,
        Bound::Lower => score >= beta,
        Bound::Upper => score <= alpha,
    };
    (decides && entry.depth >= depth).then_some(score)
}
