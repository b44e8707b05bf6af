//! No two modules of a crate depend on each other, directly or through other modules.
//!
//! A module here is a direct child of the crate root together with everything below it. Items
//! defined in the root itself belong to no module.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::house::{crates, files, read};

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Returns each identifier that directly follows `prefix` in `text`, and the text after it.
fn identifiers_after<'a>(
    text: &'a str,
    prefix: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    text.match_indices(prefix).map(|(at, _)| {
        let rest = &text[at + prefix.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.split_at(end)
    })
}

/// Returns the first segment of each path in the braces at the start of `text`.
fn first_segments(text: &str) -> Vec<String> {
    let mut paths = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => paths.push(String::new()),
            ':' if depth == 1 => paths.last_mut().expect("one").push(' '),
            c if depth == 1 => paths.last_mut().expect("one").push(c),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    paths.iter().filter_map(|path| path.split_whitespace().next().map(str::to_owned)).collect()
}

/// Returns the text without comments and without unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the first segments of all paths that start at the crate root, in a file `depth` modules
/// below it: `crate::` and as many `super::` lead there.
fn used(text: &str, depth: usize) -> Vec<String> {
    let supers = "super::".repeat(depth);
    ["crate::", supers.as_str()]
        .into_iter()
        .flat_map(|root| identifiers_after(text, root))
        .flat_map(|(word, rest)| match word {
            "" => first_segments(rest),
            word => vec![word.to_owned()],
        })
        .collect()
}

/// Returns the module from which the crate root imports or re-exports each name.
fn imports(root: &str) -> BTreeMap<String, String> {
    let mut imports = BTreeMap::new();
    for (module, rest) in identifiers_after(root, "use ").filter(|(module, _)| !module.is_empty()) {
        let Some(rest) = rest.strip_prefix("::") else { continue };
        let path = rest.split(';').next().unwrap_or_default();
        for name in path.split(|c: char| !c.is_alphanumeric() && c != '_') {
            imports.insert(name.to_owned(), module.to_owned());
        }
    }
    imports
}

/// Returns the names of the modules from the crate root down to a file: `["a", "b"]` for `a/b.rs`.
fn module_path(file: &Path, source: &Path) -> Vec<String> {
    let below = file.strip_prefix(source).expect("the file is below the source folder");
    let parts = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let names = parts.map(|part| part.replace(".rs", "")).filter(|name| name != "mod");
    names.collect()
}

/// Returns the modules that each module of the crate uses.
fn graph(source: &Path) -> Graph {
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let root = root.iter().find(|path| path.exists()).expect("a root");
    let imports = imports(&code(&read(root)));
    let mut all = Vec::new();
    files(source, ".rs", &mut all);
    all.retain(|path| path != root);
    let paths = all.iter().map(|file| module_path(file, source));
    let modules: BTreeSet<String> = paths.map(|path| path[0].clone()).collect();
    let mut graph = Graph::new();
    for file in &all {
        let path = module_path(file, source);
        let uses = used(&code(&read(file)), path.len()).into_iter().map(|name| {
            if modules.contains(&name) { name } else { imports.get(&name).cloned().unwrap_or(name) }
        });
        let others = uses.filter(|used| *used != path[0] && modules.contains(used));
        graph.entry(path[0].clone()).or_default().extend(others);
    }
    graph
}

/// Returns a shortest chain of modules from `from` back to itself, if there is one.
fn circle(graph: &Graph, from: &str) -> Option<Vec<String>> {
    let mut chains = VecDeque::from([vec![from.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(chain) = chains.pop_front() {
        for next in &graph[chain.last().expect("a chain is not empty")] {
            let longer = [chain.clone(), vec![next.clone()]].concat();
            if next == from {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                chains.push_back(longer);
            }
        }
    }
    None
}

/// The folder of a crate's source, from the manifest if it names one.
fn source(folder: &Path) -> PathBuf {
    let manifest: toml::Table = read(&folder.join("Cargo.toml")).parse().expect("a manifest");
    let root = manifest.get("lib").and_then(|lib| lib.get("path")).and_then(toml::Value::as_str);
    let root = folder.join(root.unwrap_or("src/lib.rs"));
    root.parent().expect("a folder").to_owned()
}

/// Modules that still depend on each other, by crate. The list must only become shorter.
const KNOWN: [(&str, &[&str]); 0] = [];

#[test]
fn no_other_modules_of_a_crate_use_each_other() {
    let mut circles = Vec::new();
    for folder in crates() {
        let crate_name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let known = KNOWN.iter().find(|(name, _)| *name == crate_name);
        let known: BTreeSet<&str> =
            known.into_iter().flat_map(|(_, names)| *names).copied().collect();
        let graph = graph(&source(&folder));
        let found: Vec<_> = graph.keys().filter_map(|name| circle(&graph, name)).collect();
        let in_circles: BTreeSet<&str> = found.iter().map(|chain| chain[0].as_str()).collect();
        for name in known.difference(&in_circles) {
            circles.push(format!("{crate_name}: {name} is in no circle any more: drop it here"));
        }
        let new = found.iter().filter(|chain| !known.contains(chain[0].as_str()));
        circles.extend(new.map(|chain| format!("{crate_name}: {}", chain.join(" -> "))));
    }
    assert!(circles.is_empty(), "modules that use each other:\n{}", circles.join("\n"));
}

#[test]
fn a_circle_is_found_behind_braces_exports_and_super() {
    assert_eq!(used("use crate::{a::{B, C}, d};\nlet x = crate::e::f();", 1), ["a", "d", "e"]);
    assert_eq!(used("use super::{a::B, c};", 1), ["a", "c"]);
    assert_eq!(used("use super::sibling;\nuse super::super::a::B;", 2), ["a"]);
    assert_eq!(imports("pub use far::{Near, self as other};")["Near"], "far");
    assert_eq!(code("use a;\n// use b;\n#[cfg(test)]\nmod tests {\n use super::c;"), "use a;");
    let path = |file: &str| module_path(Path::new(file), Path::new("src"));
    assert_eq!([path("src/a.rs"), path("src/a/mod.rs")], [["a"], ["a"]]);
    assert_eq!(path("src/a/b.rs"), ["a", "b"]);
    let edge = |from: &str, to: &str| (from.to_owned(), BTreeSet::from([to.to_owned()]));
    let graph = Graph::from([edge("a", "b"), edge("b", "c"), edge("c", "a"), edge("d", "a")]);
    assert_eq!(circle(&graph, "a").expect("there is one").len(), 4);
    assert_eq!(circle(&graph, "d"), None);
}
