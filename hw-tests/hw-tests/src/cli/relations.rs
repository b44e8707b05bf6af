//! `hw-tests relations`: the second-order attacks of a position.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Args;
use cli_support::exit::Outcome;
use sargon_analysis::{Group, Relation, relations};
use serde::Serialize;

use cli_support::output::{counted, print};
use sargon_corpus::args::PositionArgs;

#[derive(Args)]
pub(super) struct RelationsArgs {
    #[command(flatten)]
    positions: PositionArgs,
    /// One line of JSON a position
    #[arg(long)]
    json: bool,
}

pub(super) fn relations_of(args: &RelationsArgs) -> Outcome {
    let positions = args.positions.read(args.json)?;
    let count = positions.count();
    let mut counts = BTreeMap::new();
    positions.each(args.json, |named| {
        let found = relations(&named.position);
        for relation in &found {
            *counts.entry((relation.group, relation.kind())).or_insert(0) += 1;
        }
        if args.json {
            print(&named.json(&Found::of(&found))?)
        } else if count == 1 {
            print(&table(&found))
        } else {
            Ok(())
        }
    })?;
    if !args.json {
        print(&summary(count, &counts))?;
    }
    positions.conclude(Ok(0))
}

/// The fields of a line of `--json` besides the position.
#[derive(Serialize)]
struct Found {
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

impl Found {
    fn of(found: &[Relation]) -> Self {
        let entry = |relation: &Relation| Entry {
            group: name(relation.group),
            kind: relation.kind(),
            pin: relation.is_pin(),
            squares: [relation.first, relation.second, relation.third]
                .map(|(at, _)| at.to_string()),
            text: relation.to_string(),
        };
        Self { relations: found.iter().map(entry).collect() }
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
        let group = name(relation.group);
        let kind = relation.kind();
        let _ = writeln!(text, "{group:<12}{kind:<17}{relation}");
    }
    text
}

/// Counts of each of the eight types.
fn summary(positions: usize, counts: &BTreeMap<(Group, &str), usize>) -> String {
    let total = counts.values().sum();
    let relations = counted(total, "relation");
    let positions = counted(positions, "position");
    let mut text = format!("{relations} in {positions}\n");
    for ((group, kind), count) in counts {
        let _ = writeln!(text, "  {:<12}{kind:<16}{count:>7}", name(*group));
    }
    text
}
