//! The references in C and Rust of `docs/examples`: right ones pass, wrong ones are found.

use std::fs;
use std::process::Command;

use super::{examples, hw_tests, project};

/// Compiles `mul16.ENDING`, with a part replaced, as its test file describes; runs that file.
fn judged_by(language: &str, ending: &str, [right, replaced]: [&str; 2]) -> (i32, String) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let test = format!("mul16-{language}.test.toml");
    let text = fs::read_to_string(examples().join(&test)).expect("the test file");
    for (name, text) in [(&test[..], Some(text.clone())), ("mul16.asm", None)] {
        let text =
            text.unwrap_or_else(|| fs::read_to_string(examples().join(name)).expect("a file"));
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let source = format!("mul16.{ending}");
    let program = fs::read_to_string(examples().join(&source)).expect("the reference");
    assert!(program.contains(right), "{program}");
    fs::write(folder.path().join(source), program.replace(right, replaced)).expect("a file");
    let command =
        text.lines().next().and_then(|line| line.split_once("first: ")).expect("a remark");
    let words: Vec<_> = command.1.split(' ').collect();
    let compiled = Command::new(words[0]).args(&words[1..]).current_dir(folder.path()).output();
    let compiled = compiled.unwrap_or_else(|error| panic!("{}: {error}", command.1));
    assert!(compiled.status.success(), "{compiled:?}");
    let (code, shown, errors) = hw_tests(folder.path(), &["test", &test, "--seed", "1"]);
    (code, shown + &errors)
}

/// Runs a property of TWICE whose reference is this program.
pub(super) fn judged_by_program(words: &[&str]) -> (i32, String, String) {
    let reference = toml::Value::from(words.to_vec());
    let folder = project(&format!(
        "[[property]]\nname = \"p\"\ncall = \"TWICE\"\nargs.A = \"0..100\"\nreference = \
         {reference}\n"
    ));
    hw_tests(folder.path(), &["test", "twice.test.toml", "--seed", "1"])
}

/// A right reference passes, a wrong one and one that ends are found.
fn judges_all_calls(language: &str, ending: &str) {
    let (code, shown) = judged_by(language, ending, ["bc * de >> 16", "bc * de >> 16"]);
    let passed = format!("PASS 1 of 1 case in mul16-{language}.test.toml");
    assert!(code == 0 && shown.contains(&passed), "{language}: {shown}");
    // DE is 1 for the first time where the product is 10000H.
    let (code, shown) = judged_by(language, ending, ["bc * de >> 16", "bc * de >> 17"]);
    assert!(code == 1 && shown.contains("DE: expected 0, got 1\n"), "{language}: {shown}");
    let (code, shown) = judged_by(language, ending, ["MUL16\\\"", "MUL17\\\""]);
    let failed = format!("mul16-{language}.test.toml:8:1: reference ./mul16-{language}: it ended");
    assert!(code == 3 && shown.contains(&failed), "{language}: {shown}");
    assert!(shown.contains("unexpected call: {"), "{language}: {shown}");
}

#[test]
fn a_reference_in_rust_judges_all_calls_of_a_property() {
    judges_all_calls("rust", "rs");
}

#[test]
fn a_wrong_reply_is_reported_even_if_the_program_ended_after_it() {
    let (code, _, errors) = judged_by_program(&["sh", "-c", "read line; echo '[1]'"]);
    assert!(code == 3 && errors.contains("expected an object such as"), "{code} {errors}");
}

#[test]
fn a_file_whose_reference_fails_is_incomplete_and_all_mistakes_of_a_reply_are_reported() {
    let reply = r#"{"HX": 1, "HL": 70000, "memory": {"NO": [1], "TWICE": [300]}}"#;
    let property = |name: &str, reference: &str| {
        let words = toml::Value::from(vec!["sh", "-c", reference]);
        format!(
            "[[property]]\nname = \"{name}\"\ncall = \"TWICE\"\nargs.A = \"u8\"\nreference = {words}\n"
        )
    };
    let wrong = property("wrong", &format!("while read line; do echo '{reply}'; done"));
    let folder = project(
        &[super::CASES.replace("A = 1,", "A = 0,"), wrong, property("ends", "exit 7")].concat(),
    );
    let (code, shown, errors) = hw_tests(folder.path(), &["test", "twice.test.toml"]);
    let mistakes = "HL: expected 0 to 65535; unknown register 'HX'; unknown label 'NO'; memory: \
                    TWICE: expected an array of 0 to 255\n";
    assert!(code == 3 && errors.contains(mistakes), "{code} {errors}");
    assert!(errors.contains("it ended before its reply (exit status: 7)"), "{errors}");
    let summary = "INCOMPLETE 2 of 4 cases in twice.test.toml, simulated, 2 without a result\n";
    assert!(shown.starts_with(summary), "{shown}");
}

/// C needs an assembler, which Rust does not.
#[cfg(feature = "system-tests")]
mod system {
    #[test]
    fn a_reference_in_c_judges_all_calls_of_a_property() {
        super::judges_all_calls("c", "c");
    }
}
