//! Compares the arguments of `launch` with their description in the extension of VS Code.

use std::collections::BTreeSet;

#[test]
fn the_extension_describes_the_arguments_of_launch() {
    let manifest = include_str!("../../../../../docs/editors/vscode/package.json");
    let manifest: serde_json::Value = serde_json::from_str(manifest).expect("JSON");
    let launch = &manifest["contributes"]["debuggers"][0]["configurationAttributes"]["launch"];
    let described = launch["properties"].as_object().expect("properties");
    let described: BTreeSet<String> = described.keys().cloned().collect();
    let mut known =
        BTreeSet::from(["program", "case", "fen", "square", "stopOnEntry"].map(str::to_owned));
    known.extend(options(include_str!("../../src/session.rs"), "struct SessionArgs {"));
    known.extend(options(include_str!("../../src/session.rs"), "struct ProgramArgs {"));
    known.extend(options(include_str!("../../src/target.rs"), "struct TargetArgs {"));
    assert_eq!(described, known);
}

/// Returns the options of a structure of arguments in camel case.
fn options(source: &str, structure: &str) -> BTreeSet<String> {
    let (_, fields) = source.split_once(structure).expect("the structure");
    let fields = fields.split_once("\n}").expect("its end").0.split("#[arg(").skip(1);
    let options =
        fields.filter(|field| field.split(")]").next().is_some_and(|arg| arg.contains("long")));
    let names = options.map(|field| {
        let (_, declared) = field.split_once("pub(super) ").expect("a field");
        let mut words = declared.split_once(':').expect("its name").0.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |name, word| name + &word[..1].to_ascii_uppercase() + &word[1..])
    });
    names.collect()
}
