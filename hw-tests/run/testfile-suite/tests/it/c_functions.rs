//! Functions of C that compilers made, by each of their calling conventions.

use std::fmt::Write;
use std::path::Path;

use tdlasm::source::DiskLoader;
use testfile_suite::{Machine, TestFile, TestResult, Verdict};

use crate::boards::{board, results};
use crate::programs::{corpus, findings};

/// A generator of numbers (xorshift, Marsaglia 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }
}

/// What functions of the corpus's `mul.c` and `sort.c` return, by the host.
fn calls_of_mul(random: &mut Random) -> [(&'static str, String, i64); 5] {
    let (a, b) = (random.next(), random.next());
    let (a8, b8, a16, b16) = (a as u8, b as u8, a as u16, b as u16);
    let (i, j) = (a16 as i16, b16 as i16);
    let product = u32::from(a16) * u32::from(b16);
    [
        (
            "uint16_t mul8(uint8_t a, uint8_t b)",
            format!("mul8({a8}, {b8})"),
            i64::from(a8) * i64::from(b8),
        ),
        (
            "uint32_t mul16(uint16_t a, uint16_t b)",
            format!("mul16({a16}, {b16})"),
            i64::from(product),
        ),
        (
            "uint32_t add32(uint32_t a, uint32_t b)",
            format!("add32({a}, {b})"),
            i64::from(a.wrapping_add(b)),
        ),
        (
            "int16_t add16(int16_t a, int16_t b)",
            format!("add16({i}, {j})"),
            i64::from(i.wrapping_add(j)),
        ),
        (
            "int8_t neg8(int8_t a)",
            format!("neg8({})", a8 as i8),
            i64::from((a8 as i8).wrapping_neg()),
        ),
    ]
}

fn calls_of_sort(random: &mut Random) -> [(&'static str, String, i64); 2] {
    let a = random.next();
    [
        ("uint16_t half(uint16_t x)", format!("half({})", a as u16), i64::from(a as u16 >> 1)),
        ("uint32_t half32(uint32_t x)", format!("half32({a})"), i64::from(a >> 1)),
    ]
}

/// Returns a test file about a program with symbol files.
fn file(program: &str, symbols: &str) -> String {
    let quoted = |path: &str| format!("'{}'", corpus(path).display());
    let program = quoted(program);
    let symbols = symbols.split(' ').map(quoted).collect::<Vec<_>>().join(", ");
    format!("program = {program}\nsymbols = [{symbols}]\nallow = [\"unwritten\"]\n")
}

/// Adds a call. Without a word for the convention, that is found in the debug information.
fn add_case(text: &mut String, convention: &str, (signature, call, returns): (&str, String, i64)) {
    let number = text.len();
    let _ = writeln!(
        text,
        "[[case]]\nname = \"{number}\"\ncall = \"{call}\"\nsignature = \"{signature}\"\n\
         returns = {returns}"
    );
    if !convention.is_empty() {
        let _ = writeln!(text, "convention = \"{convention}\"");
    }
}

fn on_board(text: &str) -> Vec<TestResult> {
    let file = TestFile::parse(Path::new("c.test.toml"), text, &DiskLoader).expect("a test file");
    let mut board = board("rc2014-classic");
    board.load(&file.program).unwrap_or_else(|error| panic!("{error}"));
    results(&file, &mut board)
}

fn check(text: &str) {
    let found = findings(Path::new("c.test.toml"), text);
    let found = found.unwrap_or_else(|errors| panic!("{}", errors.messages()[0]));
    assert_eq!(found, [""; 0]);
    let found = on_board(text);
    let found = found.iter().filter(|result| result.verdict != Verdict::Pass);
    let found: Vec<_> = found.map(|one| (&one.reason, &one.differences)).collect();
    assert!(found.is_empty(), "on a board: {found:?}");
}

#[test]
fn a_thousand_random_calls_of_each_convention_return_what_the_host_computes() {
    let mut random = Random(54);
    for (folder, symbols, convention) in [
        ("sdcc-call1/c-mul", "noi", "sdcccall1"),
        ("sdcc-call0/c-mul", "noi", "sdcccall0"),
        ("z88dk-80cc/c-mul", "map", "smallc"),
    ] {
        let of = |ending| format!("{folder}/mul.{ending}");
        let mut text = file(&of("ihx"), &of(symbols));
        for _ in 0..200 {
            calls_of_mul(&mut random)
                .into_iter()
                .for_each(|one| add_case(&mut text, convention, one));
        }
        check(&text);
    }
    for (folder, symbols) in [("sdcc-call1/c-sort", "noi"), ("z88dk-80cc/c-sort", "map")] {
        let of = |ending| format!("{folder}/sort.{ending}");
        let mut text = file(&of("ihx"), &of(symbols));
        for _ in 0..500 {
            let calls = calls_of_sort(&mut random);
            calls.into_iter().for_each(|one| add_case(&mut text, "z88dk-fastcall", one));
        }
        check(&text);
    }
}

/// SDCC 4.3 and later note it; of the corpus's 4.2 nothing shows it without a `.cdb`.
#[test]
fn a_module_beside_the_program_shows_the_convention() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let program = folder.path().join("mul.ihx");
    for (number, note) in [
        (0, Some(("mul.rel", "XL4\nM mul\nO -mz80 sdcccall(0)\n"))),
        (0, Some(("mul.asm", "\t.module mul\n\t.optsdcc -mz80 sdcccall(0)\n"))),
        (0, Some(("mul.lst", "     7 \t.optsdcc -mz80 sdcccall(0)\n"))),
        (0, None),
        (1, Some(("mul.rel", "XL4\nM mul\nO -mz80 sdcccall(1)\n"))),
        (1, None),
    ] {
        let made = format!("sdcc-call{number}/c-mul/mul");
        std::fs::copy(corpus(&format!("{made}.ihx")), &program).expect("a scratch file");
        if let Some((name, text)) = note {
            std::fs::write(folder.path().join(name), text).expect("a scratch file");
        }
        let mut text = file(&program.to_string_lossy(), &format!("{made}.noi"));
        for call in calls_of_mul(&mut Random(54)) {
            add_case(&mut text, "", call);
        }
        if let Some((name, _)) = note {
            check(&text);
            std::fs::remove_file(folder.path().join(name)).expect("it is there");
        } else {
            let found = findings(Path::new("c.test.toml"), &text).expect("a test file");
            assert_eq!(found.iter().any(|one| !one.is_empty()), number == 0, "{found:?}");
        }
    }
}

#[test]
fn the_debug_information_shows_the_convention() {
    let mut random = Random(54);
    for (program, symbols) in [
        ("sdcc-call1/c-mul/mul.ihx", "sdcc-call1/c-mul/mul.noi sdcc-call1/c-mul/mul.cdb"),
        ("sdcc-call0/c-mul/mul.ihx", "sdcc-call0/c-mul/mul.noi sdcc-call0/c-mul/mul.cdb"),
        ("z88dk-80cc/c-mul/mul.ihx", "z88dk-80cc/c-mul/mul.map"),
    ] {
        let mut text = file(program, symbols);
        for _ in 0..20 {
            calls_of_mul(&mut random).into_iter().for_each(|one| add_case(&mut text, "", one));
        }
        // It has no parameters: the others show the registers of its result.
        add_case(&mut text, "", ("uint8_t ncalls(void)", "ncalls()".to_owned(), 7));
        let _ = writeln!(text, "memory = [{{ at = \"calls\", bytes = [7] }}]");
        check(&text);
    }
    let mut text = file("z88dk-80cc/c-sort/sort.ihx", "z88dk-80cc/c-sort/sort.map");
    for _ in 0..20 {
        calls_of_sort(&mut random).into_iter().for_each(|one| add_case(&mut text, "", one));
    }
    check(&text);
}

#[test]
fn a_thousand_random_calls_of_functions_that_remove_their_arguments_do_what_the_host_does() {
    let mut random = Random(55);
    for (folder, symbols, convention) in [
        ("sdcc-call1/c-sort", "noi", "sdcccall1-callee"),
        ("z88dk-80cc/c-sort", "map", "smallc-callee"),
    ] {
        let of = |ending| format!("{folder}/sort.{ending}");
        let mut text = file(&of("ihx"), &of(symbols));
        for number in 0..1000 {
            let (a, b) = (random.next() as u16, random.next() as u16);
            let at = 0xC002 + 2 * (random.next() % 1000);
            let _ = writeln!(
                text,
                "[[case]]\nname = \"{number}\"\ncall = \"exchange({at}, 0xC000)\"\n\
                 signature = \"void exchange(int16_t *a, int16_t *b)\"\n\
                 convention = \"{convention}\"\n\
                 memory = [{{ at = 0xC000, words = [{a}] }}, {{ at = {at}, words = [{b}] }}]\n\
                 expect.memory = [{{ at = 0xC000, words = [{b}] }}, {{ at = {at}, words = [{a}] }}]"
            );
        }
        check(&text);
    }
}

#[test]
fn arguments_of_all_widths_and_pointers_to_declared_memory_arrive() {
    for (folder, symbols, convention) in [
        ("sdcc-call1/c-mul", "noi", "sdcccall1"),
        ("sdcc-call0/c-mul", "noi", "sdcccall0"),
        ("z88dk-80cc/c-mul", "map", "smallc"),
    ] {
        let of = |ending| format!("{folder}/mul.{ending}");
        let text = file(&of("ihx"), &of(symbols))
            + &format!(
                "[[case]]\nname = \"mixed\"\ncall = \"mixed(200, -1000, 0x12340002, 0xC000)\"\n\
                 signature = \"int16_t mixed(uint8_t a, int16_t b, uint32_t c, uint8_t *p)\"\n\
                 convention = \"{convention}\"\nreturns = -995\n\
                 memory = [{{ at = \"scale\", bytes = [3] }}, {{ at = 0xC000, bytes = [0] }}]\n\
                 expect.memory = [{{ at = 0xC000, bytes = [200] }}]\n"
            );
        check(&text);
    }
    for (folder, symbols, convention) in [
        ("sdcc-call1/c-sort", "noi", "sdcccall1-callee"),
        ("z88dk-80cc/c-sort", "map", "smallc-callee"),
    ] {
        let of = |ending| format!("{folder}/sort.{ending}");
        let text = file(&of("ihx"), &of(symbols))
            + &format!(
                "[[case]]\nname = \"exchange\"\ncall = \"exchange(0xC000, 0xC004)\"\n\
                 signature = \"void exchange(int16_t *a, int16_t *b)\"\nconvention = \"{convention}\"\n\
                 memory = [{{ at = 0xC000, words = [1, 2, 3] }}]\n\
                 expect.memory = [{{ at = 0xC000, words = [3, 2, 1] }}]\n"
            );
        check(&text);
    }
}

#[test]
fn a_wrong_result_and_a_wrong_convention_are_found() {
    let start = file("sdcc-call0/c-mul/mul.ihx", "sdcc-call0/c-mul/mul.noi");
    let case = |convention: &str, returns: i64| {
        let mut text = start.clone();
        let signature = "int16_t add16(int16_t a, int16_t b)";
        add_case(&mut text, convention, (signature, "add16(300, -2400)".to_owned(), returns));
        findings(Path::new("c.test.toml"), &text).expect("a test file")
    };
    assert_eq!(case("sdcccall0", -2100), [""; 0]);
    let found = case("sdcccall0", -2101);
    assert!(found[0].starts_with("result of add16: expected -2101, got -2100"), "{found:?}");
    let found = case("callee", -2100);
    assert!(found[0].starts_with("returned with the stack pointer at"), "{found:?}");
    let mut text = start.clone();
    let signature = "int16_t add16(int16_t a, int16_t b)";
    add_case(&mut text, "callee", (signature, "add16(300, -2400)".to_owned(), -2100));
    let found = on_board(&text)[0].differences[0].to_string();
    assert!(found.starts_with("returned with the stack pointer at"), "on a board: {found}");
    assert_ne!(case("sdcccall1", -2100), [""; 0]);
}

#[test]
fn wrong_calls_are_errors_at_their_place() {
    let start = file("sdcc-call1/c-mul/mul.ihx", "sdcc-call1/c-mul/mul.noi");
    for (lines, expected) in [
        ("call = \"add16(1, 2)\"", "'signature' is missing"),
        (
            "call = \"add16(1)\"\nsignature = \"int add16(int a, int b)\"",
            "takes 2 arguments, not 1",
        ),
        ("call = \"add16(1, 70000)\"\nsignature = \"int add16(int a, int b)\"", "70000 is not in"),
        ("call = \"add16(1, 2)\"\nsignature = \"int add8(int a, int b)\"", "is of add8"),
        ("call = \"add16(1, 2)\"\nsignature = \"int add16(struct s a)\"", "struct"),
        (
            "call = \"add16(1, 2)\"\nsignature = \"void add16(int a, int b)\"\nreturns = 3",
            "nothing",
        ),
        ("call = \"add16\"\nreturns = 3", "expected a call with arguments"),
        ("call = \"add17(1)\"\nsignature = \"int add17(int a)\"", "unknown name 'add17'"),
    ] {
        let text = format!("{start}[[case]]\nname = \"a\"\n{lines}\n");
        let errors = findings(Path::new("c.test.toml"), &text).expect_err(lines);
        let messages = errors.messages().join("\n");
        assert!(messages.contains(expected), "{lines}: {messages}");
    }
}
