//! Fifty kills of `rcflash` at random moments of a write: `cargo bench -p rcflash-tests --bench kills`.
//! `rcflash` must have been built (`cargo build --release`).

mod kill;

use std::time::Instant;

const KILLS: u32 = 50;

fn main() {
    // cargo builds rcflash's program into the folder above that of benchmarks
    let own = std::env::current_exe().expect("it has a path");
    let program = own.ancestors().nth(2).expect("a folder").join("rcflash");
    assert!(program.exists(), "build it first: cargo build --release -p rcflash");
    let began = Instant::now();
    let killed = kill::kill_and_rerun(&program, KILLS, 1);
    println!(
        "{KILLS} kills, {killed} in the middle of a write; each rerun succeeded; {:.1?}",
        began.elapsed()
    );
}
