//! Kills `rcflash` while it writes the flash of a simulated board, and runs it again.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use board_simulator::board_spec;
use board_simulator::{BoardServer, ServerOptions};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;

const BOARD: &str = "rc2014-zed";

/// Writes the original and the corrected application in turn, kills each write at a pseudo-random
/// moment, and reruns it to the end. Returns the number of kills that came before the write had
/// ended.
pub(crate) fn kill_and_rerun(program: &Path, times: u32, seed: u64) -> u32 {
    let profile = BoardProfile::named(BOARD).expect("it ships");
    let monitor = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let server = BoardServer::start(board_spec(&profile), &monitor.bytes, ServerOptions::default())
        .expect("a pseudo-terminal");
    let port = server.path().to_string_lossy().into_owned();
    let write = |behaviour| {
        let mut command = Command::new(program);
        command.args(["write", "--board", BOARD, "--flash", "--port", &port]);
        command.args(["--behaviour", behaviour]).stderr(Stdio::piped());
        command
    };
    let began = Instant::now();
    succeed(&mut write("original"));
    let whole = began.elapsed();
    let mut state = seed;
    let mut killed = 0;
    for round in 0..times {
        let behaviour = if round % 2 == 0 { "corrected" } else { "original" };
        let mut child = write(behaviour).spawn().expect("it starts");
        std::thread::sleep(fraction(whole, &mut state));
        killed += u32::from(child.try_wait().expect("it is ours").is_none());
        child.kill().expect("it is ours"); // SIGKILL; nothing happens if it has ended
        child.wait().expect("it ends");
        succeed(&mut write(behaviour));
    }
    killed
}

/// A random fraction of a time, from a 64-bit linear congruential generator (Knuth, MMIX).
fn fraction(of: Duration, state: &mut u64) -> Duration {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    of.mul_f64((*state >> 32) as f64 / f64::from(u32::MAX))
}

fn succeed(command: &mut Command) {
    let output = command.output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("running: Sargon exchange evaluator"), "{printed}");
}
