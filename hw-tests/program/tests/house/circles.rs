//! No two modules of a crate use each other, directly or by way of others.
//!
//! A module is what stands directly below a crate's root, with all that is below it. What the root
//! itself defines belongs to all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{crates, files, read};

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Returns the words of `text` that stand directly behind `before`, with what follows each.
fn behind<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    text.match_indices(before).map(|(at, _)| {
        let rest = &text[at + before.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.split_at(end)
    })
}

/// Returns the first words of the paths within the braces that `text` begins with.
fn first_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => words.push(String::new()),
            ':' if depth == 1 => words.last_mut().expect("one").push(' '),
            c if depth == 1 => words.last_mut().expect("one").push(c),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    words.iter().filter_map(|word| word.split_whitespace().next().map(str::to_owned)).collect()
}

/// Returns the text without comments, which may name anything.
fn code(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the names that paths from the root begin with.
fn used(text: &str) -> Vec<String> {
    behind(text, "crate::")
        .flat_map(|(word, rest)| match word {
            "" => first_words(rest),
            word => vec![word.to_owned()],
        })
        .collect()
}

/// Returns the module that each name comes from that a root exports from one.
fn exports(root: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (module, rest) in behind(root, "pub use ").filter(|(module, _)| !module.is_empty()) {
        let Some(rest) = rest.strip_prefix("::") else { continue };
        let path = rest.split(';').next().unwrap_or_default();
        for name in path.split(|c: char| !c.is_alphanumeric() && c != '_') {
            exports.insert(name.to_owned(), module.to_owned());
        }
    }
    exports
}

/// Returns which modules of the crate each module uses.
fn graph(source: &Path) -> Graph {
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let root = root.iter().find(|path| path.exists()).expect("a root");
    let exports = exports(&code(&read(root)));
    let mut all = Vec::new();
    files(source, ".rs", &mut all);
    let mut graph = Graph::new();
    for path in all.iter().filter(|path| *path != root) {
        let below = path.strip_prefix(source).expect("it is below").components().next();
        let name = below.expect("a name").as_os_str().to_string_lossy().replace(".rs", "");
        let used = used(&code(&read(path)));
        let modules = used.into_iter().map(|name| exports.get(&name).cloned().unwrap_or(name));
        graph.entry(name).or_default().extend(modules);
    }
    let names: BTreeSet<String> = graph.keys().cloned().collect();
    for (name, uses) in &mut graph {
        uses.retain(|other| other != name && names.contains(other));
    }
    graph
}

/// Returns a way from `from` back to itself, if there is one.
fn circle(graph: &Graph, from: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![from.to_owned()]];
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop() {
        for next in &graph[way.last().expect("a way has an end")] {
            let longer = [way.clone(), vec![next.clone()]].concat();
            if next == from {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                ways.push(longer);
            }
        }
    }
    None
}

/// The folder of a crate's source, which its manifest may name.
fn source(folder: &Path) -> PathBuf {
    let manifest: toml::Table = read(&folder.join("Cargo.toml")).parse().expect("a manifest");
    let root = manifest.get("lib").and_then(|lib| lib.get("path")).and_then(toml::Value::as_str);
    let root = folder.join(root.unwrap_or("src/lib.rs"));
    root.parent().expect("a folder").to_owned()
}

#[test]
fn no_modules_of_a_crate_use_each_other() {
    let mut circles = Vec::new();
    for folder in crates() {
        let graph = graph(&source(&folder));
        let found = graph.keys().filter_map(|name| circle(&graph, name));
        circles.extend(found.map(|way| format!("{}: {}", folder.display(), way.join(" -> "))));
    }
    assert!(circles.is_empty(), "modules that use each other:\n{}", circles.join("\n"));
}

#[test]
fn a_circle_is_found_behind_braces_and_exports() {
    let used = used("use crate::{a::{B, C}, d};\nlet x = crate::e::f();");
    assert_eq!(used, ["a", "d", "e"]);
    assert_eq!(exports("pub use far::{Near, self as other};")["Near"], "far");
    let edge = |from: &str, to: &str| (from.to_owned(), BTreeSet::from([to.to_owned()]));
    let graph = Graph::from([edge("a", "b"), edge("b", "c"), edge("c", "a"), edge("d", "a")]);
    assert_eq!(circle(&graph, "a").expect("there is one").len(), 4);
    assert_eq!(circle(&graph, "d"), None);
}
