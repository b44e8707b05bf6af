//! Measures the claims of the tutorial and the wiki about static exchange evaluation. In this
//! package's folder:
//!
//! ```text
//! cargo run --release --example claims -- ../sargon-corpus/corpus/generated.epd
//! ```
//!
//! Arguments are files of positions (EPD), or `truth.jsonl.gz` of `chess-rules`' tests. `README.md`
//! has the results.

#[path = "../../chess/rules/tests/it/see/forms.rs"]
mod forms;

use std::collections::HashSet;
use std::io::Read;
use std::time::Instant;

use chess_experiments::quiescence::{CaptureOrdering, QuiescenceSearch};
use chess_rules::epd::{EpdLine, read};
use chess_rules::see::{ExchangeStart, PieceValues, SeeDefinition, move_value};
use chess_rules::{Color, Move, Piece, Pieces, Position, Square};
use flate2::read::GzDecoder;

use forms::Exchange;

const VALUES: PieceValues = PieceValues::CLASSIC;
/// A margin of two pawns, as engines add it in delta pruning.
const MARGIN: i32 = 200;

fn main() {
    for file in std::env::args().skip(1) {
        let positions = positions(&file);
        println!("{file}: {} positions", positions.len());
        let captures = captures(&positions);
        shortcuts(&captures);
        slips(&captures);
        wiki_pruning(&positions);
        accuracy(&captures);
        ordering(&positions);
        searches(&positions);
        times_of_forms(&positions);
    }
}

fn positions(file: &str) -> Vec<Position> {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut text = String::new();
    if file.ends_with(".gz") {
        GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("a whole file");
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let fens = lines.map(|line: serde_json::Value| line["fen"].as_str().map(str::to_owned));
        return fens.flatten().filter_map(|fen| Position::from_fen(&fen).ok()).collect();
    }
    let entries = read(&String::from_utf8_lossy(&bytes)).into_iter();
    entries
        .filter_map(|line| match line {
            EpdLine::Position(entry) => Some(entry.position),
            _ => None,
        })
        .collect()
}

fn captures(positions: &[Position]) -> Vec<(Position, Move)> {
    let of = |position: &Position| {
        let position = *position;
        position.legal_captures().into_iter().map(move |m| (position, m)).collect::<Vec<_>>()
    };
    positions.iter().flat_map(of).collect()
}

fn share(count: usize, of: usize) -> String {
    format!("{count} of {of} ({:.1} %)", 100.0 * count as f64 / of.max(1) as f64)
}

fn value(position: &Position, m: Move) -> i32 {
    move_value(position, m, VALUES, SeeDefinition::Swap)
}

/// Returns the pieces on both squares of a capture, and the defenders after it.
fn facts(position: &Position, m: Move) -> (i32, i32, bool) {
    let worth = |square| position.pieces().on(square).map_or(0, |(_, kind)| VALUES.of(kind));
    let after = position.play(m);
    let pieces = after.pieces();
    let guarded = pieces.is_attacked(m.to, after.to_move(), pieces.occupied());
    (position.taken(m).map_or(0, worth), worth(m.from), guarded)
}

/// The tutorial's early exit and lazy evaluation.
fn shortcuts(captures: &[(Position, Move)]) {
    let captures: Vec<_> = captures.iter().filter(|(_, m)| m.promotion.is_none()).collect();
    let mut strict = 0;
    let mut loose = 0;
    let mut wrong = 0;
    let mut lazy = 0;
    let mut same = 0;
    let mut sign = 0;
    for (position, m) in &captures {
        let (victim, attacker, guarded) = facts(position, *m);
        let exact = value(position, *m);
        strict += usize::from(!guarded && victim > attacker);
        loose += usize::from(!guarded);
        wrong += usize::from(!guarded && exact != victim);
        if victim < attacker {
            let guess = if guarded { -attacker } else { victim };
            lazy += 1;
            same += usize::from(guess == exact);
            sign += usize::from((guess < 0) == (exact < 0));
        }
    }
    let all = captures.len();
    println!("early exit as written applies to {}", share(strict, all));
    println!("no defender: {}, then wrong: {wrong}", share(loose, all));
    println!("lazy evaluation guesses {}", share(lazy, all));
    println!("  exact: {}; its sign: {}", share(same, lazy), share(sign, lazy));
}

/// The tutorial's four pitfalls: counts the wrong values that each causes.
fn slips(captures: &[(Position, Move)]) {
    let plain: Vec<_> = captures.iter().filter(|(_, m)| m.promotion.is_none()).collect();
    for (name, slip) in [
        ("no x-rays", Slip::NoXRays),
        ("any attacker, the lowest square first", Slip::AnyAttacker),
        ("no king", Slip::NoKing),
        ("no stopping", Slip::NoStopping),
    ] {
        let is_wrong = |(position, m): &&&(Position, Move)| {
            let after = position.play(*m);
            let taken = facts(position, *m).0;
            let stands = after.pieces().on(m.to).map_or(0, |(_, kind)| VALUES.of(kind));
            let occupied = after.pieces().occupied();
            let answer = slip.gain(after.pieces(), m.to, after.to_move(), stands, occupied);
            taken - answer != value(position, *m)
        };
        let wrong = plain.iter().filter(is_wrong).count();
        println!("pitfall, {name}: wrong {}", share(wrong, plain.len()));
    }
}

/// A mistake in an exchange evaluator.
#[derive(Clone, Copy, PartialEq)]
enum Slip {
    NoXRays,
    AnyAttacker,
    NoKing,
    NoStopping,
}

impl Slip {
    fn gain(
        self,
        pieces: &Pieces,
        square: Square,
        side: Color,
        stake: i32,
        occupied: chess_rules::BitBoard,
    ) -> i32 {
        // Without x-rays, attackers are found once; pieces that have captured are removed.
        let lines = if self == Self::NoXRays { pieces.occupied() } else { occupied };
        let attackers = pieces.attackers(square, lines) & occupied & pieces.side(side);
        let lowest = |kind| (attackers & pieces.kind(kind)).next_square().map(|at| (at, kind));
        let first = match self {
            Self::AnyAttacker => {
                attackers.next_square().and_then(|at| Some((at, pieces.on(at)?.1)))
            }
            _ => Piece::ALL.into_iter().find_map(lowest),
        };
        let Some((from, kind)) = first else { return 0 };
        let after = occupied - from.bitboard();
        let guarded = pieces.is_attacked(square, !side, after);
        if kind == Piece::King && (self == Self::NoKing || guarded) {
            return 0;
        }
        let gain = stake - self.gain(pieces, square, !side, VALUES.of(kind), after);
        if self == Self::NoStopping { gain } else { gain.max(0) }
    }
}

/// The wiki's claim that truncating the swap list does not change the result.
fn wiki_pruning(positions: &[Position]) {
    let mut moves = 0;
    let mut other = 0;
    let mut sign = 0;
    for position in positions {
        for m in position.legal_moves() {
            let opening = ExchangeStart::after_move(position, m, VALUES);
            let full = opening.list(false, false).value();
            let pruned = opening.list(false, true).value();
            moves += 1;
            other += usize::from(full != pruned);
            sign += usize::from(full.signum() != pruned.signum());
        }
    }
    println!("wiki's pruning, moves with another value: {}, sign: {sign}", share(other, moves));
}

/// The tutorial's claim of more than 95 % accuracy for winning and losing captures.
fn accuracy(captures: &[(Position, Move)]) {
    let mut same_sign = 0;
    let mut searched = 0;
    let mut by_search = 0;
    let mut losing = 0;
    let mut losing_right = 0;
    for (position, m) in captures {
        let swap = value(position, *m);
        let legal = move_value(position, *m, VALUES, SeeDefinition::Legal);
        same_sign += usize::from(swap.signum() == legal.signum());
        let before =
            QuiescenceSearch::new(VALUES, CaptureOrdering::MvvLva).gain(&position.play(*m));
        let Some(answer) = before else { continue };
        let won = ExchangeStart::after_move(position, *m, VALUES).list(false, false).gains[0];
        let found = won - answer;
        searched += 1;
        by_search += usize::from((swap < 0) == (found < 0));
        losing += usize::from(swap < 0);
        losing_right += usize::from(swap < 0 && found < 0);
    }
    println!("losing captures: {}", share(losing, captures.len()));
    println!("sign as by law: {}", share(same_sign, captures.len()));
    println!("losing or not, as a full capture search: {}", share(by_search, searched));
    println!("  called losing and lost there: {}", share(losing_right, losing));
}

/// Measures how often MVV-LVA orders the best capture first.
fn ordering(positions: &[Position]) {
    let mut asked = 0;
    let mut first_is_best = 0;
    let mut first_loses = 0;
    for position in positions {
        let mut captures = position.legal_captures();
        if captures.len() < 2 {
            continue;
        }
        captures.sort_by_key(|m| {
            std::cmp::Reverse(chess_experiments::quiescence::mvv_lva(position, *m))
        });
        let values: Vec<_> = captures.iter().map(|m| value(position, *m)).collect();
        asked += 1;
        first_is_best += usize::from(values.iter().max() == values.first());
        first_loses += usize::from(values[0] < 0 && values.iter().any(|value| *value >= 0));
    }
    println!("MVV-LVA, first is best by exchange: {}", share(first_is_best, asked));
    println!("  first loses though another does not: {}", share(first_loses, asked));
}

fn searches(positions: &[Position]) {
    println!(
        "{:<44}{:>10}{:>10}{:>8}{:>9}{:>8}",
        "search", "nodes", "values", "ms", "results", "limit"
    );
    let plain = |order| QuiescenceSearch::new(VALUES, order);
    let reference: Vec<_> =
        positions.iter().map(|p| plain(CaptureOrdering::MvvLva).gain(p)).collect();
    let cases = [
        ("captures as generated", plain(CaptureOrdering::None)),
        ("MVV-LVA", plain(CaptureOrdering::MvvLva)),
        ("by exchange", plain(CaptureOrdering::Exchange)),
        (
            "MVV-LVA, losing dropped",
            QuiescenceSearch { drops_losing: true, ..plain(CaptureOrdering::MvvLva) },
        ),
        (
            "by exchange, losing dropped",
            QuiescenceSearch { drops_losing: true, ..plain(CaptureOrdering::Exchange) },
        ),
        (
            "the same, values computed twice",
            QuiescenceSearch {
                drops_losing: true,
                remembers: false,
                ..plain(CaptureOrdering::Exchange)
            },
        ),
        (
            "MVV-LVA, delta",
            QuiescenceSearch { delta: Some(MARGIN), ..plain(CaptureOrdering::MvvLva) },
        ),
        (
            "MVV-LVA, delta, losing dropped",
            QuiescenceSearch {
                delta: Some(MARGIN),
                drops_losing: true,
                ..plain(CaptureOrdering::MvvLva)
            },
        ),
        (
            "MVV-LVA, futility by exchange",
            QuiescenceSearch { futility: Some(0), ..plain(CaptureOrdering::MvvLva) },
        ),
    ];
    for (name, case) in cases {
        search(name, &case, positions, &reference);
    }
    repeats(positions);
}

fn search(name: &str, case: &QuiescenceSearch, positions: &[Position], reference: &[Option<i32>]) {
    let started = Instant::now();
    let mut nodes = 0;
    let mut values = 0;
    let mut same = 0;
    let mut limited = 0;
    for (position, reference) in positions.iter().zip(reference) {
        let mut search = case.clone();
        let found = search.gain(position);
        nodes += search.nodes;
        values += search.evaluated;
        same += usize::from(found.is_some() && found == *reference);
        limited += usize::from(found.is_none());
    }
    let time = started.elapsed().as_millis();
    let same = 100.0 * same as f64 / positions.len() as f64;
    println!("{name:<44}{nodes:>10}{values:>10}{time:>8}{same:>7.1} %{limited:>8}");
}

/// Measures what a cache over the whole search could save: moves that recur in the same position.
fn repeats(positions: &[Position]) {
    let mut visited = 0usize;
    let mut repeated = 0usize;
    for position in positions {
        let mut seen = HashSet::new();
        let mut left = 2000;
        walk(position, &mut seen, &mut visited, &mut repeated, &mut left);
    }
    println!("captures that recur in the same position: {}", share(repeated, visited));
}

fn walk(
    position: &Position,
    seen: &mut HashSet<(Pieces, Color, Square, Square)>,
    visited: &mut usize,
    repeated: &mut usize,
    left: &mut usize,
) {
    for m in position.legal_captures() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        *visited += 1;
        *repeated +=
            usize::from(!seen.insert((*position.pieces(), position.to_move(), m.from, m.to)));
        if value(position, m) >= 0 {
            walk(&position.play(m), seen, visited, repeated, left);
        }
    }
}

/// An implementation of the evaluation, with its name.
type Form = (&'static str, fn(&Exchange) -> i32);

/// Measures the time of each implementation over all moves.
fn times_of_forms(positions: &[Position]) {
    let exchanges: Vec<_> = positions
        .iter()
        .flat_map(|p| p.legal_moves().into_iter().map(move |m| Exchange::after_move(p, m, VALUES)))
        .collect();
    let forms: [Form; 7] = [
        ("list", |exchange| exchange.start.list(false, false).value()),
        ("list, pruned", |exchange| exchange.start.list(false, true).value()),
        ("value alone", |exchange| exchange.start.swap_value(false)),
        ("recursion", |exchange| exchange.value_by_recursion(false)),
        ("bounds, no list", |exchange| exchange.value_by_bounds(false)),
        ("threshold 0", |exchange| i32::from(exchange.start.see_ge(0, false))),
        ("legal minimax", |exchange| exchange.start.legal_minimax().unwrap_or(0)),
    ];
    for (name, form) in forms {
        let started = Instant::now();
        let mut sum = 0i64;
        for exchange in &exchanges {
            sum += i64::from(form(exchange));
        }
        let each = started.elapsed().as_nanos() / exchanges.len().max(1) as u128;
        println!("form {name:<18}{each:>6} ns a move (sum {sum})");
    }
}
