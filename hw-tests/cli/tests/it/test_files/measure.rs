//! Coverage, profile and T-states of test files, against counts by hand. T-states are those of
//! Zilog's UM0080: XOR and ADD 4, DJNZ 13 or 8, RET cc 11 or 5, CALL 17, CPL 4, RET 10.

use std::path::Path;

use super::{hw_tests, project};

const MUL: &str = "\
MUL:    XRA     A
LOOP:   ADD     C
        DJNZ    LOOP
        RZ
        CALL    INV
        RET
INV:    CMA
        RET
UNUSED: RC
        RET
        .INTERN MUL,UNUSED
        .END
";

/// 4 + 3 * 4 + 13 + 13 + 8 + 11 = 61, and 4 + 2 * 4 + 13 + 8 + 5 + 17 + 4 + 10 + 10 = 79.
const CASES: &str = "\
sources = [\"mul.asm\"]
[[case]]
name = \"zero\"
call = \"MUL\"
in = { B = 3, C = 0 }
expect = { A = 0 }
[[case]]
name = \"two\"
call = \"MUL\"
in = { B = 2, C = 1 }
expect = { A = 0xFD }
";

/// 4 + 4 + 8 + 11 = 27, and 4 + 2 * 4 + 13 + 8 + 11 = 44.
const EXHAUSTIVE: &str = "\
sources = [\"../mul.asm\"]
[[property]]
name = \"all\"
call = \"MUL\"
args = { B = \"1..=2\", C = [0] }
check = \"out.A == 0\"
exhaustive = true
";

/// A folder with a routine and two test files, of which one is in a folder below.
pub(super) fn mul() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write = |name, text| std::fs::write(folder.path().join(name), text).expect("a file");
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    write("mul.asm", MUL);
    write("mul.test.toml", CASES);
    write("sub/all.test.toml", EXHAUSTIVE);
    folder
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_tracefile_has_the_counts_of_all_cases_properties_and_files() {
    let folder = mul();
    let (code, shown, errors) = hw_tests(folder.path(), &["test", ".", "--coverage", "cover.info"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{shown}");
    let summary = "not run: mul.asm:9-10\ncoverage: lines 8 of 10 (80.0 %), branches 4 of 6 (66.7 \
                   %)\n";
    assert!(shown.ends_with(summary), "{shown}");
    let source = folder.path().canonicalize().expect("it is there").join("mul.asm");
    let expected = format!(
        "TN:\nSF:{}\nFN:1,MUL\nFN:7,INV\nFN:9,UNUSED\nFNDA:4,MUL\nFNDA:1,INV\nFNDA:0,UNUSED\n\
         FNF:3\nFNH:2\nBRDA:3,0,0,4\nBRDA:3,0,1,4\nBRDA:4,0,0,1\nBRDA:4,0,1,3\nBRDA:9,0,0,-\n\
         BRDA:9,0,1,-\nBRF:6\nBRH:4\nDA:1,4\nDA:2,8\nDA:3,8\nDA:4,4\nDA:5,1\nDA:6,1\nDA:7,1\n\
         DA:8,1\nDA:9,0\nDA:10,0\nLF:10\nLH:8\nend_of_record\n",
        source.display()
    );
    assert_eq!(read(folder.path(), "cover.info"), expected);
}

#[test]
fn a_program_without_source_lines_has_no_coverage() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write = |name, text| std::fs::write(folder.path().join(name), text).expect("a file");
    write("ret.hex", ":01800000C9B6\n:00000001FF\n");
    write("a.test.toml", "program = \"ret.hex\"\n[[case]]\nname = \"a\"\ncall = \"8000H\"\n");
    let (code, shown, errors) =
        hw_tests(folder.path(), &["test", "a.test.toml", "--coverage", "cover.info"]);
    assert_eq!(code, 0, "{errors}");
    assert!(shown.ends_with("coverage: no program has a table of source lines\n"), "{shown}");
}

#[test]
fn the_profile_has_the_t_states_of_all_files_by_line_and_call() {
    let folder = mul();
    let (code, shown, _) = hw_tests(folder.path(), &["test", ".", "--profile", "mul.out"]);
    let total = 61 + 79 + 27 + 44;
    assert_eq!(code, 0, "{shown}");
    assert!(shown.ends_with(&format!("profile: {total} T-states, in mul.out\n")), "{shown}");
    let profile = read(folder.path(), "mul.out");
    assert!(profile.contains(&format!("\nevents: Tstates\nsummary: {total}\n")), "{profile}");
    let cases = "fl=mul.asm\nfn=MUL\n1 8\n2 20\n3 55\n4 16\n5 17\n6 10\ncfl=mul.asm\ncfn=INV \
                 (mul.asm)\ncalls=1 7\n5 14\n\nfl=mul.asm\nfn=INV (mul.asm)\n7 4\n8 10\n";
    let property = "fl=sub/../mul.asm\nfn=MUL\n1 8\n2 12\n3 29\n4 22\n";
    assert!(profile.contains(cases) && profile.contains(property), "{profile}");
}

const BASELINE: &str = "\
\"mul.test.toml::two\" = 79
\"mul.test.toml::zero\" = 61
\"other.test.toml::kept\" = 2
\"sub/all.test.toml::all\" = 71
";

#[test]
fn t_states_are_written_and_compared() {
    let folder = mul();
    let at = folder.path();
    let write = |text: &str| std::fs::write(at.join("cycles.toml"), text).expect("a file");
    let test = |more: &[&str]| {
        let (code, shown, errors) =
            hw_tests(at, &[&["test", ".", "--cycles", "cycles.toml"], more].concat());
        let last = shown.rsplit_once(" on simulated\n").map_or("", |(_, after)| after).to_owned();
        (code, last, format!("{shown}{errors}"))
    };
    let (code, _, all) = test(&[]);
    assert!(code == 3 && all.contains("cycles.toml does not exist: create it by --write-cycles"));
    write("\"mul.test.toml::removed\" = 1\n\"other.test.toml::kept\" = 2\n");
    let random = "sources = [\"mul.asm\"]\n[[property]]\nname = \"random\"\ncall = \"MUL\"\nargs = \
                  { C = \"u8\" }\ncases = 1\ncheck = \"1\"\n";
    std::fs::write(at.join("random.test.toml"), random).expect("a file");
    let (code, _, all) = test(&["--write-cycles"]);
    assert_eq!(code, 0, "{all}");
    assert_eq!(read(at, "cycles.toml"), BASELINE);
    write("\"mul.test.toml::two\" = 75\n\"mul.test.toml::zero\" = 70\n");
    let (code, summary, all) = test(&[]);
    let expected = "+4 T (5.3 %) mul.test.toml::two\n-9 T (12.9 %) mul.test.toml::zero\nT-states: \
                    1 of 2 cases slower, 1 faster, 1 case not in cycles.toml\n";
    assert_eq!((code, summary.as_str()), (0, expected), "{all}");
    // 75 and 5 % are 78.75; 75 and 6 % are 79.5.
    let (code, _, all) = test(&["--max-slower", "5%"]);
    let failure = "FAIL  mul.test.toml:7: two\n      T-states, 75 before: expected at most 78, got \
                   79\n";
    assert!(code == 1 && all.contains(failure), "{code} {all}");
    let (code, _, all) = test(&["--max-slower", "6"]);
    assert_eq!(code, 0, "{all}");
}

#[test]
fn wrong_baselines_and_options_are_errors_with_their_place() {
    let folder = mul();
    let at = folder.path();
    for (text, message) in [
        ("\"a\" = 1\n\"b\" = \"x\"\n", "cycles.toml:2:7: b: expected an integer, found a string"),
        ("a = 1\na = 2\n", "cycles.toml:2:1: duplicate key"),
        ("a = -1\n", "cycles.toml:1:5: a: -1 is not in 0 to "),
    ] {
        std::fs::write(at.join("cycles.toml"), text).expect("a file");
        for more in [&[][..], &["--write-cycles"]] {
            let arguments = [&["test", ".", "--cycles", "cycles.toml"], more].concat();
            let (code, _, errors) = hw_tests(at, &arguments);
            assert!(code == 3 && errors.contains(message), "{code} {errors}");
            assert_eq!(read(at, "cycles.toml"), text, "it is unchanged");
        }
    }
    for arguments in [
        &["--coverage", "c.info", "--rig", "direct"][..],
        &["--profile", "p.out", "--board", "rc2014-zed"],
        &["--cycles", "c.toml", "--write-cycles", "--rig", "direct"],
        &["--write-cycles"],
        &["--max-slower", "5"],
        &["--cycles", "c.toml", "--max-slower", "-1"],
        &["--cycles", "c.toml", "--max-slower", "5", "--write-cycles"],
    ] {
        let (code, _, errors) = hw_tests(at, &[&["test", "."], arguments].concat());
        assert_eq!(code, 2, "{arguments:?}: {errors}");
    }
}

#[test]
fn t_states_are_not_compared_on_a_board() {
    let folder = project(super::CASES.split("[[case]]\nname = \"large").next().expect("a case"));
    let at = folder.path();
    std::fs::write(at.join("cycles.toml"), "\"twice.test.toml::small\" = 1\n").expect("a file");
    let arguments = ["--cycles", "cycles.toml", "--max-slower", "0", "--rig", "direct"];
    let (code, shown, errors) = hw_tests(at, &[&["test", "."][..], &arguments].concat());
    assert_eq!(code, 0, "{errors}");
    assert!(shown.contains("ok    small: not checked here: cycles\n"), "{shown}");
}
