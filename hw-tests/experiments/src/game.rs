//! Games between two variants: openings, adjudication, PGN.

use std::fmt::Write;

use chess_rules::{Color, Move, Piece};

use crate::random::Rng;
use crate::search::DRAWN_HALFMOVES;
use crate::{Limit, Node, Player, Search, Work};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/// Random plies of an opening, and the score by a search beyond which it is replaced.
const OPENING_PLIES: usize = 8;
const OPENING_DEPTH: i32 = 5;
const OPENING_SCORE: i32 = 100;
/// A game is won when both players' searches agree on this score for this many plies.
const WON_SCORE: i32 = 600;
const WON_PLIES: i32 = 6;
/// Plies after which a game is drawn.
const MAX_PLIES: usize = 400;

/// Results by White's half points.
const RESULTS: [&str; 3] = ["0-1", "1/2-1/2", "1-0"];

/// A match: each opening is played twice, with colours exchanged.
#[derive(Debug, Clone)]
pub struct Match {
    /// The players; the first has White in games of even number.
    pub players: [Player; 2],
    /// The seed of the openings.
    pub seed: u64,
    /// Counted nanoseconds for each move.
    pub ns: u64,
}

/// A finished game.
#[derive(Debug, Clone)]
pub struct Game {
    /// Its number in the match, from 0.
    pub number: u64,
    /// All moves from the usual start.
    pub moves: Vec<Move>,
    /// White's half points: 0, 1 or 2.
    pub white: usize,
    /// How the game ended.
    pub reason: &'static str,
    /// The work of the first player of the match, and of the second.
    pub work: [Work; 2],
}

/// Returns the random legal moves of an opening that a search calls balanced.
pub fn opening(seed: u64, number: u64) -> Vec<Move> {
    // The generators of neighbouring numbers differ by far more than one opening draws.
    let mut random = Rng::from_seed(seed ^ (number << 32));
    loop {
        let moves = random_moves(&mut random);
        let player = "mvv-lva+killers+history".parse().expect("a player");
        let node = moves.iter().fold(start(), |node, m| node.play(*m));
        let found = Search::new(player).run(&node, &[], Limit::depth(OPENING_DEPTH));
        if moves.len() == OPENING_PLIES && found.score.abs() <= OPENING_SCORE {
            return moves;
        }
    }
}

fn random_moves(random: &mut Rng) -> Vec<Move> {
    let mut node = start();
    let mut moves = Vec::new();
    for _ in 0..OPENING_PLIES {
        let legal = node.moves(false);
        let Some(m) = legal.get(random.below(legal.len())) else { break };
        node = node.play(*m);
        moves.push(*m);
    }
    moves
}

fn start() -> Node {
    Node::from_fen(START).expect("the usual start")
}

impl Match {
    /// Reads the games of a PGN file of this match that was perhaps cut off: the length of the
    /// complete ones in bytes, and the first player's half points of each.
    ///
    /// # Errors
    /// Returns a message if a game is not the next one of this match.
    pub fn read(&self, text: &str) -> Result<(usize, Vec<usize>), String> {
        let mut end = 0;
        let mut scores = Vec::new();
        // A game is its tags, an empty line, its moves, an empty line.
        while let Some((tags, moves)) = text[end..].split_once("\n\n") {
            let Some((moves, _)) = moves.split_once("\n\n") else { break };
            let number = scores.len() as u64;
            let white = RESULTS.iter().position(|result| moves.ends_with(result));
            let white = white.filter(|white| tags.starts_with(&self.tags(number, *white)));
            let white = white.ok_or_else(|| format!("game {number} is not of this match"))?;
            scores.push(if Self::white(number) == 0 { white } else { 2 - white });
            end += tags.len() + moves.len() + 4;
        }
        Ok((end, scores))
    }

    /// Returns the tags of a game but for that of its end.
    fn tags(&self, number: u64, white: usize) -> String {
        let (seed, us, result) = (self.seed, self.ns / 1000, RESULTS[white]);
        let [white, black] = [0, 1].map(|side| &self.players[Self::white(number) ^ side]);
        format!(
            "[Event \"seed {seed}, {us} us\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n\
             [Round \"{number}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n\
             [Result \"{result}\"]\n"
        )
    }

    /// Returns which player has White in a game: 0 or 1.
    pub fn white(number: u64) -> usize {
        (number % 2) as usize
    }

    /// Plays a game; the same number gives the same game.
    pub fn play(&self, number: u64) -> Game {
        let mut searches = self.players.clone().map(Search::new);
        let mut game =
            Game { number, moves: vec![], white: 1, reason: "", work: Default::default() };
        let mut keys = Vec::new();
        let mut node = start();
        for m in opening(self.seed, number / 2) {
            game.advance(&mut node, &mut keys, m);
        }
        let mut won = 0i32;
        loop {
            if let Some((white, reason)) = finished(&node, &keys) {
                return Game { white, reason, ..game };
            }
            let is_white = node.board.side_to_move() == Color::White;
            let turn = Self::white(number) ^ usize::from(!is_white);
            let found = searches[turn].run(&node, &keys, Limit::ns(self.ns));
            game.work[turn] += found.work;
            let white_score = if is_white { found.score } else { -found.score };
            won = match white_score {
                _ if white_score >= WON_SCORE => won.max(0) + 1,
                _ if white_score <= -WON_SCORE => won.min(0) - 1,
                _ => 0,
            };
            if won.abs() == WON_PLIES {
                let white = if won > 0 { 2 } else { 0 };
                return Game { white, reason: "adjudication", ..game };
            }
            let Some(m) = found.best else { return game };
            game.advance(&mut node, &mut keys, m);
        }
    }
}

/// Returns White's half points and the reason if a game is over by the rules or by its length.
fn finished(node: &Node, keys: &[u64]) -> Option<(usize, &'static str)> {
    let to_move_loses = if node.board.side_to_move() == Color::White { 0 } else { 2 };
    let repeated = keys.iter().filter(|key| **key == node.board.hash()).count() >= 2;
    match () {
        () if node.moves(false).is_empty() && node.is_check() => Some((to_move_loses, "mate")),
        () if node.moves(false).is_empty() => Some((1, "stalemate")),
        () if node.board.halfmove_clock() >= DRAWN_HALFMOVES => Some((1, "50 moves")),
        () if repeated => Some((1, "repetition")),
        () if is_bare(node) => Some((1, "insufficient material")),
        () if keys.len() >= MAX_PLIES => Some((1, "400 plies")),
        () => None,
    }
}

/// Returns `true` if at most one knight or bishop is left beside the kings.
fn is_bare(node: &Node) -> bool {
    let heavy = [Piece::Pawn, Piece::Rook, Piece::Queen];
    let has_heavy = heavy.into_iter().any(|kind| !node.board.pieces(kind).is_empty());
    node.board.occupied().len() <= 3 && !has_heavy
}

impl Game {
    fn advance(&mut self, node: &mut Node, keys: &mut Vec<u64>, m: Move) {
        keys.push(node.board.hash());
        self.moves.push(m);
        *node = node.play(m);
    }

    /// Writes the game in PGN, for `of`.
    pub fn pgn(&self, of: &Match) -> String {
        let tags = of.tags(self.number, self.white);
        let mut text = format!("{tags}[Termination \"{}\"]\n\n", self.reason);
        let mut node = start();
        let mut column = 0;
        for (ply, m) in self.moves.iter().enumerate() {
            let san = node.position.san(*m);
            let token = if ply % 2 == 0 { format!("{}. {san}", ply / 2 + 1) } else { san };
            let separator = if column + token.len() >= 79 { "\n" } else { " " };
            column = if separator == "\n" { token.len() } else { column + 1 + token.len() };
            let separator = if ply == 0 { "" } else { separator };
            let _ = write!(text, "{separator}{token}");
            node = node.play(*m);
        }
        let _ = writeln!(text, " {}\n", RESULTS[self.white]);
        text
    }
}
