//! Servers and a client that others have written.

use std::time::Duration;

use firmware_wire::{Decoder, DecoderEvent, Reply, Request};

use crate::network::connection_loss::RunWithLoss;
use crate::network::programs::rcflash;
use crate::network::proxy::Proxy;
use crate::network::sim::ServedBoard;
use crate::network::{run, servers, use_board};

/// Half of the 100 ms there and back.
const ONE_WAY_DELAY: Duration = Duration::from_millis(50);

#[test]
fn a_board_behind_ser2net_is_used_by_rfc_2217_and_by_bytes_alone() {
    for is_raw in [false, true] {
        let board = ServedBoard::start(&[]);
        let server = servers::ser2net(&board.path, is_raw);
        use_board(&server.address);
    }
}

#[test]
fn a_board_behind_websockify_is_used_near_and_over_a_slow_network() {
    for is_slow in [false, true] {
        let board = ServedBoard::start(&["--listen", "0"]);
        let place = board.path.trim_start_matches("tcp://");
        let server = servers::websockify(place);
        if is_slow {
            use_board(&Proxy::new(server.place(), ONE_WAY_DELAY).address("ws"));
        } else {
            use_board(&format!("{}/any/path?board=1", server.address));
        }
    }
}

#[test]
fn a_websocket_that_leads_to_no_board_is_reported_with_what_is_wrong() {
    let unused_port = servers::free_port();
    let server = servers::websockify(&format!("127.0.0.1:{unused_port}"));
    let printed = run(rcflash().args(["probe", "--port", &server.address]), 3);
    // The server ends the connection in either of two ways, by the order in which its processes
    // end.
    let is_closed = ["closed the connection", "Connection reset by peer"];
    let is_closed = is_closed.iter().any(|text| printed.contains(text));
    assert!(printed.contains(&server.address) && is_closed, "{printed}");
    let place = server.place().to_owned();
    drop(server);
    let printed = run(rcflash().args(["probe", "--port", &format!("ws://{place}/")]), 3);
    assert!(printed.contains("can't connect to ws://"), "{printed}");
}

#[test]
fn a_board_behind_ser2net_and_a_slow_network_is_used_the_same_way() {
    let board = ServedBoard::start(&[]);
    let server = servers::ser2net(&board.path, false);
    let proxy = Proxy::new(server.place(), ONE_WAY_DELAY);
    use_board(&proxy.address("rfc2217"));
}

#[test]
fn the_speed_goes_through_ser2net() {
    let board = ServedBoard::start(&[]);
    let server = servers::ser2net(&board.path, false);
    let probe = ["probe", "--baud", "9600", "--port", &server.address];
    let printed = run(rcflash().args(probe), 0);
    assert!(printed.contains("at 115200 baud"), "the board garbles other speeds: {printed}");
}

#[test]
fn a_board_behind_pyserials_server_is_used() {
    let board = ServedBoard::start(&[]);
    let server = servers::pyserial(&board.path);
    use_board(&server.address);
    let proxy = Proxy::new(server.place(), ONE_WAY_DELAY);
    let printed = run(rcflash().args(["write", "--force", "--port", &proxy.address("rfc2217")]), 0);
    assert!(printed.contains("verified on the board"), "{printed}");
}

#[test]
fn wires_and_break_go_through_pyserials_server() {
    let board = ServedBoard::start(&[]);
    let server = servers::pyserial(&board.path);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let rig = folder.path().join("rig.toml");
    let mut text = String::new();
    for (name, more) in [("dtr", ""), ("rts", "flow = \"none\"\n"), ("break", "")] {
        text += &format!("[boards.by-{name}]\nport = \"{}\"\n", server.address);
        text += &format!("reset = \"{name}\"\n{more}");
    }
    std::fs::write(&rig, text).expect("a file");
    for name in ["dtr", "rts", "break"] {
        let mut reset = rcflash();
        reset.args(["reset", "--patience", "1s", "--port", &format!("by-{name}")]);
        // The wires lead nowhere, so that the board is not reset.
        run(reset.arg("--rig-file").arg(&rig), 3);
    }
    let changes = server.end();
    let of = |name: &str| {
        let lines = changes.lines().filter(|line| line.starts_with(name));
        lines.collect::<Vec<_>>().join(", ")
    };
    // Opening lets the board out of reset, a pulse resets it.
    assert_eq!(of("dtr"), "dtr False, dtr True, dtr False");
    assert_eq!(of("rts"), "rts False, rts True, rts False");
    assert_eq!(of("break"), "break True, break False");
}

#[test]
fn pyserials_client_uses_what_rcflash_serves() {
    let board = ServedBoard::start(&[]);
    let server = servers::ours(&board.path, &[]);
    let mut python = servers::python();
    let question = Request::Identify.frame(255).expect("it fits").encode();
    let hex: String = question.iter().map(|byte| format!("{byte:02x}")).collect();
    let client = servers::script("pyserial_client.py");
    let printed = run(python.arg(client).args([&server.address, &hex]), 0);
    let (answer, baud) = printed.trim().split_once('\n').expect("two lines");
    assert_eq!(baud, "9600");
    let mut decoder = Decoder::default();
    let bytes = (0..answer.len() / 2).map(|at| u8::from_str_radix(&answer[2 * at..][..2], 16));
    let received = bytes.filter_map(|byte| decoder.push(byte.expect("figures")));
    let frames: Vec<DecoderEvent> = received.collect();
    let [DecoderEvent::Frame(frame)] = &frames[..] else { panic!("{frames:?}") };
    assert_eq!(frame.seq, 255, "a byte that Telnet doubles");
    let reply = Reply::parse(frame.kind, &frame.payload);
    assert!(matches!(reply, Ok(Reply::Identity(_))), "{reply:?}");
}

#[test]
fn a_run_resumes_through_ser2net_and_through_a_raw_connection() {
    for is_raw in [false, true] {
        let board = ServedBoard::start(&[]);
        let server = servers::ser2net(&board.path, is_raw);
        let scheme = if is_raw { "tcp" } else { "rfc2217" };
        let losing = RunWithLoss::new(server.place(), scheme, &[]);
        losing.proxy.reconnect();
        let (code, printed) = losing.ended();
        assert_eq!(code, Some(0), "{printed}");
        assert!(printed.contains("PASS: 100 of 100"), "{printed}");
    }
}

#[test]
fn a_run_resumes_through_a_websocket() {
    let board = ServedBoard::start(&["--listen", "0"]);
    let place = board.path.trim_start_matches("tcp://");
    let server = servers::websockify(place);
    let losing = RunWithLoss::new(server.place(), "ws", &[]);
    losing.proxy.reconnect();
    let (code, printed) = losing.ended();
    assert_eq!(code, Some(0), "{printed}");
    assert!(
        printed.contains("port reconnected") && printed.contains("PASS: 100 of 100"),
        "{printed}"
    );
}
