//! Packages for a registry: each crate contains all of its sources, and its metadata.

use std::path::{Path, PathBuf};

use crate::house::{crates, files, read, root};

/// The crates for tests only, which are not published.
const UNPUBLISHED: [&str; 2] = ["hil-testing", "rcflash-tests"];
/// The maximum number of keywords and categories on crates.io.
const MAX_KEYWORDS: usize = 5;

/// The manifests of the crates that can be published, with their folders.
fn packages() -> Vec<(PathBuf, toml::Table)> {
    let with_manifest = |folder: PathBuf| {
        let manifest = read(&folder.join("Cargo.toml")).parse().expect("a manifest");
        (folder, manifest)
    };
    let all = crates().into_iter().map(with_manifest);
    all.filter(|(_, manifest): &(_, toml::Table)| {
        !manifest["package"]["name"].as_str().is_some_and(|name| UNPUBLISHED.contains(&name))
    })
    .collect()
}

#[test]
fn every_package_has_a_description_and_its_licences() {
    for (folder, manifest) in packages() {
        let package = manifest["package"].as_table().expect("a table");
        let at = folder.display();
        let words = package["description"].as_str().expect("a text").split_whitespace().count();
        assert!(words >= 4, "{at}: the description is too short");
        let categories = package.get("categories").and_then(toml::Value::as_array);
        let count = categories.unwrap_or_else(|| panic!("{at}: no categories")).len();
        assert!((1..=MAX_KEYWORDS).contains(&count), "{at}: {count} categories");
        assert!(package.contains_key("include"), "{at}: does not say what belongs to the package");
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = std::fs::read(folder.join(licence)).unwrap_or_default();
            let link = own == std::fs::read(root().join(licence)).expect("the licence");
            assert!(link, "{at}: {licence} is no link to the one at the root");
        }
    }
}

/// The patterns of files that belong to a package, by its manifest or that of the workspace.
fn belongs(manifest: &toml::Table) -> Vec<String> {
    let workspace: toml::Table = read(&root().join("Cargo.toml")).parse().expect("a manifest");
    let own = manifest["package"]["include"].as_array();
    let all = workspace["workspace"]["package"]["include"].as_array();
    let list = own.or(all).expect("a list");
    list.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

/// Returns `true` if a pattern such as `/src/**` or `/boards/*.toml` matches a path within the
/// folder.
fn matches_pattern(pattern: &str, path: &Path) -> bool {
    let path = format!("/{}", path.display());
    match pattern.split_once('*') {
        None => path == pattern,
        Some((start, "*")) => path.starts_with(start),
        Some((start, end)) => {
            let rest = path.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
            rest.is_some_and(|rest| !rest.contains('/'))
        }
    }
}

#[test]
fn no_package_needs_a_file_that_does_not_belong_to_it() {
    let mut outside = Vec::new();
    for (folder, manifest) in packages() {
        let patterns = belongs(&manifest);
        let mut sources = Vec::new();
        files(&folder, ".rs", &mut sources);
        let own =
            |path: &PathBuf| !["tests", "benches"].iter().any(|part| below(path, &folder, part));
        for path in sources.into_iter().filter(own) {
            let is_there = |file: &PathBuf| {
                within(file, &folder).is_some_and(|path| {
                    patterns.iter().any(|pattern| matches_pattern(pattern, &path))
                })
            };
            outside.extend(included(&path).filter(|file| !is_there(file)));
        }
    }
    assert!(outside.is_empty(), "included, and not in the package: {outside:?}");
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

/// The path of a file within a folder; `None` if it is elsewhere.
fn within(file: &Path, folder: &Path) -> Option<PathBuf> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|e| panic!("{path:?}: {e}"));
    real(file).strip_prefix(real(folder)).ok().map(Path::to_owned)
}

#[test]
fn every_program_can_be_installed_from_an_archive_of_a_release() {
    let name = read(&root().join(".ci/release/make-archive"));
    assert!(name.contains("name=sargon-z80-$version-$target\n"), "archives have another name");
    let mut tables = Vec::new();
    for (folder, manifest) in
        packages().into_iter().filter(|(it, _)| it.join("src/main.rs").exists())
    {
        let table = manifest["package"].get("metadata").and_then(|it| it.get("binstall"));
        tables.push(table.unwrap_or_else(|| panic!("{}", folder.display())).clone());
    }
    let archive = "sargon-z80-{ version }-{ target }";
    let url = format!("{{ repo }}/releases/download/v{{ version }}/{archive}{{ archive-suffix }}");
    let bin = format!("{archive}/{{ bin }}{{ binary-ext }}");
    assert_eq!(tables.len(), 5);
    for table in tables {
        assert_eq!(table["pkg-url"].as_str(), Some(&*url));
        assert_eq!(table["bin-dir"].as_str(), Some(&*bin));
        // .zip, as make-archive makes for Windows; else .tar.gz, the default.
        let windows = &table["overrides"]["x86_64-pc-windows-msvc"];
        assert_eq!(windows["pkg-fmt"].as_str(), Some("zip"));
    }
}

#[test]
fn the_manual_that_the_language_server_carries_is_the_page() {
    let page = read(&root().join("docs/LANGUAGE.md"));
    let copy = root().join("assembler/tdlasm-tools/src/server/manual.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&copy, &page).expect("the copy can be written");
    }
    assert!(read(&copy) == page, "set BLESS=1 to copy docs/LANGUAGE.md again");
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

#[test]
fn a_library_without_a_test_program_has_no_tests_in_its_sources() {
    for folder in crates() {
        let manifest: toml::Table = read(&folder.join("Cargo.toml")).parse().expect("a manifest");
        let lib = manifest.get("lib").and_then(toml::Value::as_table);
        if lib.and_then(|lib| lib.get("test")) != Some(&toml::Value::Boolean(false)) {
            continue;
        }
        let mut sources = Vec::new();
        // Those of sargon-src are in its folder itself.
        let src = Some(folder.join("src")).filter(|src| src.exists()).unwrap_or(folder);
        files(&src, ".rs", &mut sources);
        assert!(!sources.is_empty(), "{src:?}");
        let never_run = sources.iter().find(|source| read(source).contains("#[cfg(test)]"));
        assert_eq!(never_run, None);
    }
}
