//! Calls with arguments on the stack: code beside the program makes them, since the caller has a
//! stack of its own.

use board_simulator::ViolationKind;
use board_simulator::routines::{Call, Outcome};
use tdlasm::image::ImageRun;

use super::loaded::LoadedProgram;

/// Bytes of the code, and after it of the stack pointer after the call.
const CODE_BYTES: u16 = 18;
const SP_BYTES: u16 = 2;

impl LoadedProgram {
    /// Returns the call of code that makes this one, and the stack pointer that the routine should
    /// leave; `None` if it has no arguments on the stack.
    ///
    /// # Errors
    /// Returns why there is no room for the code.
    pub(super) fn place_arguments(&self, call: &Call) -> Result<Option<(Call, u16)>, String> {
        let arguments = &call.stack_arguments;
        if arguments.is_empty() {
            return Ok(None);
        }
        let stack = CODE_BYTES + SP_BYTES + call.stack_size + 2;
        let base =
            self.room(call, std::iter::empty(), u32::from(stack) + arguments.len() as u32)?;
        let [first, sp, kept] = [base + stack, base + CODE_BYTES, base + 15].map(u16::to_le_bytes);
        let routine = call.address.to_le_bytes();
        let code = [
            &[0xED, 0x73, kept[0], kept[1]][..], // LD (kept),SP
            &[0x31, first[0], first[1]],         // LD SP,first
            &[0xCD, routine[0], routine[1]],     // CALL routine
            &[0xED, 0x73, sp[0], sp[1]],         // LD (sp),SP
            &[0x31, 0, 0],                       // LD SP,kept
            &[0xC9],                             // RET
        ];
        let mut placed = Call { address: base, stack_arguments: Vec::new(), ..call.clone() };
        placed.memory.push(ImageRun { address: base, bytes: code.concat() });
        placed.memory.push(ImageRun { address: base + stack, bytes: arguments.clone() });
        placed.read.push((base + CODE_BYTES, usize::from(SP_BYTES)));
        Ok(Some((placed, base + stack + call.removed)))
    }
}

/// Takes the stack pointer from the memory that was read, and compares it.
pub(super) fn check_sp(outcome: &mut Outcome, expected: u16) {
    let Some(read) = outcome.memory.pop() else { return };
    if let Ok(sp) = <[u8; 2]>::try_from(read).map(u16::from_le_bytes)
        && sp != expected
    {
        outcome.violations.push((ViolationKind::StackNotRestored { sp, expected }, None));
    }
}
