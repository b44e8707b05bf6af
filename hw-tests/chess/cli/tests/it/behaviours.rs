//! Squares where the original program differs from the corrected one.

use serde_json::Value;

use crate::{run, text};

#[test]
fn where_the_behaviours_differ_is_listed_with_square_residues_and_fault() {
    let fen = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -";
    let output = run(&["behaviours", fen], "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.contains("e4 n corrected 3 original 0  flag\n"), "{shown}");
    let shown = text(&run(&["behaviours", "--json", fen], "").stdout);
    let first: Value = serde_json::from_str(shown.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&first["square"], &first["faults"][0]), (&"e4".into(), &"flag".into()));
    // Nine queens around a pawn overflow the bytes of queen and king.
    let shown = text(&run(&["behaviours", "8/8/2QQQ3/2QpQ3/2QQQ3/8/7k/K7 b - -"], "").stdout);
    assert!(
        shown.contains("d5 p corrected 1") && shown.contains("(corrected: overflow)"),
        "{shown}"
    );
}
