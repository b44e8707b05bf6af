//! Compares the arguments of `launch` with their description in the extension of VS Code.

use std::collections::BTreeSet;

#[test]
fn the_extension_describes_the_arguments_of_launch() {
    let manifest = include_str!("../../../../../docs/editors/vscode/package.json");
    let manifest: serde_json::Value = serde_json::from_str(manifest).expect("JSON");
    let launch = &manifest["contributes"]["debuggers"][0]["configurationAttributes"]["launch"];
    let described = launch["properties"].as_object().expect("properties");
    let described: BTreeSet<String> = described.keys().cloned().collect();
    // The fields in the source, with the names that serde gives them.
    let source = include_str!("../../../debugger/src/dap/launch_arguments.rs");
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
