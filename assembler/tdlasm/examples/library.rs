//! Assembles a TDL source file for an address, and prints the bytes in Intel HEX.
//!
//! Usage: `library FILE ADDRESS`, with the address in hexadecimal.

use anyhow::{Context, Result};
use tdlasm::link::{Layout, link};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().context("usage: library FILE ADDRESS")?;
    let address = arguments.next().context("usage: library FILE ADDRESS")?;
    let address =
        u16::from_str_radix(&address, 16).with_context(|| format!("address {address}"))?;
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?;

    let assembly = tdlasm::assemble_text(&text)?;
    let program = link(&assembly.modules, &Layout::flat(address))?;
    print!("{}", tdlasm::image::intel_hex(&program.image, program.entry));
    Ok(())
}
