//! The steps at the end of a module.

use super::code_buffer::WordReloc;
use super::deferred::Deferred;
use super::module_assembler::ModuleAssembler;
use super::name_table::SymbolState;
use super::pass::Pass;
use super::value::Value;
use crate::listing::{ListedCode, ListedReloc};
use crate::module::Module;

impl ModuleAssembler<'_> {
    /// Finishes the current module; `None` in the first pass, and if a second one is needed.
    pub(super) fn finish(&mut self) -> Option<Module> {
        let values = self.resolve_deferred();
        if self.context.pass == Pass::First {
            self.symbols.save_for_second_pass();
            return None;
        }
        self.fill_in(&values);
        self.code.deferred = Deferred::default();
        self.fix_symbols(&values);
        self.symbols.check_exports(&mut self.context);
        self.check_early_uses();
        let assumed =
            self.symbols.has_wrong_assumption() || self.symbols.names.has_ambiguous_locals();
        self.context.sink.needs_two_passes |= assumed;
        if self.context.sink.must_restart() {
            return None;
        }
        self.code.output.record_high_water();
        self.finish_listing(&values);
        if self.context.options.references {
            self.symbols.finish_references(&mut self.context);
        }
        let module = self.build_module(&values);
        self.context.recorder.module += 1;
        Some(module)
    }

    /// Resolves the fixups.
    fn fill_in(&mut self, values: &[Option<Value>]) {
        let row = self.context.sink.begin_fixups();
        for fixup in std::mem::take(&mut self.code.output.fixups) {
            self.context.sink.set_row(fixup.row);
            let known = values[fixup.expression as usize];
            match known.or_else(|| self.evaluate_with_undefined(fixup.expression, values)) {
                Some(value) => self.code.set_field(
                    &mut self.context,
                    fixup.site,
                    fixup.field,
                    value,
                    fixup.span,
                ),
                None => self.context.sink.needs_two_passes = true,
            }
        }
        self.context.sink.end_fixups(row);
    }

    /// Assigns the values of deferred expressions to their symbols.
    fn fix_symbols(&mut self, values: &[Option<Value>]) {
        for id in 0..self.symbols.names.len() {
            if let SymbolState::Deferred(expression) = self.symbols.names[id].state {
                let value = values[expression as usize].unwrap_or_default();
                self.symbols.names[id].state = SymbolState::Value(value);
            }
        }
    }

    /// Copies the bytes of each statement to its listing line. Relocated words are shown as if
    /// every section began at 0.
    fn finish_listing(&mut self, values: &[Option<Value>]) {
        let module = self.context.recorder.module;
        let mut relocs: Vec<WordReloc> = self.code.output.relocs.clone();
        relocs.sort_unstable_by_key(|reloc| (reloc.site.run, reloc.site.at));
        let bytes = &mut self.context.recorder.listing.bytes;
        let kept = &mut self.context.recorder.listing.relocs;
        for line in
            self.context.recorder.listing.statements.iter_mut().filter(|line| line.module == module)
        {
            if let Some(value) = line.deferred.take().and_then(|later| values[later as usize]) {
                line.value = Some(value.reloc_value());
            }
            let ListedCode::Emitted { run, at, count } = line.code else { continue };
            let start = bytes.len();
            let first_kept = kept.len();
            let code = &self.code.output.runs[run as usize].bytes;
            bytes.extend_from_slice(&code[at as usize..(at + count) as usize]);
            let first = relocs.partition_point(|reloc| (reloc.site.run, reloc.site.at) < (run, at));
            let within = relocs[first..]
                .iter()
                .take_while(|reloc| reloc.site.run == run && reloc.site.at < at + count);
            for WordReloc { site, value } in within {
                let offset = start + (site.at - at) as usize;
                bytes[offset..offset + 2].copy_from_slice(&value.number.to_le_bytes());
                kept.push(ListedReloc { at: site.at - at, base: value.base.0 });
            }
            line.code = ListedCode::Stored {
                at: start as u32,
                count,
                relocs: first_kept as u32,
                reloc_count: (kept.len() - first_kept) as u32,
            };
        }
    }
}
