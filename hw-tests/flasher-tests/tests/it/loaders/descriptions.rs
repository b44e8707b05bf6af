//! Descriptions of two monitors with stand-ins, for `--via FILE.toml`.

pub(crate) const ROMWBW: &str = r#"
prompt = "8E>"
memory = "0100-DFFF"
run = "R {address}\r"
[load]
command = "L\r"
line_end = "\b\b\b\b"
end = ":00000001FF"
success = "Loaded"
[dump]
command = "D {first} {last}\r"
"#;

/// The example of the page, which is the Small Computer Monitor.
pub(crate) fn scm() -> &'static str {
    let page = include_str!("../../../../../docs/LOADERS.md");
    let (_, example) = page.split_once("```toml\n").expect("the page has an example");
    example.split_once("```").expect("it ends").0
}
