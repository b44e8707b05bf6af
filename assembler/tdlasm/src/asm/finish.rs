//! The steps at the end of a module.

use super::assembler::Assembler;
use super::code_buffer::WordReloc;
use super::name_table::NameTable;
use super::pass::Pass;
use crate::listing::{ListedCode, ListedReloc};
use crate::module::Module;

impl Assembler<'_> {
    /// Finishes the current module; `None` in the first pass.
    pub(super) fn finish(&mut self) -> Option<Module> {
        if self.pass == Pass::First {
            let names = std::mem::replace(&mut self.names, NameTable::new(self.options));
            self.first_pass.push_back(names);
            return None;
        }
        self.check_early_uses();
        self.code.record_high_water();
        self.finish_listing();
        if self.options.references {
            self.finish_references();
        }
        let module = self.build_module();
        self.recorder.module += 1;
        Some(module)
    }

    /// Copies the bytes of each statement to its listing line. Relocated words are shown as if
    /// every section began at 0.
    fn finish_listing(&mut self) {
        let module = self.recorder.module;
        let mut relocs: Vec<WordReloc> = self.code.relocs.clone();
        relocs.sort_unstable_by_key(|reloc| (reloc.site.run, reloc.site.at));
        let bytes = &mut self.recorder.listing.bytes;
        let kept = &mut self.recorder.listing.relocs;
        for line in self.recorder.listing.statements.iter_mut().filter(|line| line.module == module)
        {
            let ListedCode::Emitted { run, at, count } = line.code else { continue };
            let start = bytes.len();
            let first_kept = kept.len();
            let code = &self.code.runs[run as usize].bytes;
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
