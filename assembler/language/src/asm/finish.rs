//! The end of a module: what is done, in order.

use crate::listing::{Code as CodePlace, ListedReloc};

use super::emission::Emission;
use super::eval::Deferred;
use super::names::{Definition, State};
use super::output::WordReloc;
use super::value::Value;
use super::{Assembler, Pass};

impl Assembler<'_> {
    /// Ends the module that was assembled.
    pub(super) fn finish_module(&mut self) {
        let values = self.resolve_deferred();
        if self.pass == Pass::First {
            return self.naming.keep_for_second_pass();
        }
        self.fill_in(&values);
        self.emission.deferred = Deferred::default();
        self.fix_symbols(&values);
        self.check_exports();
        self.check_early_uses();
        let assumed = self.naming.assumed_wrongly() || self.naming.names.locals_are_apart();
        self.reports.wants_two |= assumed;
        if self.reports.ends_only_pass() {
            return;
        }
        self.emission.output.leave();
        self.finish_listing(&values);
        if self.options.references {
            self.finish_mentions();
        }
        let module = self.build_module(&values);
        self.modules.push(module);
    }

    /// Starts the next module of the same file.
    pub(super) fn reset_module(&mut self) {
        self.emission = Emission::new(self.options.absolute);
        self.radix = 10;
        self.naming.begin_module(self.pass == Pass::Second, &self.options.defines);
    }

    /// Fills the fields that waited.
    fn fill_in(&mut self, values: &[Option<Value>]) {
        let row = self.reports.begin_late();
        for fixup in std::mem::take(&mut self.emission.output.fixups) {
            self.reports.go_to_row(fixup.row);
            let known = values[fixup.expression as usize];
            match known.or_else(|| self.compute_with_undefined(fixup.expression, values)) {
                Some(value) => self.set_field(fixup.site, fixup.field, value, fixup.span),
                None => self.reports.wants_two = true,
            }
        }
        self.reports.end_late(row);
    }

    /// Gives the symbols that waited their values.
    fn fix_symbols(&mut self, values: &[Option<Value>]) {
        for id in 0..self.naming.names.len() {
            if let State::Deferred(expression) = self.naming.names[id].state {
                let value = values[expression as usize].unwrap_or_default();
                self.naming.names[id].state = State::Value(value);
            }
        }
    }

    fn check_exports(&mut self) {
        for (name, span) in std::mem::take(&mut self.naming.export_uses) {
            let definition = self.naming.names[name].definition;
            if matches!(definition, Definition::None | Definition::External) {
                self.report_undefined(name, span);
            }
        }
    }

    /// Copies the bytes of each statement to its line of the listing, relocated words as they would
    /// be if every section began at 0.
    fn finish_listing(&mut self, values: &[Option<Value>]) {
        let module = self.modules.len() as u32;
        let mut relocs: Vec<WordReloc> = self.emission.output.relocs.clone();
        relocs.sort_unstable_by_key(|reloc| (reloc.site.run, reloc.site.at));
        let bytes = &mut self.record.listing.bytes;
        let kept = &mut self.record.listing.relocs;
        for line in self.record.listing.statements.iter_mut().filter(|line| line.module == module) {
            if let Some(value) = line.later.take().and_then(|later| values[later as usize]) {
                line.value = Some(value.listed());
            }
            let CodePlace::Emitted { run, at, count } = line.code else { continue };
            let start = bytes.len();
            let first_kept = kept.len();
            let code = &self.emission.output.runs[run as usize].bytes;
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
