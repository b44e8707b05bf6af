//! Builds the source-order form of a module: the table of symbols, and the code as it was written.

use super::assembler::Assembler;
use super::code_buffer::CodeBuffer;
use super::name_table::Name;
use super::name_table::NameId;
use super::value::Value;
use crate::module::{CodeChunk, RelocValue, SourceOrderModule, TableSymbol};

impl Assembler<'_> {
    /// Returns the module as TDL objects and listings show it.
    pub(super) fn in_source_order(&self) -> SourceOrderModule {
        SourceOrderModule {
            ident: self.names.module_name.clone(),
            symbols: self.table_symbols(),
            code: chunks(&self.code),
            sizes: self.code.high_water.clone(),
            start: self.module.start_address.map(Value::reloc_value).unwrap_or_default(),
            form: self.module.form,
        }
    }

    fn table_symbols(&self) -> Vec<TableSymbol> {
        let mut listed: Vec<_> = self.names.iter().filter(|(_, name)| is_in_table(name)).collect();
        // A use alone makes no entry in the first pass, so symbols without a definition come last.
        listed.sort_unstable_by_key(|(id, name)| (name.entered == 0, name.entered, *id));
        listed.into_iter().map(|(id, name)| self.table_symbol(id, name)).collect()
    }

    fn table_symbol(&self, id: NameId, name: &Name) -> TableSymbol {
        let external = name.symbol.is_external();
        let mut value = name.symbol.value().map_or(RelocValue::default(), Value::reloc_value);
        if let (true, Some(external)) = (external, name.symbol.value()) {
            // The table shows how much of an external's area this module uses, not its start.
            value.number = self.code.high_water_mark(external.base);
        }
        TableSymbol {
            name: self.names.spelling(id),
            value,
            external,
            exported: name.exported,
            entry: name.entry,
            undefined: !name.symbol.is_defined(),
            multiply_defined: name.is_multiply_defined,
        }
    }
}

fn is_in_table(name: &Name) -> bool {
    let known = name.symbol.is_defined() || name.has_undefined_use;
    known && !name.is_local() && name.built_in.is_none()
}

fn chunks(output: &CodeBuffer) -> Vec<CodeChunk> {
    let mut code: Vec<CodeChunk> = (output.runs.iter())
        .map(|run| {
            let start = output.place(run.base, run.start).reloc_value();
            CodeChunk { start, bytes: run.bytes.clone(), words: Vec::new() }
        })
        .collect();
    for reloc in &output.relocs {
        code[reloc.site.run as usize].words.push((reloc.site.at, reloc.value.reloc_value()));
    }
    code.retain(|chunk| !chunk.bytes.is_empty());
    code
}
