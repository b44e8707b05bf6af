//! The evaluator's panes: its attackers array with the registers of the article's Table 2, and the
//! position under examination.

use board_debugger::Debugger;
use board_debugger::panes::{CustomPane, PaneHeading, PaneRow, PaneVariable, variable};
use sargon_corpus::encode;
use sargon_reference::Square;

use crate::registers::{ARRAY_BYTES, RegisterRole, SECTION_BYTES, xchng_register_roles};

/// The names of the bytes in a section.
const SECTION_BYTE_NAMES: [&str; SECTION_BYTES] =
    ["count", "pawns", "knights", "bishops", "rooks", "queens", "kings"];
/// Rows of Table 2.
const ROLE_ROWS: usize = 9;
/// The name of the pane with the attackers array.
pub const ATTACKERS_PANE: &str = "attackers";

/// Adds the evaluator's panes to a debugger, if its program has the evaluator's data.
pub fn add_panes(debugger: &mut Debugger) {
    if let Some(array) = debugger.code().symbol("ATKLST") {
        debugger.add_pane(AttackersPane(array));
    }
    if let Some(board) = debugger.code().symbol("BOARDA") {
        debugger.add_pane(PositionPane(board));
    }
}

/// The attackers array, at this address, and the registers of XCHNG.
struct AttackersPane(u16);

impl AttackersPane {
    /// Both sides of the array, as pieces.
    fn sides(&self, debugger: &Debugger) -> [(&'static str, String); 2] {
        let bytes = debugger.dump(self.0, ARRAY_BYTES);
        let (white, black) = bytes.split_at(SECTION_BYTES);
        [("White", format_attackers(white)), ("Black", format_attackers(black))]
    }
}

impl CustomPane for AttackersPane {
    fn heading(&self) -> PaneHeading<'_> {
        let (title, rows) = ("Attackers, Table 2", 2 + ROLE_ROWS);
        PaneHeading { name: ATTACKERS_PANE, short: "a", title, rows }
    }

    /// Both sides as pieces, the registers by role, then the bytes of the array.
    fn variables(&self, debugger: &Debugger) -> Vec<PaneVariable> {
        let sides = self.sides(debugger).map(|(side, value)| PaneVariable::read_only(side, value));
        let role = |role: RegisterRole| PaneVariable {
            name: role.meaning.to_owned(),
            value: match role.meaning {
                "residue" => format!("{:02X}H ({})", role.value, role.value as u8 as i8),
                _ => board_debugger::commands::short_value(debugger, &role.register)
                    .unwrap_or_default(),
            },
            expression: Some(role.register),
        };
        let roles = xchng_register_roles(&debugger.registers(), debugger.code());
        let names = ["White", "Black"].into_iter();
        let names = names.flat_map(|side| SECTION_BYTE_NAMES.map(|name| format!("{side}: {name}")));
        let byte = |(name, at): (String, u16)| {
            variable(
                debugger,
                &PaneRow { name: Some(name), value: format!("[{at}]"), format: None },
            )
        };
        let bytes = names.zip(self.0..).map(byte);
        sides.into_iter().chain(roles.into_iter().map(role)).chain(bytes).collect()
    }

    fn lines(&self, debugger: &Debugger) -> Vec<String> {
        let sides = self.sides(debugger).map(|(side, pieces)| format!("{side}  {pieces}"));
        let row = |role: RegisterRole| {
            let value = match role.meaning {
                "residue" => format!("{:+}", role.value as u8 as i8),
                _ if role.value > 0xFF => format!("{:04X}H", role.value),
                _ => role.value.to_string(),
            };
            format!("{:<3} {:<21} {value}", role.register, role.meaning)
        };
        let roles = xchng_register_roles(&debugger.registers(), debugger.code());
        let none = roles.is_empty().then(|| "Table 2: (while XCHNG runs)".to_owned());
        sides.into_iter().chain(none).chain(roles.into_iter().map(row)).collect()
    }
}

/// Formats one side's section of the attackers array: the count, then the pieces, as in `3: N R Q`.
/// Entries are point values; a value of 3 is a knight in the knights' byte and a bishop elsewhere.
pub(crate) fn format_attackers(section: &[u8]) -> String {
    let Some((count, slots)) = section.split_first() else { return String::new() };
    let letters: Vec<String> = slots
        .iter()
        .enumerate()
        .flat_map(|(slot, byte)| [byte & 0x0F, byte >> 4].map(|value| letter(slot, value)))
        .flatten()
        .collect();
    format!("{count}: {}", if letters.is_empty() { "-".to_owned() } else { letters.join(" ") })
}

fn letter(slot: usize, value: u8) -> Option<String> {
    const KNIGHTS: usize = 1;
    Some(match value {
        0 => return None,
        1 => "P".to_owned(),
        3 if slot == KNIGHTS => "N".to_owned(),
        3 => "B".to_owned(),
        5 => "R".to_owned(),
        9 => "Q".to_owned(),
        10 => "K".to_owned(),
        other => format!("({other})"),
    })
}

/// The evaluator's position, on the board at this address.
struct PositionPane(u16);

impl PositionPane {
    /// The ranks from the eighth on, with White's pieces in capitals and the square under
    /// examination in brackets.
    fn ranks(&self, debugger: &Debugger) -> impl Iterator<Item = (u8, String)> {
        let examined = debugger.code().symbol("M3").map(|at| debugger.peek(at));
        let examined = examined.and_then(encode::decode_square);
        let square = move |square: Square| {
            let byte = debugger.peek(self.0.wrapping_add(encode::square(square).into()));
            let letter = encode::decode_piece(byte).map_or('.', |piece| piece.letter());
            if Some(square) == examined { format!("[{letter}]") } else { format!(" {letter} ") }
        };
        (0..8).rev().map(move |rank| {
            (rank + 1, (0..8).filter_map(|file| Square::new(file, rank)).map(square).collect())
        })
    }
}

impl CustomPane for PositionPane {
    fn heading(&self) -> PaneHeading<'_> {
        PaneHeading { name: "position", short: "x", title: "Position", rows: 9 }
    }

    fn variables(&self, debugger: &Debugger) -> Vec<PaneVariable> {
        self.ranks(debugger)
            .map(|(rank, row)| PaneVariable::read_only(&format!("rank {rank}"), row))
            .collect()
    }

    fn lines(&self, debugger: &Debugger) -> Vec<String> {
        let ranks = self.ranks(debugger).map(|(rank, row)| format!("{rank} {row}"));
        ranks.chain(["   a  b  c  d  e  f  g  h".to_owned()]).collect()
    }
}
