//! A simulated board that runs the caller, and routines for it to call.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use board_simulator::{BoardModel, BoardSpec, QueueLine, RunStop, board_spec};
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build};
use firmware::profile::BoardProfile;
use firmware_wire::{
    Call, CallResult, Decoder, DecoderEvent, Frame, RegisterPair, RegisterSet, RegisterValues,
    flash_program,
};
use rcflash_link::Link;
use rcflash_link::caller::{Caller, CallerError};
use rcflash_transport::Transport;
use rcflash_transport::time::Instant;
use tdlasm::link::{Layout, Program, link};

/// A board of each serial chip.
pub(super) const BOARDS: [&str; 4] = ["rc2014-classic", "rc2014-zed", "sc126", "rc2014-16c550"];
/// Where the routines lie, which each of the callers leaves to programs.
pub(super) const ORIGIN: u16 = 0x8400;
/// More than any routine here takes, but for those that do not return.
pub(super) const CALL_TIME: Duration = Duration::from_millis(20);
/// More than the monitor waits for the host before it starts a program in flash.
const START_TIME: Duration = Duration::from_secs(2);
/// T-states simulated between two looks at the board's output.
const SLICE_T_STATES: u64 = 200;

/// The routines that the tests call.
const ROUTINES: &str = "
; A little of everything: HL = HL + DE + BC, IX and IY change places, the alternate set is
; complemented or exchanged.
MIX:    DAD D
        DAD B
        PUSH X
        PUSH Y
        POP X
        POP Y
        EXAF
        EXX
        XCHG
        EXX
        EXAF
        RET
; HL = A * E by addition.
MUL:    LXI H,0
        MVI D,0
        ORA A
        RZ
        MOV B,A
..NEXT: DAD D
        DJNZ ..NEXT
        RET
; A = A + E, with its flags.
SUM:    ADD E
        RET
; Uses 20 bytes of stack.
DEEP:   PUSH H
        PUSH H
        PUSH H
        PUSH H
        PUSH H
        PUSH H
        PUSH H
        PUSH H
        PUSH H
        PUSH H
        POP H
        POP H
        POP H
        POP H
        POP H
        POP H
        POP H
        POP H
        POP H
        POP H
        RET
; Pushes 130 words, more than its stack has.
DROWN:  MVI B,130
..PUSH: PUSH B
        DJNZ ..PUSH
        MVI B,130
..POP:  POP D
        DJNZ ..POP
        RET
; Takes a word that is not its own off the stack.
UNDER:  POP H
        POP D
        PCHL
; Return to the copies of their return address above it.
OVER1:  POP D
        RET
OVER2:  POP D
        POP D
        RET
OVER3:  POP D
        POP D
        POP D
        RET
; Returns with interrupts off.
MUTE:   DI
        RET
; Returns with register I changed.
CHANGI: MVI A,12H
        STAI
        RET
; Does not return.
LOOP:   JMP LOOP
; Does not return, with interrupts off.
DEAF:   DI
..LOOP: JMPR ..LOOP
; Copies BC bytes from HL to DE.
COPY:   LDIR
        RET
; Take 40 ms, longer than the host takes for a frame; HOLD has interrupts off meanwhile.
HOLD:   DI
        CALL WAIT
        EI
        RET
WAIT:   LXI B,11343
..NEXT: DCX B
        MOV A,B
        ORA C
        JNZ ..NEXT
        RET
; Counts its calls at TALLY.
TALLY:  .WORD 0
COUNTS: LHLD TALLY
        INX H
        SHLD TALLY
        RET
; Takes 200 T-states, its RET included, and returns HL complemented in DE.
SLOW:   MVI B,12
..NEXT: DJNZ ..NEXT
        NOP
        NOP
        MOV A,H
        CMA
        MOV D,A
        MOV A,L
        CMA
        MOV E,A
        RET
";

struct State {
    board: BoardModel<QueueLine>,
    /// T-states that were skipped while the board waited for the host.
    skipped: u64,
    began: Instant,
    /// How many of the next writes of the host get lost on the line.
    lost_writes: usize,
    /// How many of the next frames of the board get lost, counted by their delimiters.
    lost_delimiters: usize,
    noise: Option<Noise>,
}

/// Loses and changes bytes of the line, some one in two thousand each.
#[derive(Clone, Copy)]
struct Noise(u64);

impl Noise {
    /// A byte as it arrives, if it does.
    fn pass(&mut self, byte: u8) -> Option<u8> {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        match self.0 >> 20 & 0x7FF {
            0 => None,
            1 => Some(byte ^ 1 << (self.0 >> 50 & 7)),
            _ => Some(byte),
        }
    }
}

/// Returns the bytes as they arrive.
fn noisy(noise: &mut Option<Noise>, bytes: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let pass = |byte| noise.as_mut().map_or(Some(byte), |noise| noise.pass(byte));
    bytes.into_iter().filter_map(pass).collect()
}

/// A board, shared by the test and its line.
#[derive(Clone)]
pub(super) struct Board(Arc<Mutex<State>>);

impl Board {
    /// A board with its monitor in ROM.
    fn new(spec: BoardSpec, rom: &[u8]) -> Self {
        let board = BoardModel::new(spec, rom, QueueLine::default());
        let began = Instant::now();
        let (skipped, lost_writes, lost_delimiters, noise) = (0, 0, 0, None);
        let state = State { board, skipped, began, lost_writes, lost_delimiters, noise };
        Self(Arc::new(Mutex::new(state)))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics with the lock held")
    }

    /// Byte at an address.
    pub(super) fn peek(&self, address: u16) -> u8 {
        self.lock().board.bus().peek(address)
    }

    /// Bytes from an address on.
    pub(super) fn dump(&self, address: u16, count: usize) -> Vec<u8> {
        self.lock().board.bus().dump(address, count)
    }

    /// Stores bytes.
    pub(super) fn poke(&self, address: u16, bytes: &[u8]) {
        self.lock().board.bus_mut().load(address, bytes);
    }

    /// Presses the reset button.
    pub(super) fn reset(&self) {
        self.lock().board.reset();
    }

    /// Loses the next `count` writes of the host.
    pub(super) fn lose_writes(&self, count: usize) {
        self.lock().lost_writes = count;
    }

    /// Loses and changes bytes on the line from now on, the same for the same seed.
    pub(super) fn set_noise(&self, seed: Option<u64>) {
        self.lock().noise = seed.map(|seed| Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1));
    }

    /// Loses the next frames of the board.
    pub(super) fn lose_frames(&self, count: usize) {
        self.lock().lost_delimiters = 2 * count;
    }
}

impl State {
    fn time(&self) -> u64 {
        self.board.clock() + self.skipped
    }

    fn now(&self) -> Instant {
        self.began
            + Duration::from_nanos(
                (u128::from(self.time()) * 1_000_000_000 / u128::from(self.board.clock_hz()))
                    as u64,
            )
    }
}

impl Transport for Board {
    fn name(&self) -> &str {
        "the simulated board"
    }

    fn now(&self) -> Instant {
        self.lock().now()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let mut state = self.lock();
        let hz = u128::from(state.board.clock_hz());
        let end = state.time() + (timeout.as_nanos() * hz / 1_000_000_000) as u64 + 1;
        while state.board.line_mut().from_board.is_empty() && state.time() < end {
            let slice = SLICE_T_STATES.min(end - state.time());
            let is_idle = state.board.run_for(slice) == RunStop::Idle;
            if is_idle && state.board.line_mut().from_board.is_empty() {
                state.skipped += end.saturating_sub(state.time());
            }
        }
        let sent = std::mem::take(&mut state.board.line_mut().from_board);
        let sent = noisy(&mut state.noise, sent);
        let mut count = 0;
        for byte in sent {
            if state.lost_delimiters > 0 {
                state.lost_delimiters -= usize::from(byte == 0);
            } else {
                buffer[count] = byte;
                count += 1;
            }
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        let mut state = self.lock();
        if state.lost_writes > 0 {
            state.lost_writes -= 1;
        } else {
            let bytes = noisy(&mut state.noise, bytes.iter().copied());
            state.board.line_mut().to_board.extend(bytes);
        }
        Ok(())
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        let mut state = self.lock();
        Ok(!std::mem::replace(&mut state.board.line_mut().ignores_rts, !obey))
    }
}

/// A board that runs the caller, with [`ROUTINES`] in its memory.
pub(super) struct Bench {
    pub(super) board: Board,
    pub(super) link: Link,
    pub(super) image: BuiltImage,
    pub(super) caller: Caller,
    pub(super) program: Program,
}

impl Bench {
    /// Loads the caller through the monitor.
    pub(super) fn new(board: &str) -> Self {
        Self::with_caller(board, ProgramKind::Caller)
    }

    /// Loads this caller through the monitor; one for flash is there from the start.
    pub(super) fn with_caller(board: &str, kind: ProgramKind) -> Self {
        let spec = board_spec(&BoardProfile::named(board).expect("it ships"));
        Self::with_spec(board, kind, spec)
    }

    /// The same on a board whose hardware is another than the profile's.
    pub(super) fn with_spec(board: &str, kind: ProgramKind, spec: BoardSpec) -> Self {
        let profile = BoardProfile::named(board).expect("it ships");
        let built = |kind| build(&profile, kind).unwrap_or_else(|error| panic!("{error}"));
        let image = built(kind);
        let is_in_flash = kind == ProgramKind::FlashCaller;
        let mut rom = built(ProgramKind::Monitor).bytes;
        if is_in_flash {
            let header = flash_program::program_header(&image.bytes, image.address, true);
            rom.resize(flash_program::HEADER_ADDRESS.into(), 0xFF);
            rom.extend(header.expect("it fits"));
            rom.extend(&image.bytes);
        }
        let board = Board::new(spec, &rom);
        let mut link = Link::new(Box::new(board.clone()), profile.uart.baud);
        let caller = if is_in_flash {
            // The monitor's banner, what it announces, and the caller's banner.
            for _ in 0..3 {
                link.drain_banner("starting", START_TIME).expect("the line works");
            }
            Caller::attach(&mut link)
        } else {
            Caller::load(&mut link, image.address, &image.bytes, image.build)
        };
        let caller = caller.unwrap_or_else(|error| panic!("{error}"));
        let mut bench = Self { board, link, image, caller, program: routines() };
        bench.upload_routines();
        bench
    }

    pub(super) fn upload_routines(&mut self) {
        let bytes = self.program.image.flat(0);
        let sent = self.caller.upload(&mut self.link, ORIGIN, &bytes);
        assert!(sent.is_ok(), "{sent:?}");
    }

    /// Sends a request with any payload, and returns its reply.
    pub(super) fn send(&mut self, kind: u8, payload: &[u8]) -> Frame {
        let request = Frame::new(1, kind, payload.to_vec()).expect("it fits");
        let deadline = self.board.now() + CALL_TIME;
        self.board.write(&request.encode(), deadline).expect("the line works");
        let (mut decoder, mut buffer) = (Decoder::default(), [0; 1024]);
        loop {
            let count = self.board.read(&mut buffer, CALL_TIME * 10).expect("the line works");
            assert_ne!(count, 0, "no reply");
            for byte in &buffer[..count] {
                if let Some(DecoderEvent::Frame(reply)) = decoder.push(*byte) {
                    return reply;
                }
            }
        }
    }

    /// How often COUNTS was called.
    pub(super) fn tally(&self) -> u16 {
        let at = self.address("TALLY");
        u16::from_le_bytes([self.board.peek(at), self.board.peek(at + 1)])
    }

    /// Address of a routine.
    pub(super) fn address(&self, name: &str) -> u16 {
        self.program.symbol(name).unwrap_or_else(|| panic!("no {name}"))
    }

    /// A call of a routine with these registers, which returns all registers.
    pub(super) fn call(&self, name: &str, registers: &[(RegisterPair, u16)]) -> Call {
        let with =
            |all: RegisterValues, (pair, value): &(RegisterPair, u16)| all.with(*pair, *value);
        let registers = registers.iter().fold(RegisterValues::default(), with);
        Call { entry: self.address(name), registers, wanted: RegisterSet::ALL, ..Call::default() }
    }

    /// Runs a routine of the caller by itself, with this value in BC, on a copy of the board, which
    /// waits for the host. Returns its T-states and the bytes of the caller's stack that it takes.
    pub(super) fn measure(&self, routine: &str, bc: u16) -> (u64, u64) {
        let at = |name| self.image.program.symbol(name).unwrap_or_else(|| panic!("no {name}"));
        let mut board = self.board.lock().board.clone();
        let mut registers = board.registers();
        let (top, bottom) = (registers.sp, at("STKEND"));
        registers.pc = at(routine);
        registers.bc = bc;
        board.bus_mut().load(top, &[0, 0]); // returns to 0000H, where nothing of the caller is
        board.set_registers(&registers);
        let begin = board.clock();
        let mut lowest = top;
        while board.registers().pc != 0 {
            board.step();
            let sp = board.registers().sp;
            if (bottom..top).contains(&sp) {
                lowest = lowest.min(sp);
            }
            assert!(board.clock() - begin < 100_000, "{routine} does not return");
        }
        (board.clock() - begin, (top - lowest).into())
    }

    pub(super) fn make(&mut self, calls: &[Call]) -> Result<Vec<CallResult>, CallerError> {
        self.caller.call_batch(&mut self.link, calls, CALL_TIME)
    }

    /// Makes one call.
    pub(super) fn make_one(&mut self, call: Call) -> CallResult {
        let mut results = self.make(&[call]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(results.len(), 1);
        results.remove(0)
    }
}

fn routines() -> Program {
    let assembly = tdlasm::assemble_text(ROUTINES).unwrap_or_else(|error| panic!("{error}"));
    link(&assembly.modules, &Layout::flat(ORIGIN)).unwrap_or_else(|error| panic!("{error}"))
}
