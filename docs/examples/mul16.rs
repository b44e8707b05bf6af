//! Reference for mul16-rust.test.toml: a line of JSON per call in, a line of JSON out.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    for line in std::io::stdin().lines() {
        let line = line?;
        let (bc, de) = factors(&line).ok_or_else(|| format!("unexpected call: {line}"))?;
        println!("{{\"DE\":{},\"HL\":{}}}", bc * de >> 16, bc * de & 0xFFFF);
    }
    Ok(())
}

/// Reads the numbers, in which alone the calls of a property differ.
fn factors(line: &str) -> Option<(u32, u32)> {
    let line = line.strip_prefix("{\"call\":\"MUL16\",\"in\":{\"BC\":")?;
    let (bc, rest) = line.split_once(",\"DE\":")?;
    let (de, _) = rest.split_once('}')?;
    Some((bc.parse().ok()?, de.parse().ok()?))
}
