//! Finds symbols by the names that users type.

use std::collections::HashMap;

use crate::Symbol;

/// The values of symbols by name. Names keep their case and all their characters; names that differ
/// only in case are different symbols, as those of C.
#[derive(Debug, Clone, Default)]
pub struct SymbolTable {
    /// The names and values by the name in capitals, without spaces around it.
    by_capitals: HashMap<String, Vec<(String, i64)>>,
}

/// Error returned for a name without a value that is an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SymbolError {
    /// Several symbols have the name, with different values.
    #[error(
        "'{}' is ambiguous: {}; give an address",
        name.escape_debug(),
        symbols
            .iter()
            .map(|(name, value)| format!("{} is {value:04X}H", name.escape_debug()))
            .collect::<Vec<_>>()
            .join(", ")
    )]
    Ambiguous {
        /// The name.
        name: String,
        /// The names and values of the symbols.
        symbols: Vec<(String, i64)>,
    },
    /// The value does not fit in 16 bits.
    #[error("'{}' is {value}, which is not an address", name.escape_debug())]
    NotAnAddress {
        /// The name.
        name: String,
        /// The value.
        value: i64,
    },
}

impl SymbolTable {
    /// Adds a symbol; another value of the same name makes it ambiguous.
    pub fn add(&mut self, name: &str, value: i64) {
        let known = self.by_capitals.entry(key(name)).or_default();
        if !known.iter().any(|(other, same)| other == name && *same == value) {
            known.push((name.to_owned(), value));
        }
    }

    /// Adds symbols.
    pub fn add_all(&mut self, symbols: &[Symbol]) {
        for symbol in symbols {
            self.add(&symbol.name, symbol.value);
        }
    }

    /// Adds the symbols of another table, which replace those of the same names in any case.
    pub fn replace_with(&mut self, other: Self) {
        self.by_capitals.extend(other.by_capitals);
    }

    /// Returns the value of the symbol with this name; or else that of the C name, which has an
    /// underscore before it or not; or else the same in another case. Negative values are modulo
    /// 65,536.
    ///
    /// # Errors
    /// Returns [`SymbolError`] if there are several, with different values, or if the value is not
    /// an address.
    pub fn find(&self, name: &str) -> Result<Option<u16>, SymbolError> {
        let name = name.trim();
        let with_underscore = format!("_{name}");
        let mut names = vec![name, &with_underscore];
        names.extend(name.strip_prefix('_'));
        for exact in [true, false] {
            for name in &names {
                let found = self.named(name, exact);
                if let Some(value) = only_value(name, &found)? {
                    return address(name, value).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn named(&self, name: &str, exact: bool) -> Vec<(String, i64)> {
        let in_any_case = self.by_capitals.get(&key(name)).map_or(&[][..], Vec::as_slice);
        let is_named = |other: &str| !exact || other.trim() == name;
        in_any_case.iter().filter(|(other, _)| is_named(other)).cloned().collect()
    }
}

fn key(name: &str) -> String {
    name.trim().to_uppercase()
}

fn only_value(name: &str, symbols: &[(String, i64)]) -> Result<Option<i64>, SymbolError> {
    let Some((_, value)) = symbols.first() else { return Ok(None) };
    if symbols.iter().all(|(_, other)| other == value) {
        return Ok(Some(*value));
    }
    Err(SymbolError::Ambiguous { name: name.to_owned(), symbols: symbols.to_vec() })
}

fn address(name: &str, value: i64) -> Result<u16, SymbolError> {
    let wrapped = if value < 0 { value + 0x1_0000 } else { value };
    let not_an_address = |_| SymbolError::NotAnAddress { name: name.to_owned(), value };
    u16::try_from(wrapped).map_err(not_an_address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(symbols: &[(&str, i64)]) -> SymbolTable {
        let mut table = SymbolTable::default();
        for (name, value) in symbols {
            table.add(name, *value);
        }
        table
    }

    #[test]
    fn names_that_differ_in_case_are_different_symbols() {
        let mut symbols =
            table(&[("foo", 0x8000), ("Foo", 0x8010), ("BAR", 1), ("BAR", 1), ("bar", 1)]);
        assert_eq!(symbols.find("foo"), Ok(Some(0x8000)));
        assert_eq!(symbols.find("Foo"), Ok(Some(0x8010)));
        assert_eq!(symbols.find("Bar"), Ok(Some(1)), "all have the same value");
        assert_eq!(symbols.find("baz"), Ok(None));
        let error = symbols.find("FOO").expect_err("two symbols").to_string();
        assert_eq!(error, "'FOO' is ambiguous: foo is 8000H, Foo is 8010H; give an address");
        symbols.add("foo", 0x9000);
        assert!(symbols.find("foo").is_err(), "two modules have the name");
        symbols.replace_with(table(&[("FOO", 2)]));
        assert_eq!(symbols.find("foo"), Ok(Some(2)));
    }

    #[test]
    fn c_names_are_found_with_and_without_the_underscore() {
        let symbols = table(&[("_main", 0x8000), ("MAIN", 0x100), ("isr", 0x38), ("_Mul", 5)]);
        assert_eq!(symbols.find("main"), Ok(Some(0x8000)));
        assert_eq!(symbols.find("MAIN"), Ok(Some(0x100)));
        assert_eq!(symbols.find("_isr"), Ok(Some(0x38)));
        assert_eq!(symbols.find("mul"), Ok(Some(5)));
    }

    #[test]
    fn any_characters_are_part_of_a_name() {
        let names = ["other@inner", "what?", "n\u{e4}me", "Fmul$twice$0$0", "0>again"];
        for name in names {
            assert_eq!(table(&[(name, 7)]).find(name), Ok(Some(7)));
        }
        assert_eq!(table(&[("N\u{c4}ME", 7)]).find("n\u{e4}me"), Ok(Some(7)));
        assert_eq!(table(&[(" outer inner", 7)]).find("outer inner"), Ok(Some(7)), "vasm's");
    }

    #[test]
    fn a_value_that_is_not_an_address_is_an_error_of_its_name_only() {
        let symbols = table(&[("NEGATIVE", -2), ("BIG", 0x1_2345)]);
        assert_eq!(symbols.find("NEGATIVE"), Ok(Some(0xFFFE)));
        let error = symbols.find("big").expect_err("too large").to_string();
        assert_eq!(error, "'big' is 74565, which is not an address");
    }
}
