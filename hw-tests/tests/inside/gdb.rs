//! gdb's remote protocol, packet by packet, against the real program.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::CommandCargoExt;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::Profile;

use crate::debugger::FIGURE_1;

/// `hw-tests gdb` and a line to it.
struct Server {
    process: Child,
    stream: TcpStream,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start() -> Self {
        let mut process = Command::cargo_bin("hw-tests")
            .expect("it is built")
            .args(["gdb", "--listen", "127.0.0.1:0", FIGURE_1, "e5"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut address = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut address).expect("its address");
        let stream = TcpStream::connect(address.trim()).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a deadline");
        Self { process, stream }
    }

    /// Sends a packet and returns the answer to it.
    fn ask(&mut self, packet: &str) -> String {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        self.stream.write_all(format!("${packet}#{sum:02x}").as_bytes()).expect("sent");
        assert_eq!(self.byte(), b'+', "{packet}");
        self.answer()
    }

    fn answer(&mut self) -> String {
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
        String::from_utf8(answer).expect("text")
    }

    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).expect("a byte");
        byte[0]
    }

    /// A register by its number in gdb's order: 4 is SP, 5 is PC.
    fn register(&mut self, number: usize) -> u16 {
        let all = self.ask("g");
        assert_eq!(all.len(), 52, "thirteen registers of two bytes");
        let one = self.ask(&format!("p{number:x}"));
        assert_eq!(one, all[number * 4..number * 4 + 4]);
        u16::from_str_radix(&one, 16).expect("digits").swap_bytes()
    }
}

fn symbol(name: &str) -> u16 {
    let profile = Profile::named("rc2014-classic").expect("it ships");
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
    assert_eq!((gdb.ask("?"), gdb.ask("vMustReplyEmpty")), ("S05".to_owned(), String::new()));
    let xchng = symbol("XCHNG");
    assert_eq!(gdb.register(5), xchng);
    // LXI H is 21H, and three bytes long.
    assert!(gdb.ask(&format!("m{xchng:x},3")).starts_with("21"));
    assert_eq!((gdb.ask("s"), gdb.register(5)), ("S05".to_owned(), xchng + 3));
    assert_eq!(gdb.register(3), symbol("BACT"), "HL");
    assert_eq!((gdb.ask("bs"), gdb.register(5)), ("S05".to_owned(), xchng));
    // ATKSAV was there before; the past begins before PINFND.
    let atksav = symbol("ATKSAV");
    assert_eq!(gdb.ask(&format!("Z0,{atksav:x},1")), "OK");
    assert_eq!((gdb.ask("bc"), gdb.register(5)), ("S05".to_owned(), atksav));
    assert_eq!(gdb.ask(&format!("z0,{atksav:x},1")), "OK");
    assert_eq!(gdb.ask("bc"), "T05replaylog:begin;");
    // The residue is what XCHNG leaves in E: watch who writes the first count of the array.
    let array = symbol("ATKLST");
    assert_eq!(gdb.ask(&format!("Z2,{array:x},1")), "OK");
    assert_eq!(gdb.ask("c"), format!("T05watch:{array:04x};"));
    assert_eq!(gdb.ask(&format!("z2,{array:x},1")), "OK");
    assert_eq!(gdb.ask("c"), "S05", "it answers, and waits for more");
}

#[test]
fn registers_and_memory_are_changed_and_nonsense_is_refused() {
    let mut gdb = Server::start();
    assert_eq!((gdb.ask("P3=3412"), gdb.register(3)), ("OK".to_owned(), 0x1234));
    assert_eq!((gdb.ask("M9f00,2:aa55"), gdb.ask("m9f00,2")), ("OK".to_owned(), "aa55".to_owned()));
    let all = gdb.ask("g");
    assert_eq!((gdb.ask(&format!("G{all}")), gdb.ask("g")), ("OK".to_owned(), all));
    for wrong in ["P3=34", "P99=3412", "G00", "mzz,1", "M9f00,2:aa", "Z0,nothing", "p20"] {
        assert_eq!(gdb.ask(wrong), "E01", "{wrong}");
    }
    assert_eq!(gdb.ask("Z9,0,1"), "", "no such kind");
    gdb.stream.write_all(b"$g#00").expect("sent");
    assert_eq!(gdb.byte(), b'-', "a wrong check");
    assert_eq!(gdb.ask("?"), "S05");
}

#[test]
fn a_board_that_runs_is_stopped_and_killed() {
    let mut gdb = Server::start();
    // A loop without end: JMPR to itself.
    assert_eq!(gdb.ask("M9f00,2:18fe"), "OK");
    assert_eq!(gdb.ask("P5=009f"), "OK");
    let packet = "$c#63";
    gdb.stream.write_all(packet.as_bytes()).expect("sent");
    assert_eq!(gdb.byte(), b'+');
    gdb.stream.write_all(&[3]).expect("sent");
    assert_eq!(gdb.answer(), "S02");
    assert_eq!(gdb.register(5), 0x9F00);
    gdb.stream.write_all(b"$k#6b").expect("sent");
    assert_eq!(gdb.process.wait().expect("it ends").code(), Some(0));
}
