//! `rcflash probe`: every program that can be on the board.

use std::net::TcpListener;
use std::thread;

use board_simulator::Pace;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use monitor_standins::{
    Basic, Cpm, FaultOptions, MonitorModel, MonitorOptions, MonitorServer, Romwbw, Scm,
};

use crate::commands::bench::{Bench, RunEnd, rcflash};

fn probe(port: &str) -> RunEnd {
    rcflash(&["probe", "--port", port])
}

fn standin(peer: Box<dyn MonitorModel>, options: MonitorOptions) -> (MonitorServer, String) {
    let server = MonitorServer::start(peer, options).expect("a pseudo-terminal");
    let port = server.path().to_string_lossy().into_owned();
    (server, port)
}

#[test]
fn our_monitor_and_our_application_identify_themselves() {
    for board in ["rc2014-classic", "rc2014-zed"] {
        let bench = Bench::new(board, Pace::Free);
        let found = probe(&bench.port).assert_ends(0, &[]);
        assert!(found.text().starts_with("Sargon board monitor 1, build "), "{}", found.text());
        assert!(found.text().ends_with(" at 115200 baud\n"), "{}", found.text());
        rcflash(&["write", "--board", board, "--port", &bench.port]).assert_ends(0, &[]);
        let found = probe(&bench.port).assert_ends(0, &[]);
        assert!(found.text().starts_with("Sargon exchange evaluator"), "{}", found.text());
    }
}

#[test]
fn stock_monitors_are_recognized_by_their_prompts() {
    let cases: [(Box<dyn MonitorModel>, &str, &str); 5] = [
        (Box::<Scm>::default(), "Small Computer Monitor 1.3.0", "--via scm"),
        (Box::<Romwbw>::default(), "RomWBW 3.5's boot loader", "--via romwbw"),
        (Box::<Basic>::default(), "ROM BASIC 4.7b (G. Searle's)", "--via basic"),
        (Box::new(Basic::feilipu()), "ROM BASIC 4.7c (feilipu's)", "--via basic"),
        (Box::<Cpm>::default(), "CP/M 2.2 (guessed)", "--via cpm"),
    ];
    for (peer, name, advice) in cases {
        let (_server, port) = standin(peer, MonitorOptions::default());
        let found = probe(&port).assert_ends(0, &[advice]);
        assert_eq!(found.text(), format!("{name} at 115200 baud\n"));
        let found = rcflash(&["probe", "--json", "--port", &port]).assert_ends(0, &[]);
        let found: serde_json::Value = serde_json::from_str(&found.text()).expect("JSON");
        assert_eq!(found["certain"], !name.ends_with(" (guessed)"), "{found}");
        assert!(name.starts_with(found["program"].as_str().expect("a name")), "{found}");
        assert_eq!(found["baud"], 115_200);
    }
}

#[test]
fn a_board_at_another_speed_is_found_and_its_speed_reported() {
    let (_server, port) =
        standin(Box::<Scm>::default(), MonitorOptions { baud: 9600, ..MonitorOptions::default() });
    let found = probe(&port).assert_ends(0, &["not at 115200 baud: use --baud 9600"]);
    assert_eq!(found.text(), "Small Computer Monitor 1.3.0 at 9600 baud\n");
    for board in ["rc2014-classic", "rc2014-zed"] {
        let mut profile = BoardProfile::named(board).expect("it ships");
        let monitor = build(&profile, ProgramKind::Monitor).expect("it is built");
        (profile.uart.clock_hz, profile.uart.baud) = (3_686_400, 57_600);
        let bench = Bench::with_rom(profile, &monitor.bytes, Pace::Free);
        let found = probe(&bench.port).assert_ends(0, &["not at 115200 baud: use --baud 57600"]);
        assert!(found.text().ends_with(" at 57600 baud\n"), "{}", found.text());
    }
}

#[test]
fn silence_and_noise_are_not_a_reply() {
    let fault = |silent, noise| {
        let faults = FaultOptions { silent, noise, ..FaultOptions::default() };
        let (server, port) =
            standin(Box::<Scm>::default(), MonitorOptions { faults, ..MonitorOptions::default() });
        thread::spawn(move || {
            let found = probe(&port);
            drop(server);
            found
        })
    };
    let silent = fault(true, false);
    let noisy = fault(false, true);
    let others = "at 115200 baud, no known program at 57600, 38400, 19200, 9600";
    let ended = silent.join().expect("it is probed").assert_ends(3, &["no reply ", others]);
    assert_eq!(ended.text(), "");
    noisy.join().expect("it is probed").assert_ends(3, &["only noise ", others]);
}

#[test]
fn an_adapter_whose_tx_is_connected_with_its_rx_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("tcp://{}", listener.local_addr().expect("an address"));
    // Ends when the program closes the connection.
    thread::spawn(move || {
        let (mut from_host, _) = listener.accept().expect("a connection");
        let mut to_host = from_host.try_clone().expect("a copy");
        let _ = std::io::copy(&mut from_host, &mut to_host);
    });
    let end = probe(&address).assert_ends(3, &["your own bytes came back", "TX and RX"]);
    assert!(!end.messages.contains("rcflash monitor"), "{}", end.messages);
}
