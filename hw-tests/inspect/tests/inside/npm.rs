//! The adapter, judged by Microsoft's client for tests of debug adapters, and what editors are told
//! about it.

use std::collections::BTreeSet;

use assert_cmd::cargo::cargo_bin;

use crate::npm_packages::{node, passes};

#[test]
fn the_adapter_does_what_microsofts_client_and_the_protocols_types_expect() {
    let Some(mut node) = node("hw-tests/inspect/tests/npm", "adapter.test.js") else { return };
    node.env("HW_INSPECT", cargo_bin("hw-inspect"));
    passes(node);
}

#[test]
fn the_extension_describes_the_arguments_of_launch() {
    let manifest = include_str!("../../../../docs/editors/vscode/package.json");
    let manifest: serde_json::Value = serde_json::from_str(manifest).expect("JSON");
    let launch = &manifest["contributes"]["debuggers"][0]["configurationAttributes"]["launch"];
    let described = launch["properties"].as_object().expect("properties");
    let described: BTreeSet<String> = described.keys().cloned().collect();
    // The fields as the source has them, with the names that serde gives them.
    let source = include_str!("../../../debugger/src/dap/types.rs");
    let (_, fields) = source.split_once("pub struct LaunchArguments {").expect("the structure");
    let fields = fields.split_once("\n}").expect("its end").0;
    let named = fields.lines().filter_map(|line| line.trim().strip_prefix("pub "));
    let named = named.filter_map(|line| line.split_once(':')).map(|(name, _)| {
        let mut words = name.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |name, word| name + &word[..1].to_ascii_uppercase() + &word[1..])
    });
    assert_eq!(described, named.collect::<BTreeSet<String>>());
}
