//! Compares the files of `docs/editors` with the assembler's tables and messages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use regex_lite::Regex;
use serde_json::Value;

use tdlasm::isa::{FORMS, Register};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/editors/vscode")
}

fn json(name: &str) -> Value {
    let text = fs::read_to_string(folder().join(name)).expect("the file");
    serde_json::from_str(&text).expect("JSON")
}

/// The words of the group `(?:ONE|TWO)` in an expression.
fn words(expression: &str) -> BTreeSet<String> {
    let start = expression.rfind("(?:").expect("a group") + 3;
    let end = start + expression[start..].find(')').expect("its end");
    expression[start..end].split('|').map(str::to_owned).collect()
}

/// Compares the words in the grammar with the assembler's; `BLESS=1` rewrites them.
#[track_caller]
fn check(rule: &str, wanted: impl IntoIterator<Item = &'static str>) {
    let wanted: BTreeSet<String> = wanted.into_iter().map(str::to_owned).collect();
    let grammar = json("tdl.tmLanguage.json");
    let expression = grammar["repository"][rule]["match"].as_str().expect("an expression");
    if std::env::var_os("BLESS").is_none() {
        let known = words(expression);
        let differ: Vec<_> = known.symmetric_difference(&wanted).collect();
        assert!(differ.is_empty(), "{rule}: {differ:?}; set BLESS=1 to rewrite the grammar");
        return;
    }
    let start = expression.rfind("(?:").expect("a group") + 3;
    let end = start + expression[start..].find(')').expect("its end");
    let list: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let written = |text: &str| Value::from(text).to_string();
    let new = format!("{}{}{}", &expression[..start], list.join("|"), &expression[end..]);
    let path = folder().join("tdl.tmLanguage.json");
    let text = fs::read_to_string(&path).expect("the grammar");
    let rule = format!("\"{rule}\": {{");
    let (before, behind) = text.split_once(&rule).expect("the rule");
    let behind = behind.replacen(&written(expression), &written(&new), 1);
    fs::write(&path, format!("{before}{rule}{behind}")).expect("to write the grammar");
}

#[test]
fn the_grammar_has_the_words_of_the_language() {
    check("instruction", FORMS.iter().map(|form| form.mnemonic));
    check(
        "directive",
        tdlasm::syntax::directive::Directive::NAMES
            .iter()
            .map(|(name, _)| name.trim_start_matches('.')),
    );
    check("register", Register::NAMES.iter().map(|(name, _)| *name));
}

#[test]
fn every_rule_of_the_grammar_exists_and_is_used() {
    let grammar = json("tdl.tmLanguage.json");
    let text = grammar.to_string();
    let rules = grammar["repository"].as_object().expect("rules");
    let included = Regex::new(r##""include":"#(\w+)""##).unwrap();
    let included: BTreeSet<&str> =
        included.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()).collect();
    assert_eq!(included, rules.keys().map(String::as_str).collect());
}

#[test]
fn the_extension_names_files_that_exist() {
    let package = json("package.json");
    let contributed = &package["contributes"];
    let language = &contributed["languages"][0];
    let grammar = &contributed["grammars"][0];
    for file in [&package["main"], &language["configuration"], &grammar["path"]] {
        assert!(folder().join(file.as_str().expect("a name")).is_file(), "{file}");
    }
    assert_eq!(grammar["scopeName"], json("tdl.tmLanguage.json")["scopeName"]);
    assert_eq!(grammar["language"], language["id"]);
}

#[test]
fn the_words_that_an_editor_selects_are_symbols_and_numbers() {
    let configuration = json("language-configuration.json");
    let word = Regex::new(configuration["wordPattern"].as_str().expect("an expression")).unwrap();
    let found: Vec<&str> =
        word.find_iter("..LOOP: MVI A,O.O%1+0FFH($X)").map(|found| found.as_str()).collect();
    assert_eq!(found, ["..LOOP", "MVI", "A", "O.O%1", "0FFH", "$X"]);
}

/// Assembles a source with four messages; returns its path and what is printed.
fn messages(folder: &Path, format: &str) -> (String, String) {
    let path = folder.join("bad one.asm");
    fs::write(&path, "        .DEFINE M=[\n        MVI A,NONE\n]\n  JMP FAR\n        M\n").unwrap();
    let output = Command::cargo_bin("tdlasm")
        .unwrap()
        .args(["asm", "--message-format", format])
        .arg(&path)
        .output()
        .unwrap();
    (path.display().to_string(), String::from_utf8(output.stderr).unwrap())
}

/// The parts of a line that a pattern of a problem matcher finds.
fn parts(pattern: &Value, names: &[&str], line: &str) -> Option<Vec<String>> {
    let expression = Regex::new(pattern["regexp"].as_str().expect("an expression")).unwrap();
    let found = expression.captures(line)?;
    let part = |name: &&str| {
        let group = pattern[*name].as_u64().expect("a group") as usize;
        found.get(group).expect("a part").as_str().to_owned()
    };
    Some(names.iter().map(part).collect())
}

#[test]
fn the_problem_matcher_takes_the_messages_of_the_assembler() {
    let folder = tempfile::tempdir().unwrap();
    let (file, printed) = messages(folder.path(), "short");
    let pattern = &json("package.json")["contributes"]["problemMatchers"][0]["pattern"];
    let names = ["file", "line", "column", "severity", "code", "message"];
    let found: Vec<_> = printed
        .lines()
        .map(|line| parts(pattern, &names, line).unwrap_or_else(|| panic!("{line}")))
        .collect();
    let expected = [
        [&file, "4", "7", "error", "U01", "FAR is not defined"],
        [&file, "6", "1", "warning", "W02", "the program does not end with .END"],
        [&file, "5", "9", "error", "U01", "NONE is not defined (in the macro M)"],
    ];
    assert_eq!(found, expected.map(|line| line.map(str::to_owned).to_vec()));
}

#[test]
fn the_problem_matcher_of_other_programs_takes_messages_with_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let (file, printed) = messages(folder.path(), "human");
    // As `hw-tests test` and `rcflash run` print it.
    let printed = format!("hw-tests: a.test.toml:1:11: {printed}");
    let matcher = &json("package.json")["contributes"]["problemMatchers"][1]["pattern"];
    let mut lines = printed.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some(message) = parts(&matcher[0], &["severity", "code"], line) else { continue };
        let place = parts(&matcher[1], &["file", "line", "column"], lines.next().expect("a place"));
        found.push([message, place.expect("a place")].concat());
    }
    let expected = [
        ["error", "U01", &file, "4", "7"],
        ["warning", "W02", &file, "6", "1"],
        ["error", "U01", "M", "2", "15"],
    ];
    assert_eq!(found, expected.map(|line| line.map(str::to_owned).to_vec()));
}
