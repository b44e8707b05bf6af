//! Layers: `tests/data/layers.md` lists what each crate may use, and each `Cargo.toml` agrees.

use std::collections::{BTreeMap, BTreeSet};

use crate::house::{crates, files, read, root};

type Uses = BTreeMap<String, BTreeSet<String>>;

/// Returns the names of the crates that a manifest depends on, but for its tests.
fn dependencies(manifest: &toml::Table) -> impl Iterator<Item = String> + '_ {
    let named = manifest.get("dependencies").and_then(toml::Value::as_table);
    named.into_iter().flat_map(|named| named.keys().cloned())
}

/// Returns the crates that each crate's manifest names, those of this workspace only.
fn manifests() -> Uses {
    let tables: Vec<toml::Table> = crates()
        .iter()
        .map(|folder| read(&folder.join("Cargo.toml")).parse().expect("a manifest"))
        .collect();
    let name = |table: &toml::Table| table["package"]["name"].as_str().expect("a name").to_owned();
    let ours: BTreeSet<String> = tables.iter().map(name).collect();
    let uses =
        |table: &toml::Table| dependencies(table).filter(|other| ours.contains(other)).collect();
    tables.iter().map(|table| (name(table), uses(table))).collect()
}

/// Returns the rows of the table: ``| `crate` | `other`, `another` |``.
fn table() -> Uses {
    let page = read(&root().join("hw-tests/cli/tests/data/layers.md"));
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|row| row.trim_matches('|').split('|').collect::<Vec<_>>());
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    cells
        .filter(|cells| cells.len() == 2)
        .map(|cells| (cells[0].trim().trim_matches('`').to_owned(), quoted(cells[1])))
        .collect()
}

#[test]
fn every_crate_uses_what_the_table_of_layers_lists() {
    let table = table();
    let manifests = manifests();
    for (name, uses) in &manifests {
        let row = table.get(name).unwrap_or_else(|| panic!("the table has no row for {name}"));
        assert_eq!(row, uses, "{name}: the table (left) and Cargo.toml (right) differ");
    }
    let removed: Vec<_> = table.keys().filter(|name| !manifests.contains_key(*name)).collect();
    assert!(removed.is_empty(), "the table names {removed:?}, which are no crates");
}

/// Returns whether `from` reaches `to` by any path of dependencies.
fn reaches(uses: &Uses, from: &str, to: &str) -> bool {
    uses[from].iter().any(|next| next == to || reaches(uses, next, to))
}

#[test]
fn the_reference_does_not_depend_on_the_firmware() {
    let uses = manifests();
    assert_eq!(uses["sargon-reference"], BTreeSet::new(), "the reference uses nothing of ours");
    assert_eq!(uses["tdlasm"], BTreeSet::new(), "the language uses nothing of ours");
    for (from, to) in [
        ("board-simulator", "sargon-reference"),
        ("board-simulator", "rcflash-link"),
        ("firmware", "rcflash-transport"),
        ("firmware", "tdlasm-tools"),
        ("rcflash-link", "tdlasm"),
        ("board-debugger", "rcflash-link"),
        ("board-debugger", "monitor-standins"),
        ("hil-harness", "monitor-standins"),
        ("hil-harness", "tdlasm-tools"),
        ("hil-harness", "chess-rules"),
        ("hil-harness", "sargon-corpus"),
        ("hil-harness", "sargon-reference"),
        ("hil-harness", "sargon-suite"),
        ("hw-tests", "tdlasm-tools"),
        ("hw-tests", "board-debugger"),
        ("sargon", "testfile-suite"),
    ] {
        assert!(!reaches(&uses, from, to), "{from} must not reach {to}");
    }
}

/// `hw-tests test` judges users' routines, and must not become a part of Sargon's suite.
#[test]
fn the_commands_for_own_routines_import_nothing_of_sargon() {
    let commands = root().join("hw-tests/cli/src/cli");
    let mut sources = ["test.rs", "batch.rs", "call.rs", "new.rs", "execution.rs"]
        .map(|name| commands.join(name))
        .to_vec();
    files(&commands.join("test"), ".rs", &mut sources);
    files(&commands.join("batch"), ".rs", &mut sources);
    assert!(sources.len() > 6, "{sources:?}");
    for path in sources {
        let text = read(&path);
        let import = text.lines().find(|line| line.contains("sargon_"));
        assert_eq!(import, None, "{}", path.display());
        let is_shared = |line: &&str| line.contains("super::run") || line.contains("super::select");
        assert_eq!(text.lines().find(is_shared), None, "{}", path.display());
    }
}

#[test]
fn the_page_links_no_stand_in_of_a_monitor() {
    let uses = manifests();
    let page = read(&root().join("hw-tests/web/Cargo.toml")).parse().expect("a manifest");
    let ours: Vec<_> = dependencies(&page).filter(|name| uses.contains_key(name)).collect();
    assert!(ours.contains(&"board-simulator".to_owned()), "{ours:?}");
    for name in ours {
        let is_linked = name == "monitor-standins" || reaches(&uses, &name, "monitor-standins");
        assert!(!is_linked, "the page links monitor-standins by {name}");
    }
}
