//! Compares the arguments of `launch` with their description in the extension of VS Code.

use std::collections::BTreeSet;

#[test]
fn the_extension_describes_the_arguments_of_launch() {
    let manifest = include_str!("../../../../../docs/editors/vscode/package.json");
    let manifest: serde_json::Value = serde_json::from_str(manifest).expect("JSON");
    let launch = &manifest["contributes"]["debuggers"][0]["configurationAttributes"]["launch"];
    let described = launch["properties"].as_object().expect("properties");
    let described: BTreeSet<String> = described.keys().cloned().collect();
    // The fields in the sources, with the names that serde gives them.
    let mut known = fields(include_str!("../../src/dap.rs"), "struct LaunchArguments {");
    known.extend(fields(include_str!("../../src/target.rs"), "struct TargetArgs {"));
    known.extend(fields(include_str!("../../src/session.rs"), "struct ProgramArgs {"));
    assert_eq!(described, known);
}

/// Returns the fields of a structure of optional and listed arguments in camel case.
fn fields(source: &str, structure: &str) -> BTreeSet<String> {
    let (_, fields) = source.split_once(structure).expect("the structure");
    let fields = fields.split_once("\n}").expect("its end").0.lines();
    let is_argument = |kind: &str| kind.starts_with(" Option<") || kind.starts_with(" Vec<");
    let named =
        fields.filter_map(|line| line.trim().trim_start_matches("pub(super) ").split_once(':'));
    let named = named.filter(|(_, kind)| is_argument(kind)).map(|(name, _)| {
        let mut words = name.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |name, word| name + &word[..1].to_ascii_uppercase() + &word[1..])
    });
    named.collect()
}
