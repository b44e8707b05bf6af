//! One board, several hosts: which one gets it, and the messages for the others.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::network::programs::rcflash;
use crate::network::sim::ServedBoard;
use crate::network::{run, servers, use_board};

#[test]
fn a_board_is_served_by_rfc_2217_and_by_bytes_alone() {
    for more in [&[][..], &["--raw"]] {
        let board = ServedBoard::start(&[]);
        let server = servers::ours(&board.path, more);
        use_board(&server.address);
    }
}

#[test]
fn the_simulated_board_listens_at_a_tcp_port() {
    let board = ServedBoard::start(&["--listen", "0"]);
    assert!(board.path.starts_with("tcp://127.0.0.1:"), "{}", board.path);
    use_board(&board.path);
}

/// A terminal that has opened the port; Ctrl-C ends it.
struct Terminal(Child);

impl Terminal {
    fn on(port: &str) -> Self {
        let mut command = rcflash();
        command.args(["monitor", "--port", port]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut terminal = Self(command.spawn().expect("it starts"));
        let mut line = String::new();
        let printed = terminal.0.stderr.as_mut().expect("it is piped");
        BufReader::new(printed).read_line(&mut line).expect("text");
        assert!(line.contains("Ctrl-] exits"), "{line}");
        terminal
    }

    fn leave(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().expect("it ends").success());
    }
}

#[test]
fn a_second_client_is_refused_with_the_name_of_the_first() {
    let board = ServedBoard::start(&[]);
    let server = servers::ours(&board.path, &[]);
    let first = Terminal::on(&server.address);
    let probe = |port: &str| {
        let mut command = rcflash();
        command.args(["probe", "--port", port]);
        command
    };
    let here = run(&mut probe(&server.address), 3);
    assert!(here.contains("in use by `rcflash monitor"), "{here}");
    let folder = tempfile::tempdir().expect("a scratch folder");
    // Another computer has other locks.
    let there = run(probe(&server.address).env("XDG_RUNTIME_DIR", folder.path()), 3);
    assert!(there.contains("refused by the server: the port is in use by 127.0.0.1:"), "{there}");
    let device = run(&mut probe(&board.path), 3);
    assert!(device.contains("in use by `rcflash serve"), "{device}");
    first.leave();
    // The server may not have noticed the disconnect of the terminal; the next client waits for it.
    use_board(&server.address);
    drop(server);
    run(&mut probe(&board.path), 0);
}

#[test]
fn a_refusal_received_from_a_raw_port_is_shown() {
    let board = ServedBoard::start(&[]);
    let server = servers::ours(&board.path, &["--raw"]);
    let first = Terminal::on(&server.address);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut second = rcflash();
    second.args(["probe", "--port", &server.address]).env("XDG_RUNTIME_DIR", folder.path());
    let printed = run(&mut second, 3);
    assert!(printed.contains("with the message: the port is in use by 127.0.0.1:"), "{printed}");
    first.leave();
}

#[test]
fn other_computers_are_served_only_on_request() {
    let board = ServedBoard::start(&[]);
    let serve = |more: &[&str]| {
        let mut command = rcflash();
        command.args(["serve", "--port", &board.path, "--listen", "0.0.0.0:0"]).args(more);
        command
    };
    let printed = run(&mut serve(&[]), 2);
    assert!(printed.contains("--unprotected"), "{printed}");
}

#[test]
fn an_address_without_a_server_is_named() {
    let gone = {
        let board = ServedBoard::start(&["--listen", "0"]);
        board.path.clone()
    };
    for command in ["probe", "write"] {
        let printed = run(rcflash().args([command, "--port", &gone]), 3);
        assert!(printed.contains(&format!("can't connect to {gone}")), "{printed}");
    }
    let printed = run(rcflash().args(["probe", "--port", "tcp://127.0.0.1"]), 3);
    assert!(printed.contains("expected a colon between host and port"), "{printed}");
    let printed = run(rcflash().args(["probe", "--port", &gone.replace("tcp", "rfc2217")]), 3);
    assert!(printed.contains("can't connect"), "{printed}");
}
