//! External areas that `.LOC` goes on in: modules share them, so that one can reserve room there, but neither fill it
//! nor export places in it.

use crate::diag::{Code, Diagnostic};

use super::Assembler;
use super::names::{Definition, Name, State};

impl Assembler<'_> {
    /// Reports what no object file holds of an external area.
    pub(super) fn check_shared(&mut self) {
        if self.externals.is_empty() {
            return;
        }
        let filled: Vec<usize> = (self.output.runs.iter())
            .filter(|run| !run.bytes.is_empty())
            .filter_map(|run| run.base.external())
            .collect();
        for (at, external) in self.externals.clone().into_iter().enumerate() {
            if filled.contains(&at) {
                let name = self.names.spelling(external);
                let message = format!("there are bytes in the area of {name}, which is external");
                self.report_shared(self.names[external].place, message, "reserve it with .BLKB");
            }
        }
        let exported: Vec<_> = (self.names.iter())
            .filter(|(_, name)| name.exported && is_in_shared(name))
            .map(|(id, name)| (id, name.place))
            .collect();
        for (id, place) in exported {
            let name = self.names.spelling(id);
            let message = format!("{name} moves with an external symbol and cannot be exported");
            self.report_shared(place, message, "export the symbol that it moves with");
        }
    }

    fn report_shared(&mut self, place: u32, message: String, help: &str) {
        let span = self.symbol_span(place);
        self.report(Diagnostic::new(Code::External, span, message).help(help));
    }
}

/// Whether a symbol has a value that moves with an external, without being one.
pub(super) fn is_in_shared(name: &Name) -> bool {
    let State::Value(value) = name.state else { return false };
    let moves = !value.is_absolute() && value.base.external().is_some();
    moves && name.definition != Definition::External
}
