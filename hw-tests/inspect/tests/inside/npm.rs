//! The adapter, judged by Microsoft's client for tests of debug adapters.

use assert_cmd::cargo::cargo_bin;

use crate::npm_packages::{node, passes};

#[test]
fn the_adapter_does_what_microsofts_client_and_the_protocols_types_expect() {
    let Some(mut node) = node("hw-tests/inspect/tests/npm", "adapter.test.js") else { return };
    node.env("HW_INSPECT", cargo_bin("hw-inspect"));
    passes(node);
}
