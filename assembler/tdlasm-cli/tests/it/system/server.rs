//! The language server with Microsoft's client library, and the extension of VS Code.

use super::node::{node, passes};

#[test]
fn the_server_does_what_microsofts_client_and_the_protocols_types_expect() {
    let mut node = node("assembler/tdlasm-cli/tests/npm", "server.test.js");
    node.env("TDLASM", env!("CARGO_BIN_EXE_tdlasm"));
    passes(node);
}

#[test]
fn the_extension_is_packaged_and_does_what_its_manifest_declares() {
    let mut packaged = node("docs/editors/vscode", "extension.test.js");
    packaged.env("VSIX", concat!(env!("CARGO_TARGET_TMPDIR"), "/tdl.vsix"));
    passes(packaged);
    passes(node("docs/editors/vscode", "testing.test.js"));
}
