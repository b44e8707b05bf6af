//! `sargon relations`: the second-order attacks of a position.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Args;
use cli_support::exit::CommandResult;
use cli_support::output::{pluralize, print};
use sargon_corpus::analysis::{Relation, RelationGroup, relations};
use sargon_corpus::args::{Jobs, NamedPosition, OutputForm, PositionArgs, SinglePosition};
use serde::Serialize;

#[derive(Args)]
pub(super) struct RelationsArgs {
    #[command(flatten)]
    positions: PositionArgs,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    form: OutputForm,
}

pub(super) fn relations_of(args: &RelationsArgs) -> CommandResult {
    let mut positions = args.positions.open_as(args.form)?.with_jobs(args.jobs);
    let mut counts = BTreeMap::new();
    let mut single = SinglePosition::default();
    let find = |named: &NamedPosition| relations(&named.position());
    positions.for_each(find, |named, found, output| {
        for relation in &found {
            *counts.entry((relation.group, relation.kind())).or_insert(0) += 1;
        }
        if args.form.json {
            output.push_str(&named.json(&RelationsLine::of(&found))?);
        } else if args.form.epd {
            let found: Vec<_> = found.iter().map(Relation::to_string).collect();
            output.push_str(&named.epd(None, &[found.join(" ")]));
        } else {
            single.add(|| table(&found));
        }
        Ok(())
    })?;
    if args.form.is_text() {
        print(&(single.text() + &summary(positions.count(), &counts)))?;
    }
    positions.finish(Ok(0))
}

#[derive(Serialize)]
struct RelationsLine {
    relations: Vec<RelationEntry>,
}

#[derive(Serialize)]
struct RelationEntry {
    group: &'static str,
    kind: &'static str,
    pin: bool,
    squares: [String; 3],
    text: String,
}

impl RelationsLine {
    fn of(found: &[Relation]) -> Self {
        let entry = |relation: &Relation| RelationEntry {
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

fn name(group: RelationGroup) -> &'static str {
    match group {
        RelationGroup::Discovered => "discovered",
        RelationGroup::Transparent => "transparent",
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

/// Returns the counts of the eight types.
fn summary(positions: usize, counts: &BTreeMap<(RelationGroup, &str), usize>) -> String {
    let total = counts.values().sum();
    let relations = pluralize(total, "relation");
    let positions = pluralize(positions, "position");
    let mut text = format!("{relations} in {positions}\n");
    for ((group, kind), count) in counts {
        let _ = writeln!(text, "  {:<12}{kind:<16}{count:>7}", name(*group));
    }
    text
}
