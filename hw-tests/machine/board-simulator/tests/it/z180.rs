//! The devices of a Z180, by Zilog's product specification of the Z8S180 and by the register
//! states that the Small Computer Monitor and RomWBW leave on such boards.

use board_simulator::{
    BoardModel, BoardSpec, ChipKind, MemoryMap, QueueLine, RunStop, SstModel, UartModel,
    Z180Devices, Z180Revision, board_spec,
};
use firmware::profile::BoardProfile;

use Z180Revision::{K, N};

const CNTLA0: u16 = 0x00;
const CNTLB0: u16 = 0x02;
const STAT0: u16 = 0x04;
const TDR0: u16 = 0x06;
const RDR0: u16 = 0x08;
const ASEXT0: u16 = 0x12;
const TCR: u16 = 0x10;
const IL: u16 = 0x33;
const ITC: u16 = 0x34;
const ICR: u16 = 0x3F;
/// T-states of a character at 115,200 baud, 8N1: 18.432 MHz / 115,200 Hz is 160.
const CHARACTER: u64 = 1600;

fn devices(revision: Z180Revision, writes: &[(u16, u8)]) -> Z180Devices {
    let mut devices = Z180Devices::new(revision);
    for (port, value) in writes {
        assert!(devices.output(*port, *value, 0));
    }
    devices
}

/// A chip that receives and sends at 115,200 baud.
fn listening(revision: Z180Revision) -> Z180Devices {
    devices(revision, &[(CNTLA0, 0x64), (CNTLB0, 0x00), (ASEXT0, 0x60)])
}

/// Sends characters back to back, and returns STAT0.
fn receive(devices: &mut Z180Devices, characters: &[u8]) -> u8 {
    for character in characters {
        assert!(devices.can_receive());
        devices.start_receiving(*character, true, 0);
        devices.advance(CHARACTER);
    }
    read(devices, STAT0)
}

fn read(devices: &mut Z180Devices, port: u16) -> u8 {
    devices.input(port, CHARACTER).expect("it is the chip's")
}

/// What SCM 1.3.0 writes on an SC126, in its order as far as it matters, and what a program then
/// read there; bits that differ between two emulators, and counters, are left out.
#[test]
fn registers_read_as_recorded_under_scm() {
    let mut chip = devices(N, &[(ICR, 0xC0)]);
    let written = [
        (0xC0, 0x64),
        (0xC1, 0x64),
        (0xC2, 0x80),
        (0xC3, 0x80),
        (0xD2, 0x60),
        (0xD3, 0x60),
        (0xDF, 0x80),
        (0xF2, 0x30),
        (0xF6, 0x00),
        (0xF8, 0x80),
        (0xF9, 0x00),
        (0xFA, 0x80),
        (0xCE, 0x9A),
        (0xCF, 0x03),
        (0xD0, 0x01),
    ];
    for (port, value) in written {
        assert!(chip.output(port, value, 0));
    }
    let recorded = [
        (0xC0, 0x64, 0xFF),
        (0xC1, 0x64, 0xFF),
        (0xC2, 0x80, 0x7F),
        (0xC3, 0x80, 0x7F),
        (0xC4, 0x02, 0xFF),
        (0xC5, 0x02, 0xFB),
        (0xCE, 0x9A, 0xFF),
        (0xCF, 0x03, 0xFF),
        (0xD0, 0x01, 0xFF),
        (0xD2, 0x60, 0xFF),
        (0xD3, 0x60, 0xFF),
        (0xDF, 0x80, 0xFF),
        (0xF0, 0x30, 0xFC),
        (0xF2, 0x30, 0xFF),
        (0xF3, 0x00, 0xFF),
        (0xF4, 0x01, 0x87),
        (0xF6, 0x00, 0xC3),
        (0xF8, 0x80, 0xFF),
        (0xF9, 0x00, 0xFF),
        (0xFA, 0x80, 0xFF),
        (0xFF, 0xC0, 0xC0),
    ];
    for (port, value, defined) in recorded {
        let read = chip.input(port, 0).expect("it is the chip's");
        assert_eq!(read & defined, value & defined, "{port:02X}");
    }
    assert_eq!(chip.input(0xFF, 0), Some(0xDF), "as a real board reads (RomWBW issue 141)");
    assert_eq!(chip.input(0x3F, 0), None, "ICR has moved with the block");
    assert_eq!(chip.input(0x01C4, 0), None, "the high byte of the address counts");
    chip.reset();
    assert_eq!(chip.input(0x3F, 0), Some(0x1F));
}

#[test]
fn revision_n_stops_at_an_overrun_until_efr_is_written() {
    let mut chip = listening(N);
    assert_eq!(receive(&mut chip, b"abcde") & 0xC0, 0x80, "the overrun is not visible yet");
    receive(&mut chip, b"f");
    let mut got = Vec::new();
    for status in [0x80, 0x80, 0x80, 0xC0] {
        assert_eq!(read(&mut chip, STAT0) & 0xC0, status);
        got.push(read(&mut chip, RDR0));
    }
    assert_eq!(got, b"abcd");
    assert_eq!(receive(&mut chip, b"g") & 0xC0, 0x40, "reading does not clear it");
    chip.output(CNTLA0, 0x6C, 0); // EFR written as 1
    assert_eq!(receive(&mut chip, b"h") & 0xC0, 0x40);
    chip.output(CNTLA0, 0x64, 0);
    assert_eq!(receive(&mut chip, b"i") & 0xC0, 0x80);
    assert_eq!((read(&mut chip, RDR0), chip.lost()), (b'i', 4));
}

#[test]
fn revision_k_has_one_register_and_continues_after_an_overrun() {
    let mut chip = listening(K);
    assert_eq!(receive(&mut chip, b"ab") & 0xC0, 0xC0);
    assert_eq!(read(&mut chip, RDR0), b'a');
    assert_eq!(read(&mut chip, STAT0) & 0xC0, 0x40, "set without a character");
    assert_eq!(receive(&mut chip, b"c") & 0xC0, 0xC0);
    assert_eq!(read(&mut chip, RDR0), b'c');
    chip.output(CNTLA0, 0x64, 0);
    assert_eq!(read(&mut chip, STAT0) & 0xC0, 0);
}

#[test]
fn a_framing_error_appears_with_its_character_and_stays_until_efr() {
    let mut chip = listening(N);
    receive(&mut chip, b"a");
    chip.start_receiving(b'b', false, 0);
    chip.advance(CHARACTER);
    assert_eq!(read(&mut chip, STAT0) & 0x90, 0x80);
    read(&mut chip, RDR0);
    assert_eq!(read(&mut chip, STAT0) & 0x90, 0x90);
    read(&mut chip, RDR0);
    assert_eq!(read(&mut chip, STAT0) & 0x90, 0x10);
    chip.output(CNTLA0, 0x64, 0);
    assert_eq!(read(&mut chip, STAT0) & 0x90, 0);
}

#[test]
fn cts_stops_the_transmitter_unless_it_is_disabled() {
    let mut chip = devices(N, &[(CNTLA0, 0x64), (CNTLB0, 0x00), (ASEXT0, 0x40)]);
    chip.set_cts(true);
    assert_eq!((read(&mut chip, STAT0), read(&mut chip, CNTLB0)), (0x00, 0x20));
    chip.output(TDR0, b'x', 0);
    assert_eq!(chip.advance(2 * CHARACTER), None);
    chip.output(ASEXT0, 0x60, 0);
    assert_eq!(read(&mut chip, STAT0), 0x02);
    assert_eq!(chip.advance(CHARACTER), Some(b'x'));
}

#[test]
fn rts_follows_its_bit() {
    let mut chip = listening(N);
    assert!(!chip.rts_high());
    chip.output(CNTLA0, 0x74, 0);
    assert!(chip.rts_high());
    chip.reset();
    assert!(chip.rts_high() && !chip.can_receive());
}

/// T-states a bit at 18.432 MHz: 960 are 19,200 baud.
#[test]
fn the_rate_is_that_of_cntlb_or_of_the_generator() {
    for (cntlb, bit) in [(0x00, 160), (0x01, 320), (0x20, 480), (0x21, 960), (0x28, 1920)] {
        let chip = devices(N, &[(CNTLA0, 0x64), (CNTLB0, cntlb)]);
        assert_eq!(chip.receive_time(), 10 * bit, "{cntlb:02X}");
    }
    let generator = [(CNTLA0, 0x64), (CNTLB0, 0x00), (ASEXT0, 0x68), (0x1A, 3), (0x1B, 0)];
    assert_eq!(devices(N, &generator).receive_time(), 1600);
    let slower = [(CNTLA0, 0x64), (CNTLB0, 0x21), (ASEXT0, 0x68), (0x1A, 3)];
    assert_eq!(devices(K, &slower).receive_time(), 9600, "revision K has no generator");
    assert_eq!(devices(N, &[(CNTLA0, 0x64)]).receive_time(), 0, "no clock after reset");
    assert_eq!(devices(N, &[(CNTLA0, 0x65), (CNTLB0, 0)]).receive_time(), 1760, "8N2");
}

/// Zilog's figure 7-3: with 3 in RLDR the count is 3, 2, 1, 0, 3.
#[test]
fn a_timer_counts_down_and_is_loaded_again() {
    let mut chip = devices(N, &[(0x0C, 3), (0x0D, 0), (0x0E, 3), (0x0F, 0), (TCR, 0x01)]);
    let counts: Vec<_> = (0..6).map(|count| chip.input(0x0C, 20 * count)).collect();
    assert_eq!(counts, [3, 2, 1, 0, 3, 2].map(Some));
}

#[test]
fn the_end_of_a_timer_is_cleared_by_reading_tcr_and_then_the_count() {
    // 50 Hz at 18.432 MHz: 18,432 counts of 20 T-states (RomWBW).
    let period = 368_640;
    let mut chip = devices(N, &[(0x0E, 0xFF), (0x0F, 0x47), (0x0C, 0x00), (0x0D, 0x48)]);
    chip.output(TCR, 0x11, 0);
    assert_eq!(chip.next_event(), Some(period));
    chip.advance(period - 1);
    assert_eq!(chip.vector(), None);
    chip.advance(period);
    assert_eq!(chip.vector(), Some(0x04));
    assert_eq!(chip.input(0x0C, period), Some(0));
    assert_eq!(chip.input(TCR, period), Some(0x51), "the count alone does not clear it");
    chip.input(0x0D, period);
    assert_eq!((chip.input(TCR, period), chip.vector()), (Some(0x11), None));
    assert_eq!(chip.next_event(), Some(2 * period));
}

#[test]
fn vectors_have_the_high_bits_of_il_and_the_priority_of_the_devices() {
    let mut chip = listening(N);
    chip.output(IL, 0xFF, 0);
    chip.output(0x05, 0x01, 0); // STAT1: TIE
    assert_eq!(chip.vector(), Some(0xF0));
    chip.output(STAT0, 0x08, 0);
    receive(&mut chip, b"a");
    assert_eq!(chip.vector(), Some(0xEE));
    for (port, value) in [(0x14, 1), (0x15, 0), (TCR, 0x22)] {
        chip.output(port, value, CHARACTER);
    }
    chip.advance(2 * CHARACTER);
    assert_eq!(chip.vector(), Some(0xE6));
}

#[test]
fn software_can_only_clear_the_bit_of_a_trap() {
    let mut chip = devices(N, &[]);
    chip.output(ITC, 0xC7, 0);
    assert_eq!(read(&mut chip, ITC), 0x3F);
    chip.trap(true);
    assert_eq!(read(&mut chip, ITC), 0xFF);
    chip.output(ITC, 0x80, 0);
    assert_eq!(read(&mut chip, ITC), 0xF8);
    chip.output(ITC, 0x01, 0);
    assert_eq!(read(&mut chip, ITC) & 0x87, 0x01);
}

/// A board with a program in its flash.
fn board(rom: &[u8]) -> BoardModel<QueueLine> {
    let classic = board_spec(&BoardProfile::named("rc2014-classic").expect("it ships"));
    let spec = BoardSpec {
        clock_hz: 18_432_000,
        uart: UartModel::Asci(N),
        memory: MemoryMap::Mmu,
        chip: ChipKind::Sst(SstModel::Sf040),
        ..classic
    };
    BoardModel::new(spec, rom, QueueLine::default())
}

/// OUT0 of each pair, by way of A.
fn out0(writes: &[(u8, u8)]) -> Vec<u8> {
    writes.iter().flat_map(|(port, value)| [0x3E, *value, 0xED, 0x39, *port]).collect()
}

/// Writes 5Ah to 8000h and A5h to 0400h; HALT.
const WRITES: [u8; 13] =
    [0x21, 0x00, 0x80, 0x36, 0x5A, 0x3E, 0xA5, 0x32, 0x00, 0x04, 0x76, 0x00, 0x00];

#[test]
fn the_mmu_maps_flash_and_ram_as_under_scm() {
    // CBAR, CBR, BBR 80, 80, 00: RAM at 8000h only.
    let program = [out0(&[(0x38, 0x80), (0x39, 0x00), (0x3A, 0x80)]), WRITES.to_vec()].concat();
    let mut board = board(&program);
    assert_eq!(board.run_for(10_000), RunStop::Idle);
    assert_eq!((board.bus().peek(0x8000), board.bus().peek(0x0400)), (0x5A, 0xFF));
    assert_eq!(board.bus().peek(0x0000), 0x3E);
    board.reset();
    assert_eq!(board.bus().peek(0x8000), 0xFF, "1:1 after reset: flash");
}

#[test]
fn the_mmu_maps_ram_everywhere_as_under_romwbw() {
    // CBAR, CBR, BBR 80, F0, F0, from a program that runs in RAM at 8000h.
    let jump = [0x21, 0x40, 0x00, 0x11, 0x00, 0x80, 0x01, 0x20, 0x00, 0xED, 0xB0, 0xC3, 0, 0x80];
    let mut rom = [out0(&[(0x38, 0xF0), (0x3A, 0x80)]), jump.to_vec()].concat();
    rom.resize(0x40, 0);
    rom.extend([out0(&[(0x39, 0xF0)]), WRITES.to_vec()].concat());
    let mut board = board(&rom);
    assert_eq!(board.run_for(10_000), RunStop::Idle);
    assert_eq!((board.bus().peek(0x0400), board.bus().peek(0x8000)), (0xA5, 0x5A));
}

#[test]
fn a_received_character_is_served_through_i_and_il() {
    // IM 1, which does not count; I = 00h, IL = 40h: the vector at 004Eh leads to 0060h.
    let set_up = out0(&[(0x00, 0x64), (0x02, 0x00), (0x04, 0x08), (0x33, 0x40)]);
    let mut rom = [set_up, vec![0x31, 0x00, 0x90, 0xED, 0x56, 0xFB, 0x76]].concat();
    rom.resize(0x4E, 0);
    rom.extend([0x60, 0x00]);
    rom.resize(0x60, 0);
    rom.extend([0xED, 0x00, 0x08, 0x76]); // IN0 B,(RDR0); HALT
    let mut board = board(&rom);
    board.line_mut().to_board.push_back(b'Q');
    board.run_for(20_000);
    assert_eq!(board.registers().bc >> 8, u16::from(b'Q'));
}

#[test]
fn a_trap_is_recorded_and_enters_at_0() {
    // At 0: IN0 A,(ITC); AND C0h; JP NZ,0040h; INC IXH at 0009h. At 0040h: HALT.
    let mut rom = vec![0xED, 0x38, 0x34, 0xE6, 0xC0, 0xC2, 0x40, 0x00, 0x00, 0xDD, 0x24];
    rom.resize(0x40, 0);
    rom.push(0x76);
    let mut board = board(&rom);
    assert_eq!(board.run_for(1000), RunStop::Idle);
    assert_eq!((board.registers().pc, board.registers().af >> 8), (0x0040, 0x80));
}

/// RAM, and whether the processor has trapped.
struct Machine {
    memory: Vec<u8>,
    has_trapped: bool,
}

impl z80_core::Bus for Machine {
    fn read(&self, address: u16) -> u8 {
        self.memory[usize::from(address)]
    }

    fn write(&mut self, address: u16, value: u8) {
        self.memory[usize::from(address)] = value;
    }

    fn input(&self, _: u16) -> u8 {
        0
    }

    fn output(&mut self, _: u16, _: u8) {}

    fn on_event(&mut self, event: z80_core::CpuEvent) {
        self.has_trapped |= matches!(event, z80_core::CpuEvent::Trapped { .. });
    }
}

#[test]
fn the_assembler_knows_which_of_its_instructions_trap() {
    const PREFIXES: [&[u8]; 7] =
        [&[], &[0xCB], &[0xED], &[0xDD], &[0xFD], &[0xDD, 0xCB, 5], &[0xFD, 0xCB, 5]];
    for prefix in PREFIXES {
        for opcode in 0..=255 {
            let bytes = [prefix, &[opcode, 0, 0]].concat();
            let Some(decoded) = tdlasm::isa::decode(&bytes) else { continue };
            let mut memory = vec![0; 0x1_0000];
            memory[..bytes.len()].copy_from_slice(&bytes);
            let mut machine = Machine { memory, has_trapped: false };
            z80_core::Cpu::z180().step(&mut machine, None);
            assert_eq!(decoded.form.traps_on_z180(), machine.has_trapped, "{bytes:02X?}");
        }
    }
}
