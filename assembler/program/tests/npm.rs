//! The language server, judged by Microsoft's side of the protocol.

#[path = "common/npm.rs"]
mod npm;

#[test]
fn the_server_does_what_microsofts_client_and_the_protocols_types_expect() {
    let Some(mut node) = npm::node("assembler/program/tests/npm", "server.test.js") else { return };
    node.env("TDLASM", env!("CARGO_BIN_EXE_tdlasm"));
    npm::passes(node);
}
