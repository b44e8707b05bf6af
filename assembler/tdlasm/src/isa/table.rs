//! The table of all instruction forms. The forms of a mnemonic are adjacent.
//!
//! Names and opcodes: TDL Z80 assembler manual 2.2, appendix A. T-states: Zilog, Z80 CPU user
//! manual UM0080.

use super::Prefix::{Cb, Ed, None as Plain, X, Y};
use super::Slot::{
    Bit, Byte, Dest, DestMem, Index, IndexPair, None as No, Pair, PairX, PairY, Pointer, Relative,
    Restart, Source, SourceMem, StackPair, Word,
};
use super::{Clocks, Form, Prefix, Slot, Status};

type Slots = [Slot; 2];

const fn form(
    mnemonic: &'static str,
    slots: Slots,
    prefix: Prefix,
    opcode: u8,
    clocks: u8,
    zilog: &'static str,
) -> Form {
    let clocks = Clocks { taken: clocks, not_taken: clocks };
    let z80_only = false;
    let status = Status::Primary;
    Form { mnemonic, slots, prefix, opcode, clocks, z80_only, status, zilog }
}

/// Creates a form that exists on the 8080.
const fn i(name: &'static str, slots: Slots, opcode: u8, clocks: u8, zilog: &'static str) -> Form {
    form(name, slots, Plain, opcode, clocks, zilog)
}

/// Creates a form that only the Z80 has.
const fn z(
    name: &'static str,
    slots: Slots,
    prefix: Prefix,
    opcode: u8,
    clocks: u8,
    zilog: &'static str,
) -> Form {
    let mut form = form(name, slots, prefix, opcode, clocks, zilog);
    form.z80_only = true;
    form
}

impl Form {
    const fn not_taken(mut self, not_taken: u8) -> Form {
        self.clocks.not_taken = not_taken;
        self
    }

    const fn alias(mut self) -> Form {
        self.status = Status::Alias;
        self.z80_only = true;
        self
    }

    const fn undocumented(mut self) -> Form {
        self.status = Status::Undocumented;
        self
    }
}

const NONE: Slots = [No, No];
const SRC: Slots = [Source, No];
const MEM: Slots = [SourceMem, No];
const IDX: Slots = [Index, No];
const RP: Slots = [Pair, No];
const RPP: Slots = [StackPair, No];
const XY: Slots = [IndexPair, No];
const N: Slots = [Byte, No];
const NN: Slots = [Word, No];
const E: Slots = [Relative, No];
const DST: Slots = [Dest, No];
const DSTM: Slots = [DestMem, No];

/// Every form of every instruction. The forms of a mnemonic are adjacent.
#[rustfmt::skip]
pub const FORMS: &[Form] = &[
    i("MOV", [Dest, Source], 0x40, 4, "LD {0},{1}"),
    i("MOV", [Dest, SourceMem], 0x40, 7, "LD {0},{1}"),
    i("MOV", [DestMem, Source], 0x40, 7, "LD {0},{1}"),
    z("MOV", [Dest, Index], Plain, 0x46, 19, "LD {0},{1}"),
    z("MOV", [Index, Source], Plain, 0x70, 19, "LD {0},{1}"),
    i("MVI", [Dest, Byte], 0x06, 7, "LD {0},{1}"),
    i("MVI", [DestMem, Byte], 0x06, 10, "LD {0},{1}"),
    z("MVI", [Index, Byte], Plain, 0x36, 19, "LD {0},{1}"),
    i("LDA", NN, 0x3A, 13, "LD A,({0})"),
    i("STA", NN, 0x32, 13, "LD ({0}),A"),
    i("LDAX", [Pointer, No], 0x0A, 7, "LD A,({0})"),
    i("STAX", [Pointer, No], 0x02, 7, "LD ({0}),A"),
    z("LDAI", NONE, Ed, 0x57, 9, "LD A,I"),
    z("LDAR", NONE, Ed, 0x5F, 9, "LD A,R"),
    z("STAI", NONE, Ed, 0x47, 9, "LD I,A"),
    z("STAR", NONE, Ed, 0x4F, 9, "LD R,A"),
    i("LXI", [Pair, Word], 0x01, 10, "LD {0},{1}"),
    z("LXI", [IndexPair, Word], Plain, 0x21, 14, "LD {0},{1}"),
    i("LHLD", NN, 0x2A, 16, "LD HL,({0})"),
    i("SHLD", NN, 0x22, 16, "LD ({0}),HL"),
    z("LBCD", NN, Ed, 0x4B, 20, "LD BC,({0})"),
    z("LDED", NN, Ed, 0x5B, 20, "LD DE,({0})"),
    z("LSPD", NN, Ed, 0x7B, 20, "LD SP,({0})"),
    z("SBCD", NN, Ed, 0x43, 20, "LD ({0}),BC"),
    z("SDED", NN, Ed, 0x53, 20, "LD ({0}),DE"),
    z("SSPD", NN, Ed, 0x73, 20, "LD ({0}),SP"),
    z("LIXD", NN, X, 0x2A, 20, "LD IX,({0})"),
    z("LIYD", NN, Y, 0x2A, 20, "LD IY,({0})"),
    z("SIXD", NN, X, 0x22, 20, "LD ({0}),IX"),
    z("SIYD", NN, Y, 0x22, 20, "LD ({0}),IY"),
    i("SPHL", NONE, 0xF9, 6, "LD SP,HL"),
    z("SPIX", NONE, X, 0xF9, 10, "LD SP,IX"),
    z("SPIY", NONE, Y, 0xF9, 10, "LD SP,IY"),
    i("PUSH", RPP, 0xC5, 11, "PUSH {0}"),
    z("PUSH", XY, Plain, 0xE5, 15, "PUSH {0}"),
    i("POP", RPP, 0xC1, 10, "POP {0}"),
    z("POP", XY, Plain, 0xE1, 14, "POP {0}"),
    i("XCHG", NONE, 0xEB, 4, "EX DE,HL"),
    z("EXAF", NONE, Plain, 0x08, 4, "EX AF,AF'"),
    z("EXX", NONE, Plain, 0xD9, 4, "EXX"),
    i("XTHL", NONE, 0xE3, 19, "EX (SP),HL"),
    z("XTIX", NONE, X, 0xE3, 23, "EX (SP),IX"),
    z("XTIY", NONE, Y, 0xE3, 23, "EX (SP),IY"),
    z("LDI", NONE, Ed, 0xA0, 16, "LDI"),
    z("LDIR", NONE, Ed, 0xB0, 21, "LDIR").not_taken(16),
    z("LDD", NONE, Ed, 0xA8, 16, "LDD"),
    z("LDDR", NONE, Ed, 0xB8, 21, "LDDR").not_taken(16),
    z("CCI", NONE, Ed, 0xA1, 16, "CPI"),
    z("CCIR", NONE, Ed, 0xB1, 21, "CPIR").not_taken(16),
    z("CCD", NONE, Ed, 0xA9, 16, "CPD"),
    z("CCDR", NONE, Ed, 0xB9, 21, "CPDR").not_taken(16),
    i("ADD", SRC, 0x80, 4, "ADD A,{0}"),
    i("ADD", MEM, 0x80, 7, "ADD A,{0}"),
    z("ADD", IDX, Plain, 0x86, 19, "ADD A,{0}"),
    i("ADI", N, 0xC6, 7, "ADD A,{0}"),
    i("ADC", SRC, 0x88, 4, "ADC A,{0}"),
    i("ADC", MEM, 0x88, 7, "ADC A,{0}"),
    z("ADC", IDX, Plain, 0x8E, 19, "ADC A,{0}"),
    i("ACI", N, 0xCE, 7, "ADC A,{0}"),
    i("SUB", SRC, 0x90, 4, "SUB {0}"),
    i("SUB", MEM, 0x90, 7, "SUB {0}"),
    z("SUB", IDX, Plain, 0x96, 19, "SUB {0}"),
    i("SUI", N, 0xD6, 7, "SUB {0}"),
    i("SBB", SRC, 0x98, 4, "SBC A,{0}"),
    i("SBB", MEM, 0x98, 7, "SBC A,{0}"),
    z("SBB", IDX, Plain, 0x9E, 19, "SBC A,{0}"),
    i("SBI", N, 0xDE, 7, "SBC A,{0}"),
    i("ANA", SRC, 0xA0, 4, "AND {0}"),
    i("ANA", MEM, 0xA0, 7, "AND {0}"),
    z("ANA", IDX, Plain, 0xA6, 19, "AND {0}"),
    i("ANI", N, 0xE6, 7, "AND {0}"),
    i("XRA", SRC, 0xA8, 4, "XOR {0}"),
    i("XRA", MEM, 0xA8, 7, "XOR {0}"),
    z("XRA", IDX, Plain, 0xAE, 19, "XOR {0}"),
    i("XRI", N, 0xEE, 7, "XOR {0}"),
    i("ORA", SRC, 0xB0, 4, "OR {0}"),
    i("ORA", MEM, 0xB0, 7, "OR {0}"),
    z("ORA", IDX, Plain, 0xB6, 19, "OR {0}"),
    i("ORI", N, 0xF6, 7, "OR {0}"),
    i("CMP", SRC, 0xB8, 4, "CP {0}"),
    i("CMP", MEM, 0xB8, 7, "CP {0}"),
    z("CMP", IDX, Plain, 0xBE, 19, "CP {0}"),
    i("CPI", N, 0xFE, 7, "CP {0}"),
    i("INR", DST, 0x04, 4, "INC {0}"),
    i("INR", DSTM, 0x04, 11, "INC {0}"),
    z("INR", IDX, Plain, 0x34, 23, "INC {0}"),
    i("DCR", DST, 0x05, 4, "DEC {0}"),
    i("DCR", DSTM, 0x05, 11, "DEC {0}"),
    z("DCR", IDX, Plain, 0x35, 23, "DEC {0}"),
    i("DAA", NONE, 0x27, 4, "DAA"),
    i("CMA", NONE, 0x2F, 4, "CPL"),
    i("CMC", NONE, 0x3F, 4, "CCF"),
    i("STC", NONE, 0x37, 4, "SCF"),
    i("NOP", NONE, 0x00, 4, "NOP"),
    i("HLT", NONE, 0x76, 4, "HALT"),
    i("DI", NONE, 0xF3, 4, "DI"),
    i("EI", NONE, 0xFB, 4, "EI"),
    z("NEG", NONE, Ed, 0x44, 8, "NEG"),
    z("IM0", NONE, Ed, 0x46, 8, "IM 0"),
    z("IM1", NONE, Ed, 0x56, 8, "IM 1"),
    z("IM2", NONE, Ed, 0x5E, 8, "IM 2"),
    i("DAD", RP, 0x09, 11, "ADD HL,{0}"),
    z("DADC", RP, Ed, 0x4A, 15, "ADC HL,{0}"),
    z("DSBC", RP, Ed, 0x42, 15, "SBC HL,{0}"),
    i("INX", RP, 0x03, 6, "INC {0}"),
    z("INX", XY, Plain, 0x23, 10, "INC {0}"),
    i("DCX", RP, 0x0B, 6, "DEC {0}"),
    z("DCX", XY, Plain, 0x2B, 10, "DEC {0}"),
    z("DADX", [PairX, No], X, 0x09, 15, "ADD IX,{0}"),
    z("DADY", [PairY, No], Y, 0x09, 15, "ADD IY,{0}"),
    i("RLC", NONE, 0x07, 4, "RLCA"),
    i("RAL", NONE, 0x17, 4, "RLA"),
    i("RRC", NONE, 0x0F, 4, "RRCA"),
    i("RAR", NONE, 0x1F, 4, "RRA"),
    z("RLCR", SRC, Cb, 0x00, 8, "RLC {0}"),
    z("RLCR", MEM, Cb, 0x00, 15, "RLC {0}"),
    z("RLCR", IDX, Cb, 0x06, 23, "RLC {0}"),
    z("RRCR", SRC, Cb, 0x08, 8, "RRC {0}"),
    z("RRCR", MEM, Cb, 0x08, 15, "RRC {0}"),
    z("RRCR", IDX, Cb, 0x0E, 23, "RRC {0}"),
    z("RALR", SRC, Cb, 0x10, 8, "RL {0}"),
    z("RALR", MEM, Cb, 0x10, 15, "RL {0}"),
    z("RALR", IDX, Cb, 0x16, 23, "RL {0}"),
    z("RARR", SRC, Cb, 0x18, 8, "RR {0}"),
    z("RARR", MEM, Cb, 0x18, 15, "RR {0}"),
    z("RARR", IDX, Cb, 0x1E, 23, "RR {0}"),
    z("SLAR", SRC, Cb, 0x20, 8, "SLA {0}"),
    z("SLAR", MEM, Cb, 0x20, 15, "SLA {0}"),
    z("SLAR", IDX, Cb, 0x26, 23, "SLA {0}"),
    z("SRAR", SRC, Cb, 0x28, 8, "SRA {0}"),
    z("SRAR", MEM, Cb, 0x28, 15, "SRA {0}"),
    z("SRAR", IDX, Cb, 0x2E, 23, "SRA {0}"),
    z("SRLR", SRC, Cb, 0x38, 8, "SRL {0}"),
    z("SRLR", MEM, Cb, 0x38, 15, "SRL {0}"),
    z("SRLR", IDX, Cb, 0x3E, 23, "SRL {0}"),
    z("RLD", NONE, Ed, 0x6F, 18, "RLD"),
    z("RRD", NONE, Ed, 0x67, 18, "RRD"),
    z("BIT", [Bit, Source], Cb, 0x40, 8, "BIT {0},{1}"),
    z("BIT", [Bit, SourceMem], Cb, 0x40, 12, "BIT {0},{1}"),
    z("BIT", [Bit, Index], Cb, 0x46, 20, "BIT {0},{1}"),
    z("RES", [Bit, Source], Cb, 0x80, 8, "RES {0},{1}"),
    z("RES", [Bit, SourceMem], Cb, 0x80, 15, "RES {0},{1}"),
    z("RES", [Bit, Index], Cb, 0x86, 23, "RES {0},{1}"),
    z("SET", [Bit, Source], Cb, 0xC0, 8, "SET {0},{1}"),
    z("SET", [Bit, SourceMem], Cb, 0xC0, 15, "SET {0},{1}"),
    z("SET", [Bit, Index], Cb, 0xC6, 23, "SET {0},{1}"),
    i("JMP", NN, 0xC3, 10, "JP {0}"),
    i("JNZ", NN, 0xC2, 10, "JP NZ,{0}"),
    i("JZ", NN, 0xCA, 10, "JP Z,{0}"),
    i("JNC", NN, 0xD2, 10, "JP NC,{0}"),
    i("JC", NN, 0xDA, 10, "JP C,{0}"),
    i("JPO", NN, 0xE2, 10, "JP PO,{0}"),
    i("JPE", NN, 0xEA, 10, "JP PE,{0}"),
    i("JP", NN, 0xF2, 10, "JP P,{0}"),
    i("JM", NN, 0xFA, 10, "JP M,{0}"),
    z("JNO", NN, Plain, 0xE2, 10, "JP PO,{0}").alias(),
    z("JO", NN, Plain, 0xEA, 10, "JP PE,{0}").alias(),
    z("JMPR", E, Plain, 0x18, 12, "JR {0}"),
    z("JRNZ", E, Plain, 0x20, 12, "JR NZ,{0}").not_taken(7),
    z("JRZ", E, Plain, 0x28, 12, "JR Z,{0}").not_taken(7),
    z("JRNC", E, Plain, 0x30, 12, "JR NC,{0}").not_taken(7),
    z("JRC", E, Plain, 0x38, 12, "JR C,{0}").not_taken(7),
    z("DJNZ", E, Plain, 0x10, 13, "DJNZ {0}").not_taken(8),
    i("PCHL", NONE, 0xE9, 4, "JP (HL)"),
    z("PCIX", NONE, X, 0xE9, 8, "JP (IX)"),
    z("PCIY", NONE, Y, 0xE9, 8, "JP (IY)"),
    i("CALL", NN, 0xCD, 17, "CALL {0}"),
    i("CNZ", NN, 0xC4, 17, "CALL NZ,{0}").not_taken(10),
    i("CZ", NN, 0xCC, 17, "CALL Z,{0}").not_taken(10),
    i("CNC", NN, 0xD4, 17, "CALL NC,{0}").not_taken(10),
    i("CC", NN, 0xDC, 17, "CALL C,{0}").not_taken(10),
    i("CPO", NN, 0xE4, 17, "CALL PO,{0}").not_taken(10),
    i("CPE", NN, 0xEC, 17, "CALL PE,{0}").not_taken(10),
    i("CP", NN, 0xF4, 17, "CALL P,{0}").not_taken(10),
    i("CM", NN, 0xFC, 17, "CALL M,{0}").not_taken(10),
    z("CNO", NN, Plain, 0xE4, 17, "CALL PO,{0}").not_taken(10).alias(),
    z("CO", NN, Plain, 0xEC, 17, "CALL PE,{0}").not_taken(10).alias(),
    i("RET", NONE, 0xC9, 10, "RET"),
    i("RNZ", NONE, 0xC0, 11, "RET NZ").not_taken(5),
    i("RZ", NONE, 0xC8, 11, "RET Z").not_taken(5),
    i("RNC", NONE, 0xD0, 11, "RET NC").not_taken(5),
    i("RC", NONE, 0xD8, 11, "RET C").not_taken(5),
    i("RPO", NONE, 0xE0, 11, "RET PO").not_taken(5),
    i("RPE", NONE, 0xE8, 11, "RET PE").not_taken(5),
    i("RP", NONE, 0xF0, 11, "RET P").not_taken(5),
    i("RM", NONE, 0xF8, 11, "RET M").not_taken(5),
    z("RNO", NONE, Plain, 0xE0, 11, "RET PO").not_taken(5).alias(),
    z("RO", NONE, Plain, 0xE8, 11, "RET PE").not_taken(5).alias(),
    z("RETI", NONE, Ed, 0x4D, 14, "RETI"),
    z("RETN", NONE, Ed, 0x45, 14, "RETN"),
    i("RST", [Restart, No], 0xC7, 11, "RST {0}"),
    i("IN", N, 0xDB, 11, "IN A,({0})"),
    i("OUT", N, 0xD3, 11, "OUT ({0}),A"),
    z("INP", DST, Ed, 0x40, 12, "IN {0},(C)"),
    z("INP", DSTM, Ed, 0x40, 12, "IN F,(C)").undocumented(),
    z("OUTP", DST, Ed, 0x41, 12, "OUT (C),{0}"),
    z("OUTP", DSTM, Ed, 0x41, 12, "OUT (C),0").undocumented(),
    z("INI", NONE, Ed, 0xA2, 16, "INI"),
    z("INIR", NONE, Ed, 0xB2, 21, "INIR").not_taken(16),
    z("IND", NONE, Ed, 0xAA, 16, "IND"),
    z("INDR", NONE, Ed, 0xBA, 21, "INDR").not_taken(16),
    z("OUTI", NONE, Ed, 0xA3, 16, "OUTI"),
    z("OUTIR", NONE, Ed, 0xB3, 21, "OTIR").not_taken(16),
    z("OUTD", NONE, Ed, 0xAB, 16, "OUTD"),
    z("OUTDR", NONE, Ed, 0xBB, 21, "OTDR").not_taken(16),
];

/// The forms that TDL has no mnemonic for: the undocumented shift that sets bit 0.
#[rustfmt::skip]
pub(super) const ZILOG_ONLY: [Form; 3] = [
    z("SLL", SRC, Cb, 0x30, 8, "SLL {0}").undocumented(),
    z("SLL", MEM, Cb, 0x30, 15, "SLL {0}").undocumented(),
    z("SLL", IDX, Cb, 0x36, 23, "SLL {0}").undocumented(),
];
