//! The end of a module: what is done, in order.

use crate::listing::{Code as CodePlace, ListedReloc};

use super::eval::Deferred;
use super::names::{Definition, Names, State};
use super::output::{Output, WordReloc};
use super::value::Value;
use super::{Assembler, Findings, Pass};

impl Assembler<'_> {
    /// Ends the module that was assembled.
    pub(super) fn finish_module(&mut self) {
        let values = self.resolve_deferred();
        if self.pass == Pass::First {
            self.fix_symbols(&values);
            let names = std::mem::replace(&mut self.names, Names::new(false));
            let (macros, externals) =
                (std::mem::take(&mut self.macros), std::mem::take(&mut self.externals));
            return self.first_pass.push_back(Findings { names, macros, externals });
        }
        for at in 0..self.output.fixups.len() {
            let fixup = self.output.fixups[at];
            if let Some(value) = values[fixup.expression as usize] {
                self.set_field(fixup.site, fixup.field, value, fixup.span);
            }
        }
        self.fix_symbols(&values);
        self.check_exports();
        self.check_shared();
        self.finish_listing();
        if self.options.references {
            self.finish_mentions();
        }
        let module = self.build_module(&values);
        self.modules.push(module);
    }

    /// Starts the next module of the same file.
    pub(super) fn reset_module(&mut self) {
        self.output = Output::new(self.options.absolute);
        self.deferred = Deferred::default();
        self.names = Names::new(self.options.long_symbols);
        self.externals.clear();
        self.macros.clear();
        self.export_uses.clear();
        self.assumed_undefined.clear();
        (self.module_name, self.start, self.created, self.radix) = (None, None, 0, 10);
        self.predefine();
        self.recall_first_pass();
    }

    /// Takes up what the first pass found in the module that begins.
    pub(super) fn recall_first_pass(&mut self) {
        if self.pass.is_second()
            && let Some(found) = self.first_pass.pop_front()
        {
            (self.names, self.macros, self.externals) =
                (found.names, found.macros, found.externals);
            self.names.restart_scopes();
        }
    }

    /// Gives the symbols that waited their values.
    fn fix_symbols(&mut self, values: &[Option<Value>]) {
        for id in 0..self.names.len() {
            if let State::Deferred(expression) = self.names[id].state {
                let value = values[expression as usize].unwrap_or_default();
                self.names[id].state = State::Value(value);
            }
        }
    }

    fn check_exports(&mut self) {
        for (name, span) in std::mem::take(&mut self.export_uses) {
            if matches!(self.names[name].definition, Definition::None | Definition::External) {
                self.report_undefined(name, span);
            }
        }
    }

    /// Copies the bytes of each statement to its line of the listing, relocated words as they would be if every
    /// section began at 0.
    fn finish_listing(&mut self) {
        let module = self.modules.len() as u32;
        let mut relocs: Vec<WordReloc> = self.output.relocs.clone();
        relocs.sort_unstable_by_key(|reloc| (reloc.site.run, reloc.site.at));
        let (bytes, kept) = (&mut self.listing.bytes, &mut self.listing.relocs);
        for line in self.listing.statements.iter_mut().filter(|line| line.module == module) {
            let CodePlace::Emitted { run, at, count } = line.code else { continue };
            let (start, first_kept) = (bytes.len(), kept.len());
            let code = &self.output.runs[run as usize].bytes;
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
            line.code = CodePlace::Kept {
                at: start as u32,
                count,
                relocs: first_kept as u32,
                reloc_count: (kept.len() - first_kept) as u32,
            };
        }
    }
}
