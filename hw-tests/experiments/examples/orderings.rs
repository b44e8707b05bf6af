//! Measures over positions what the parts of the searcher are worth. In this package's folder:
//!
//! ```text
//! cargo run --release --example orderings -- costs ../sargon-corpus/corpus/generated.epd
//! ```
//!
//! `costs` times the operations whose nanoseconds `Work` counts; `searches` counts nodes to a depth
//! and compares the moves found with those of a longer search; `battles` compares Sargon's residues
//! with what a search wins. Files are EPD, or `truth.jsonl.gz` of `chess-rules`' tests.

use std::io::Read;
use std::time::Instant;

use chess_experiments::statistics::least_squares;
use chess_experiments::{
    COSTS, Found, HangingPieces, Limit, MATE, Node, Operation, Player, Search, Work, static_score,
};
use chess_rules::Position;
use chess_rules::epd::{EpdLine, read};
use flate2::read::GzDecoder;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, files @ ..] = &args[..] else {
        return Err("usage: orderings costs|searches|battles FILE...".into());
    };
    let nodes = positions(files)?;
    println!("{} positions", nodes.len());
    match what.as_str() {
        "costs" => costs(&nodes),
        "searches" => searches(&nodes),
        "battles" => battles(&nodes),
        other => Err(format!("unknown measurement '{other}'").into()),
    }
}

/// Reads positions; those that no game could reach are left out, and those that are over.
fn positions(files: &[String]) -> Outcome<Vec<Node>> {
    let mut nodes = Vec::new();
    for file in files {
        let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        let found = if file.ends_with(".gz") { from_json(&bytes)? } else { from_epd(&bytes) };
        let reachable = found.into_iter().filter_map(Node::new);
        nodes.extend(reachable.filter(|node| !node.moves(false).is_empty()));
    }
    Ok(nodes)
}

fn from_epd(bytes: &[u8]) -> Vec<Position> {
    let entries = read(&String::from_utf8_lossy(bytes)).into_iter();
    let positions = entries.filter_map(|line| match line {
        EpdLine::Position(entry) => Some(entry.position),
        _ => None,
    });
    positions.collect()
}

fn from_json(bytes: &[u8]) -> Outcome<Vec<Position>> {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text)?;
    let lines = text.lines().map(|line| -> Outcome<Position> {
        let line: serde_json::Value = serde_json::from_str(line)?;
        Ok(Position::from_fen(line["fen"].as_str().ok_or("no fen")?)?)
    });
    lines.collect()
}

/// Players that use each operation, and the depth to which they are timed.
const TIMED: [(&str, i32); 9] = [
    ("mvv-lva", 5),
    ("mvv-lva+killers+history+quiets", 6),
    ("threshold+drop+killers+history+quiets", 6),
    ("swap+drop+killers+history+quiets", 6),
    ("swap-pins+drop+killers+history+quiets", 6),
    ("legal+drop+killers+history+quiets", 6),
    ("xchng+drop+killers+history+quiets", 6),
    ("swap+killers+history+quiets+static", 6),
    ("swap+killers+history+quiets+article", 5),
];
const TIMINGS: usize = 3;

fn costs(nodes: &[Node]) -> Outcome<()> {
    let mut rows = Vec::new();
    for (name, depth) in TIMED {
        let player: Player = name.parse()?;
        let mut sum = (Work::default(), 0.0);
        for node in nodes.iter().step_by(6) {
            let mut found = None;
            let mut ns = f64::MAX;
            for _ in 0..TIMINGS {
                let mut search = Search::new(player.clone());
                let started = Instant::now();
                found = Some(search.run(node, &[], Limit::depth(depth)));
                ns = ns.min(started.elapsed().as_nanos() as f64);
            }
            let Some(found) = found else { continue };
            // Weighted by 1 / ns, so that long searches do not decide alone.
            let weight = 1.0 / ns.sqrt();
            let count = |index: usize| found.work.counts[index + 1] as f64;
            rows.push((std::array::from_fn(|index| count(index) * weight), ns * weight));
            sum.0 += found.work;
            sum.1 += ns;
        }
        println!("{name}: {:.0} ms, counted {} ms", sum.1 / 1e6, sum.0.ns / 1_000_000);
    }
    let fitted: [f64; 8] = least_squares(&rows).ok_or("some operation was never used")?;
    for (operation, ns) in Operation::ALL.into_iter().skip(1).zip(fitted) {
        println!("{operation:?}: {ns:.0} ns, counted {} ns", COSTS[operation as usize]);
    }
    Ok(())
}

/// The searches compared, by nodes to a depth and by moves at equal work.
const COMPARED: [&str; 16] = [
    "mvv-lva",
    "mvv-lva+killers",
    "mvv-lva+history",
    "mvv-lva+killers+history",
    "swap",
    "swap+killers",
    "swap+history",
    "swap+killers+history",
    "swap+drop+killers+history",
    "threshold+drop+killers+history",
    "swap-pins+drop+killers+history",
    "legal+drop+killers+history",
    "xchng+drop+killers+history",
    "swap+drop+killers+history+captures",
    "swap+drop+killers+history+checks",
    "swap+drop+killers+history+captures+checks",
];
/// The depth of the counted searches, and the work of the others and of the reference, which
/// reduces nothing.
const DEPTH: i32 = 5;
const EQUAL_NS: u64 = 3_000_000;
const REFERENCE: &str = "swap+killers+history";
const REFERENCE_NS: u64 = 60_000_000;

fn searches(nodes: &[Node]) -> Outcome<()> {
    let reference = run(REFERENCE, nodes, Limit::ns(REFERENCE_NS))?;
    println!("reference {REFERENCE}, {} ms: {}", REFERENCE_NS / 1_000_000, mean_depth(&reference));
    println!("depth {DEPTH}: nodes, exchange values, counted ms, reference's move;");
    println!("{} ms: depth, reference's move", EQUAL_NS / 1_000_000);
    for name in COMPARED {
        let to_depth = run(name, nodes, Limit::depth(DEPTH))?;
        let mut work = Work::default();
        to_depth.iter().for_each(|found| work += found.work);
        let [nodes_visited, ms] = [work.nodes(), work.ns / 1_000_000];
        let values: u64 = work.counts[Operation::Swap as usize..].iter().sum();
        let at_depth = agreement(&to_depth, &reference);
        let timed = run(name, nodes, Limit::ns(EQUAL_NS))?;
        println!(
            "{name:<44}{nodes_visited:>10}{values:>10}{ms:>7}{at_depth:>6.1} %{:>6.2}{:>6.1} %",
            mean_depth(&timed),
            agreement(&timed, &reference),
        );
    }
    Ok(())
}

fn run(name: &str, nodes: &[Node], limit: Limit) -> Outcome<Vec<Found>> {
    let player: Player = name.parse()?;
    Ok(nodes.iter().map(|node| Search::new(player.clone()).run(node, &[], limit)).collect())
}

fn mean_depth(found: &[Found]) -> f64 {
    found.iter().map(|one| f64::from(one.depth)).sum::<f64>() / found.len() as f64
}

/// Returns the share of positions, in percent, with the same move.
fn agreement(found: &[Found], reference: &[Found]) -> f64 {
    let same = found.iter().zip(reference).filter(|(one, other)| one.best == other.best).count();
    100.0 * same as f64 / found.len() as f64
}

/// Fits what a search wins over the static score, in points, to the residues of the position.
fn battles(nodes: &[Node]) -> Outcome<()> {
    let mut by_value = Vec::new();
    let mut by_count = Vec::new();
    for (node, found) in nodes.iter().zip(run("mvv-lva+killers+history", nodes, Limit::depth(4))?) {
        if found.score.abs() > MATE / 2 {
            continue;
        }
        let won = f64::from(found.score - static_score(&node.board)) / 100.0;
        let HangingPieces { mover, other, .. } = HangingPieces::of(node);
        let at = |of: &[u8], index: usize| of.get(index).map_or(0.0, |value| f64::from(*value));
        let after = |of: &[u8], index| of.iter().skip(index).map(|one| f64::from(*one)).sum();
        let count = |of: &[u8], index| of.len().saturating_sub(index) as f64;
        let [lost, first, second] = [at(&mover, 0), at(&other, 0), at(&other, 1)];
        by_value.push(([lost, after(&mover, 1), first, second, after(&other, 2), 1.0], won));
        by_count.push(([lost, count(&mover, 1), first, second, count(&other, 2), 1.0], won));
    }
    let with = |index: usize| by_count.iter().filter(|row| row.0[index] > 0.0).count();
    println!("{} positions; further battles lost {}, won {}", by_value.len(), with(1), with(4));
    let names = ["lost", "further lost", "first", "second", "further won", "constant"];
    for (unit, rows) in [("point", by_value), ("battle", by_count)] {
        let fitted = least_squares(&rows).ok_or("too few positions with several battles")?;
        println!("gain of the side to move in points, further battles by {unit}:");
        names.iter().zip(fitted).for_each(|(name, value)| println!("  {name:<14}{value:+.2}"));
    }
    Ok(())
}
