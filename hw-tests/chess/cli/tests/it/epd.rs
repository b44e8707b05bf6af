//! EPD as output: positions with their operations, and results as comments; castling as asked.

use std::path::Path;

use serde_json::Value;

use crate::{run, text};

/// Position 2 of the wiki's page on the swap algorithm.
const POSITION: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -";
/// The usual places of king and rooks.
const CASTLING: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -";

fn epd(arguments: &[&str], input: &str) -> String {
    text(&run(&[arguments, &["--epd"]].concat(), input).stdout)
}

fn json(arguments: &[&str], input: &str) -> Vec<Value> {
    let output = run(&[arguments, &["--json"]].concat(), input);
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_value_is_an_operation_after_those_of_the_line() {
    let line = format!("{POSITION} id own; c0 \"a \\\"b\\\"\"; ce +12; bm d3e5 Rxe5; am Qh9; ]");
    assert_eq!(
        epd(&["swap", &line, "Nxe5"], ""),
        format!(
            "{POSITION} id \"own\"; c0 \"a \\\"b\\\"\"; ce +12; bm Nxe5 Rxe5; am \"Qh9\"; \
             sm Nxe5; c1 \"see=-200\"; c2 \"]\";\n"
        )
    );
    let suite = format!("{POSITION}; Nxe5; -200\n{POSITION}; Nxe5; 100; note\n");
    let judged = epd(&["swap", "-"], &suite.replace("; note", ""));
    let lines = [-200, 100].map(|stated| {
        let right = stated == -200;
        format!("{POSITION} sm Nxe5; c0 \"see=-200\"; c1 \"stated={stated}, right={right}\";\n")
    });
    assert_eq!(judged, lines.concat());
}

#[test]
fn values_of_several_moves_or_squares_are_one_comment() {
    // The pawn of e5 is guarded by a knight and a bishop behind it; the rook that takes it is lost.
    let captures = "c0 \"see Bxb7=-200, Nxe5=-200, Rxe5=-400\";";
    assert_eq!(epd(&["captures", POSITION], ""), format!("{POSITION} {captures}\n"));
    assert!(epd(&["swap", POSITION], "").contains(" Rxe5=-400, "));
    let quiet = "4k3/8/8/8/8/8/8/4K3 w - -";
    assert_eq!(epd(&["captures", quiet], ""), format!("{quiet}\n"));
    let differ = "c0 \"residue e5=0, b7=0\"; c1 \"minimax e5=0, b7=0\"; c2 \"swap e5=0, b7=0\";";
    assert_eq!(epd(&["differences", POSITION], ""), format!("{POSITION} {differ}\n"));
    assert!(epd(&["relations", POSITION], "").contains("Qe1 attacks pe5 through Re2. Re2"));
    let flag = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -";
    assert!(
        epd(&["behaviours", flag], "").ends_with(" c0 \"corrected e4=3\"; c1 \"original e4=0\";\n")
    );
    let theirs = epd(&["compare-see", "--captures", "while read l; do echo 7; done", POSITION], "");
    assert!(theirs.contains(" sm Nxe5; c0 \"theirs=7\"; c1 \"see=-200\";\n"), "{theirs}");
}

#[test]
fn what_is_written_is_read_again_as_the_same() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rules/tests/data");
    let file = data.join("epd-samples.epd").to_string_lossy().into_owned();
    let written = epd(&["positions", &file], "");
    let [before, after] = [json(&["positions", &file], ""), json(&["positions", "-"], &written)];
    let before = before.into_iter().filter(|line| line["kind"] == "position");
    let before: Vec<_> = before.collect();
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        for field in ["fen", "moves", "chess960"] {
            assert_eq!(before[field], after[field], "{before}\n{after}");
        }
        let operations = |line: &Value| line["ops"].as_array().map_or(0, Vec::len);
        assert!(operations(after) >= operations(before), "{before}\n{after}");
    }
    assert_eq!(epd(&["positions", "-"], &written), written);
}

#[test]
fn castling_and_rights_are_written_as_asked() {
    let uci = |arguments: &[&str], fen: &str| {
        let line = &json(&[&["swap"], arguments, &[fen, "O-O"]].concat(), "")[0];
        (line["uci"].as_str().expect("a move").to_owned(), line["fen"].clone())
    };
    let shredder = CASTLING.replace("KQkq", "HAha");
    for fen in [CASTLING, &shredder] {
        let (written, by_files) = (format!("{CASTLING} 0 1"), format!("{shredder} 0 1"));
        assert_eq!(uci(&[], fen), ("e1g1".to_owned(), written.clone().into()));
        assert_eq!(uci(&["--chess960"], fen), ("e1h1".to_owned(), written.into()));
        assert_eq!(uci(&["--shredder"], fen), ("e1g1".to_owned(), by_files.into()));
    }
    // X-FEN has K for the rook farthest from the king, else its file.
    for (pieces, right) in [("5KRR", "G"), ("5KR1", "K")] {
        let fen = |right| format!("4k3/8/8/8/8/8/8/{pieces} w {right} - 0 1");
        assert_eq!(uci(&[], &fen("G")), ("f1g1".to_owned(), fen(right).into()));
        assert_eq!(uci(&["--shredder"], &fen("G")), ("f1g1".to_owned(), fen("G").into()));
    }
    let line = format!("{CASTLING} bm e1g1; pv e1g1 e8c8;");
    let moves = &json(&["positions", "--chess960", &line], "")[0]["moves"];
    assert_eq!(moves, &serde_json::json!({ "bm": ["e1h1"], "pv": ["e1h1", "e8a8"] }));
    assert!(epd(&["positions", "--chess960", &line], "").contains("bm O-O; pv O-O O-O-O;"));
}
