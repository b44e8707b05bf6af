//! Column alignment: the parts of a line keep their columns when their lengths change.

pub(crate) const TAB_WIDTH: usize = 8;

/// Writes blanks up to the column `target` of the line that begins at `start`, at least one, as
/// `model` has them: with tabs if that has some.
pub(crate) fn align(out: &mut Vec<u8>, start: usize, target: usize, model: &[u8]) {
    let tabs = model.contains(&b'\t');
    let mut at = column(&out[start..]);
    if at >= target {
        out.push(if tabs { b'\t' } else { b' ' });
        return;
    }
    while tabs && (at / TAB_WIDTH + 1) * TAB_WIDTH <= target {
        out.push(b'\t');
        at = (at / TAB_WIDTH + 1) * TAB_WIDTH;
    }
    out.extend(std::iter::repeat_n(b' ', target - at));
}

/// The column after a text that begins a line, from 0.
pub(crate) fn column(line: &[u8]) -> usize {
    line.iter().fold(0, |at, byte| match byte {
        b'\t' => (at / TAB_WIDTH + 1) * TAB_WIDTH,
        // The later bytes of a character in UTF-8 take no room.
        0x80..=0xBF => at,
        _ => at + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(text: &str, target: usize, model: &str) -> String {
        let mut out = b"first line\n".to_vec();
        out.extend_from_slice(text.as_bytes());
        align(&mut out, 11, target, model.as_bytes());
        String::from_utf8(out[11..].to_vec()).unwrap()
    }

    #[test]
    fn blanks_reach_to_the_column_with_tabs_where_tabs_were() {
        assert_eq!(aligned("LD", 6, "  "), "LD    ");
        assert_eq!(aligned("LD", 16, "\t"), "LD\t\t");
        assert_eq!(aligned("LD", 18, "\t  "), "LD\t\t  ");
        assert_eq!(aligned("LONGER", 4, "  "), "LONGER ");
        assert_eq!(aligned("LONGER", 4, "\t"), "LONGER\t");
    }

    #[test]
    fn columns_count_tabs_and_characters() {
        assert_eq!([column(b"\tA"), column(b"A\tB"), column("\u{e9}x".as_bytes())], [9, 9, 2]);
    }
}
