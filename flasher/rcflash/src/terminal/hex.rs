//! Hex dump of the traffic: direction, offset, hexadecimal and characters.

const ROW_BYTES: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Sent,
    Received,
}

/// A hex dump of the traffic; lines end when full, at another direction, or on [`Self::flush`].
#[derive(Debug, Clone, Default)]
pub(crate) struct HexView {
    row: Vec<u8>,
    direction: Option<Direction>,
    sent: usize,
    received: usize,
}

impl HexView {
    /// Adds bytes. Returns the lines that they complete.
    pub(crate) fn push(&mut self, direction: Direction, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        if self.direction.is_some_and(|last| last != direction) {
            lines.extend(self.flush());
        }
        self.direction = Some(direction);
        for byte in bytes {
            self.row.push(*byte);
            if self.row.len() == ROW_BYTES {
                lines.extend(self.flush());
            }
        }
        lines
    }

    /// Ends the current line and returns it, if there is one.
    pub(crate) fn flush(&mut self) -> Option<String> {
        let direction = self.direction.filter(|_| !self.row.is_empty())?;
        let row = std::mem::take(&mut self.row);
        let (mark, offset) = match direction {
            Direction::Sent => ('>', &mut self.sent),
            Direction::Received => ('<', &mut self.received),
        };
        let figures: Vec<_> = row.iter().map(|byte| format!("{byte:02X}")).collect();
        let figures = figures.join(" ");
        let text: String = row.iter().map(|byte| printable(*byte)).collect();
        let line = format!("{mark} {offset:08X}  {figures:47}  {text}");
        *offset += row.len();
        Some(line)
    }
}

/// Returns a byte as a character; control characters and bytes beyond ASCII as a dot.
fn printable(byte: u8) -> char {
    if byte == b' ' || byte.is_ascii_graphic() { char::from(byte) } else { '.' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_row_matches_hexdump() {
        let mut view = HexView::default();
        assert!(view.push(Direction::Received, b"Hello, board\r").is_empty());
        // The figures are those of `printf 'Hello, board\r\n\x1b~' | hexdump -C`.
        assert_eq!(
            view.push(Direction::Received, b"\n\x1B~\xFF"),
            ["< 00000000  48 65 6C 6C 6F 2C 20 62 6F 61 72 64 0D 0A 1B 7E  Hello, board...~"]
        );
        let rest = view.flush().expect("one is left");
        assert_eq!(rest, format!("< 00000010  FF{:45}  .", ""));
        assert_eq!(view.flush(), None);
    }

    #[test]
    fn each_direction_has_its_own_lines_and_offsets() {
        let mut view = HexView::default();
        let _ = view.push(Direction::Sent, b"ab");
        let turned = view.push(Direction::Received, b"x");
        assert_eq!(turned, [format!("> 00000000  61 62{:42}  ab", "")]);
        let turned = view.push(Direction::Sent, b"c");
        assert_eq!(turned, [format!("< 00000000  78{:45}  x", "")]);
        assert_eq!(view.flush().expect("one is left"), format!("> 00000002  63{:45}  c", ""));
    }
}
