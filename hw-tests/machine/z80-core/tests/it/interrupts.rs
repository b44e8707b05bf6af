//! Interrupts, HALT and clones of the processor: times and registers by Zilog's manual (UM0080).

use z80_core::{Bus, Cpu, Registers};

/// 64 KiB of RAM.
struct Memory(Vec<u8>);

impl Bus for Memory {
    fn read(&self, address: u16) -> u8 {
        self.0[usize::from(address)]
    }

    fn write(&mut self, address: u16, value: u8) {
        self.0[usize::from(address)] = value;
    }

    fn input(&self, _port: u16) -> u8 {
        0
    }

    fn output(&mut self, _port: u16, _value: u8) {}
}

/// A processor with its stack at 9000h, and a program at 0.
fn with(program: &[u8]) -> (Cpu, Memory) {
    let mut bytes = vec![0; 0x1_0000];
    bytes[..program.len()].copy_from_slice(program);
    let mut cpu = Cpu::new();
    cpu.set_registers(&Registers { sp: 0x9000, ..Registers::default() });
    (cpu, Memory(bytes))
}

const MODE_1: [u8; 2] = [0xED, 0x56];
const MODE_2: [u8; 2] = [0xED, 0x5E];
const EI: u8 = 0xFB;
const HALT: u8 = 0x76;

/// The T-states of the next steps while a device requests an interrupt, with 40h on the bus.
fn times(cpu: &mut Cpu, memory: &mut Memory, steps: usize) -> Vec<u32> {
    (0..steps).map(|_| cpu.step(memory, Some(0x40))).collect()
}

#[test]
fn ei_delays_interrupts_by_one_instruction() {
    let (mut cpu, mut memory) = with(&[&MODE_1[..], &[EI, EI, 0x00]].concat());
    assert_eq!(times(&mut cpu, &mut memory, 5), [8, 4, 4, 4, 13]);
    assert!(cpu.accepted_interrupt());
    assert_eq!((cpu.pc(), cpu.sp()), (0x0038, 0x8FFE));
    assert_eq!(memory.0[0x8FFE..0x9000], [0x05, 0x00]);
    assert!(!cpu.enables_interrupts());
}

#[test]
fn mode_2_reads_its_table_after_the_push() {
    // LD A,8Fh; LD I,A, with the stack where the table is.
    let program = [&[0x3E, 0x8F, 0xED, 0x47][..], &MODE_2, &[EI, 0x00]].concat();
    let (mut cpu, mut memory) = with(&program);
    cpu.set_registers(&Registers { sp: 0x8F42, ..Registers::default() });
    assert_eq!(times(&mut cpu, &mut memory, 6), [7, 9, 8, 4, 4, 19]);
    assert_eq!(cpu.pc(), 0x0008, "the address pushed is the one that is read");
}

#[test]
fn mode_0_runs_the_byte_on_the_bus() {
    let (mut cpu, mut memory) = with(&[EI, 0x00]);
    let steps = [Some(0xFF), Some(0xFF), Some(0xEF)].map(|byte| cpu.step(&mut memory, byte));
    assert_eq!(steps, [4, 4, 13]);
    assert_eq!(cpu.pc(), 0x0028);
}

#[test]
fn halt_lasts_whole_instructions_and_the_service_returns_behind_it() {
    let (mut cpu, mut memory) = with(&[&MODE_1[..], &[EI, HALT]].concat());
    let steps = [0; 5].map(|_| cpu.step(&mut memory, None));
    assert_eq!(steps, [8, 4, 4, 4, 4]);
    assert!(cpu.is_halted());
    let r = cpu.registers().r;
    assert_eq!(cpu.wait(9), 12);
    assert_eq!(cpu.registers().r, r + 3);
    assert_eq!(cpu.step(&mut memory, Some(0)), 13);
    assert!(!cpu.is_halted());
    assert_eq!(memory.0[0x8FFE..0x9000], [0x04, 0x00]);
}

#[test]
fn an_interrupt_after_ld_a_i_or_ld_a_r_clears_parity() {
    for code in [0x57, 0x5F] {
        let (mut cpu, mut memory) = with(&[&MODE_1[..], &[EI, 0xED, code]].concat());
        (0..3).for_each(|_| _ = cpu.step(&mut memory, None));
        assert_eq!(cpu.registers().af & 0x04, 0x04, "interrupts are on");
        cpu.clone().step(&mut memory, None);
        assert_eq!(cpu.registers().af & 0x04, 0x04);
        cpu.step(&mut memory, Some(0));
        assert_eq!(cpu.registers().af & 0x04, 0);
    }
}

#[test]
fn no_interrupt_comes_between_prefixes() {
    let program = [&MODE_1[..], &[EI, 0x00, 0xDD, 0xFD, 0x23, 0x00]].concat();
    let (mut cpu, mut memory) = with(&program);
    (0..3).for_each(|_| _ = cpu.step(&mut memory, None));
    assert_eq!(cpu.step(&mut memory, None), 4);
    assert_eq!(times(&mut cpu, &mut memory, 2), [10, 13]);
    assert_eq!(cpu.registers().iy, 1);
}

#[test]
fn a_non_maskable_interrupt_keeps_what_retn_restores() {
    let (mut cpu, mut memory) = with(&[EI, 0x00, 0x00]);
    memory.0[0x66..0x68].copy_from_slice(&[0xED, 0x45]);
    (0..2).for_each(|_| _ = cpu.step(&mut memory, None));
    assert_eq!(cpu.non_maskable_interrupt(&mut memory), 11);
    assert_eq!((cpu.pc(), cpu.enables_interrupts()), (0x0066, false));
    assert_eq!(cpu.step(&mut memory, Some(0)), 14);
    assert_eq!((cpu.pc(), cpu.enables_interrupts()), (0x0002, true));
}

#[test]
fn a_repeated_instruction_is_interrupted_between_two_bytes() {
    let (mut cpu, mut memory) = with(&[&MODE_1[..], &[EI, 0xED, 0xB0]].concat());
    let start = Registers { bc: 3, de: 0x8000, hl: 0x7000, ..cpu.registers() };
    cpu.set_registers(&start);
    assert_eq!(times(&mut cpu, &mut memory, 4), [8, 4, 21, 13]);
    assert_eq!(memory.0[0x8FFE..0x9000], [0x03, 0x00], "the service returns to LDIR itself");
    assert_eq!(cpu.registers().bc, 2);
}

/// F after one round of a block instruction at an address, with more rounds to come.
fn flags_within(address: u16, code: u8, start: Registers, byte: u8) -> u8 {
    let (mut cpu, mut memory) = with(&[]);
    memory.0[usize::from(address)..][..2].copy_from_slice(&[0xED, code]);
    memory.0[usize::from(start.hl)] = byte;
    cpu.set_registers(&Registers { pc: address, ..start });
    assert_eq!(cpu.step(&mut memory, None), 21);
    assert_eq!(cpu.pc(), address);
    cpu.registers().af as u8
}

#[test]
fn between_two_bytes_undocumented_flags_are_bits_of_the_address() {
    let start = Registers { bc: 9, de: 0x8000, hl: 0x7000, ..Registers::default() };
    for (address, expected) in [(0x0000, 0x00), (0x0800, 0x08), (0x2000, 0x20), (0xFF00, 0x28)] {
        for code in [0xB0, 0xB8, 0xB1, 0xB9] {
            assert_eq!(flags_within(address, code, start, 0x55) & 0x28, expected, "{code:02X}");
        }
    }
}

/// By David Banks' measurements of the chip: H and P/V are those of B changed once more, up or down
/// by the sign of the byte, if the sum of the byte and L has a carry. Computed by hand.
#[test]
fn between_two_bytes_of_otir_half_carry_and_parity_are_those_of_another_count() {
    let cases = [
        (0x11, 0x8F, 0x80, 0x17), // sum 110h, parity of 0 xor 10h odd, of 0Fh and 7 odd
        (0x11, 0x8F, 0x70, 0x05), // sum 100h, parity of 0 xor 10h odd, of 11h and 7 odd
        (0x11, 0x1F, 0x10, 0x00), // sum 30h, parity of 0 xor 10h odd, of 10h and 7 even
        (0x14, 0x20, 0x00, 0x04), // sum 21h, parity of 1 xor 13h even, of 13h and 7 even
    ];
    for (b, l, byte, expected) in cases {
        let start = Registers { bc: b << 8, hl: 0x7000 | l, ..Registers::default() };
        assert_eq!(flags_within(0, 0xB3, start, byte), expected, "{b:02X} {l:02X} {byte:02X}");
    }
}
