//! Random calls of functions that Debian's SDCC compiles, by each of its conventions.

use std::fmt::Write;

use super::super::hw_tests;

/// Three widths in arguments and results; `HOW` is an attribute of functions. None calls SDCC's
/// library, which has its default convention.
const SOURCE: &str = "\
unsigned char low(unsigned char a, unsigned b, unsigned long c) HOW { return a + b + c; }
int middle(int a, signed char b, unsigned long c) HOW { return a - b + (int)(c >> 8); }
unsigned long high(unsigned long a, unsigned char b, int c) HOW { return a - b + c; }
";
const FAST_SOURCE: &str = "\
unsigned char low(unsigned char a) HOW { return a + 3; }
int middle(int a) HOW { return -a; }
unsigned long high(unsigned long a) HOW { return a ^ 0x12345678UL; }
";

/// A generator of numbers (xorshift, Marsaglia 2003).
fn next(random: &mut u64) -> u32 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    (*random >> 16) as u32
}

/// Returns a call of one of the functions of the source, its signature, and the host's result.
fn call(is_fast: bool, index: u32, random: &mut u64) -> (&'static str, String, i64) {
    let (a, b, c) = (next(random), next(random), next(random));
    let (a8, b8, a16, b16) = (a as u8, b as u8, a as i16, b as i16);
    match (is_fast, index % 3) {
        (true, 0) => {
            ("unsigned char low(unsigned char a)", format!("low({a8})"), a8.wrapping_add(3).into())
        }
        (true, 1) => ("int middle(int a)", format!("middle({a16})"), a16.wrapping_neg().into()),
        (true, _) => {
            ("unsigned long high(unsigned long a)", format!("high({a})"), (a ^ 0x1234_5678).into())
        }
        (false, 0) => (
            "unsigned char low(unsigned char a, unsigned b, unsigned long c)",
            format!("low({a8}, {}, {c})", b as u16),
            a8.wrapping_add(b8).wrapping_add(c as u8).into(),
        ),
        (false, 1) => (
            "int middle(int a, signed char b, unsigned long c)",
            format!("middle({a16}, {}, {c})", b8 as i8),
            a16.wrapping_sub((b8 as i8).into()).wrapping_add((c >> 8) as i16).into(),
        ),
        (false, _) => (
            "unsigned long high(unsigned long a, unsigned char b, int c)",
            format!("high({a}, {b8}, {b16})"),
            a.wrapping_sub(b8.into()).wrapping_add(i32::from(b16) as u32).into(),
        ),
    }
}

/// Compiles the functions, and makes a thousand calls of them. Without a convention, that is found.
fn check(options: &str, how: &str, convention: &str) {
    let is_fast = how == "__z88dk_fastcall";
    let folder = tempfile::tempdir().expect("a folder");
    let source = if is_fast { FAST_SOURCE } else { SOURCE };
    let mut text = format!(
        "build = \"sdcc -mz80 {options} --debug -c f.c && sdcc -mz80 --debug --no-std-crt0 \
         --code-loc 0x8000 --data-loc 0x9000 -o f.ihx f.rel\"\nprogram = \"f.ihx\"\n\
         symbols = [\"f.cdb\"]\n"
    );
    let mut random = 54;
    for index in 0..1000 {
        let (signature, call, returns) = call(is_fast, index, &mut random);
        let _ = writeln!(
            text,
            "[[case]]\nname = \"{index}\"\nsignature = \"{signature}\"\ncall = \"{call}\"\n\
             returns = {returns}\n{convention}"
        );
    }
    for (name, text) in [("f.c", source.replace("HOW", how)), ("f.test.toml", text)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let (code, shown, errors) = hw_tests(folder.path(), &["test", "f.test.toml"]);
    let end = &shown[shown.len().saturating_sub(600)..];
    assert_eq!(code, 0, "{options} {how} {convention}: {end}{errors}");
    assert!(shown.contains("PASS 1000 of 1000 cases"), "{end}");
}

#[test]
fn a_thousand_random_calls_of_each_convention_of_sdcc_return_what_the_host_computes() {
    for (options, how, convention) in [
        ("", "", ""),
        ("--sdcccall 0", "", ""),
        ("", "", "convention = \"sdcccall1\""),
        ("--sdcccall 0", "", "convention = \"sdcccall0\""),
        ("--sdcccall 0", "__z88dk_callee", "convention = \"callee\""),
        ("", "__z88dk_callee", "convention = \"sdcccall1-callee\""),
        ("", "__z88dk_fastcall", "convention = \"z88dk-fastcall\""),
        ("--sdcccall 0", "__z88dk_fastcall", "convention = \"z88dk-fastcall\""),
    ] {
        check(options, how, convention);
    }
}
