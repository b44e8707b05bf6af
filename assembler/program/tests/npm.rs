//! The language server, judged by Microsoft's side of the protocol, and the extension of VS Code.

#[path = "common/npm.rs"]
mod npm;

#[test]
fn the_server_does_what_microsofts_client_and_the_protocols_types_expect() {
    let Some(mut node) = npm::node("assembler/program/tests/npm", "server.test.js") else { return };
    node.env("TDLASM", env!("CARGO_BIN_EXE_tdlasm"));
    npm::passes(node);
}

#[test]
fn the_extension_is_packaged_and_does_what_its_manifest_says() {
    let Some(mut node) = npm::node("docs/editors/vscode", "extension.test.js") else { return };
    node.env("VSIX", concat!(env!("CARGO_TARGET_TMPDIR"), "/tdl.vsix"));
    npm::passes(node);
}
