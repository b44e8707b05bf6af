//! The spelling of a single name in the other dialect, regardless of other names.

use tdlasm::isa::zilog::is_operand;
use tdlasm::syntax::zilog::operator;

use super::super::options::Dialect;
use crate::mnemonics::{self, Language};

/// Other words that have a meaning there, mnemonics, operators and our directives aside.
const RESERVED: [&str; 20] = [
    "NOT", "HIGH", "LOW", "NUL", "DEFINED", "IF", "ELSE", "ENDIF", "MACRO", "ENDM", "REPT", "IRP",
    "IRPC", "LOCAL", "EXITM", "PROC", "ENDP", "INCBIN", "SLL", "SLI",
];

/// Whether a spelling has a meaning of its own in the dialect that is written.
pub(super) fn is_reserved(from: Dialect, name: &[u8]) -> bool {
    match from {
        Dialect::Tdl => is_zilog_word(name),
        Dialect::Zilog => is_tdl_word(name),
    }
}

fn is_zilog_word(name: &[u8]) -> bool {
    is_operand(name)
        || mnemonics::is_zilog_mnemonic(name)
        || mnemonics::zilog_directive(name).is_some()
        || operator(name).is_some()
        || RESERVED.iter().any(|word| name.eq_ignore_ascii_case(word.as_bytes()))
}

fn is_tdl_word(name: &[u8]) -> bool {
    name == b"." || mnemonics::is_section(name) || Language::default().class(name).is_some()
}

/// Returns `true` if a name needs a leading underscore in Zilog's dialect: one of the
/// assemblers takes the `B` of `B_OVER` for the register.
fn needs_escape(name: &[u8]) -> bool {
    let first = name.split(|byte| *byte == b'_').next().unwrap_or_default();
    is_zilog_word(name) || first.len() < name.len() && is_operand(first)
}

/// The spelling of a name that is not local.
pub(super) fn global(from: Dialect, name: &[u8]) -> Vec<u8> {
    match from {
        Dialect::Tdl => {
            let mut spelling = letters(from, name);
            if needs_escape(&spelling) {
                spelling.insert(0, b'_');
            }
            spelling
        }
        Dialect::Zilog => {
            let escaped = name.strip_prefix(b"_").filter(|rest| needs_escape(rest));
            let mut spelling = letters(from, escaped.unwrap_or(name));
            // Two periods would make it local.
            while spelling.starts_with(b"..") {
                spelling.remove(0);
            }
            if spelling == b"." {
                spelling = b"$".to_vec();
            }
            if is_tdl_word(&spelling) {
                spelling.push(b'.');
            }
            if is_tdl_word(&spelling) {
                spelling[0] = b'$';
            }
            spelling
        }
    }
}

/// The spelling of a local name, given without its local prefix.
pub(super) fn local(from: Dialect, rest: &[u8]) -> Vec<u8> {
    let mark: &[u8] = if from == Dialect::Tdl { b"__" } else { b".." };
    [mark, &letters(from, rest)].concat()
}

/// Replaces the characters that the other dialect does not allow.
fn letters(from: Dialect, name: &[u8]) -> Vec<u8> {
    let letter = |byte: &u8| match (from, *byte) {
        (Dialect::Tdl, b'.' | b'$' | b'%') => b'_',
        (Dialect::Zilog, b'_') => b'.',
        (Dialect::Zilog, b'?') => b'%',
        (Dialect::Zilog, b'@') => b'$',
        (_, other) => other,
    };
    name.iter().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(name: &str) -> (String, String) {
        let there = global(Dialect::Tdl, name.as_bytes());
        let back = global(Dialect::Zilog, &there);
        [there, back].map(|name| String::from_utf8(name).unwrap()).into()
    }

    #[test]
    fn names_that_would_be_misread_are_escaped_and_come_back() {
        for (name, there) in [
            ("O.ATKL", "O_ATKL"),
            ("B.OVER", "_B_OVER"),
            ("NZ", "_NZ"),
            ("LD", "_LD"),
            (".X1", "_X1"),
            ("START", "START"),
        ] {
            assert_eq!(there_and_back(name), (there.into(), name.into()));
        }
    }

    #[test]
    fn keywords_of_tdl_are_not_names_in_zilogs_dialect() {
        for (name, there) in
            [("X", "X."), ("mov", "mov."), ("_END", "END"), (".end", ".end."), ("a?b", "a%b")]
        {
            assert_eq!(global(Dialect::Zilog, name.as_bytes()), there.as_bytes());
        }
    }
}
