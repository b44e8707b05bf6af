//! Compares the processor with the independent crate `zilog_z80`: every opcode with every prefix
//! from random states, followed by random instructions and interrupts. [`known`] lists the
//! differences and their causes; for these the exercisers decide.

use std::cell::RefCell;

use z80_core::{Bus, Cpu, Registers};
use zilog_z80::bus::Bus as OtherBus;
use zilog_z80::cpu::CPU as Other;

/// Random states for each opcode.
const STATES: u64 = 60;
/// Instructions of a program: IM, EI or DI, the opcode under test, and random ones after it.
const STEPS: usize = 6;

/// The bits that all opcodes RST have: in mode 0 a device puts one on the bus.
const RST: u8 = 0xC7;
/// Flags: parity or overflow, half carry, and the two undocumented ones.
const PV: u8 = 0x04;
const H: u8 = 0x10;
const YX: u8 = 0x28;

/// Random numbers by the generator SplitMix64.
struct Random(u64);

impl Random {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn word(&mut self) -> u16 {
        self.number() as u16
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.number().is_multiple_of(count)
    }
}

/// A bus access of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BusAccess {
    Write(u16, u8),
    In(u16),
    Out(u16, u8),
}

/// Memory and devices with pseudo-random contents.
struct World {
    seed: u64,
    program: Vec<(u16, u8)>,
    accesses: RefCell<Vec<BusAccess>>,
}

impl World {
    fn any(&self, of: u64) -> u8 {
        Random(self.seed ^ of).number() as u8
    }

    fn record(&self, access: BusAccess) {
        self.accesses.borrow_mut().push(access);
    }

    fn peek(&self, address: u16) -> u8 {
        let written = self.accesses.borrow().iter().rev().find_map(|access| match *access {
            BusAccess::Write(at, value) if at == address => Some(value),
            _ => None,
        });
        let loaded = || self.program.iter().find(|(at, _)| *at == address).map(|(_, byte)| *byte);
        written.or_else(loaded).unwrap_or_else(|| self.any(address.into()))
    }

    /// All accesses so far, sorted: the other core always writes the low byte of a word first, the
    /// chip only if it does not push (UM0080).
    fn sorted_accesses(&self) -> Vec<BusAccess> {
        let mut accesses = self.accesses.borrow().clone();
        accesses.sort_unstable();
        accesses
    }

    fn ask(&self, port: u16) -> u8 {
        self.record(BusAccess::In(port));
        self.any(0x1_0000 | u64::from(port))
    }
}

impl Bus for World {
    fn read(&self, address: u16) -> u8 {
        self.peek(address)
    }

    fn write(&mut self, address: u16, value: u8) {
        self.record(BusAccess::Write(address, value));
    }

    fn input(&self, port: u16) -> u8 {
        self.ask(port)
    }

    fn output(&mut self, port: u16, value: u8) {
        self.record(BusAccess::Out(port, value));
    }
}

impl OtherBus for World {
    fn read_byte(&self, address: u16) -> u8 {
        self.peek(address)
    }

    fn write_byte(&mut self, address: u16, value: u8) {
        self.record(BusAccess::Write(address, value));
    }

    fn read_io(&self, port: u16) -> u8 {
        self.ask(port)
    }

    fn write_io(&mut self, port: u16, value: u8) {
        self.record(BusAccess::Out(port, value));
    }
}

/// The state that is compared after an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    registers: Registers,
    memptr: u16,
    halted: bool,
    t_states: u32,
    accesses: Vec<BusAccess>,
}

/// Both processors, each with its own memory and devices.
struct Pair {
    ours: (Cpu, World),
    other: (Other, World),
}

impl Pair {
    /// Both in the same random state before a program that sets interrupts and continues with
    /// `code`.
    fn new(random: &mut Random, code: &[u8]) -> Self {
        let (seed, pc) = (random.number(), random.word());
        let mode = [0x46, 0x56, 0x5E][random.number() as usize % 3];
        let switch = if random.one_in(3) { 0xF3 } else { 0xFB };
        let bytes = [&[0xED, mode, switch], code].concat();
        let program: Vec<_> = (0..).map(|at| pc.wrapping_add(at)).zip(bytes).collect();
        let world = || World { seed, program: program.clone(), accesses: RefCell::default() };
        let mut ours = Cpu::new();
        let mut other = Other::new();
        let start = random_registers(random, pc);
        ours.set_registers(&start);
        set_registers(&mut other, &start);
        Self { ours: (ours, world()), other: (other, world()) }
    }

    fn step(&mut self, interrupt: Option<u8>) -> [Outcome; 2] {
        let (cpu, world) = &mut self.ours;
        let t_states = cpu.step(world, interrupt);
        let ours = Outcome {
            registers: cpu.registers(),
            memptr: cpu.memptr(),
            halted: cpu.is_halted(),
            t_states,
            accesses: world.sorted_accesses(),
        };
        let (cpu, world) = &mut self.other;
        match interrupt {
            Some(vector) => cpu.int_request(vector),
            None => cpu.int_cancel(),
        }
        let before = cpu.reg.pc;
        let mut t_states = cpu.execute(world);
        // It executes DD and FD as separate steps even if an instruction follows.
        let lone =
            cpu.reg.pc == before.wrapping_add(1) && matches!(world.peek(before), 0xDD | 0xFD);
        if lone && t_states == 4 && !matches!(world.peek(cpu.reg.pc), 0xDD | 0xED | 0xFD) {
            cpu.int_cancel();
            t_states += cpu.execute(world);
        }
        let other = Outcome {
            registers: registers(cpu),
            memptr: cpu.reg.wz,
            halted: cpu.is_halted(),
            t_states,
            accesses: world.sorted_accesses(),
        };
        [ours, other]
    }
}

fn random_registers(random: &mut Random, pc: u16) -> Registers {
    let mut word = || random.word();
    Registers {
        af: word(),
        bc: if word() % 4 == 0 {
            [0x0001, 0x0101, 0x0100][usize::from(word() % 3)]
        } else {
            word()
        },
        de: word(),
        hl: word(),
        ix: word(),
        iy: word(),
        sp: word(),
        pc,
        af_alt: word(),
        bc_alt: word(),
        de_alt: word(),
        hl_alt: word(),
        i: word() as u8,
        r: word() as u8,
    }
}

fn set_registers(cpu: &mut Other, to: &Registers) {
    let (main, alt) = (&mut cpu.reg, &mut cpu.alt);
    main.set_af(to.af);
    main.set_bc(to.bc);
    main.set_de(to.de);
    main.set_hl(to.hl);
    main.set_ix(to.ix);
    main.set_iy(to.iy);
    (main.sp, main.pc, main.i, main.r) = (to.sp, to.pc, to.i, to.r);
    alt.set_af(to.af_alt);
    alt.set_bc(to.bc_alt);
    alt.set_de(to.de_alt);
    alt.set_hl(to.hl_alt);
}

fn registers(cpu: &Other) -> Registers {
    let (main, alt) = (&cpu.reg, &cpu.alt);
    Registers {
        af: main.get_af(),
        bc: main.get_bc(),
        de: main.get_de(),
        hl: main.get_hl(),
        ix: main.get_ix(),
        iy: main.get_iy(),
        sp: main.sp,
        pc: main.pc,
        af_alt: alt.get_af(),
        bc_alt: alt.get_bc(),
        de_alt: alt.get_de(),
        hl_alt: alt.get_hl(),
        i: main.i,
        r: main.r,
    }
}

/// Returns the flags that the other core sets differently, and whether MEMPTR differs.
fn known(code: &[u8]) -> (u8, bool) {
    match code {
        // While they repeat, Y and X are bits of PC (tests/interrupts.rs).
        [0xED, 0xB0 | 0xB1 | 0xB8 | 0xB9, ..] => (YX, false),
        // H and P/V are those of the count changed once more, and MEMPTR follows PC (there, and
        // z80memptr).
        [0xED, 0xB2 | 0xB3 | 0xBA | 0xBB, ..] => (YX | H | PV, true),
        // P/V is 0 if an interrupt is accepted right after; there, if one is requested.
        [0xED, 0x57 | 0x5F, ..] => (PV, false),
        // There the prefix is an instruction that does not change F; no exerciser tests it.
        [0xDD | 0xFD, 0x37 | 0x3F, ..] => (YX, false),
        _ => (0, false),
    }
}

/// Every opcode, without and with each prefix.
fn opcodes() -> impl Iterator<Item = Vec<u8>> {
    let prefixes: [&[u8]; 7] =
        [&[], &[0xCB], &[0xED], &[0xDD], &[0xFD], &[0xDD, 0xCB, 0x85], &[0xFD, 0xCB, 0x7A]];
    prefixes.into_iter().flat_map(|prefix| (0..=255).map(move |last| [prefix, &[last]].concat()))
}

/// Runs a program on both; returns the number of instructions that were compared.
fn compare(random: &mut Random, code: &[u8]) -> usize {
    let mut pair = Pair::new(random, code);
    let mut apart = false;
    for step in 0..STEPS {
        let asks = !apart && random.one_in(4);
        let interrupt = asks.then(|| random.number() as u8 | RST);
        let pc = pair.ours.0.pc();
        let code = [0, 1, 2, 3].map(|at| pair.ours.1.peek(pc.wrapping_add(at)));
        let before = pair.ours.0.registers();
        let [ours, mut other] = pair.step(interrupt);
        // The other core accepts interrupts between two prefixes, and does not clear P/V when it
        // accepts one after LD A,I or LD A,R; the chip does neither (UM0080).
        let is_lone_prefix = ours.t_states == 4 && matches!(code[0], 0xDD | 0xFD);
        apart = is_lone_prefix || matches!(code, [0xED, 0x57 | 0x5F, ..]);
        if ours == other {
            continue;
        }
        let (flags, memptr) = known(&code);
        let flags = u16::from(flags);
        other.registers.af = other.registers.af & !flags | ours.registers.af & flags;
        other.memptr = if memptr { ours.memptr } else { other.memptr };
        assert_eq!(ours, other, "{code:02X?} with {interrupt:02X?} from {before:04X?}");
        return step;
    }
    STEPS
}

#[test]
fn every_opcode_behaves_as_in_the_other_core() {
    let mut random = Random(0x5A80);
    let states = |code: Vec<u8>| (0..STATES).map(|_| compare(&mut random, &code)).sum::<usize>();
    let compared: usize = opcodes().map(states).sum();
    assert!(compared > 600_000, "{compared} instructions");
}
