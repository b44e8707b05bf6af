//! Prints the page of the states of stock monitors in which the loaders are tested:
//!
//!     cargo run -p rcflash-tests --example loader-states >hw-tests/flasher-tests/tests/data/loader-states.md

#[path = "../tests/it/loaders/states.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod states;

use states::{ExpectedResult, Row, TABLE};

const HEAD: &str = "# Monitors in every recorded state

| monitor | state at first contact | `rcflash probe` prints | `rcflash write --via` | `hw-tests run --via`; then at its prompt |
|---|---|---|---|---|";

fn main() {
    println!("{HEAD}");
    for Row { monitor, state, prints, way, .. } in &TABLE {
        let [write, run] = results(*way);
        println!("| {monitor} | {state} | {prints} | {write} | {run} |");
    }
}

/// Returns the results of `write --via` and of `run --via`.
fn results(expected: ExpectedResult) -> [String; 2] {
    let loader = expected.loader();
    let verified = format!("`{loader}`: verified");
    match expected {
        ExpectedResult::Back(_, peer) => [verified, format!("passes; {peer}")],
        ExpectedResult::Z180(..) => [verified, "names a Z180 board's profile".to_owned()],
        ExpectedResult::Reset(_) => [verified, "passes; press reset".to_owned()],
        ExpectedResult::Refused(_, first) => [(); 2].map(|()| format!("`{loader}`: {first}")),
    }
}
