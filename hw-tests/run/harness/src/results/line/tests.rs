//! A line is JSON with a sum that covers it and the lines before it.

use serde_json::{Value, json};

use super::*;

#[test]
fn a_line_is_json_and_is_decoded_only_with_the_previous_sum() {
    let value = json!({"case": {"id": "x", "why": "a \"}"}});
    let (line, sum) = encode_line(&value, 7).expect("an object");
    let text = line.strip_suffix('\n').expect("a line");
    let plain: Value = serde_json::from_str(text).expect("it is JSON");
    assert_eq!((&plain["case"], &plain["sum"]), (&value["case"], &json!(format!("{sum:08X}"))));
    assert_eq!(decode_line::<Value>(text, 7).expect("it is whole"), (value, sum));
    assert!(matches!(decode_line::<Value>(text, 8), Err(LineError::WrongSum(..))));
}

#[test]
fn a_change_of_any_bit_is_detected() {
    let (line, _) =
        encode_line(&json!({"case": {"id": "figure4", "board": 1}}), 0).expect("an object");
    let line = line.trim_end();
    for at in 0..line.len() {
        for bit in 0..8 {
            let mut bytes = line.as_bytes().to_vec();
            bytes[at] ^= 1 << bit;
            let is_detected = String::from_utf8(bytes)
                .map_or(true, |line| decode_line::<Value>(&line, 0).is_err());
            assert!(is_detected, "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn a_line_without_a_sum_is_refused() {
    for line in ["", "{}", "é\",\"sum\":\"00000000\"}", "{\"sum\":\"0000000g\"}"] {
        assert!(decode_line::<Value>(line, 0).is_err(), "{line}");
    }
}
