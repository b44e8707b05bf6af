//! Builds the calls of cases and properties.

use z80_core::{Registers, set_register};

use crate::machine::{Call, Outcome};
use crate::model::{ExpectedMemory, Step, TestFile};

/// Registers that a test does not set. Their halves differ, so that a routine that needs one of
/// them or confuses two is found.
const REGISTERS: Registers = Registers {
    af: 0x5A55,
    bc: 0xB1C2,
    de: 0xD3E4,
    hl: 0x9687,
    ix: 0x7869,
    iy: 0x6B5C,
    sp: 0,
    pc: 0,
    af_alt: 0x4CAA,
    bc_alt: 0x3D2E,
    de_alt: 0x1F0D,
    hl_alt: 0x8E7B,
    i: 0,
    r: 0,
};

/// Returns the calls before each case, without judging them.
pub(crate) fn setup_calls(file: &TestFile) -> Vec<Call> {
    file.setup.iter().enumerate().map(|(index, step)| nth_call(file, step, index, &[])).collect()
}

/// Returns the call of a step after the `outcomes` of those before it, the setup included. The
/// calls of a case share registers; those of the setup, and the first of the case, start with the
/// fixed ones.
pub(crate) fn nth_call(file: &TestFile, step: &Step, index: usize, outcomes: &[Outcome]) -> Call {
    let shared = outcomes.last().filter(|_| index > file.setup.len());
    let base = shared.map_or(REGISTERS, |outcome| outcome.registers);
    Call { reload: index == 0, ..call(file, step, base) }
}

/// Returns the call of a step after a reload or the setup.
pub(crate) fn single_call(file: &TestFile, step: &Step) -> Call {
    nth_call(file, step, file.setup.len(), &[])
}

/// Returns the call of a step, with the registers of the test or else `base`.
fn call(file: &TestFile, step: &Step, base: Registers) -> Call {
    let mut registers = Registers { sp: file.stack.top, ..base };
    for (name, value) in &step.registers {
        set_register(&mut registers, name, *value);
    }
    let [mask, value] = [step.flags.mask, step.flags.value].map(u16::from);
    registers.af = registers.af & !mask | value;
    let bytes = |memory: &ExpectedMemory| {
        (memory.address, memory.elements.len() * usize::from(memory.width))
    };
    let console = file.program.console.as_ref();
    let printed = step.expect.console.as_ref().and_then(|text| console?.after(text));
    let read = step.expect.memory.iter().map(bytes).chain(printed).collect();
    Call { registers, read, stack_size: file.stack.size, ..step.call.clone() }
}
