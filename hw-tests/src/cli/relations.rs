//! `hw-tests relations`: the second-order attacks of a position.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Args;
use hw_tests::analysis::{Group, Relation, relations};
use rcflash::exit::Outcome;
use serde::Serialize;

use super::positions::{Named, PositionArgs};
use super::{counted, json_line, print};

#[derive(Args)]
pub(super) struct RelationsArgs {
    #[command(flatten)]
    positions: PositionArgs,
    /// One line of JSON a position
    #[arg(long)]
    json: bool,
}

pub(super) fn relations_of(args: &RelationsArgs) -> Outcome {
    let positions = args.positions.positions()?;
    let mut counts = BTreeMap::new();
    for named in &positions {
        let found = relations(&named.position);
        for relation in &found {
            *counts.entry((relation.group, relation.kind())).or_insert(0) += 1;
        }
        if args.json {
            print(&json_line(&Line::of(named, &found))?)?;
        } else if positions.len() == 1 {
            print(&table(&found))?;
        }
    }
    if !args.json {
        print(&summary(positions.len(), &counts))?;
    }
    Ok(0)
}

/// A line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    fen: &'a str,
    relations: Vec<Entry>,
}

/// A relation.
#[derive(Serialize)]
struct Entry {
    group: &'static str,
    kind: &'static str,
    pin: bool,
    squares: [String; 3],
    text: String,
}

impl<'a> Line<'a> {
    fn of(named: &'a Named, found: &[Relation]) -> Self {
        let entry = |relation: &Relation| Entry {
            group: name(relation.group),
            kind: relation.kind(),
            pin: relation.is_pin(),
            squares: [relation.first, relation.second, relation.third]
                .map(|(at, _)| at.to_string()),
            text: relation.to_string(),
        };
        let relations = found.iter().map(entry).collect();
        Self { id: &named.id, fen: &named.fen, relations }
    }
}

fn name(group: Group) -> &'static str {
    match group {
        Group::Discovered => "discovered",
        Group::Transparent => "transparent",
    }
}

fn table(found: &[Relation]) -> String {
    let mut text = String::new();
    for relation in found {
        let (group, kind) = (name(relation.group), relation.kind());
        let _ = writeln!(text, "{group:<12}{kind:<17}{relation}");
    }
    text
}

/// How often each of the eight types occurs.
fn summary(positions: usize, counts: &BTreeMap<(Group, &str), usize>) -> String {
    let total = counts.values().sum();
    let (relations, positions) = (counted(total, "relation"), counted(positions, "position"));
    let mut text = format!("{relations} in {positions}\n");
    for ((group, kind), count) in counts {
        let _ = writeln!(text, "  {:<12}{kind:<16}{count:>7}", name(*group));
    }
    text
}
