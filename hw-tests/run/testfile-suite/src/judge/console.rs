//! Compares the output on the console.

use super::Judged;
use crate::machine::Machine;
use crate::program::Console;
use crate::result::Difference;

impl Judged<'_> {
    /// Returns the port to which the program prints.
    pub(super) fn console_port(&self) -> Option<u8> {
        match self.program.console.as_ref()?.kind {
            Console::Port(port) => Some(port),
            _ => None,
        }
    }

    /// Compares the output on the console.
    pub(super) fn console(&self, machine: &dyn Machine) -> Option<Difference> {
        let Self { program, step, outcome, .. } = self;
        let (console, expected) = (program.console.as_ref()?, step.expect.console.as_ref()?);
        if self.console_port().is_some() && !machine.observes_accesses() {
            return None;
        }
        let memory = outcome.memory.get(step.expect.memory.len()).map_or(&[][..], Vec::as_slice);
        let (count, bytes) = console.output(memory, &outcome.outputs);
        if count == expected.len() && *bytes == expected[..] {
            return None;
        }
        let quoted = |bytes: &[u8]| format!("\"{}\"", bytes.escape_ascii());
        let more = count - bytes.len();
        let more = if more > 0 { format!(" and {more} more bytes") } else { String::new() };
        Some(Difference::new("console", quoted(expected), quoted(&bytes) + &more))
    }
}
