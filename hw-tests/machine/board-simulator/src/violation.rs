//! What code under test did wrong.

/// What code under test did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViolationKind {
    /// It wrote outside its data.
    Write {
        /// The address.
        address: u16,
        /// The value.
        value: u8,
    },
    /// It wrote into the program's code.
    CodeWrite {
        /// The address.
        address: u16,
        /// The value.
        value: u8,
    },
    /// The stack pointer left the stack that it may use.
    StackPointer {
        /// The stack pointer.
        sp: u16,
    },
    /// The stack pointer after its return is not that before the call.
    StackNotRestored {
        /// The stack pointer.
        sp: u16,
        /// The stack pointer before the call.
        expected: u16,
    },
    /// It returned to another address than the caller's.
    WrongReturn {
        /// The address.
        address: u16,
        /// The return address of the caller.
        expected: u16,
    },
    /// It returned with interrupts off.
    InterruptsOff,
    /// Interrupts were off for too long.
    InterruptLatency {
        /// T-states so far.
        t_states: u64,
        /// The most that the serial chip can bear.
        max: u64,
    },
    /// It changed the interrupt mode or register I.
    InterruptVectoring {
        /// The interrupt mode.
        mode: u8,
        /// Register I.
        i: u8,
    },
    /// It wrote to a port.
    Output {
        /// The low byte of the port address.
        port: u8,
        /// The value.
        value: u8,
    },
    /// It read a port.
    Input {
        /// The low byte of the port address.
        port: u8,
    },
    /// It executed HALT.
    Halt,
    /// It left the program's code.
    LeftCode {
        /// The address that it reached.
        address: u16,
    },
    /// It reached address 0000H, where a board starts after a reset.
    Restart,
}

/// A violation by code under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// What was done.
    pub kind: ViolationKind,
    /// The innermost checked call, of a routine under test.
    pub routine: u16,
    /// The address of the instruction.
    pub pc: u16,
    /// T-states since power-up.
    pub clock: u64,
    /// The sequence number of the request, as it was when the routine was called.
    pub request_tag: u8,
    /// The index of the case within the request, counted on if the board repeats a request.
    pub case: usize,
}
