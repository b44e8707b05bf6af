//! Functions of C: their types, and where calling conventions have arguments and results.
//!
//! The conventions are those of SDCC 4.2's manual and of z88dk's wiki, "CallingConventions".

use std::collections::HashSet;

use cli_support::text::Escape;
use program_formats::Parameter;

/// A calling convention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Convention {
    order: Order,
    /// Whether the function removes its arguments from the stack whatever it returns.
    is_callee: bool,
}

/// Where arguments and results are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// SDCC's default since 4.2: the first ones in registers.
    SdccCall1,
    /// SDCC's before: on the stack.
    SdccCall0,
    /// A single one, in registers.
    Fastcall,
    /// z88dk's default: from left to right, each of at least two bytes.
    SmallC,
}

impl Convention {
    /// The conventions by their words in test files; `callee` is SDCC's `__z88dk_callee`.
    pub(crate) const WORDS: [(&str, Self); 7] = [
        ("sdcccall1", Self::DEFAULT),
        ("sdcccall0", Self { order: Order::SdccCall0, is_callee: false }),
        ("callee", Self { order: Order::SdccCall0, is_callee: true }),
        ("z88dk-fastcall", Self { order: Order::Fastcall, is_callee: false }),
        ("smallc", Self { order: Order::SmallC, is_callee: false }),
        ("sdcccall1-callee", Self { order: Order::SdccCall1, is_callee: true }),
        ("smallc-callee", Self { order: Order::SmallC, is_callee: true }),
    ];
    /// That of SDCC since 4.2.
    pub(crate) const DEFAULT: Self = Self { order: Order::SdccCall1, is_callee: false };

    /// Returns the default that SDCC notes in a module since 4.3: `.optsdcc -mz80 sdcccall(1)` in its
    /// source and listing, `O -mz80 sdcccall(1)` in its object.
    pub(crate) fn noted_in(module: &str) -> Option<Self> {
        let is_note = |line: &&str| line.contains("\t.optsdcc ") || line.starts_with("O ");
        let (_, number) = module.lines().find(is_note)?.split_once(" sdcccall(")?;
        match number.trim_end() {
            "0)" => Some(Self { order: Order::SdccCall0, is_callee: false }),
            "1)" => Some(Self::DEFAULT),
            _ => None,
        }
    }

    /// Returns the registers of a result or of the only argument, from the highest byte on.
    fn result_registers(self, bytes: u16) -> &'static [&'static str] {
        match (self.order, bytes) {
            (_, 0) => &[],
            (Order::SdccCall1, 1) => &["A"],
            (Order::SdccCall1, 2) => &["DE"],
            (Order::SdccCall1, _) => &["HL", "DE"],
            (_, 1) => &["L"],
            (_, 2) => &["HL"],
            (_, _) => &["DE", "HL"],
        }
    }

    /// Returns the registers of each of the first arguments, from the highest byte on; the others
    /// are on the stack.
    fn argument_registers(self, types: &[CType]) -> Vec<&'static [&'static str]> {
        let bytes: Vec<_> = types.iter().map(|one| one.bytes).collect();
        match (self.order, &bytes[..]) {
            (Order::SdccCall1, [1, 1, ..]) => vec![&["A"], &["L"]],
            (Order::SdccCall1, [1, 2, ..]) => vec![&["A"], &["DE"]],
            (Order::SdccCall1, [2, 2, ..]) => vec![&["HL"], &["DE"]],
            (Order::SdccCall1, [1, ..]) => vec![&["A"]],
            (Order::SdccCall1, [2, ..]) => vec![&["HL"]],
            (Order::SdccCall1, [4, ..]) => vec![&["HL", "DE"]],
            (Order::Fastcall, [bytes]) => vec![self.result_registers(*bytes)],
            _ => Vec::new(),
        }
    }

    /// Returns how many bytes of arguments a function removes from the stack.
    fn removed(self, bytes: usize, result: CType) -> u16 {
        let is_callee = self.is_callee || self.order == Order::SdccCall1 && result.bytes <= 2;
        if is_callee { bytes as u16 } else { 0 }
    }
}

/// An integer type, or a pointer; without bytes `void`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CType {
    pub(crate) bytes: u16,
    is_signed: bool,
}

impl CType {
    /// Returns the least and the greatest value, by which negative numbers are accepted for unsigned
    /// types, too.
    pub(crate) fn limits(self) -> (i64, i64) {
        let limit = 1 << (8 * self.bytes);
        (-(limit / 2), limit - 1)
    }

    /// Returns the bits of a value.
    fn mask(self) -> u32 {
        u32::MAX >> (32 - 8 * self.bytes.clamp(1, 4))
    }

    /// Returns the value that these bits have.
    pub(crate) fn value(self, bits: u32) -> i64 {
        let unused = 64 - 8 * u32::from(self.bytes);
        let moved = i64::from(bits) << unused;
        if self.is_signed { moved >> unused } else { (moved as u64 >> unused) as i64 }
    }

    /// Parses a type without a name.
    fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<_> = text.split_whitespace().filter(|word| !is_qualifier(word)).collect();
        let has = |word: &str| words.contains(&word);
        let unsupported = |what: &str| Err(format!("'{}': {what}", text.trim().escaped()));
        if text.contains(['*', '[']) {
            return Ok(Self { bytes: 2, is_signed: false });
        }
        if has("struct") || has("union") {
            return unsupported("a struct is passed in memory of the compiler's: test a pointer");
        }
        if has("float") || has("double") || words.iter().filter(|word| **word == "long").count() > 1
        {
            return unsupported("expected an integer of up to 32 bits, or a pointer");
        }
        let is_signed = !has("unsigned") && !words.iter().any(|word| word.starts_with('u'));
        let (bytes, is_signed) = match () {
            () if words == ["void"] => (0, false),
            // Plain char is unsigned in SDCC.
            () if has("char") => (1, has("signed")),
            () if has("bool") || has("_Bool") => (1, false),
            () if has("int8_t") || has("uint8_t") => (1, is_signed),
            () if has("long") || has("int32_t") || has("uint32_t") => (4, is_signed),
            () if ["size_t", "uintptr_t"].into_iter().any(has) => (2, false),
            () if ["int", "short", "signed", "unsigned", "int16_t", "uint16_t"]
                .into_iter()
                .any(has) =>
            {
                (2, is_signed)
            }
            () => return unsupported("unknown type: expected one such as int, uint8_t or char *"),
        };
        Ok(Self { bytes, is_signed })
    }
}

/// Words of a type that do not change how a value is passed.
fn is_qualifier(word: &str) -> bool {
    matches!(word, "const" | "volatile" | "static" | "extern" | "register" | "inline" | "restrict")
}

/// The declaration of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) name: String,
    result: CType,
    pub(crate) parameters: Vec<CType>,
    /// The name of the first parameter, if it has one.
    first: String,
}

/// Where a call has its arguments and its result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PlacedCall {
    pub(crate) registers: Vec<(&'static str, u16)>,
    /// The bytes on the stack, the one above the return address first.
    pub(crate) stack: Vec<u8>,
    /// How many of them the function removes.
    pub(crate) removed: u16,
}

/// An expected result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedResult {
    pub(crate) function: String,
    pub(crate) kind: CType,
    /// Where it is, from the highest byte on.
    pub(crate) registers: &'static [&'static str],
    pub(crate) value: i64,
}

impl Signature {
    /// Parses a declaration such as `int mul16(int a, int b)`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            let text = text.escaped();
            format!("'{text}': expected a declaration such as int mul16(int a, int b)")
        };
        let (head, tail) = text.split_once('(').ok_or_else(wrong)?;
        let (parameters, _) = tail.rsplit_once(')').ok_or_else(wrong)?;
        let head = head.trim_end();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let kind = head.trim_end_matches(is_name);
        let name = head[kind.len()..].to_owned();
        if name.is_empty() || kind.trim().is_empty() || parameters.contains("...") {
            return Err(wrong());
        }
        let parameter = |text: &str| {
            let unnamed = text.trim_end().trim_end_matches(is_name);
            CType::parse(text).or_else(|error| CType::parse(unnamed).map_err(|_| error))
        };
        let all = parameters.trim();
        let parameters = match all {
            "" | "void" => Vec::new(),
            all => all.split(',').map(parameter).collect::<Result<_, _>>()?,
        };
        if parameters.iter().any(|one| one.bytes == 0) {
            return Err(wrong());
        }
        let first = all.split(',').next().unwrap_or_default().trim_end();
        let first = first[first.trim_end_matches(is_name).len()..].to_owned();
        Ok(Self { name, result: CType::parse(kind)?, parameters, first })
    }

    /// Returns the convention by the places of parameters; without those of this function, that
    /// noted in its module, or by the parameters of others; `None` if nothing is known.
    /// `__z88dk_callee` does not change the places.
    pub(crate) fn convention_in(
        &self,
        known: &[Parameter],
        noted: Option<Convention>,
    ) -> Option<Convention> {
        let functions = |all: bool| -> HashSet<&str> {
            let some = known.iter().filter(|one| all || one.offset.is_none());
            some.map(|one| &*one.function).collect()
        };
        let is_call1 = match noted {
            Some(noted) => noted.order == Order::SdccCall1,
            None => 2 * functions(false).len() >= functions(true).len(),
        };
        let Some(of_z88dk) = known.first().map(|one| one.of_z88dk) else { return noted };
        let own = || known.iter().filter(|one| one.function == self.name);
        let first = own().find(|one| one.name == self.first).and_then(|one| one.offset);
        let is_last_on_stack = first > own().filter_map(|one| one.offset).min();
        let order = match own().any(|one| one.offset.is_none()) {
            true if of_z88dk || !is_call1 && self.parameters.len() == 1 => Order::Fastcall,
            true => Order::SdccCall1,
            false if of_z88dk || is_last_on_stack => Order::SmallC,
            false if own().next().is_none() && is_call1 => Order::SdccCall1,
            false => Order::SdccCall0,
        };
        Some(Convention { order, is_callee: false })
    }

    /// Returns where a call has these arguments.
    pub(crate) fn place(
        &self,
        convention: Convention,
        arguments: &[u32],
    ) -> Result<PlacedCall, String> {
        let count = self.parameters.len();
        if arguments.len() != count {
            let name = &self.name;
            return Err(format!("{name} takes {count} arguments, not {}", arguments.len()));
        }
        if convention.order == Order::Fastcall && count != 1 {
            return Err(format!("{}: z88dk-fastcall is for one argument", self.name));
        }
        let mut placed = PlacedCall::default();
        let registers = convention.argument_registers(&self.parameters);
        for ((registers, kind), argument) in registers.iter().zip(&self.parameters).zip(arguments) {
            let argument = argument & kind.mask();
            let parts = registers.iter().rev().zip([argument, argument >> 16]);
            placed.registers.extend(parts.map(|(name, value)| (*name, value as u16)));
        }
        let mut rest: Vec<_> =
            self.parameters.iter().zip(arguments).skip(registers.len()).collect();
        let mut least = 1;
        if convention.order == Order::SmallC {
            rest.reverse();
            least = 2;
        }
        for (kind, argument) in rest {
            let bytes = argument.to_le_bytes();
            placed.stack.extend(&bytes[..usize::from(kind.bytes.max(least))]);
        }
        placed.removed = convention.removed(placed.stack.len(), self.result);
        Ok(placed)
    }

    /// Returns what is expected of the result; `None` of a function without one.
    pub(crate) fn expected(&self, convention: Convention, value: i64) -> Option<ExpectedResult> {
        let registers = convention.result_registers(self.result.bytes);
        let (function, kind) = (self.name.clone(), self.result);
        (kind.bytes > 0).then_some(ExpectedResult { function, kind, registers, value })
    }
}

/// Splits a call such as `mul16(300, -7)` into the name and the arguments; `None` if it is none.
pub(crate) fn split_call(text: &str) -> Option<(&str, Vec<&str>)> {
    let (name, arguments) = text.trim().strip_suffix(')')?.split_once('(')?;
    let arguments = arguments.trim();
    let arguments = match arguments.is_empty() {
        true => Vec::new(),
        false => arguments.split(',').map(str::trim).collect(),
    };
    Some((name.trim(), arguments))
}

/// Parses a number as C writes it; `None` for anything else.
pub(crate) fn parse_c_number(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits.trim_start()),
        None => (1, text),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    value.ok().map(|value| sign * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_sizes_and_signs() {
        for (text, bytes, is_signed) in [
            ("int", 2, true),
            ("unsigned", 2, false),
            ("const uint8_t", 1, false),
            ("char", 1, false),
            ("signed char", 1, true),
            ("unsigned long", 4, false),
            ("long int", 4, true),
            ("const char *", 2, false),
            ("struct point *", 2, false),
            ("void", 0, false),
        ] {
            assert_eq!(CType::parse(text), Ok(CType { bytes, is_signed }), "{text}");
        }
        for wrong in ["float", "struct point", "long long", "point"] {
            assert!(CType::parse(wrong).is_err(), "{wrong}");
        }
        let int = CType { bytes: 2, is_signed: true };
        assert_eq!((int.value(0xFFFF), int.limits()), (-1, (-32_768, 65_535)));
    }

    #[test]
    fn declarations_have_a_name_and_a_type_for_each_parameter() {
        let signature = Signature::parse("static uint32_t add(unsigned char a, int *p, long)");
        let signature = signature.expect("a declaration");
        assert_eq!((signature.name.as_str(), signature.result.bytes), ("add", 4));
        let bytes: Vec<_> = signature.parameters.iter().map(|one| one.bytes).collect();
        assert_eq!(bytes, [1, 2, 4]);
        let none = Signature::parse("void stop(void)").expect("a declaration");
        assert!(none.parameters.is_empty() && none.expected(Convention::DEFAULT, 0).is_none());
        for wrong in ["mul", "mul(int)", "int mul(int", "int (int)", "int printf(char *, ...)"] {
            assert!(Signature::parse(wrong).is_err(), "{wrong}");
        }
    }

    /// Lines of a source, an object and a listing of SDCC 4.5.0, and of 4.2.0.
    #[test]
    fn the_default_convention_is_noted_in_modules_of_sdcc() {
        let word = |text| {
            let found = Convention::noted_in(text)?;
            Convention::WORDS.into_iter().find(|(_, one)| *one == found).map(|(word, _)| word)
        };
        assert_eq!(word("\t.module x\n\t.optsdcc -mz80 sdcccall(1)\n"), Some("sdcccall1"));
        assert_eq!(word("XL4\r\nM x\r\nO -mz80 sdcccall(0)\r\n"), Some("sdcccall0"));
        let listing = "                                      7 \t.optsdcc -mz80 sdcccall(0)\n";
        assert_eq!(word(listing), Some("sdcccall0"));
        for text in ["\t.optsdcc -mz80\n", "O -mz80\n", "; .optsdcc -mz80 sdcccall(0)\n", ""] {
            assert_eq!(word(text), None, "{text}");
        }
    }

    /// The table of SDCC's manual and z88dk's wiki, by a function of arguments of all widths.
    #[test]
    fn each_convention_places_arguments_of_all_widths() {
        let signature = Signature::parse("int mixed(char a, int b, long c, char *p)");
        let signature = signature.expect("a declaration");
        let arguments = [1, 0x0302, 0x0706_0504, 0x0908];
        let convention = |word: &str| {
            let found = Convention::WORDS.into_iter().find(|(one, _)| *one == word);
            found.map(|(_, convention)| convention).expect("a word")
        };
        let placed = |word| signature.place(convention(word), &arguments).expect("placed");
        let all = vec![1, 2, 3, 4, 5, 6, 7, 8, 9];
        let found = placed("sdcccall1");
        assert_eq!(found.registers, [("A", 1), ("DE", 0x0302)]);
        assert_eq!((found.stack, found.removed), (all[3..].to_vec(), 6));
        let found = placed("sdcccall0");
        assert_eq!((found.registers.len(), found.stack, found.removed), (0, all, 0));
        assert_eq!(placed("callee").removed, 9);
        let found = placed("smallc");
        assert_eq!((found.stack, found.removed), (vec![8, 9, 4, 5, 6, 7, 2, 3, 1, 0], 0));
        assert_eq!(placed("smallc-callee").removed, 10);
        assert!(signature.place(convention("z88dk-fastcall"), &arguments).is_err());
        let half = Signature::parse("long half(long a)").expect("a declaration");
        let placed = half.place(convention("z88dk-fastcall"), &[0x0001_0002]).expect("placed");
        assert_eq!(placed.registers, [("HL", 2), ("DE", 1)]);
        let placed = half.place(Convention::DEFAULT, &[0x0001_0002]).expect("placed");
        assert_eq!(placed.registers, [("DE", 2), ("HL", 1)]);
    }
}
