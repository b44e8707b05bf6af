//! The errors of reading and writing TDL objects.

/// The cause of a [`TdlError`](super::TdlError).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TdlProblem {
    /// A character that does not begin a record.
    #[error("{} does not begin a record of a TDL object", shown(*.0))]
    Kind(u8),
    /// The file ends inside the record.
    #[error("the file ends within it")]
    Cut,
    /// A character that is not a hexadecimal digit.
    #[error("{} is not a hexadecimal digit", shown(*.0))]
    Digit(u8),
    /// A character that is not valid in a name.
    #[error("{} is not valid in a name", shown(*.0))]
    Name(u8),
    /// A wrong checksum.
    #[error(
        "its checksum is {found:02X}H, but its fields give {expected:02X}H; copy the file again"
    )]
    Checksum {
        /// The checksum in the file.
        found: u8,
        /// The checksum of the fields.
        expected: u8,
    },
    /// The control bits need more bytes than there are.
    #[error("its control bits ask for more bytes than it has")]
    Stream,
    /// The code passes the last address.
    #[error("its code goes past FFFFH")]
    Long,
    /// A base that was not declared.
    #[error("relocation base {0} is not declared before")]
    UnknownBase(u8),
    /// A base that is predefined, or declared for the second time.
    #[error("relocation base {0} cannot be declared here")]
    Base(u8),
    /// Code for an external area, of which modules contain only the size.
    #[error("it has code for the shared area {0}, which can only be reserved")]
    Shared(String),
    /// A symbol in an external area, which modules cannot express.
    #[error("{0} is a place in a shared area, which cannot be linked")]
    InShared(String),
    /// A symbol without a name.
    #[error("a symbol has no name")]
    NoName,
    /// A second definition or declaration.
    #[error("{0} is declared or defined twice")]
    Twice(String),
    /// An entry point without a value.
    #[error("no earlier record gives the entry point {0} a value")]
    Entry(String),
    /// A record that must precede the code of its module, or follow its end.
    #[error("the previous module has no end record")]
    NotEnded,
    /// Intel HEX instead of relocatable code.
    #[error(
        "the code is Intel HEX (.PABS), which does not say what its words move with; \
         assemble with .PREL"
    )]
    Hex,
    /// The file has no modules.
    #[error("the file contains no module")]
    Empty,
}

/// Error returned by [`write_tdl`](super::write_tdl) for what a TDL object cannot express.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TdlWriteError {
    /// A symbol whose name is not valid in a TDL object.
    #[error(
        "module {module}: {symbol} is not a name for a TDL object: \
         that has one to six of A-Z, 0-9, $, % and ."
    )]
    Name {
        /// The module.
        module: String,
        /// The symbol, with its source line if that is known.
        symbol: String,
    },
    /// A relocated field of 8 bits.
    #[error(
        "module {module}, {at}: a byte depends on {target}, and TDL objects relocate words only; \
         write an ELF object (.o)"
    )]
    Byte {
        /// The module.
        module: String,
        /// The nearest label before the field and the distance from it, or section and offset.
        at: String,
        /// The symbol or section that the byte depends on.
        target: String,
    },
    /// A relocated word outside of the bytes of its section, or overlapping another.
    #[error("module {module}, {at}: a relocated word is not within the bytes of its section")]
    Outside {
        /// The module.
        module: String,
        /// The position of the word.
        at: String,
    },
    /// More externals than there are base numbers.
    #[error("module {module} has {count} externals; a TDL object has room for 252")]
    Externals {
        /// The module.
        module: String,
        /// The number of its externals.
        count: usize,
    },
    /// A section whose size does not fit a word.
    #[error("module {module}: {section} ends with reserved space at FFFFH; reserve a byte less")]
    Size {
        /// The module.
        module: String,
        /// The section's TDL name.
        section: &'static str,
    },
}

pub(super) type WriteResult<T = ()> = Result<T, TdlWriteError>;

fn shown(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("'{}'", char::from(byte))
    } else {
        format!("byte {byte:02X}H")
    }
}
