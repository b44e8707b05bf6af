//! Writes a line of EPD.

use std::fmt::Write;

use super::entry::{EpdEntry, Operation};
use crate::{Move, RightsNotation};

impl EpdEntry {
    /// Writes the entry as EPD that strict readers accept: four fields, clocks as `hmvc` and
    /// `fmvn`, legal moves in SAN, and other operands as a number or a string.
    ///
    /// `sm` becomes the move `supplied`. Each comment that is not empty is the operand of the first
    /// of `c0`, `c1` and so on that the entry does not have, and so at last is the text that is no
    /// operation.
    ///
    /// ```
    /// use chess_rules::RightsNotation::XFen;
    /// use chess_rules::epd::{EpdLine, read_line};
    ///
    /// let line = "4k3/8/8/3p4/4P3/8/8/4K3 w - - 3 9 bm e4d5; id own.1; c0 \"a\"";
    /// let EpdLine::Position(entry) = read_line(line) else { panic!("a position") };
    /// assert_eq!(
    ///     entry.to_epd(XFen, None, &["see=100".to_owned()]),
    ///     "4k3/8/8/3p4/4P3/8/8/4K3 w - - hmvc 3; fmvn 9; bm exd5; id \"own.1\"; c0 \"a\"; \
    ///      c1 \"see=100\";"
    /// );
    /// ```
    pub fn to_epd(
        &self,
        notation: RightsNotation,
        supplied: Option<Move>,
        comments: &[String],
    ) -> String {
        let mut line = self.position.epd_fields(notation);
        for (opcode, clock, usual) in
            [("hmvc", self.position.halfmove_clock, 0), ("fmvn", self.position.move_number, 1)]
        {
            if clock != usual && self.operands(opcode).is_none() {
                let _ = write!(line, " {opcode} {clock};");
            }
        }
        for operation in &self.operations {
            if supplied.is_none() || operation.opcode != "sm" {
                let _ = write!(line, " {};", self.written(operation));
            }
        }
        if let Some(m) = supplied {
            let _ = write!(line, " sm {};", self.position.san(m));
        }
        let opcodes = (0..).map(|number| format!("c{number}"));
        let unused = opcodes.filter(|opcode| self.operands(opcode).is_none());
        let comments = comments.iter().chain(&self.rest).filter(|comment| !comment.is_empty());
        for (opcode, comment) in unused.zip(comments) {
            let _ = write!(line, " {opcode} {};", quoted(comment));
        }
        line
    }

    fn written(&self, operation: &Operation) -> String {
        let Operation { opcode, operands } = operation;
        let moves = operation.moves(self.position).unwrap_or_default();
        let san: Result<Vec<_>, _> =
            moves.into_iter().map(|found| found.map(|(position, m)| position.san(m))).collect();
        match (san, operands.as_slice()) {
            (_, []) => opcode.clone(),
            (Ok(san), _) if !san.is_empty() => format!("{opcode} {}", san.join(" ")),
            (_, [number]) if is_number(number) => format!("{opcode} {number}"),
            _ => format!("{opcode} {}", quoted(&operands.join(" "))),
        }
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| b"+-.0123456789".contains(&byte)) && text.parse::<f64>().is_ok()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
