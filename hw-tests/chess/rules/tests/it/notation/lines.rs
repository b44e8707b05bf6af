//! Lines beyond the samples: the text that is kept, and the columns of errors.

use chess_rules::epd::{EpdEntry, EpdLine, read, read_line};
use chess_rules::suite::{AMOUNT_UNITS, SuiteMove};

const START: &str = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -";

fn entry(rest: &str) -> EpdEntry {
    match read_line(&format!("{START}{rest}")) {
        EpdLine::Position(entry) => *entry,
        other => panic!("{rest}: {other:?}"),
    }
}

fn number(suite: &SuiteMove) -> Option<i64> {
    suite.amount.map(|amount| amount.number / AMOUNT_UNITS)
}

#[test]
fn an_illegal_move_costs_neither_the_others_nor_the_position() {
    let found = entry(" bm Qh7 Bb5 zz9;");
    assert_eq!(found.moves[0].uci, ["f1b5"]);
    assert_eq!(
        found.warning().as_deref(),
        Some("Qh7 is not a legal move; zz9 is not a legal move")
    );
    let line = entry(" pv Bb5 Qh1 a6;");
    assert_eq!(line.moves[0].uci, ["f1b5"]);
}

#[test]
fn a_comment_named_like_a_square_is_not_a_suite() {
    let comment = entry("; c4 \"a pawn; here\";");
    assert_eq!(comment.suite, None);
    assert_eq!(comment.operands("c4"), Some(&["a pawn; here".to_owned()][..]));
    let suite = entry("; c4; 0").suite.expect("a suite").expect("a move");
    assert_eq!((suite.text.as_str(), number(&suite)), ("c4", Some(0)));
}

#[test]
fn a_suite_may_lack_its_value_and_may_have_a_long_note() {
    let asked = entry(" ; Nxe5?").suite.expect("a suite").expect("a move");
    assert_eq!((asked.text.as_str(), asked.amount, asked.note), ("Nxe5?", None, None));
    let noted = entry(" 0 1 | f3e5 | -200 | P - N | old").suite.expect("a suite").expect("a move");
    assert_eq!((number(&noted), noted.note.as_deref()), (Some(-200), Some("P - N | old")));
}

#[test]
fn text_that_is_not_an_operation_is_kept() {
    assert_eq!(entry(" 1-0").rest.as_deref(), Some("1-0"));
    assert_eq!(entry(" bm Bb5; [0.5]; 7").rest.as_deref(), Some("[0.5]; 7"));
    assert_eq!(entry(" \"1-0\";").rest.as_deref(), Some("\"1-0\""));
}

#[test]
fn strings_keep_what_is_escaped_and_what_is_not() {
    let operands = |text: &str| entry(text).operations[0].operands.clone();
    assert_eq!(operands(r#" c0 "a\\";"#), [r"a\"]);
    assert_eq!(operands(r#" c0 "a\nb";"#), [r"a\nb"]);
    assert_eq!(operands(r#" c0 it"s;"#), [r#"it"s"#]);
    assert_eq!(operands(r#" c0 "x""y";"#), ["x", "y"]);
}

#[test]
fn an_ambiguous_position_is_refused_at_its_column() {
    let cases = [
        ("8/8/8/8/8/8/8/8/8 w - -", Some(17), "nine ranks"),
        ("8/8/8/8/8/8/8/7 w - -", Some(16), "a rank of seven squares"),
        ("8/8/8/8/8/8/8/44K w - -", Some(17), "a rank of nine squares"),
        ("8/8/8/8/8/8/8/9 w - -", Some(15), "invalid piece '9': expected one of KQRBNPkqrbnp"),
        ("8/8/8/8/8/8/8/8 w - - 99999999999 1", Some(23), "the move clock is out of range"),
        ("8/8/8/8/8/8/8/8 w - - c0 \"ä\" \"", Some(30), "unterminated string"),
        ("", None, ""),
        ("8/8/8/8/8/8/8/8 w -", None, "three of four fields"),
        ("8/8/8/8/8/8/8/8 w; bm e4;", None, "two of four fields"),
    ];
    for (text, column, problem) in cases {
        match read_line(text) {
            EpdLine::Invalid(error) => {
                assert_eq!((error.column, error.problem.as_str()), (column, problem), "{text}");
            }
            EpdLine::Blank => assert_eq!(text, ""),
            EpdLine::Position(_) => panic!("{text} is read"),
        }
    }
}

#[test]
fn one_bad_line_costs_no_other() {
    let text = format!("{START} id \"a\";\nrubbish\n{START} id \"b\";");
    let lines = read(&text);
    assert!(matches!(lines[1], EpdLine::Invalid(_)));
    let EpdLine::Position(last) = &lines[2] else { panic!("a position") };
    assert_eq!(last.id().as_deref(), Some("b"));
}
