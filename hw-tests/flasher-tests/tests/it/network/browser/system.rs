//! The same requests by HTTP clients that others have written: curl, and pages in Chromium.

use std::fmt::Write;
use std::process::Command;

use super::{MARKER, frames, memory};
use crate::network::servers;
use crate::network::sim::ServedBoard;

/// The address of a port without its scheme.
fn place(port: &str) -> &str {
    port.split_once("://").expect("an address").1
}

/// Calls `check` with the port of each kind of server.
fn for_each_server(check: impl Fn(&str)) {
    let board = ServedBoard::start(&[]);
    for more in [&[][..], &["--raw"]] {
        check(&servers::ours(&board.path, more).address);
    }
    check(&ServedBoard::start(&["--listen", "0"]).path);
}

#[test]
fn curl_gets_an_error_of_http_from_each_server() {
    for_each_server(|port| {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--max-time", "60", "--output", "/dev/null", "--write-out"]);
        curl.args(["%{http_code}", "--header", "Origin: https://evil.example"]);
        curl.args(["--data-binary", "frames", &format!("http://{}/", place(port))]);
        let output = curl.output().expect("curl, of Debian's package of that name");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "400", "{port}");
    });
}

/// A page that sends the frames to a place, and then writes into itself how that ended.
fn page(place: &str) -> String {
    let mut bytes = String::new();
    for byte in frames() {
        write!(bytes, "{byte},").expect("text");
    }
    format!(
        "<body><script>fetch('http://{place}/', {{method: 'POST', mode: 'no-cors', \
         headers: {{'Content-Type': 'text/plain'}}, body: new Uint8Array([{bytes}])}})\
         .then(reply => document.body.append('sent: ' + reply.type), \
         error => document.body.append('not sent: ' + error))</script>"
    )
}

#[test]
fn a_page_in_chromium_writes_nothing_to_a_board() {
    for_each_server(|port| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let file = folder.path().join("page.html");
        std::fs::write(&file, page(place(port))).expect("a page");
        let before = memory(port);
        assert_ne!(before, MARKER);
        let mut browser = Command::new("chromium");
        browser.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--timeout=20000"]);
        // Newer versions ask the user before a page may reach an address of this computer.
        browser.args(["--disable-features=LocalNetworkAccessChecks", "--dump-dom"]);
        // The page is printed when this much time has passed for it and no request is pending.
        browser.arg("--virtual-time-budget=10000");
        browser.arg(format!("--user-data-dir={}", folder.path().display()));
        let output = browser.arg(&file).output();
        let output = output.expect("chromium, of Debian's package of that name");
        let dom = String::from_utf8_lossy(&output.stdout);
        // "opaque" is all that a page of another origin learns; the request did reach the server.
        assert!(dom.contains("sent: opaque"), "{port}: {dom}");
        assert_eq!(memory(port), before, "{port}");
    });
}
