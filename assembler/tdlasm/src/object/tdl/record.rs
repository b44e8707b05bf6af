//! Encodes and decodes records: kinds, fields and checksums, in hexadecimal digits or plain bytes.

#![deny(clippy::cast_possible_truncation)]

use crate::syntax::lex::is_symbol;

/// How the fields of records are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// `.PHEX`.
    Hex,
    /// `.PBIN`.
    Binary,
}

/// A name of six characters, padded with blanks.
pub(super) type Name = [u8; 6];

/// A name with its base and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: Name,
    pub(super) base: u8,
    /// A value, or a size in bytes.
    pub(super) value: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record {
    /// `!`
    Module(Name),
    /// PASM's `+`: name, version and revision. Date and time are blank.
    Program(Name, u8, u8),
    /// `@`
    EntryPoints(Vec<Name>),
    /// `\`
    Bases(Vec<Entry>),
    /// `#`
    Exports(Vec<Entry>),
    /// `&`
    Symbols(Vec<Entry>),
    /// `;` with the bytes of a control and data stream, or `:`, Intel HEX with the base as record
    /// type, with plain bytes. Without bytes it ends the module and has its start address.
    Code { is_hex: bool, address: u16, base: u8, bytes: Vec<u8> },
}

pub(super) fn text(name: Name) -> String {
    name.iter().map(|byte| char::from(*byte)).collect::<String>().trim_end().to_owned()
}

pub(super) struct Input<'d> {
    data: &'d [u8],
    /// The offset of the next byte.
    pub(super) at: usize,
    encoding: Encoding,
    sum: u8,
}

type Read<T> = Result<T, String>;

impl<'d> Input<'d> {
    pub(super) fn new(data: &'d [u8], encoding: Encoding) -> Self {
        Self { data, at: 0, encoding, sum: 0 }
    }

    /// Moves to the next record. Returns `false` at the end, which is marked by 1AH on CP/M, where
    /// file sizes are multiples of 128 bytes.
    pub(super) fn find_record(&mut self) -> bool {
        let rest = &self.data[self.at..];
        let skip = rest.iter().position(|byte| !b"\r\n \t\0".contains(byte)).unwrap_or(rest.len());
        self.at += skip;
        self.data.get(self.at).is_some_and(|byte| *byte != 0x1A)
    }

    /// Reads the record at the cursor.
    pub(super) fn record(&mut self) -> Read<Record> {
        let record = self.fields()?;
        let expected = self.sum.wrapping_neg();
        let found = self.byte()?;
        if found != expected {
            return Err(format!(
                "its checksum is {found:02X}H, but its fields give {expected:02X}H; copy the file \
                 again"
            ));
        }
        Ok(record)
    }

    /// Reads a record without its checksum.
    pub(super) fn fields(&mut self) -> Read<Record> {
        let kind = self.take()?;
        self.sum = 0;
        Ok(match kind {
            b'!' => Record::Module(self.name()?),
            b'+' => self.program()?,
            b'@' => Record::EntryPoints(self.list(Self::name)?),
            b'\\' => Record::Bases(self.list(Self::entry)?),
            b'#' => Record::Exports(self.list(Self::entry)?),
            b'&' => Record::Symbols(self.list(Self::entry)?),
            b';' | b':' => self.code(kind == b':')?,
            other => {
                return Err(format!("{} does not begin a record of a TDL object", shown(other)));
            }
        })
    }

    fn program(&mut self) -> Read<Record> {
        let program = Record::Program(self.characters()?, self.byte()?, self.byte()?);
        self.characters()?; // the date
        self.characters()?; // the time
        Ok(program)
    }

    fn code(&mut self, is_hex: bool) -> Read<Record> {
        let count = self.byte()?;
        let (address, base) = (self.word()?, self.byte()?);
        let bytes = (0..count).map(|_| self.byte()).collect::<Read<_>>()?;
        Ok(Record::Code { is_hex, address, base, bytes })
    }

    fn list<T>(&mut self, one: impl Fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.byte()?;
        (0..count).map(|_| one(self)).collect()
    }

    fn entry(&mut self) -> Read<Entry> {
        Ok(Entry { name: self.name()?, base: self.byte()?, value: self.word()? })
    }

    /// Reads a name in capitals: symbol characters, then blanks.
    fn name(&mut self) -> Read<Name> {
        let name = self.characters()?.map(|byte| byte.to_ascii_uppercase());
        let length = name.iter().position(|byte| *byte == b' ').unwrap_or(name.len());
        let (letters, blanks) = name.split_at(length);
        let wrong = letters.iter().find(|byte| !is_symbol(**byte));
        match wrong.or_else(|| blanks.iter().find(|byte| **byte != b' ')) {
            Some(wrong) => Err(format!("{} is not valid in a name", shown(*wrong))),
            None => Ok(name),
        }
    }

    fn characters(&mut self) -> Read<Name> {
        let mut name = Name::default();
        for place in &mut name {
            *place = self.take()?;
            self.sum = self.sum.wrapping_add(*place);
        }
        Ok(name)
    }

    fn word(&mut self) -> Read<u16> {
        Ok(u16::from_be_bytes([self.byte()?, self.byte()?]))
    }

    pub(super) fn byte(&mut self) -> Read<u8> {
        let byte = match self.encoding {
            Encoding::Binary => self.take()?,
            Encoding::Hex => self.digit()? << 4 | self.digit()?,
        };
        self.sum = self.sum.wrapping_add(byte);
        Ok(byte)
    }

    fn digit(&mut self) -> Read<u8> {
        let character = self.take()?;
        match character {
            b'0'..=b'9' => Ok(character - b'0'),
            b'A'..=b'F' => Ok(character - b'A' + 10),
            b'a'..=b'f' => Ok(character - b'a' + 10),
            _ => Err(format!("{} is not a hexadecimal digit", shown(character))),
        }
    }

    fn take(&mut self) -> Read<u8> {
        let byte = *self.data.get(self.at).ok_or("the file ends within it")?;
        self.at += 1;
        Ok(byte)
    }
}

fn shown(byte: u8) -> String {
    match byte.is_ascii_graphic() {
        true => format!("'{}'", char::from(byte)),
        false => format!("byte {byte:02X}H"),
    }
}

pub(super) struct Output {
    encoding: Encoding,
    pub(super) bytes: Vec<u8>,
    sum: u8,
}

impl Output {
    pub(super) fn new(encoding: Encoding) -> Self {
        Self { encoding, bytes: Vec::new(), sum: 0 }
    }

    /// Writes a record. Lists have at most 255 elements and streams at most 255 bytes.
    pub(super) fn record(&mut self, record: &Record) {
        match record {
            Record::Module(name) => self.begin(b'!').characters(name),
            Record::Program(name, version, revision) => {
                self.begin(b'+').characters(name);
                self.byte(*version);
                self.byte(*revision);
                (0..2).for_each(|_| self.characters(b"      "));
            }
            Record::EntryPoints(names) => {
                self.begin(b'@').count(names.len());
                names.iter().for_each(|name| self.characters(name));
            }
            Record::Bases(entries) => self.begin(b'\\').entries(entries),
            Record::Exports(entries) => self.begin(b'#').entries(entries),
            Record::Symbols(entries) => self.begin(b'&').entries(entries),
            Record::Code { is_hex, address, base, bytes } => {
                self.begin(if *is_hex { b':' } else { b';' }).count(bytes.len());
                self.word(*address);
                self.byte(*base);
                bytes.iter().for_each(|byte| self.byte(*byte));
            }
        }
        self.byte(self.sum.wrapping_neg());
    }

    fn begin(&mut self, kind: u8) -> &mut Self {
        if self.encoding == Encoding::Hex {
            self.bytes.extend_from_slice(b"\r\n");
        }
        self.bytes.push(kind);
        self.sum = 0;
        self
    }

    fn entries(&mut self, entries: &[Entry]) {
        self.count(entries.len());
        for entry in entries {
            self.characters(&entry.name);
            self.byte(entry.base);
            self.word(entry.value);
        }
    }

    fn characters(&mut self, name: &Name) {
        self.bytes.extend_from_slice(name);
        self.sum = name.iter().fold(self.sum, |sum, byte| sum.wrapping_add(*byte));
    }

    fn word(&mut self, word: u16) {
        word.to_be_bytes().into_iter().for_each(|byte| self.byte(byte));
    }

    fn count(&mut self, count: usize) {
        self.byte(u8::try_from(count).expect("a record's count is one byte"));
    }

    fn byte(&mut self, byte: u8) {
        match self.encoding {
            Encoding::Binary => self.bytes.push(byte),
            Encoding::Hex => self.bytes.extend_from_slice(format!("{byte:02X}").as_bytes()),
        }
        self.sum = self.sum.wrapping_add(byte);
    }
}
