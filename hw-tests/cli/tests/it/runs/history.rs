//! Reports of several runs: their history, the shards of one run, and two runs compared.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::reports::WrittenReport;
use super::run_command;

/// Builds of the first 300 runs and of the others.
const BUILDS: [u32; 2] = [0x3F2A_51C0, 0x0000_00AB];
const RUNS: usize = 500;

/// A change of a report.
type Change<'a> = &'a dyn Fn(&mut Value);

fn measured() -> WrittenReport {
    WrittenReport::from_run(&["--rig", "direct", "--full", "byte.*"])
}

/// Writes a report with some fields changed, and returns its path.
fn write_changed(report: &Value, to: &Path, change: impl FnOnce(&mut Value)) -> PathBuf {
    let mut report = report.clone();
    change(&mut report);
    std::fs::create_dir_all(to).expect("a folder");
    let file = to.join("report.json");
    // `schema` is the first field of a report.
    let rest = serde_json::to_string(&report).expect("JSON").replacen("\"schema\":1,", "", 1);
    let rest = rest.strip_prefix('{').expect("an object");
    std::fs::write(&file, format!("{{\"schema\":1,{rest}")).expect("a file");
    file
}

fn parsed(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// Writes reports of 500 runs on two boards in turn. Case 0 fails in the runs 7, 107, 207, ... on
/// board `attic`; case 1 fails from run 300 on, with another build; case 2 takes 17 T-states more
/// from run 200 on; the line of `attic` gets worse.
fn archive() -> (TempDir, Vec<String>) {
    let base = parsed(&measured().path("report.json"));
    let names = (0..4).map(|case| base["cases"][case]["id"].as_str().expect("a name").to_owned());
    let names = names.collect();
    let folder = tempfile::tempdir().expect("a scratch folder");
    for run in 0..RUNS {
        write_changed(&base, &folder.path().join(run.to_string()), |report| {
            let minute = run % 60;
            report["started"] = json!(format!("2026-03-{:02}T10:{minute:02}:00Z", 1 + run / 60));
            report["board"]["name"] = json!(if run % 2 == 1 { "attic" } else { "bench" });
            report["image"]["build_id"] = json!(BUILDS[run / 300]);
            report["commit"] = json!(format!("c0ffee{:02}", run / 300));
            report["link"]["retries"]["timeout"] = json!(if run % 2 == 1 { run } else { 0 });
            let is_failing = [run % 100 == 7, run >= 300];
            for (case, _) in is_failing.iter().enumerate().filter(|(_, failing)| **failing) {
                report["cases"][case]["verdict"] = json!("fail");
                report["outcome"] = json!("fail");
            }
            let time = &mut report["cases"][2]["squares"][0]["t_states"];
            *time = json!(time.as_u64().expect("T-states") + if run >= 200 { 17 } else { 0 });
        });
    }
    (folder, names)
}

#[test]
fn the_history_of_500_runs_has_the_flaky_the_broken_and_the_slower_case() {
    let (archive, names) = archive();
    let out = archive.path().join("history");
    let paths = [archive.path(), &out].map(|path| path.to_string_lossy().into_owned());
    let (code, printed) = run_command(&["report", "history", &paths[0], "--report-dir", &paths[1]]);
    assert_eq!(code, Some(0), "{printed}");
    let history = parsed(&out.join("history.json"));
    assert_eq!(history["runs"].as_array().map(Vec::len), Some(RUNS));
    let case = |name: &str| {
        let cases = history["cases"].as_array().expect("cases");
        cases.iter().find(|case| case["id"] == name).expect("the case").clone()
    };
    let counts = |value: &Value| ["results", "passed", "flaky"].map(|name| value[name].clone());
    let [flaky, broken, slower, sound] = [0, 1, 2, 3].map(|at: usize| case(&names[at]));
    assert_eq!(counts(&flaky), [500, 495, 5].map(Value::from));
    assert_eq!((&flaky["first_failed"], flaky.get("failing_since")), (&json!(7), None));
    assert_eq!(counts(&broken), [500, 300, 0].map(Value::from), "no build both passed and failed");
    assert_eq!((&broken["first_failed"], &broken["failing_since"]), (&json!(300), &json!(300)));
    assert_eq!(history["runs"][300]["builds"], json!(["000000AB"]));
    assert_eq!(history["runs"][300]["commit"], "c0ffee01");
    let times = slower["t_states"].as_array().expect("T-states");
    let [first, second] = &times[..] else { panic!("{times:?}") };
    assert_eq!((&first[0], &second[0]), (&json!(0), &json!(200)));
    assert_eq!(second[1].as_u64(), first[1].as_u64().map(|before| before + 17));
    assert_eq!(counts(&sound), [500, 500, 0].map(Value::from));
    assert_eq!(sound["not_passed"], json!([]));
    let boards = history["boards"].as_array().expect("boards");
    // Of 250 runs of four cases each: five flaky cases, and 100 of the broken one.
    assert_eq!(
        (&boards[0]["name"], counts(&boards[0])),
        (&json!("attic"), [1000, 895, 5].map(Value::from))
    );
    assert_eq!(
        (&boards[1]["name"], counts(&boards[1])),
        (&json!("bench"), [1000, 900, 0].map(Value::from))
    );
    assert_eq!(boards[0]["line"][249], json!([499, boards[0]["line"][249][1], 499]));
    let said = format!("{}: 60.00 % pass, 0.00 % flaky; failing since ", names[1]);
    assert!(printed.contains(&said), "{printed}");
    assert!(printed.contains("build 000000AB, commit c0ffee01"), "{printed}");
    let page = std::fs::read_to_string(out.join("history.html")).expect("a page");
    assert!(
        page.contains(&names[0]) && page.contains("+17") && !page.contains("<script"),
        "{page}"
    );
    let again = run_command(&["report", "history", &paths[0], "--report-dir", &paths[1]]);
    assert_eq!(again, (code, printed), "its own files are no reports, and are replaced");
}

#[test]
fn the_shards_of_a_run_are_the_whole_run() {
    let whole = WrittenReport::from_run(&["--rig", "direct", "--tag", "document", "--tag", "odd"]);
    let shard = |part: &str| {
        WrittenReport::from_run(&[
            "--rig", "direct", "--tag", "document", "--tag", "odd", "--shard", part,
        ])
    };
    let shards = ["1/3", "2/3", "3/3"].map(shard);
    let paths = shards.each_ref().map(|one| one.path("report.json").to_string_lossy().into_owned());
    let out = tempfile::tempdir().expect("a scratch folder");
    let to = out.path().to_string_lossy();
    let merge =
        |files: &[&str]| run_command(&[&["report", "merge", "--report-dir", &to], files].concat());
    let [one, two, three] = paths.each_ref().map(String::as_str);
    let (code, printed) = merge(&[three, one, two]);
    assert_eq!(code, Some(0), "{printed}");
    let merged = parsed(&out.path().join("report.json"));
    let expected = parsed(&whole.path("report.json"));
    assert_eq!(merged["run"], expected["run"], "with the digest of all cases");
    assert_eq!(merged["counts"], expected["counts"]);
    assert_eq!(
        merged["cases"].as_array().map(Vec::len),
        expected["cases"].as_array().map(Vec::len)
    );
    for (same, other) in [("board", "image"), ("outcome", "schema")] {
        assert_eq!((&merged[same], &merged[other]), (&expected[same], &expected[other]));
    }
    assert!(!merged["arguments"].to_string().contains("shard"), "{}", merged["arguments"]);
    assert_eq!(merge(&[one, three]).0, Some(2));
    let (code, printed) = merge(&[one, two]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("no report of shard 3/3"), "{printed}");
    let (_, printed) = merge(&[&whole.path("report.json").to_string_lossy()]);
    assert!(
        printed.contains("is of no shard: expected a report of a run with --shard"),
        "{printed}"
    );
}

#[test]
fn shards_of_two_runs_are_refused_and_those_of_two_boards_are_a_run_on_two() {
    let base = parsed(
        &WrittenReport::from_run(&["--rig", "direct", "byte.*", "--shard", "1/2"])
            .path("report.json"),
    );
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name);
    let first = write_changed(&base, &at("1"), |_| {});
    let second = |name: &str, change: Change| {
        write_changed(&base, &at(name), |report| {
            report["run"]["shard"] = json!("2/2");
            for case in report["cases"].as_array_mut().expect("cases") {
                case["id"] = json!(format!("{} there", case["id"]));
            }
            change(report);
        })
    };
    let out = at("out").to_string_lossy().into_owned();
    let merge = |file: &Path| {
        let files = [&first, file].map(|path: &Path| path.to_string_lossy().into_owned());
        run_command(&["report", "merge", &files[0], &files[1], "--report-dir", &out])
    };
    let refused: [(&str, Change, &str); 7] = [
        ("a", &|report| report["image"]["build_id"] = json!(0xAB), "the build is 000000AB, and "),
        (
            "b",
            &|report| report["run"]["behaviour"] = json!("original"),
            "the behaviour is original, and ",
        ),
        ("f", &|report| report["run"]["faults"] = json!(7), "--faults is 7, and none there"),
        (
            "g",
            &|report| report["rounds"] = report["counts"].clone(),
            "--for or --count is given, and not given there",
        ),
        (
            "h",
            &|report| {
                report["baseline"] = json!({ "file": "old", "known": [], "new": [], "fixed": [] });
            },
            "--baseline is given, and not given there",
        ),
        ("c", &|report| report["run"]["shard"] = json!("1/2"), "are both of shard 1/2"),
        ("d", &|report| report["cases"] = base["cases"].clone(), "another shard has the case "),
    ];
    for (name, change, why) in refused {
        let (code, printed) = merge(&second(name, change));
        assert!(code == Some(2) && printed.contains(why), "{printed}");
    }
    let dead = |report: &mut Value| {
        report["board"]["name"] = json!("attic");
        report["incomplete"] = json!("the board is lost: no reply");
        report["summary"]["ended"] = json!({ "board-lost": "no reply" });
    };
    let (code, printed) = merge(&second("e", &dead));
    assert_eq!(code, Some(3), "{printed}");
    let merged = parsed(&at("out").join("report.json"));
    assert_eq!(merged["incomplete"], "shard 2/2: the board is lost: no reply");
    assert_eq!(merged["run"]["boards"], json!([base["board"]["name"], "attic"]), "{merged}");
    assert_eq!(merged["boards"][1]["is_missing"], true);
    assert_eq!(
        merged["cases"].as_array().and_then(|cases| cases.last()).expect("a case")["board"],
        "attic"
    );
}

#[test]
fn two_runs_differ_in_failures_and_in_t_states() {
    let base = parsed(&measured().path("report.json"));
    let folder = tempfile::tempdir().expect("a scratch folder");
    let name = |case: usize| base["cases"][case]["id"].as_str().expect("a name");
    let wrong = |report: &mut Value, residue: &str| {
        report["cases"][2]["verdict"] = json!("fail");
        report["cases"][2]["differences"] =
            json!([{ "square": "e4", "field": "residue", "board": residue, "reference": "3" }]);
    };
    let before = write_changed(&base, &folder.path().join("1"), |report| {
        report["cases"][0]["verdict"] = json!("fail");
        wrong(report, "4");
    });
    let after = write_changed(&base, &folder.path().join("2"), |report| {
        report["cases"][1]["verdict"] = json!("timeout");
        let time = &mut report["cases"][2]["squares"][0]["t_states"];
        *time = json!(time.as_u64().expect("T-states") + 17);
        wrong(report, "5");
        report["cases"].as_array_mut().expect("cases").pop();
    });
    let [before, after] = [&before, &after].map(|path| path.to_string_lossy().into_owned());
    let (code, printed) = run_command(&["report", "diff", &before, &after]);
    assert_eq!(code, Some(1), "{printed}");
    for line in [
        format!("new failure: {}\n", name(1)),
        format!("fixed: {}\n", name(0)),
        format!("missing: {}\n", name(3)),
        format!(
            "other values: {}\n    before: e4: residue: board 4, reference 3\n    \
             now: e4: residue: board 5, reference 3\n",
            name(2)
        ),
        format!("slower: {}: ", name(2)),
    ] {
        assert!(printed.contains(&line), "{line} in {printed}");
    }
    assert!(printed.contains(" T-states (+17)\n"), "{printed}");
    assert_eq!(run_command(&["report", "diff", &after, &after]).0, Some(0), "known failures");
}

#[test]
fn what_is_no_report_is_named() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("report.json");
    let name = file.to_string_lossy().into_owned();
    let there = folder.path().to_string_lossy().into_owned();
    let rows = [
        ("{}", 2, "is not a report.json (--report-dir)"),
        ("{\"schema\":1,", 3, "EOF while parsing"),
        ("{\"schema\":2}", 3, "unsupported schema 2: expected 1"),
        ("{\"schema\":1,\"counts\":{}}", 3, "missing field"),
    ];
    for (text, expected, why) in rows {
        std::fs::write(&file, text).expect("a file");
        let (code, printed) = run_command(&["report", "diff", &name, &name]);
        assert_eq!(code, Some(expected), "{printed}");
        assert!(printed.contains(&name) && printed.contains(why), "{printed}");
    }
    assert_eq!(run_command(&["report", "history", "/no/such.json"]).0, Some(3));
    std::fs::write(&file, "{}").expect("a file");
    let (code, printed) = run_command(&["report", "history", &there]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("has no report.json"), "{printed}");
}

#[test]
fn runs_on_boards_of_two_kinds_have_the_same_t_states() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let reports = ["rc2014-classic", "rc2014-zed"].map(|board| {
        let report_dir = folder.path().join(board).to_string_lossy().into_owned();
        let options = ["--board", board, "--report-dir", &report_dir];
        let (code, printed) =
            run_command(&[&["run", "--rig", "direct", "byte.*", "odd.*"], &options[..]].concat());
        assert_eq!(code, Some(0), "{printed}");
        format!("{report_dir}/report.json")
    });
    let (code, printed) = run_command(&["report", "diff", &reports[0], &reports[1]]);
    assert_eq!(code, Some(0), "{printed}");
    let expected = "0 new failures, 0 fixed, 0 known, 0 missing; 0 cases that fail with other \
                    values; 0 cases with other T-states, +0 in all\n";
    assert!(printed.ends_with(expected), "{printed}");
}
