//! Tests `docs/examples/mul16.asm` from Rust: `cargo run -p testfile-suite --example mul16`.

use std::error::Error;
use std::path::Path;

use tdlasm::source::DiskLoader;
use testfile_suite::{Call, CallEnd, Machine, ProgramFiles, Registers};

/// Compares 1,000 products with those of this computer.
///
/// # Errors
/// Returns an error if the program can't be loaded, and panics if a product is wrong.
pub fn main() -> Result<(), Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/examples/mul16.asm");
    let program =
        ProgramFiles { sources: vec![source], ..ProgramFiles::default() }.load(&DiskLoader)?;
    let address = program.map.symbol("MUL16").ok_or("mul16.asm has no label MUL16")?;
    let mut machine = program.machine();

    let factors = (0..1000u16).map(|i| (i.wrapping_mul(40_503), i.wrapping_mul(9_973) ^ 0x5A5A));
    let call = |(bc, de)| {
        let registers = Registers { bc, de, sp: 0xFF00, ..Registers::default() };
        Call { address, registers, timeout: 10_000, stack_size: 64, ..Call::default() }
    };
    let calls: Vec<_> = factors.map(call).collect();
    for (call, outcome) in calls.iter().zip(machine.run(&calls)?) {
        let (bc, de) = (call.registers.bc, call.registers.de);
        let product = u32::from(outcome.registers.de) << 16 | u32::from(outcome.registers.hl);
        assert_eq!(outcome.end, CallEnd::Returned);
        assert_eq!(product, u32::from(bc) * u32::from(de), "{bc} * {de}");
    }
    Ok(())
}
