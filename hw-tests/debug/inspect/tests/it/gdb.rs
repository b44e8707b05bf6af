//! gdb's remote protocol, packet by packet, against the real program.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;

use crate::debugger::FIGURE_1;

/// A running `hw-inspect gdb` and a connection to it.
pub(crate) struct Server {
    process: Child,
    stream: TcpStream,
    /// An open connection that sends nothing.
    silent: Option<TcpStream>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start() -> Self {
        Self::with(&[])
    }

    /// A server with more arguments.
    pub(crate) fn with(more: &[&str]) -> Self {
        let mut process = Command::cargo_bin("hw-inspect")
            .expect("it is built")
            .args(["gdb", "--listen", "127.0.0.1:0", FIGURE_1, "e5"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut address = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut address).expect("its address");
        let stream = TcpStream::connect(address.trim()).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a deadline");
        Self { process, stream, silent: None }
    }

    /// A server that already has a connection that sends nothing.
    fn silent_first() -> Self {
        let mut server = Self::start();
        let peer = server.stream.peer_addr().expect("an address");
        let stream = TcpStream::connect(peer).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a deadline");
        server.silent = Some(std::mem::replace(&mut server.stream, stream));
        server
    }

    /// Connects clients until one is served. The server refuses them until it has noticed that
    /// those before are gone.
    fn serve_next_client(&mut self, peer: SocketAddr) {
        let halted = [b"+".to_vec(), packed("T05thread:01;")].concat();
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            assert!(Instant::now() < deadline, "no client is accepted any more");
            let mut stream = TcpStream::connect(peer).expect("it listens");
            stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a deadline");
            let mut reply = vec![0; halted.len()];
            let asked = stream.write_all(&packed("?")).and_then(|()| stream.read_exact(&mut reply));
            if asked.is_ok() && reply == halted {
                stream.write_all(b"+").expect("sent");
                self.stream = stream;
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a packet and returns the reply.
    pub(crate) fn ask(&mut self, packet: &str) -> String {
        self.write(&packed(packet));
        assert_eq!(self.byte(), b'+', "{packet}");
        self.answer()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("sent");
    }

    pub(crate) fn answer(&mut self) -> String {
        assert_eq!(self.byte(), b'$');
        let mut answer = Vec::new();
        loop {
            match self.byte() {
                b'#' => break,
                byte => answer.push(byte),
            }
        }
        let check = [self.byte(), self.byte()];
        let sum = answer.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        assert_eq!(String::from_utf8_lossy(&check), format!("{sum:02x}"));
        self.stream.write_all(b"+").expect("sent");
        without_thread(&String::from_utf8(answer).expect("text"))
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).expect("a byte");
        byte[0]
    }

    /// A register by its number in gdb's order: 4 is SP, 5 is PC.
    pub(crate) fn register(&mut self, number: usize) -> u16 {
        let all = self.ask("g");
        assert_eq!(all.len(), 52, "thirteen registers of two bytes");
        let one = &all[number * 4..number * 4 + 4];
        u16::from_str_radix(one, 16).expect("digits").swap_bytes()
    }

    /// Sets a register as gdb does, which sends all.
    pub(crate) fn set_register(&mut self, number: usize, value: u16) -> String {
        let mut all = self.ask("g");
        all.replace_range(number * 4..number * 4 + 4, &format!("{:04x}", value.swap_bytes()));
        self.ask(&format!("G{all}"))
    }
}

/// Returns a stop reply without the number of the only thread.
fn without_thread(reply: &str) -> String {
    let Some((before, after)) = reply.split_once("thread:") else { return reply.to_owned() };
    before.to_owned() + after.split_once(';').expect("it ends").1
}

/// Encodes a packet with its checksum.
pub(crate) fn packed(packet: &str) -> Vec<u8> {
    let sum = packet.bytes().fold(0u8, u8::wrapping_add);
    format!("${packet}#{sum:02x}").into_bytes()
}

fn symbol(name: &str) -> u16 {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let app = build(&profile, ProgramKind::Application).unwrap_or_else(|error| panic!("{error}"));
    app.program.symbol(name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_session_goes_forward_and_back() {
    let mut gdb = Server::start();
    let features = gdb.ask("qSupported:multiprocess+;swbreak+");
    assert!(
        features.contains("ReverseStep+") && features.contains("ReverseContinue+"),
        "{features}"
    );
    assert_eq!((gdb.ask("?"), gdb.ask("vMustReplyEmpty")), ("T05".to_owned(), String::new()));
    let xchng = symbol("XCHNG");
    assert_eq!(gdb.register(5), xchng);
    // LXI H is 21H, and three bytes long.
    assert!(gdb.ask(&format!("m{xchng:x},3")).starts_with("21"));
    assert_eq!((gdb.ask("s"), gdb.register(5)), ("S05".to_owned(), xchng + 3));
    assert_eq!(gdb.register(3), symbol("BACT"), "HL");
    assert_eq!((gdb.ask("bs"), gdb.register(5)), ("S05".to_owned(), xchng));
    // ATKSAV ran before; the recorded past begins before PINFND.
    let atksav = symbol("ATKSAV");
    assert_eq!(gdb.ask(&format!("Z0,{atksav:x},1")), "OK");
    assert_eq!((gdb.ask("bc"), gdb.register(5)), ("S05".to_owned(), atksav));
    assert_eq!(gdb.ask(&format!("z0,{atksav:x},1")), "OK");
    assert_eq!(gdb.ask("bc"), "T05replaylog:begin;");
    // XCHNG returns the residue in E. Watch the first count of the array.
    let array = symbol("ATKLST");
    assert_eq!(gdb.ask(&format!("Z2,{array:x},1")), "OK");
    assert_eq!(gdb.ask("c"), format!("T05watch:{array:04x};"));
    assert_eq!(gdb.ask(&format!("z2,{array:x},1")), "OK");
    assert_eq!(gdb.ask("c"), "S05", "it answers, and waits for more");
}

#[test]
fn registers_and_memory_are_changed_and_nonsense_is_refused() {
    let mut gdb = Server::start();
    assert_eq!((gdb.set_register(3, 0x1234), gdb.register(3)), ("OK".to_owned(), 0x1234));
    assert_eq!((gdb.ask("M9f00,2:aa55"), gdb.ask("m9f00,2")), ("OK".to_owned(), "aa55".to_owned()));
    let all = gdb.ask("g");
    assert_eq!((gdb.ask(&format!("G{all}")), gdb.ask("g")), ("OK".to_owned(), all));
    for wrong in ["m12345,4", "mffff1,1", "Z0,12345,1", "Z2,12345,1", "M12345,1:00", "Mffff,2:0000"]
    {
        let reply = gdb.ask(wrong);
        assert!(reply.len() == 3 && reply.starts_with('E'), "{wrong}: {reply}");
    }
    for unknown in ["P3=3412", "p3", "Z9,0,1"] {
        assert_eq!(gdb.ask(unknown), "", "{unknown}");
    }
    assert_eq!(gdb.ask("?"), "T05");
}

#[test]
fn what_gdb_never_sends_ends_its_connection_only() {
    let mut gdb = Server::start();
    let peer = gdb.stream.peer_addr().expect("an address");
    let packets = ["G00", "mzz,1", "Z0,nothing", "m+1,1"].map(packed);
    for wrong in packets.into_iter().chain([b"$g#00".to_vec(), b"-".to_vec()]) {
        gdb.serve_next_client(peer);
        gdb.write(&wrong);
        let mut rest = Vec::new();
        gdb.stream.read_to_end(&mut rest).expect("it hangs up");
        assert!(rest.is_empty() || rest == b"+", "{:?}", String::from_utf8_lossy(&rest));
    }
    gdb.serve_next_client(peer);
}

#[test]
fn breakpoints_of_gdb_end_with_its_session_and_those_of_the_debugger_stay() {
    let mut gdb = Server::start();
    let peer = gdb.stream.peer_addr().expect("an address");
    let digits = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let xchng = symbol("XCHNG");
    let count_stops = |gdb: &mut Server| {
        let listed = gdb.ask(&format!("qRcmd,{}", digits("stops")));
        assert_eq!(gdb.answer(), "OK");
        listed.matches(&digits(": break at")).count()
    };
    gdb.ask(&format!("qRcmd,{}", digits("break XCHNG if A == 1")));
    assert_eq!(gdb.answer(), "OK");
    for _ in 0..2 {
        assert_eq!(gdb.ask(&format!("Z0,{xchng:x},1")), "OK");
        assert_eq!(count_stops(&mut gdb), 2, "one of gdb, one of the command");
    }
    assert_eq!(gdb.ask(&format!("z0,{xchng:x},1")), "OK");
    assert_eq!(count_stops(&mut gdb), 1);
    assert_eq!(gdb.ask(&format!("Z0,{xchng:x},1")), "OK");
    assert_eq!(gdb.ask("D"), "OK");
    gdb.serve_next_client(peer);
    assert_eq!(count_stops(&mut gdb), 1);
}

#[test]
fn what_a_breakpoint_logs_and_its_commands_appear_on_the_console() {
    let mut gdb = Server::start();
    let digits = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    for command in ["break NEXTAD log fetch for {HL}", "break GUARD do print L"] {
        gdb.ask(&format!("qRcmd,{}", digits(command)));
        assert_eq!(gdb.answer(), "OK");
    }
    gdb.write(&packed("c"));
    assert_eq!(gdb.byte(), b'+');
    let mut printed = String::new();
    let stop = loop {
        match gdb.answer() {
            text if text.starts_with('O') => printed += &text[1..],
            stop => break stop,
        }
    };
    assert_eq!(stop, "S05");
    assert!(printed.contains(&digits("fetch for ")), "{printed}");
    assert!(printed.contains(&digits("H = ")), "the command: {printed}");
}

#[test]
fn a_board_that_runs_is_stopped_and_killed() {
    let mut gdb = Server::start();
    // An endless loop: JMPR to itself.
    assert_eq!(gdb.ask("M9f00,2:18fe"), "OK");
    assert_eq!(gdb.set_register(5, 0x9F00), "OK");
    let packet = "$c#63";
    gdb.stream.write_all(packet.as_bytes()).expect("sent");
    assert_eq!(gdb.byte(), b'+');
    gdb.stream.write_all(&[3]).expect("sent");
    assert_eq!(gdb.answer(), "S02");
    assert_eq!(gdb.register(5), 0x9F00);
    gdb.stream.write_all(b"$k#6b").expect("sent");
    assert_eq!(gdb.process.wait().expect("it ends").code(), Some(0));
}

#[test]
fn memory_ends_at_the_last_address() {
    let mut gdb = Server::start();
    assert_eq!(gdb.ask("mfffe,8").len(), 4, "two bytes are left");
}

#[test]
fn commands_of_the_debugger_come_through_monitor() {
    let mut gdb = Server::start();
    let digits = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let printed = gdb.ask(&format!("qRcmd,{}", digits("print HL")));
    assert!(printed.starts_with('O') && printed.contains(&digits("H = ")), "{printed}");
    assert_eq!(gdb.answer(), "OK");
    let printed = gdb.ask(&format!("qRcmd,{}", digits("fly")));
    assert!(printed.contains(&digits("unknown command 'fly'")), "{printed}");
    assert_eq!(gdb.answer(), "OK");
}

#[test]
fn a_watchpoint_on_both_is_reported_as_one_on_both() {
    let mut gdb = Server::start();
    let array = symbol("ATKLST");
    assert_eq!(gdb.ask(&format!("Z4,{array:x},1")), "OK");
    assert_eq!(gdb.ask("c"), format!("T05awatch:{array:04x};"));
}

#[test]
fn a_second_gdb_is_refused_and_a_silent_connection_blocks_no_client() {
    let mut gdb = Server::silent_first();
    assert_eq!(gdb.ask("?"), "T05", "the silent one is not served");
    let peer = gdb.stream.peer_addr().expect("an address");
    let mut second = TcpStream::connect(peer).expect("it listens");
    second.set_read_timeout(Some(Duration::from_secs(60))).expect("a deadline");
    second.write_all(&packed("qSupported:x")).expect("sent");
    let mut printed = String::new();
    second.read_to_string(&mut printed).expect("it hangs up");
    let holder = gdb.stream.local_addr().expect("an address");
    assert!(printed.contains(&format!("E.another gdb, at {holder}, is connected")), "{printed}");
    assert_eq!(gdb.ask("?"), "T05", "the first session continues");
    assert_eq!(gdb.ask("D"), "OK");
    gdb.serve_next_client(peer);
}

#[test]
fn clients_that_reset_or_leave_much_unread_end_their_own_connection_only() {
    let mut gdb = Server::silent_first();
    let peer = gdb.stream.peer_addr().expect("an address");
    for first in [&b""[..], b"+", b"$?#3f"] {
        for _ in 0..20 {
            let mut client = TcpStream::connect(peer).expect("it listens");
            client.write_all(first).expect("sent");
            rcflash_transport::platform::net::reset_on_close(&client).expect("a socket option");
        }
    }
    // A packet without an end, and packets whose replies nobody reads.
    for bytes in [[&b"+$"[..], &vec![b'm'; 3 << 20]].concat(), b"$?#3f".repeat(600_000)] {
        let mut client = TcpStream::connect(peer).expect("it listens");
        client.set_write_timeout(Some(Duration::from_millis(500))).expect("a deadline");
        let _ = client.write_all(&bytes); // the server may close or wait before the end
    }
    gdb.serve_next_client(peer);
}

/// A page's request whose body writes memory, and one whose method begins with a packet, as a page
/// can send it after it has bound its own name to this computer.
#[test]
fn a_web_page_reads_and_writes_nothing() {
    let memory = "m9000,4";
    let before = Server::start().ask(memory);
    assert_ne!(before, "5ac3963c");
    let mut gdb = Server::start();
    let peer = gdb.stream.peer_addr().expect("an address");
    for method in ["POST", "$g#67", "$x"] {
        let head = format!(
            "{method} / HTTP/1.1\r\nHost: {peer}\r\nOrigin: https://evil.example\r\n\
             Content-Type: text/plain\r\nContent-Length: 22\r\n\r\n"
        );
        let body = [&b"#00+"[..], &packed("M9000,4:5ac3963c")].concat();
        let whole = [head.as_bytes(), &body].concat();
        let pieces: [Vec<&[u8]>; 3] =
            [vec![&whole], vec![head.as_bytes(), &body], whole.chunks(1).collect()];
        for pieces in pieces {
            // A method that begins with a whole packet is one of gdb's until its next byte.
            if method == "$g#67" && pieces.len() > 2 {
                continue;
            }
            let reply = send_pieces(peer, &pieces);
            let count = pieces.len();
            assert!(reply.starts_with("HTTP/1.1 400 "), "{method}, {count} pieces: {reply}");
        }
    }
    let tls = [0x16, 0x03, 0x01, 0x00, 0xc4, 0x01];
    assert_eq!(send_pieces(peer, &[&tls]), "");
    assert_eq!(gdb.ask(memory), before);
}

/// Sends pieces, as far as the server receives them, and returns all that it sends.
fn send_pieces(peer: SocketAddr, pieces: &[&[u8]]) -> String {
    let mut client = TcpStream::connect(peer).expect("it listens");
    client.set_read_timeout(Some(Duration::from_secs(60))).expect("a deadline");
    client.set_nodelay(true).expect("a socket option");
    for piece in pieces {
        if client.write_all(piece).is_err() {
            break;
        }
    }
    let mut reply = Vec::new();
    let _ = client.read_to_end(&mut reply); // it may end with a reset
    String::from_utf8_lossy(&reply).into_owned()
}

#[test]
fn an_address_that_others_reach_needs_a_flag() {
    let arguments = ["gdb", "--listen", "0.0.0.0:0", FIGURE_1, "e5"];
    let (code, _, printed) = crate::hw_tests(&arguments);
    assert!(code == Some(2) && printed.contains("--unprotected"), "{printed}");
}

/// Returns the kernel's timer of the server's end of a connection: 2 is keep-alive (proc(5)).
#[cfg(target_os = "linux")]
fn timer(client: &TcpStream) -> Option<String> {
    let server = client.peer_addr().expect("an address").port();
    let client = client.local_addr().expect("an address").port();
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the table");
    table.lines().find_map(|row| {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let [_, local, remote, _, _, timer, ..] = cells[..] else { return None };
        let is_it = local.ends_with(&format!(":{server:04X}"))
            && remote.ends_with(&format!(":{client:04X}"));
        is_it.then(|| timer[..2].to_owned())
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_broken_connection_is_detected_by_keep_alive() {
    let mut server = Server::start();
    assert_eq!(server.ask("?"), "T05");
    // The reply is acknowledged, after which no other timer runs.
    let deadline = Instant::now() + Duration::from_secs(60);
    while timer(&server.stream).as_deref() != Some("02") {
        assert!(Instant::now() < deadline, "{:?}", timer(&server.stream));
    }
}
