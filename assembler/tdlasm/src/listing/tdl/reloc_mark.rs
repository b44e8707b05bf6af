//! The relocation mark after a value.

pub(super) fn reloc_mark(base: u32) -> String {
    match base {
        0 => String::new(),
        1 => "'".into(),
        2 => "*".into(),
        other => format!(":{other:02X}"),
    }
}
