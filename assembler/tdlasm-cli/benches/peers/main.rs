//! Times this assembler and the others that are installed with the same program:
//! `cargo bench -p tdlasm-cli --bench peers`. Each figure is the best of five runs, including
//! start-up and file access. A second program, of mixed statements, is for those that make objects.

mod varied;

use std::fmt::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const RUNS: usize = 5;
/// Runs longer than this are not repeated.
const LONG: Duration = Duration::from_secs(2);
/// Runs longer than this are killed.
const DEADLINE: Duration = Duration::from_secs(10);
/// Blocks between two origins, so that the program stays below 64 KB.
const BLOCKS_A_ROUND: usize = 800;

/// An assembler: its name, its arguments before and after the source's name, and its dialect.
struct Peer {
    name: &'static str,
    command: &'static str,
    before: &'static [&'static str],
    after: &'static [&'static str],
    dialect: Dialect,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Tdl,
    Zilog,
    /// Zilog's with sections instead of origins, which may not go backwards.
    Gnu,
}

const PEERS: [Peer; 5] = [
    Peer {
        name: "tdlasm, binary",
        command: env!("CARGO_BIN_EXE_tdlasm"),
        before: &["asm", "-W", "none"],
        after: &["-o", "out.bin"],
        dialect: Dialect::Tdl,
    },
    Peer {
        name: "tdlasm, object",
        command: env!("CARGO_BIN_EXE_tdlasm"),
        before: &["asm", "-W", "none"],
        after: &["-o", "out.o"],
        dialect: Dialect::Tdl,
    },
    Peer {
        name: "GNU as, object",
        command: "z80-unknown-coff-as",
        before: &["-o", "out.o"],
        after: &[],
        dialect: Dialect::Gnu,
    },
    Peer {
        name: "pasmo, binary",
        command: "pasmo",
        before: &[],
        after: &["out.bin"],
        dialect: Dialect::Zilog,
    },
    Peer {
        name: "z80asm, binary",
        command: "z80asm",
        before: &["-o", "out.bin"],
        after: &[],
        dialect: Dialect::Zilog,
    },
];

fn main() {
    table(&PEERS, program);
    table(&PEERS[1..3], varied::program);
}

fn table(peers: &[Peer], program: fn(usize, Dialect) -> String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!("| assembler | {} |", SIZES.map(|lines| format!("{lines} lines")).join(" | "));
    println!("|---|{}", "--:|".repeat(SIZES.len()));
    for peer in peers {
        let cell = |lines: &usize| {
            let source = program(*lines, peer.dialect);
            std::fs::write(folder.path().join("bench.asm"), source).expect("to write the source");
            cell(peer, folder.path())
        };
        println!("| {} | {} |", peer.name, SIZES.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
}

fn cell(peer: &Peer, folder: &Path) -> String {
    let mut best: Option<Duration> = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        let child = Command::new(peer.command)
            .args(peer.before)
            .arg("bench.asm")
            .args(peer.after)
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else { return "not installed".into() };
        match finish(&mut child, start) {
            None => return format!("over {} s", DEADLINE.as_secs()),
            Some(false) => return "fails".into(),
            Some(true) => {}
        }
        let took = start.elapsed();
        best = Some(best.map_or(took, |best| best.min(took)));
        if took > LONG {
            break;
        }
    }
    best.map_or("-".into(), |best| format!("{:.1} ms", best.as_secs_f64() * 1000.0))
}

/// Waits for the end and returns `true` for exit code 0; `None` if the deadline passes.
fn finish(child: &mut Child, start: Instant) -> Option<bool> {
    while start.elapsed() < DEADLINE {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status.success());
        }
        std::thread::sleep(Duration::from_micros(20));
    }
    // Killing fails if it has just ended, which is fine.
    let _ = child.kill();
    let _ = child.wait();
    None
}

fn program(lines: usize, dialect: Dialect) -> String {
    let mut text = String::with_capacity(lines * 22);
    text.push_str(if dialect == Dialect::Tdl { "BASE==100H\n" } else { "BASE: equ 100H\n" });
    let blocks = lines.div_ceil(14);
    for block in 0..blocks {
        if block % BLOCKS_A_ROUND == 0 {
            let _ = match dialect {
                Dialect::Tdl => writeln!(text, "\t.LOC 100H"),
                Dialect::Zilog => writeln!(text, "\torg 100H"),
                Dialect::Gnu => writeln!(text, "\t.section s{block},\"x\""),
            };
        }
        if dialect == Dialect::Tdl {
            tdl_block(&mut text, block)
        } else {
            zilog_block(&mut text, block)
        }
    }
    let _ = match dialect {
        Dialect::Tdl => writeln!(text, "L{blocks:05}: RET\n\t.END"),
        _ => writeln!(text, "L{blocks:05}: ret\n\tend"),
    };
    text
}

fn tdl_block(text: &mut String, block: usize) {
    let low = block % 256;
    let digit = block % 7;
    let next = block + 1;
    let _ = write!(
        text,
        "L{block:05}: MVI A,{low}\t; load a counter\n\tLXI H,T{block:05}+2*3\nA{block:05}:\tMOV \
         A,M\n\tINX H\n\tADI {digit}+(BASE/256)\n\tMOV 3(X),A\n\tDCR B\n\tJRNZ A{block:05}\n\tJMP \
         L{next:05}\n; a line that is only a comment, as programs have many of them\n\
         T{block:05}:\t.BYTE 1,2,'A',0FFH,{digit}\n\t.WORD L{block:05},T{block:05}-L{block:05}\n\
         \t.ASCII \"some text of ours\"\n\n",
    );
}

fn zilog_block(text: &mut String, block: usize) {
    let low = block % 256;
    let digit = block % 7;
    let next = block + 1;
    let _ = write!(
        text,
        "L{block:05}: ld a,{low}\t; load a counter\n\tld hl,T{block:05}+2*3\nA{block:05}:\tld \
         a,(hl)\n\tinc hl\n\tadd a,{digit}+(BASE/256)\n\tld (ix+3),a\n\tdec b\n\tjr \
         nz,A{block:05}\n\tjp L{next:05}\n; a line that is only a comment, as programs have many \
         of them\nT{block:05}:\tdefb 1,2,'A',0FFH,{digit}\n\tdefw \
         L{block:05},T{block:05}-L{block:05}\n\tdefb \"some text of ours\"\n\n",
    );
}
