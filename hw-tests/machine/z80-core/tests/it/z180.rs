//! The Z180: T-states by MAME's table and Zilog's questions and answers (AN971800100), TRAP
//! by Zilog's manual, and results of defined opcodes by those of the Z80.

use std::cell::RefCell;

use z80_core::{Bus, Cpu, CpuEvent, Registers};

/// RAM, a port that reads 5Ah, and what was written to ports, and the events.
struct World {
    memory: Vec<u8>,
    read: RefCell<Vec<u16>>,
    written: Vec<(u16, u8)>,
    events: Vec<CpuEvent>,
}

impl Bus for World {
    fn read(&self, address: u16) -> u8 {
        self.memory[usize::from(address)]
    }

    fn write(&mut self, address: u16, value: u8) {
        self.memory[usize::from(address)] = value;
    }

    fn input(&self, port: u16) -> u8 {
        self.read.borrow_mut().push(port);
        0x5A
    }

    fn output(&mut self, port: u16, value: u8) {
        self.written.push((port, value));
    }

    fn on_event(&mut self, event: CpuEvent) {
        self.events.push(event);
    }
}

const START: u16 = 0x4000;

fn start() -> Registers {
    Registers {
        af: 0x9600,
        bc: 0x0203,
        de: 0x7100,
        hl: 0x7200,
        ix: 0x7300,
        iy: 0x7400,
        sp: 0x9000,
        pc: START,
        ..Registers::default()
    }
}

fn world(program: &[u8]) -> World {
    let mut memory: Vec<u8> = (0..0x1_0000_u32).map(|at| (at * 7 % 251) as u8).collect();
    memory[usize::from(START)..][..program.len()].copy_from_slice(program);
    World { memory, read: RefCell::default(), written: Vec::new(), events: Vec::new() }
}

/// Runs one instruction; returns its T-states, the processor and the world.
fn run(mut cpu: Cpu, registers: &Registers, program: &[u8]) -> (u32, Cpu, World) {
    let mut world = world(program);
    cpu.set_registers(registers);
    let time = cpu.step(&mut world, None);
    (time, cpu, world)
}

fn z180(program: &[u8]) -> (u32, Cpu, World) {
    run(Cpu::z180(), &start(), program)
}

fn opcodes(text: &str) -> Vec<u8> {
    let byte = |word: &str| u8::from_str_radix(word, 16).expect("it is hexadecimal");
    text.split_whitespace().map(byte).collect()
}

/// T-states, and the instructions that take them from [`start`], where no flag is set.
const TIMES: &[(u32, &[&str])] = &[
    (3, &["00", "76", "07", "0F", "17", "1F", "2F", "37", "3F", "F3", "FB", "D9", "EB", "E9"]),
    (4, &["41", "7F", "80", "B9", "04", "3D", "03", "33", "2B", "08", "27", "F9"]),
    (5, &["C8", "D8", "E8", "F8"]),
    (6, &["06", "3E", "46", "7E", "0A", "1A", "C6", "FE", "86", "BE", "CA", "DA", "28 05"]),
    (6, &["38 05", "CC", "DC", "CB 40", "CB 7F", "ED 44", "ED 46", "ED 56", "ED 5E", "ED 57"]),
    (6, &["ED 5F", "ED 47", "ED 4F", "DD E9", "FD E9"]),
    (7, &["70", "77", "02", "12", "09", "39", "CB 00", "CB 3F", "CB C0", "CB 87", "DD 23"]),
    (7, &["FD 2B", "DD F9", "ED 04", "ED 3C"]),
    (8, &["18 05", "20 05", "30 05", "ED 76"]),
    (9, &["01", "31", "36", "C3", "C2", "D2", "C9", "C1", "F1", "DB 10", "ED 78", "ED 70"]),
    (9, &["CB 46", "CB 7E", "10 05", "ED 64 01"]),
    (10, &["C0", "D0", "34", "35", "D3 10", "ED 79", "ED 42", "ED 7A", "DD 09", "FD 39", "ED 34"]),
    (11, &["C5", "F5", "C7", "FF"]),
    (12, &["3A", "DD 21", "FD E1", "ED 00 10", "ED 38 10", "ED 74 01", "ED 45", "ED 4D"]),
    (12, &["ED A0", "ED A8", "ED A1", "ED A9", "ED A2", "ED AA", "ED A3", "ED AB"]),
    (13, &["32", "ED 01 10", "ED 39 10", "CB 06", "CB 3E", "CB C6", "CB 86"]),
    (14, &["DD 46 01", "FD 7E 01", "DD 86 01", "FD BE 01", "DD E5", "ED B0", "ED B8", "ED B1"]),
    (14, &["ED B9", "ED B2", "ED BA", "ED B3", "ED BB", "ED 83", "ED 8B"]),
    (15, &["2A", "DD 70 01", "FD 77 01", "DD 36 01 02", "DD CB 01 46"]),
    (16, &["22", "CD", "C4", "D4", "E3", "ED 6F", "ED 67", "ED 93", "ED 9B"]),
    (17, &["ED 4C", "ED 5C", "ED 6C", "ED 7C"]),
    (18, &["ED 4B", "ED 6B", "ED 7B", "DD 2A", "FD 34 01", "DD 35 01"]),
    (19, &["ED 43", "ED 63", "DD 22", "FD E3", "DD CB 01 06", "FD CB 01 C6"]),
];

#[test]
fn instructions_take_the_t_states_of_the_tables() {
    for (expected, instructions) in TIMES {
        for text in *instructions {
            assert_eq!(z180(&opcodes(text)).0, *expected, "{text}");
        }
    }
}

#[test]
fn the_last_round_of_a_loop_is_shorter() {
    let last = Registers { bc: 0x0101, ..start() };
    let one = Registers { bc: 0x0001, ..start() };
    let cases = [
        ("10 05", last, 7),
        ("ED B2", last, 12),
        ("ED B3", last, 12),
        ("ED 93", last, 14),
        ("ED 9B", last, 14),
        ("ED B0", one, 12),
        ("ED B9", one, 12),
    ];
    for (text, registers, expected) in cases {
        let program = opcodes(text);
        let (time, cpu, _) = run(Cpu::z180(), &registers, &program);
        assert_eq!((time, cpu.pc()), (expected, START + 2), "{text}");
    }
}

/// Returns whether the data sheet defines an opcode behind a prefix.
fn is_defined(prefix: u8, opcode: u8) -> bool {
    let indexed = opcodes(
        "09 19 29 39 21 22 23 2A 2B 34 35 36 46 4E 56 5E 66 6E 7E 70 71 72 73 74 75 77 \
         86 8E 96 9E A6 AE B6 BE CB E1 E3 E5 E9 F9",
    );
    let extended = opcodes(
        "00 01 04 08 09 0C 10 11 14 18 19 1C 20 21 24 28 29 2C 30 34 38 39 3C \
         40 41 42 43 44 45 46 47 48 49 4A 4B 4C 4D 4F 50 51 52 53 56 57 58 59 5A 5B 5C 5E 5F \
         60 61 62 63 64 67 68 69 6A 6B 6C 6F 70 72 73 74 76 78 79 7A 7B 7C \
         83 8B 93 9B A0 A1 A2 A3 A8 A9 AA AB B0 B1 B2 B3 B8 B9 BA BB",
    );
    match prefix {
        0xCB => !matches!(opcode, 0x30..=0x37),
        0xED => extended.contains(&opcode),
        _ => indexed.contains(&opcode),
    }
}

#[test]
fn an_undefined_second_byte_traps_and_all_others_run() {
    for prefix in [0xCB, 0xDD, 0xED, 0xFD] {
        for opcode in 0..=0xFF {
            let (_, cpu, world) = z180(&[prefix, opcode, 0x06, 0x06]);
            let trapped = world.events == [CpuEvent::Trapped { third: false }];
            assert_eq!(trapped, !is_defined(prefix, opcode), "{prefix:02X} {opcode:02X}");
            if trapped {
                assert_eq!((cpu.pc(), cpu.sp()), (0, 0x8FFE));
                assert_eq!(world.memory[0x8FFE..0x9000], (START + 1).to_le_bytes());
                assert_eq!(cpu.registers().hl, start().hl);
            }
        }
    }
}

#[test]
fn an_undefined_third_byte_traps_and_pushes_an_address_two_beyond_the_start() {
    for prefix in [0xDD, 0xFD] {
        for opcode in 0..=0xFF {
            let (_, cpu, world) = z180(&[prefix, 0xCB, 0x01, opcode]);
            let is_defined = opcode & 7 == 6 && opcode != 0x36;
            let trapped = world.events == [CpuEvent::Trapped { third: true }];
            assert_eq!(trapped, !is_defined, "{prefix:02X} CB {opcode:02X}");
            if trapped {
                assert_eq!(cpu.pc(), 0);
                assert_eq!(world.memory[0x8FFE..0x9000], (START + 2).to_le_bytes());
            }
        }
    }
}

#[test]
fn on_chip_ports_have_a_high_address_of_zero() {
    let (_, cpu, world) = z180(&[0xED, 0x38, 0xC4]);
    assert_eq!((cpu.registers().af & 0xFFD7, world.read.take()), (0x5A04, vec![0x00C4]));
    let (_, cpu, world) = z180(&[0xED, 0x30, 0xC4]);
    assert_eq!((cpu.registers().af & 0xFFD7, world.read.take()), (0x9604, vec![0x00C4]));
    assert_eq!(z180(&[0xED, 0x39, 0xC6]).2.written, [(0x00C6, 0x96)]);
    assert_eq!(z180(&[0xDB, 0xC4]).2.read.take(), [0x96C4], "IN A,(n) puts A there");
    assert_eq!(z180(&[0xED, 0x74, 0x02]).2.read.take(), [0x0003]);
}

#[test]
fn tst_and_tstio_set_flags_only() {
    // A = 96h, B = 2, port 5Ah; S 80h, Z 40h, H 10h, P/V 04h. AND by hand.
    for (program, flags) in [
        (&[0xED, 0x04][..], 0x10),   // 96h and 02h = 02h: odd
        (&[0xED, 0x3C], 0x94),       // 96h: negative, even
        (&[0xED, 0x64, 0x69], 0x54), // 0: zero, even
        (&[0xED, 0x74, 0x5A], 0x14), // 5Ah: even
        (&[0xED, 0x74, 0x08], 0x10), // 08h: odd
    ] {
        let (_, cpu, _) = z180(program);
        assert_eq!(cpu.registers().af & 0xFFD7, 0x9600 | flags, "{program:02X?}");
        assert_eq!(cpu.registers().bc, start().bc);
    }
}

#[test]
fn mlt_multiplies_the_halves_of_a_pair() {
    let registers = Registers { bc: 0xFFFF, de: 0x1234, hl: 0x00FF, sp: 0x8003, ..start() };
    let product = |code| run(Cpu::z180(), &registers, &[0xED, code]).1.registers();
    assert_eq!(product(0x4C).bc, 0xFE01);
    assert_eq!(product(0x5C).de, 0x03A8);
    assert_eq!(product(0x6C).hl, 0);
    assert_eq!(product(0x7C).sp, 0x0180);
    assert_eq!(product(0x4C).af, start().af);
}

#[test]
fn otim_advances_port_and_address() {
    let (_, cpu, world) = z180(&[0xED, 0x83]);
    let byte = world.memory[0x7200];
    let registers = cpu.registers();
    assert_eq!((registers.bc, registers.hl, world.written), (0x0104, 0x7201, vec![(3, byte)]));
    let (_, cpu, _) = z180(&[0xED, 0x9B]);
    let registers = cpu.registers();
    assert_eq!((registers.bc, registers.hl, cpu.pc()), (0x0102, 0x71FF, START));
}

/// Zilog's questions and answers (AN971800100).
#[test]
fn daa_and_rld_differ_from_the_z80() {
    let (mut cpu, mut world) = (Cpu::z180(), world(&[0x3D, 0x27]));
    cpu.set_registers(&Registers { af: 0, ..start() });
    (0..2).for_each(|_| _ = cpu.step(&mut world, None));
    assert_eq!(cpu.registers().af >> 8, 0xF9);
    // A = 00h, memory 80h: RLD makes A 08h, memory 00h.
    let mut other = self::world(&[0xED, 0x6F]);
    other.memory[0x7200] = 0x80;
    let mut cpu = Cpu::z180();
    cpu.set_registers(&Registers { af: 0, ..start() });
    cpu.step(&mut other, None);
    assert_eq!((cpu.registers().af & 0xFFC4, other.memory[0x7200]), (0x0844, 0));
}

#[test]
fn other_instructions_do_what_the_z80_does() {
    let own = |opcode| {
        matches!(opcode, 0x00..=0x3F | 0x64 | 0x74 | 0x76 | 0x83 | 0x8B | 0x93 | 0x9B)
            || matches!(opcode, 0x4C | 0x5C | 0x6C | 0x7C | 0x67 | 0x6F)
    };
    let mut programs: Vec<Vec<u8>> = Vec::new();
    for opcode in (0..=0xFF).filter(|code| !matches!(code, 0xCB | 0xDD | 0xED | 0xFD)) {
        programs.push(vec![opcode]);
    }
    for prefix in [0xCB, 0xDD, 0xED, 0xFD] {
        let differs = |opcode| prefix == 0xED && own(opcode) || opcode == 0xCB && prefix != 0xCB;
        let same = (0..=0xFF).filter(|code| is_defined(prefix, *code) && !differs(*code));
        programs.extend(same.map(|opcode| vec![prefix, opcode]));
    }
    let bits = (0..=0xFF).filter(|code| code & 7 == 6 && *code != 0x36);
    programs.extend(bits.map(|code| vec![0xFD, 0xCB, 0xF0, code]));
    assert!(programs.len() > 600);
    for program in programs {
        for af in [0x0000, 0x99D7, 0xFFFF] {
            let registers = Registers { af, ..start() };
            let (_, ours, our_world) = run(Cpu::z180(), &registers, &program);
            let (_, z80, z80_world) = run(Cpu::new(), &registers, &program);
            assert_eq!(ours.registers(), z80.registers(), "{program:02X?}");
            assert_eq!(our_world.memory, z80_world.memory, "{program:02X?}");
            assert_eq!(our_world.written, z80_world.written, "{program:02X?}");
        }
    }
}

#[test]
fn an_on_chip_device_is_served_by_its_vector_in_any_mode() {
    for mode in [0x46, 0x56, 0x5E] {
        let mut world = world(&[0xED, mode, 0xFB, 0x76]);
        world.memory[0x8FEE..0x8FF0].copy_from_slice(&[0x34, 0x12]);
        let mut cpu = Cpu::z180();
        cpu.set_registers(&Registers { i: 0x8F, ..start() });
        (0..3).for_each(|_| _ = cpu.step(&mut world, None));
        assert!(cpu.is_halted());
        assert_eq!(cpu.wait(4), 6, "HALT repeats every three T-states");
        cpu.step(&mut world, Some(0xEE));
        assert_eq!((cpu.pc(), cpu.is_halted(), cpu.enables_interrupts()), (0x1234, false, false));
        assert_eq!(world.memory[0x8FFE..0x9000], (START + 4).to_le_bytes());
    }
}

#[test]
fn runs_of_instructions_are_those_of_a_z180_even_after_reset() {
    let mut cpu = Cpu::z180();
    cpu.reset();
    cpu.set_registers(&start());
    let mut world = world(&[0x00, 0x41, 0xED, 0x4C]);
    let mut times = Vec::new();
    cpu.run(&mut world, |_, _, time| {
        times.push(time);
        times.len() < 3
    });
    assert_eq!(times, [3, 4, 17]);
}
