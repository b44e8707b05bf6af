//! Equivalent mutants, which a run can't distinguish, in groups with the reasons.

use std::sync::LazyLock;

use serde::Deserialize;

use super::operators::Mutant;

/// Mutants that are equivalent for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct EquivalentGroup {
    /// The changed text.
    pub what: String,
    /// Why they are equivalent.
    pub why: String,
    /// Their names.
    pub mutants: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    group: Vec<EquivalentGroup>,
}

static GROUPS: LazyLock<Vec<EquivalentGroup>> = LazyLock::new(|| {
    let file = toml::from_str::<File>(include_str!("equivalents.toml"));
    file.map_or_else(|error| panic!("equivalents.toml: {error}"), |file| file.group)
});

/// Returns all groups.
pub fn equivalent_groups() -> &'static [EquivalentGroup] {
    &GROUPS
}

/// Returns the group of a mutant, or `None` if it is not known to be equivalent.
pub fn equivalent_group(mutant: &Mutant) -> Option<&'static EquivalentGroup> {
    let name = mutant.to_string();
    equivalent_groups().iter().find(|group| group.mutants.contains(&name))
}
