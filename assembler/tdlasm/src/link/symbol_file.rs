//! Symbol files, which other programs take labels from: a hexadecimal value and a name in each line.

use std::fmt::Write;

use super::Program;

impl Program {
    /// Returns the symbol file for emulators: `VALUE NAME` per line, addresses ascending.
    pub fn symbol_file(&self) -> String {
        let mut addresses: Vec<_> = self.symbols.iter().filter(|s| s.is_address).collect();
        addresses.sort_by(|a, b| (a.value, &a.name).cmp(&(b.value, &b.name)));
        addresses.iter().fold(String::new(), |mut text, symbol| {
            let _ = writeln!(text, "{:04X} {}", symbol.value, symbol.name);
            text
        })
    }
}
