//! A digest of cases: it differs when a position, an array or what a document says of one differs.

use std::fmt::Write;

use crc::{CRC_64_XZ, Crc};

use sargon_corpus::{Case, Stated, Subject};
use sargon_reference::Square;

const DIGEST: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

/// Returns the digest of cases, whatever their order: 16 hexadecimal digits.
#[must_use]
pub fn digest(cases: &[Case]) -> String {
    let mut texts: Vec<_> = cases.iter().map(text).collect();
    texts.sort_unstable();
    let mut digest = DIGEST.digest();
    texts.iter().for_each(|text| digest.update(text.as_bytes()));
    format!("{:016X}", digest.finalize())
}

/// Returns all that a case says. Values are separated by characters that none of them has.
fn text(case: &Case) -> String {
    let mut text = format!("{}\t{}\t", case.id, case.tags.join(" "));
    // A string takes all that is written to it.
    let _ = match &case.subject {
        Subject::Position { fen, expected, printed, .. } => {
            write!(text, "{fen}\t{}\t{}", residues(expected), residues(printed))
        }
        Subject::Array { piece, array, expected, printed } => {
            let now = stated(*expected);
            let then = printed.map(stated).unwrap_or_default();
            write!(text, "{}\t{:02X?}\t{now}\t{then}", piece.letter(), array.to_bytes())
        }
    };
    text + "\n"
}

fn residues(stated: &[(Square, u8)]) -> String {
    stated.iter().map(|(square, points)| format!("{square}={points} ")).collect()
}

fn stated(Stated { residue, short }: Stated) -> String {
    format!("{residue} {short}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sargon_corpus::{parse_positions, shipped};

    #[test]
    fn the_order_does_not_matter_and_everything_else_does() {
        let mut cases = shipped().expect("the corpus");
        let all = digest(&cases);
        cases.reverse();
        assert_eq!(digest(&cases), all);
        assert_ne!(digest(&cases[1..]), all);
        let array = cases.iter_mut().find_map(|case| match &mut case.subject {
            Subject::Array { expected, .. } => Some(expected),
            Subject::Position { .. } => None,
        });
        array.expect("an array").residue += 1;
        assert_ne!(digest(&cases), all);
    }

    #[test]
    fn the_same_name_with_another_position_is_another_case() {
        let of = |line: &str| digest(&parse_positions("test", line).expect("a position"));
        let first = of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"one\";");
        assert_eq!(first.len(), 16);
        assert_ne!(first, of("r3k3/2N5/8/8/3q4/8/8/4K3 b - - id \"one\";"));
        assert_ne!(first, of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"two\";"));
        assert_ne!(first, of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"one\"; tags \"x\";"));
        assert_ne!(first, of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"one\"; residue \"a8=5\";"));
    }
}
