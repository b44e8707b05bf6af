//! Values of symbols by name.

use std::collections::HashMap;

/// The values of symbols. Names that differ only in case are different symbols, as those of C; a
/// name that no symbol has exactly is one in another case, as TDL's, which are in capitals.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// The names and values by the name in capitals.
    by_capitals: HashMap<String, Vec<(String, u16)>>,
}

/// Error returned for a name that may be one of several symbols with different values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' is ambiguous: {}; give an address",
    name.escape_debug(),
    symbols
        .iter()
        .map(|(name, value)| format!("{} is {value:04X}H", name.escape_debug()))
        .collect::<Vec<_>>()
        .join(", ")
)]
pub struct AmbiguousSymbol {
    /// The name.
    pub name: String,
    /// The names and values of the symbols.
    pub symbols: Vec<(String, u16)>,
}

impl Symbols {
    /// Adds a symbol; another value of the same name makes it ambiguous.
    pub fn add(&mut self, name: &str, value: u16) {
        let known = self.by_capitals.entry(name.to_ascii_uppercase()).or_default();
        if !known.iter().any(|(other, same)| other == name && *same == value) {
            known.push((name.to_owned(), value));
        }
    }

    /// Adds the symbols of another table, which replace those of the same names in any case.
    pub fn replace_with(&mut self, other: Self) {
        self.by_capitals.extend(other.by_capitals);
    }

    /// Returns the value of the symbol with this name, or else of that whose name differs in case.
    ///
    /// # Errors
    /// Returns [`AmbiguousSymbol`] if there are several, with different values.
    pub fn find(&self, name: &str) -> Result<Option<u16>, AmbiguousSymbol> {
        let in_any_case = self.by_capitals.get(&name.to_ascii_uppercase());
        let in_any_case = in_any_case.map_or(&[][..], Vec::as_slice);
        let exact = in_any_case.iter().filter(|(other, _)| other == name).cloned();
        let mut symbols: Vec<_> = exact.collect();
        if symbols.is_empty() {
            symbols = in_any_case.to_vec();
        }
        match symbols[..] {
            [] => Ok(None),
            [(_, value), ref others @ ..] if others.iter().all(|(_, other)| *other == value) => {
                Ok(Some(value))
            }
            _ => Err(AmbiguousSymbol { name: name.to_owned(), symbols }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_are_different_symbols() {
        let mut symbols = Symbols::default();
        for (name, value) in [("foo", 0x8000), ("Foo", 0x8010), ("BAR", 1), ("BAR", 1), ("bar", 1)]
        {
            symbols.add(name, value);
        }
        assert_eq!(symbols.find("foo"), Ok(Some(0x8000)));
        assert_eq!(symbols.find("Foo"), Ok(Some(0x8010)));
        assert_eq!(symbols.find("Bar"), Ok(Some(1)), "all have the same value");
        assert_eq!(symbols.find("baz"), Ok(None));
        let error = symbols.find("FOO").expect_err("two symbols").to_string();
        assert_eq!(error, "'FOO' is ambiguous: foo is 8000H, Foo is 8010H; give an address");
        symbols.add("foo", 0x9000);
        assert!(symbols.find("foo").is_err(), "two modules have the name");
        let mut others = Symbols::default();
        others.add("FOO", 2);
        symbols.replace_with(others);
        assert_eq!(symbols.find("foo"), Ok(Some(2)));
    }
}
