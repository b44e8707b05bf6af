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
    /// Code is not what it was before the call.
    CodeChanged {
        /// The address.
        address: u16,
        /// The byte before.
        from: u8,
        /// The byte now.
        to: u8,
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
    /// The stack pointer after its return is another one than before the call.
    StackChanged,
    /// It used more stack than it may.
    StackOverflow {
        /// The bytes that it may use.
        size: u16,
        /// The stack pointer, if it is known.
        sp: Option<u16>,
    },
    /// It returned to another address than the caller's.
    WrongReturn {
        /// The address.
        address: u16,
        /// The return address of the caller.
        expected: u16,
    },
    /// It served an interrupt, and returned by another instruction than this.
    PlainReturn {
        /// `RETI` or `RETN`.
        expected: &'static str,
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
    /// Interrupts were off for so long that bytes of the line were lost.
    BytesLost,
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
    /// It read a port more often than the test has values for it.
    InputExhausted {
        /// The low byte of the port address.
        port: u8,
    },
    /// It read memory that nothing has written.
    UnwrittenRead {
        /// The address.
        address: u16,
    },
    /// It read a memory-mapped register more often than the test has values for it.
    RegisterExhausted {
        /// The address.
        address: u16,
    },
    /// It executed data.
    DataExecution,
    /// It executed bytes that are no instruction.
    NoInstruction {
        /// The first two of them.
        bytes: [u8; 2],
    },
    /// It executed an instruction that begins within another.
    OverlappingCode {
        /// The address of the other one.
        start: u16,
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

impl ViolationKind {
    /// Returns what was done, as the rest of a sentence that begins with the routine. `location`
    /// formats an address.
    pub fn describe(self, location: impl Fn(u16) -> String) -> String {
        match self {
            Self::Write { address, value } => {
                format!("wrote {} outside its data (value {value:02X}H)", location(address))
            }
            Self::CodeWrite { address, value } => {
                format!("wrote {value:02X}H in program memory, {}", location(address))
            }
            Self::CodeChanged { address, from, to } => {
                format!("changed code, {}: {from:02X}H to {to:02X}H", location(address))
            }
            Self::StackPointer { sp } => {
                format!("moved the stack pointer to {sp:04X}H, outside its stack")
            }
            Self::StackOverflow { size, sp } => {
                let sp = sp.map(|sp| format!(": SP {sp:04X}H")).unwrap_or_default();
                format!("used more than {size} bytes of stack{sp}")
            }
            Self::StackNotRestored { sp, expected } => {
                format!("returned with the stack pointer at {sp:04X}H instead of {expected:04X}H")
            }
            Self::StackChanged => "returned with another stack pointer".to_owned(),
            Self::WrongReturn { address, expected } => {
                let (address, expected) = (location(address), location(expected));
                format!("returned to {address} instead of its caller at {expected}")
            }
            Self::PlainReturn { expected } => format!("returned without {expected}"),
            Self::InterruptsOff => "returned with interrupts off".to_owned(),
            Self::InterruptLatency { t_states, max } => {
                format!("kept interrupts off for {t_states} T-states instead of at most {max}")
            }
            Self::BytesLost => {
                "had interrupts off so long that bytes of the line were lost".to_owned()
            }
            Self::InterruptVectoring { mode, i } => {
                format!("changed interrupt mode or register I (now IM{mode}, I = {i:02X}H)")
            }
            Self::Output { port, value } => format!("wrote {value:02X}H to port {port:02X}H"),
            Self::Input { port } => format!("read port {port:02X}H"),
            Self::InputExhausted { port } => {
                format!("read port {port:02X}H more often than there are values")
            }
            Self::UnwrittenRead { address } => {
                format!("read {}, which nothing has written", location(address))
            }
            Self::RegisterExhausted { address } => {
                format!("read {} more often than there are values", location(address))
            }
            Self::DataExecution => "executed data".to_owned(),
            Self::NoInstruction { bytes: [first, second] } => {
                format!("executed {first:02X} {second:02X}, which is no instruction")
            }
            Self::OverlappingCode { start } => {
                format!("jumped into the middle of the instruction at {}", location(start))
            }
            Self::Halt => "executed HLT".to_owned(),
            Self::LeftCode { address } => {
                format!("left the program's code for {}", location(address))
            }
            Self::Restart => "reached 0000H, which restarts the board".to_owned(),
        }
    }
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
