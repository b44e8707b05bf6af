//! The mutants that are known to change nothing that a run can see, in groups, each with the
//! reason.

use std::fmt::Write;
use std::sync::LazyLock;

use serde::Deserialize;

use super::text::Mutant;

/// Some mutants that change nothing, for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Group {
    /// The changed text.
    pub what: String,
    /// Reason for which they make no difference.
    pub why: String,
    /// Their names.
    pub mutants: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    group: Vec<Group>,
}

static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    let file = toml::from_str::<File>(include_str!("equivalents.toml"));
    file.map_or_else(|error| panic!("equivalents.toml: {error}"), |file| file.group)
});

/// All groups.
#[must_use]
pub fn groups() -> &'static [Group] {
    &GROUPS
}

/// The group that a mutant is in.
#[must_use]
pub fn group_of(mutant: &Mutant) -> Option<&'static Group> {
    let name = mutant.to_string();
    groups().iter().find(|group| group.mutants.contains(&name))
}

/// The table of docs/MUTATIONS.md.
#[must_use]
pub fn table() -> String {
    let mut table =
        "| what is changed | mutants | why nothing changes |\n|---|---|---|\n".to_owned();
    for Group { what, why, mutants } in groups() {
        let _ = writeln!(table, "| {what} | {} | {why} |", mutants.len());
    }
    table
}
