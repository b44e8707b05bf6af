//! Packages for a registry: each crate holds all that it is built from, and says what it is.

use std::path::{Path, PathBuf};

use crate::{crates, files, read, root};

/// The crate that is for tests only, and goes to no registry.
const KEPT: &str = "spoilt-inputs";
/// The most keywords and categories that crates.io takes.
const MOST: usize = 5;

/// The manifests of the crates that can be published, with their folders.
fn packages() -> Vec<(PathBuf, toml::Table)> {
    let with_manifest = |folder: PathBuf| {
        let manifest = read(&folder.join("Cargo.toml")).parse().expect("a manifest");
        (folder, manifest)
    };
    let all = crates().into_iter().map(with_manifest);
    all.filter(|(_, manifest): &(_, toml::Table)| {
        manifest["package"]["name"].as_str() != Some(KEPT)
    })
    .collect()
}

#[test]
fn every_package_says_what_it_is_and_carries_its_licences() {
    for (folder, manifest) in packages() {
        let package = manifest["package"].as_table().expect("a table");
        let at = folder.display();
        let words = package["description"].as_str().expect("a text").split_whitespace().count();
        assert!(words >= 4, "{at}: the description says too little");
        let categories = package.get("categories").and_then(toml::Value::as_array);
        let count = categories.unwrap_or_else(|| panic!("{at}: no categories")).len();
        assert!((1..=MOST).contains(&count), "{at}: {count} categories");
        assert!(package.contains_key("include"), "{at}: does not say what belongs to the package");
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = std::fs::read(folder.join(licence)).unwrap_or_default();
            let link = own == std::fs::read(root().join(licence)).expect("the licence");
            assert!(link, "{at}: {licence} is no link to the one at the root");
        }
    }
}

#[test]
fn no_package_needs_a_file_from_outside_its_folder() {
    let mut outside = Vec::new();
    for (folder, _) in packages() {
        let mut sources = Vec::new();
        files(&folder, ".rs", &mut sources);
        let own =
            |path: &PathBuf| !["tests", "benches"].iter().any(|part| below(path, &folder, part));
        for path in sources.into_iter().filter(own) {
            outside.extend(included(&path).filter(|file| !stands_in(file, &folder)));
        }
    }
    assert!(outside.is_empty(), "included from outside the package: {outside:?}");
}

fn below(path: &Path, folder: &Path, part: &str) -> bool {
    let rest = path.strip_prefix(folder).expect("it is below");
    rest.components().any(|one| one.as_os_str() == part)
}

/// The files that a source file includes.
fn included(path: &Path) -> impl Iterator<Item = PathBuf> {
    let text = read(path);
    let after = ["include_str!(\"", "include_bytes!(\""].map(|word| {
        text.split(word)
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .map(str::to_owned)
            .collect()
    });
    let path = path.to_owned();
    let found: Vec<String> = after.into_iter().flat_map(|one: Vec<String>| one).collect();
    found.into_iter().map(move |file| path.with_file_name(file))
}

fn stands_in(file: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|e| panic!("{path:?}: {e}"));
    real(file).starts_with(real(folder))
}

#[test]
fn the_manual_that_the_language_server_carries_is_the_page() {
    let page = read(&root().join("docs/LANGUAGE.md"));
    let copy = root().join("assembler/server/src/manual.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&copy, &page).expect("the copy can be written");
    }
    assert!(read(&copy) == page, "set BLESS=1 to copy docs/LANGUAGE.md anew");
}

#[test]
fn the_example_is_the_manuals_first_program() {
    let example = read(&root().join("docs/packaging/examples/hello.asm"));
    let manual = read(&root().join("docs/LANGUAGE.md"));
    assert!(
        manual.contains(&format!("```\n{example}```\n")),
        "hello.asm is not that of LANGUAGE.md"
    );
}
