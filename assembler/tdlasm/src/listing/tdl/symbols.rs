//! The symbol table at the end of a module.

use super::page::Pages;
use super::row::reloc_mark;
use crate::module::{RelocValue, SourceOrderModule, TableSymbol};
use crate::syntax::lex::RADIX40;

/// Entries per row, and the blanks between them.
const A_ROW: usize = 3;
const GAP: &str = "   ";

/// Prints the table on a page of its own, in the order of the 40-character set; with the sections
/// unless after `.XLINK`, when the object does not name them.
pub(super) fn print(module: &SourceOrderModule, linkage: bool, pages: &mut Pages) {
    let mut symbols: Vec<TableSymbol> = module.symbols.clone();
    if linkage {
        symbols.extend(sections(module));
    }
    symbols.sort_by_key(|symbol| radix40_order(&symbol.name));
    pages.end();
    pages.subtitle = "+++++ SYMBOL TABLE +++++".into();
    for chunk in symbols.chunks(A_ROW) {
        let mut row: String = chunk.iter().map(|symbol| entry(symbol) + GAP).collect();
        if chunk.len() == A_ROW {
            row.truncate(row.len() - GAP.len());
        }
        pages.row(&row);
    }
}

fn sections(module: &SourceOrderModule) -> impl Iterator<Item = TableSymbol> {
    [(1, ".PROG."), (2, ".DATA."), (3, ".BLNK.")].into_iter().map(|(base, name)| {
        // A section filled to the last address has the size 0 in a word.
        let value = RelocValue { number: module.size(base) as u16, base };
        TableSymbol { name: name.into(), value, external: true, ..TableSymbol::default() }
    })
}

fn radix40_order(name: &str) -> Vec<u8> {
    name.bytes().map(|byte| RADIX40[usize::from(byte)]).collect()
}

/// Formats name, value, relocation mark, and two columns for the class.
fn entry(symbol: &TableSymbol) -> String {
    let class = match symbol {
        TableSymbol { external: true, .. } => 'X',
        TableSymbol { entry: true, .. } => 'E',
        TableSymbol { exported: true, .. } => 'I',
        _ => ' ',
    };
    let fault = match symbol {
        TableSymbol { undefined: true, .. } => 'U',
        TableSymbol { multiply_defined: true, .. } => 'M',
        _ => ' ',
    };
    let RelocValue { number, base } = symbol.value;
    format!("{:<6} {number:04X}{:<3} {class}{fault}", symbol.name, reloc_mark(base))
}
