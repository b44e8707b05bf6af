//! The fault of the original behind a result, and the line of code that has it
//! (sargon-src/README.md).

use firmware::evaluator::Behaviour;
use sargon_reference::SquareResult;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Fault {
    text: &'static str,
    file: &'static str,
    line: usize,
    code: &'static str,
}

/// A fault in words, its file, and the text of its first line without the comment.
type FaultEntry = (&'static str, &'static str, &'static str);

const MISFILED: FaultEntry = (
    "A piece on the board is pinned: it may not leave the line to its own king or queen. The test \
     for that overwrites register C, which should say whether a queen stands in front. So pieces \
     found downwards on the board count as if they stood behind a queen: they capture after her.",
    "atksav.asm",
    "MOV A,C",
);
const OVERFLOW: FaultEntry = (
    "A byte of the array was full. The piece goes into the next byte, whatever is there, and a \
     piece that it pushes out is lost, although it stays counted.",
    "atksav.asm",
    "CZ ATKOVR",
);
const SHORT: FaultEntry = (
    "A count of the array exceeds the pieces that can be fetched: the walk along a section has no \
     test for its end, and stops at a byte with an empty low half.",
    "nextad.asm",
    "..NEXT: INR L",
);

impl Fault {
    /// The fault that a result shows; `None` if it shows none or is not by the original.
    pub(crate) fn of(result: &SquareResult, behaviour: Behaviour) -> Option<Self> {
        if behaviour != Behaviour::Original {
            return None;
        }
        let (text, file, code) = match result {
            SquareResult { misfiled: true, .. } => MISFILED,
            SquareResult { overflow: true, .. } => OVERFLOW,
            SquareResult { outcome, .. } if outcome.short => SHORT,
            _ => return None,
        };
        let is_it = |line: &str| line.split(';').next().is_some_and(|it| it.contains(code));
        let line = firmware::source(file)?.lines().position(is_it)? + 1;
        Some(Self { text, file, line, code })
    }
}

#[cfg(test)]
mod tests {
    use sargon_corpus::encode;
    use sargon_reference::{evaluate_as, parse_fen};

    use super::*;

    fn fault(fen: &str, square: &str, behaviour: Behaviour) -> Option<Fault> {
        let position = parse_fen(fen).expect("a position");
        let found = evaluate_as(&position, encode::behaviour(behaviour));
        let result = found.squares.iter().find(|one| one.square.to_string() == square);
        Fault::of(result.expect("occupied"), behaviour)
    }

    #[test]
    fn every_fault_has_its_line() {
        for (_, file, code) in [MISFILED, OVERFLOW, SHORT] {
            let text = firmware::source(file).expect("it ships");
            let lines = text.lines().filter_map(|line| line.split(';').next());
            assert_eq!(lines.filter(|line| line.contains(code)).count(), 1, "{file}: {code}");
        }
    }

    #[test]
    fn a_knight_found_downwards_is_misfiled_while_a_piece_is_pinned() {
        const FEN: &str = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -";
        let found = fault(FEN, "e4", Behaviour::Original).expect("d2 is found at step -21");
        assert_eq!(found.file, "atksav.asm");
        assert!(fault(FEN, "e4", Behaviour::Corrected).is_none());
    }
}
