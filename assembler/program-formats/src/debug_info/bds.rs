//! `.bds` of zmac, "binary debuggable source": the text of each source line in order, without its
//! number.

use std::collections::HashMap;
use std::sync::Arc;

use super::{DebugInfo, SymbolKind, read_lines};
use crate::error::DebugInfoError;
use crate::number::hexadecimal;

/// `8000 8000 f main.z` begins a file, `8000 8000 d 3e05` has bytes, whose line follows, `8000 8000 s
/// LD A,5`. At the end symbols, `8000 a MAIN`, and numbers, `0005 v COUNT`.
pub(super) fn read(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let expected = "of zmac's .bds, as 8000 8000 s MAIN: LD A,5";
    let mut source = Source::default();
    // Where the bytes before the next source line begin.
    let mut bytes_at = None;
    let info = read_lines(text, "zmac's .bds", expected, |line, info| {
        if line == "binary-debuggable-source" {
            return Some(());
        }
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            [_, address, "d", _] => {
                bytes_at.get_or_insert(hexadecimal(address)?);
            }
            [_, _, "f", file] => source.open(file),
            [_, _, "s", ref text @ ..] => {
                let text = text.first().unwrap_or(&"");
                source.add_line(text);
                if let Some(address) = bytes_at.take() {
                    info.add_line_with_text(address, &source.file, source.line, text);
                }
            }
            [_, _, "u", _] | [_, "e"] => {}
            [value, kind @ ("a" | "v"), name] => {
                let is_address = kind == "a";
                let kind = if is_address { SymbolKind::Address } else { SymbolKind::Constant };
                info.add_symbol(name, hexadecimal(value)?, kind);
            }
            _ => return None,
        }
        Some(())
    });
    info.map_err(DebugInfoError::Line)
}

/// The place in the source. A macro call is followed by the lines of its expansion up to ENDM, which
/// are not lines of the source.
struct Source {
    file: Arc<str>,
    line: u32,
    /// The last line of each file.
    lines: HashMap<Arc<str>, u32>,
    /// The operators of the bodies of macros by name, in capitals.
    macros: HashMap<String, Body>,
    /// The macro that is being defined.
    defined: Option<String>,
    /// The macro that the last line calls.
    called: Option<String>,
    /// The number of expansions that are open.
    depth: usize,
}

/// The parameters of a macro and the operator of its first line.
#[derive(Default)]
struct Body {
    parameters: Vec<String>,
    first_operator: Option<String>,
}

impl Default for Source {
    fn default() -> Self {
        Self {
            file: Arc::from(""),
            line: 0,
            lines: HashMap::new(),
            macros: HashMap::new(),
            defined: None,
            called: None,
            depth: 0,
        }
    }
}

impl Source {
    fn open(&mut self, file: &str) {
        self.lines.insert(Arc::clone(&self.file), self.line);
        self.file = Arc::from(file);
        self.line = self.lines.get(&self.file).copied().unwrap_or(0);
    }

    fn add_line(&mut self, text: &str) {
        let text = text.split(';').next().unwrap_or(text);
        let operators = operators(text);
        let is_end = operators.iter().any(|operator| operator == "ENDM");
        if let Some(name) = self.called.take()
            && self.begins_expansion(&name, &operators, is_end)
        {
            self.depth += 1;
        }
        if self.depth > 0 {
            self.depth -= usize::from(is_end);
        } else {
            self.line += 1;
            self.define(&operators, is_end);
        }
        if self.defined.is_none() && !is_end {
            self.called = operators.into_iter().find(|one| self.macros.contains_key(one));
        }
    }

    fn define(&mut self, operators: &[String], is_end: bool) {
        if let [name, keyword, parameters @ ..] = operators
            && keyword == "MACRO"
        {
            self.defined = Some(name.clone());
            let parameters = parameters.to_vec();
            self.macros.insert(name.clone(), Body { parameters, first_operator: None });
        } else if is_end {
            self.defined = None;
        } else if let Some(body) = self.defined.as_ref().and_then(|name| self.macros.get_mut(name))
            && body.first_operator.is_none()
        {
            body.first_operator = operators.iter().find(|word| *word != "LOCAL").cloned();
        }
    }

    /// Returns `true` if the line after the call of a macro is the first of its expansion. A call in a
    /// part that a condition excludes has none.
    fn begins_expansion(&self, name: &str, operators: &[String], is_end: bool) -> bool {
        let Some(body) = self.macros.get(name) else { return false };
        match &body.first_operator {
            None => is_end,
            Some(first) => body.parameters.contains(first) || operators.contains(first),
        }
    }
}

/// Returns the words that may be an operator, in capitals: the first two, and those after MACRO.
fn operators(text: &str) -> Vec<String> {
    let words = text.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    words.map(|word| word.trim_end_matches(':').to_ascii_uppercase()).take(16).collect()
}
