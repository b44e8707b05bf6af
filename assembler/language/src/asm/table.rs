//! The end of a module in the order of its source: the table of symbols and the stretches of code.

use crate::module::{Assembled, Listed, Stretch, TableSymbol};

use super::Assembler;
use super::eval::Evaluated;
use super::names::{Definition, Name, NameId, State};
use super::output::Output;
use super::value::Value;

impl Assembler<'_> {
    /// The module as TDL's own objects and listings show it; `values` are those of the deferred
    /// expressions.
    pub(super) fn in_source_order(&self, values: &[Option<Value>]) -> Assembled {
        let start = match self.emission.start {
            Some((Evaluated::Known(value), _)) => Some(value),
            Some((Evaluated::Later(expression), _)) => values[expression as usize],
            None => None,
        };
        Assembled {
            ident: self.naming.module_name.clone(),
            symbols: self.table_symbols(),
            code: stretches(&self.emission.output),
            sizes: self.emission.output.marks.clone(),
            start: start.map(Value::listed).unwrap_or_default(),
        }
    }

    fn table_symbols(&self) -> Vec<TableSymbol> {
        let mut listed: Vec<_> =
            self.naming.names.iter().filter(|(_, name)| is_in_table(name)).collect();
        // A use alone makes no entry in the first pass, so that symbols without a definition come
        // last.
        listed.sort_unstable_by_key(|(id, name)| (name.entered == 0, name.entered, *id));
        listed.into_iter().map(|(id, name)| self.table_symbol(id, name)).collect()
    }

    fn table_symbol(&self, id: NameId, name: &Name) -> TableSymbol {
        let external = name.definition == Definition::External;
        let mut value = match name.state {
            State::Value(value) => value.listed(),
            _ => Listed::default(),
        };
        if let (true, State::Value(external)) = (external, name.state) {
            // The table shows how much of an external's area this module uses, not where it begins.
            value.number = self.emission.output.reached(external.base);
        }
        TableSymbol {
            name: self.naming.names.spelling(id),
            value,
            external,
            exported: name.exported,
            entry: name.entry,
            undefined: name.definition == Definition::None,
            doubled: name.doubled,
        }
    }
}

fn is_in_table(name: &Name) -> bool {
    let known = name.definition != Definition::None || name.missed;
    known && !name.is_local() && name.special.is_none()
}

fn stretches(output: &Output) -> Vec<Stretch> {
    let mut code: Vec<Stretch> = (output.runs.iter())
        .map(|run| {
            let start = output.place(run.base, run.start).listed();
            Stretch { start, bytes: run.bytes.clone(), words: Vec::new() }
        })
        .collect();
    for reloc in &output.relocs {
        code[reloc.site.run as usize].words.push((reloc.site.at, reloc.value.listed()));
    }
    // A field that waited for a symbol was filled in after those below it.
    code.iter_mut().for_each(|stretch| stretch.words.sort_unstable_by_key(|(at, _)| *at));
    code.retain(|stretch| !stretch.bytes.is_empty());
    code
}
