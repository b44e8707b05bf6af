//! The instruction decoder, with lookup tables built from the instruction table on first use.

use std::sync::LazyLock;

use super::{FORMS, Form, Prefix, Register, Slot, Status};

/// A decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoded {
    /// The form.
    pub form: &'static Form,
    /// The registers of the operands; X or Y for an index operand.
    pub registers: [Option<Register>; 2],
    /// The displacement of an index operand.
    pub displacement: i8,
    /// A byte, word, bit or restart number; for a relative jump, the distance from its start.
    pub value: u16,
    /// The length in bytes, 1..=4.
    pub length: usize,
}

impl Decoded {
    /// Returns where the instruction at `address` jumps to, or what it calls; `None` if it does
    /// neither, or if the address is in a register or that of a restart.
    pub fn target(&self, address: u16) -> Option<u16> {
        match self.form.slots[0] {
            Slot::Relative => Some(address.wrapping_add(self.value)),
            Slot::Word if self.form.mnemonic.starts_with(['J', 'C']) => Some(self.value),
            _ => None,
        }
    }
}

/// The meaning of an opcode.
#[derive(Debug, Clone, Copy)]
struct Entry {
    form: &'static Form,
    registers: [Option<Register>; 2],
    number: u8,
}

/// The opcode pages in the order of their tables.
const PREFIXES: [&[u8]; 7] =
    [&[], &[0xCB], &[0xED], &[0xDD], &[0xFD], &[0xDD, 0xCB], &[0xFD, 0xCB]];

type Page = [Option<Entry>; 256];

static PAGES: LazyLock<Box<[Page; 7]>> = LazyLock::new(|| {
    let mut pages = Box::new([[None; 256]; 7]);
    for form in FORMS.iter().filter(|form| form.status != Status::Alias) {
        add_form(&mut pages, form);
    }
    pages
});

fn add_form(pages: &mut [Page; 7], form: &'static Form) {
    for first in operand_encodings(form.slots[0]) {
        for second in operand_encodings(form.slots[1]) {
            let registers = [first.0, second.0];
            // A bit or restart number stands in the opcode where other operands have a register.
            let number = if first.0.is_none() { first.1 >> 3 } else { 0 };
            let entry = Entry { form, registers, number };
            pages[page(form, registers)][usize::from(form.opcode | first.1 | second.1)] =
                Some(entry);
        }
    }
}

/// Returns the operands that are valid in a slot: the register, if it is one, and the bits in the
/// opcode.
fn operand_encodings(slot: Slot) -> Vec<(Option<Register>, u8)> {
    match slot {
        Slot::None | Slot::Byte | Slot::Word | Slot::Relative => vec![(None, 0)],
        Slot::Bit | Slot::Restart => (0..8).map(|number| (None, number << 3)).collect(),
        Slot::Index => vec![(Some(Register::X), 0), (Some(Register::Y), 0)],
        _ => {
            let registers = Register::NAMES.iter().map(|(_, register)| *register);
            registers.filter_map(|one| Some((Some(one), one.bits(slot)?))).collect()
        }
    }
}

fn page(form: &Form, registers: [Option<Register>; 2]) -> usize {
    let index = form.slots.iter().zip(registers).find_map(|(slot, register)| {
        matches!(slot, Slot::Index | Slot::IndexPair).then_some(register).flatten()
    });
    match (form.prefix, index) {
        (Prefix::Cb, Some(Register::Y)) => 6,
        (Prefix::Cb, Some(_)) => 5,
        (Prefix::Y, _) | (_, Some(Register::Y)) => 4,
        (Prefix::X, _) | (_, Some(_)) => 3,
        (Prefix::Ed, None) => 2,
        (Prefix::Cb, None) => 1,
        (Prefix::None, None) => 0,
    }
}

/// The instruction at the start of `bytes`; `None` if there is none that this dialect can write, or
/// if the bytes end within it.
///
/// ```
/// let decoded = tdlasm::isa::decode(&[0xDD, 0x7E, 0xFF]).unwrap();
/// assert_eq!((decoded.form.mnemonic, decoded.displacement, decoded.length), ("MOV", -1, 3));
/// ```
pub fn decode(bytes: &[u8]) -> Option<Decoded> {
    // The longer prefixes come last.
    let page = PREFIXES.iter().rposition(|prefix| bytes.starts_with(prefix))?;
    let prefix = PREFIXES[page].len();
    // With both prefixes the displacement precedes the opcode.
    let opcode_at = prefix + usize::from(page > 4);
    let entry = PAGES[page][usize::from(*bytes.get(opcode_at)?)]?;
    let form = entry.form;
    let mut length = opcode_at + 1;
    let mut displacement = if page > 4 { bytes[prefix] as i8 } else { 0 };
    let mut value = u16::from(entry.number);
    for slot in form.slots {
        match slot {
            Slot::Index if page <= 4 => {
                displacement = *bytes.get(length)? as i8;
                length += 1;
            }
            Slot::Byte => {
                value = u16::from(*bytes.get(length)?);
                length += 1;
            }
            Slot::Relative => {
                value = (i16::from(*bytes.get(length)? as i8) + 2) as u16;
                length += 1;
            }
            Slot::Word => {
                value = u16::from_le_bytes([*bytes.get(length)?, *bytes.get(length + 1)?]);
                length += 2;
            }
            _ => {}
        }
    }
    Some(Decoded { form, registers: entry.registers, displacement, value, length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_its_documented_opcodes() {
        // Zilog documents 252 opcodes without prefix, 248 with CB, 39 with DD and FD, 31 with DD CB
        // and FD CB. Of the 58 with ED two have no name here; two undocumented ones have.
        let counts = PAGES.each_ref().map(|page| page.iter().flatten().count());
        assert_eq!(counts, [252, 248, 58, 39, 39, 31, 31]);
    }

    #[test]
    fn a_truncated_instruction_is_not_decoded() {
        assert_eq!(decode(&[0xC3, 0x00]), None);
        assert_eq!(decode(&[0xDD, 0xCB, 0x01]), None);
        assert_eq!(decode(&[]), None);
    }
}
