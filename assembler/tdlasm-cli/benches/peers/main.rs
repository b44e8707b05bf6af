//! Times this assembler and the others that are installed with the same program:
//! `cargo bench -p tdlasm-cli --bench peers`. Each figure is the best of five runs, including
//! start-up and file access. Two further tables compare object with object, for this program and
//! for one of mixed statements: medians of the processor time of runs in turn, and their ratio.
//! `GNU_AS` is the path of another GNU as for the Z80 than Debian's.

mod varied;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const RUNS: usize = 5;
/// Runs of each assembler where two run in turn.
const TURNS: usize = 11;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        before: &["-o", "gnu.o"],
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
    let folder = tempfile::tempdir().expect("a temporary folder");
    table(folder.path());
    for (name, program) in [("plain", program as Program), ("mixed", varied::program)] {
        println!();
        compare(name, program, folder.path());
    }
}

type Program = fn(usize, Dialect) -> String;

/// Prints the best times of all assemblers.
fn table(folder: &Path) {
    println!("| assembler | {} |", SIZES.map(|lines| format!("{lines} lines")).join(" | "));
    println!("|---|{}", "--:|".repeat(SIZES.len()));
    for peer in &PEERS {
        let cell = |lines: &usize| {
            write_source(program, *lines, peer, folder);
            best(peer, folder).map_or_else(|problem| problem, milliseconds)
        };
        println!("| {} | {} |", peer.name, SIZES.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
}

fn best(peer: &Peer, folder: &Path) -> Result<Duration, String> {
    let mut best = run(peer, folder)?;
    for _ in 1..RUNS {
        if best > LONG {
            break;
        }
        best = best.min(run(peer, folder)?);
    }
    Ok(best)
}

/// Prints the medians of two assemblers that run in turn, object against object.
fn compare(name: &str, program: Program, folder: &Path) {
    let [_, ours, gnu, ..] = &PEERS;
    println!("| {name}: lines | {} | {} | ratio |\n|---|--:|--:|--:|", ours.name, gnu.name);
    for lines in SIZES {
        let mut times = [Vec::new(), Vec::new()];
        for peer in [ours, gnu] {
            write_source(program, lines, peer, folder);
        }
        for _ in 0..TURNS {
            for (times, peer) in times.iter_mut().zip([ours, gnu]) {
                match processor_time(peer, folder) {
                    Ok(time) => times.push(time),
                    Err(problem) => return println!("{}: {problem}", peer.name),
                }
            }
        }
        let [ours, gnu] = times.map(|mut times| {
            times.sort_unstable();
            times[TURNS / 2]
        });
        let ratio = gnu.as_secs_f64() / ours.as_secs_f64();
        println!("| {lines} | {} | {} | {ratio:.2} |", milliseconds(ours), milliseconds(gnu));
    }
}

fn write_source(program: Program, lines: usize, peer: &Peer, folder: &Path) {
    let mut file = File::create(folder.join(source_name(peer))).expect("to create the source");
    file.write_all(program(lines, peer.dialect).as_bytes()).expect("to write the source");
    // The system should not write it to the disk while runs are timed.
    file.sync_all().expect("to write the source");
}

fn source_name(peer: &Peer) -> String {
    format!("{:?}.asm", peer.dialect)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

fn command(peer: &Peer) -> OsString {
    let gnu = std::env::var_os("GNU_AS").filter(|_| peer.dialect == Dialect::Gnu);
    gnu.unwrap_or_else(|| peer.command.into())
}

/// Runs an assembler once; if there is no time, returns the reason.
fn run(peer: &Peer, folder: &Path) -> Result<Duration, String> {
    let start = Instant::now();
    let child = Command::new(command(peer))
        .args(peer.before)
        .arg(source_name(peer))
        .args(peer.after)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|_| "not installed")?;
    match wait_until_deadline(&mut child, start) {
        Some(true) => Ok(start.elapsed()),
        Some(false) => Err("fails".into()),
        None => Err(format!("over {} s", DEADLINE.as_secs())),
    }
}

/// Runs an assembler once, and returns the time in which it and the system worked for it. The `time`
/// of bash has milliseconds.
fn processor_time(peer: &Peer, folder: &Path) -> Result<Duration, String> {
    let timed = Command::new("bash")
        .args(["-c", "TIMEFORMAT='%3U %3S'; time \"$@\" 2>/dev/null", "bash"])
        .arg(command(peer))
        .args(peer.before)
        .arg(source_name(peer))
        .args(peer.after)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .output()
        .map_err(|_| "bash is not installed")?;
    if !timed.status.success() {
        return Err("not installed, or fails".into());
    }
    let shown = String::from_utf8_lossy(&timed.stderr);
    let seconds = shown.split_whitespace().map(str::parse::<f64>);
    let seconds: f64 = seconds.sum::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Waits for the end and returns `true` for exit code 0, or `None` if the deadline passes.
fn wait_until_deadline(child: &mut Child, start: Instant) -> Option<bool> {
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
