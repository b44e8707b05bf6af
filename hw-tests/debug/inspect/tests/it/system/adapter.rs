//! The debug adapter with Microsoft's client for tests of debug adapters.

use assert_cmd::cargo::cargo_bin;

use super::node::{node, passes};

#[test]
fn the_adapter_does_what_microsofts_client_and_the_protocols_types_expect() {
    let mut node = node("hw-tests/debug/inspect/tests/npm", "adapter.test.js");
    node.env("HW_INSPECT", cargo_bin("hw-inspect"));
    passes(node);
}
