//! Other programs' files are safe: no file is replaced, truncated or written unless it is
//! recognised as this program's, and full disks end a run with whole lines.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{command, records, run_command};
use crate::programs::path;

/// A file with one position.
const ONE: &str = "r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"same\";\n";
const OTHER: &str = "4k3/8/8/3p4/4N3/8/8/4K3 w - - id \"same\";\n";

/// A scratch folder with a file of this content, and the file's path.
fn with_file(content: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("precious");
    fs::write(&file, content).expect("a scratch file");
    let name = file.to_string_lossy().into_owned();
    (folder, name)
}

#[test]
fn a_file_that_is_not_a_results_file_is_never_changed() {
    for content in [&b"a letter without a line break"[..], b"one\ntwo\n", b"\0\0\0\0", b"{}\n"] {
        let (_folder, name) = with_file(content);
        let run = |more: &[&str]| {
            run_command(
                &[&["run", "--rig", "direct", "byte.figure4", "--results", &name], more].concat(),
            )
        };
        let (code, printed) = run(&["--resume"]);
        assert_eq!(code, Some(2), "{printed}");
        assert!(printed.contains("is not a results file; it was not changed"), "{printed}");
        assert_eq!(fs::read(&name).expect("it is there"), content);
        let (code, printed) = run(&[]);
        assert_eq!(code, Some(2), "{printed}");
        assert_eq!(fs::read(&name).expect("it is there"), content);
        let (code, printed) = run(&["--force"]);
        assert_eq!(code, Some(0), "{printed}");
        assert_eq!(records(Path::new(&name)).len(), 4, "head, ready, case, end");
    }
}

#[test]
fn a_position_that_was_never_run_has_no_result_by_its_name() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [corpus, results] = ["corpus.epd", "results"].map(|name| folder.path().join(name));
    let [corpus, results] = [&corpus, &results].map(|path| path.to_string_lossy().into_owned());
    let run = |more: &[&str]| {
        let arguments = ["run", "--rig", "direct", "--corpus", &corpus, "--results", &results];
        run_command(&[&arguments, more].concat())
    };
    fs::write(&corpus, ONE).expect("a scratch file");
    assert_eq!(run(&[]).0, Some(0));
    fs::write(&corpus, OTHER).expect("a scratch file");
    let (code, printed) = run(&["--resume"]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("is of another run: the digest of the cases is "), "{printed}");
    assert!(!printed.contains("PASS"), "{printed}");
}

#[test]
fn an_edited_result_is_found() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let results = folder.path().join("results");
    let name = results.to_string_lossy();
    let run = ["run", "--rig", "direct", "byte.figure4", "--results", &name];
    assert_eq!(run_command(&run).0, Some(0));
    let edited = fs::read_to_string(&results).expect("text").replace("\"board\":1", "\"board\":2");
    fs::write(&results, &edited).expect("a scratch file");
    let (code, printed) = run_command(&[&run[..], &["--resume"]].concat());
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("results:3: a damaged line"), "{printed}");
    assert_eq!(fs::read_to_string(&results).expect("text"), edited);
}

#[test]
fn a_transcript_replaces_a_file_only_if_forced() {
    let (_folder, name) = with_file(b"a letter\n");
    let run = |more: &[&str]| {
        run_command(
            &[&["run", "--rig", "direct", "byte.figure4", "--record", &name], more].concat(),
        )
    };
    let (code, printed) = run(&[]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("exists: replace it with --force"), "{printed}");
    assert_eq!(fs::read(&name).expect("it is there"), b"a letter\n");
    assert_eq!(run(&["--force"]).0, Some(0));
    let recorded = fs::read(&name).expect("a transcript");
    assert_eq!(run(&[]).0, Some(2), "a transcript is a file as others");
    assert_eq!(fs::read(&name).expect("it is there"), recorded);
    assert_eq!(run_command(&["run", "--rig", &format!("replay:{name}")]).0, Some(0));
}

#[test]
fn a_report_replaces_reports_only() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let precious = folder.path().join("report.md");
    fs::write(&precious, "# My thesis\n").expect("a scratch file");
    let name = folder.path().to_string_lossy();
    let run = |more: &[&str]| {
        run_command(
            &[&["run", "--rig", "direct", "byte.figure4", "--report-dir", &name], more].concat(),
        )
    };
    let (code, printed) = run(&[]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("report.md is not a report file of this program"), "{printed}");
    assert_eq!(fs::read_to_string(&precious).expect("text"), "# My thesis\n");
    assert_eq!(run(&["--force"]).0, Some(0));
    assert_eq!(run(&[]).0, Some(0), "an earlier report is replaced");
}

#[test]
fn a_run_without_results_leaves_its_reason_and_keeps_an_earlier_report() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let name = folder.path().to_string_lossy();
    let run_in = |folder: &str, more: &[&str]| {
        run_command(&[&["run", "--rig", "direct", "--report-dir", folder], more].concat())
    };
    let run = |more: &[&str]| run_in(&name, more).0;
    let read = |file: &str| fs::read(folder.path().join(file)).expect("it is written");
    const FILES: [&str; 4] = ["report.json", "junit.xml", "report.html", "report.md"];
    let failures: [(&[&str], i32, &str); 3] = [
        (&["--baseline", "/nonexistent"], 2, "/nonexistent"),
        (&["--corpus", "/nonexistent"], 3, "read /nonexistent"),
        (&["no-such-case"], 4, "no case is selected"),
    ];
    for (arguments, code, why) in failures {
        let empty = tempfile::tempdir().expect("a scratch folder");
        let ended = run_in(&empty.path().to_string_lossy(), arguments).0;
        assert_eq!(ended, Some(code), "{arguments:?}");
        for file in ["report.md", "junit.xml"] {
            let text = fs::read_to_string(empty.path().join(file)).expect("the reason");
            assert!(text.contains(why), "{arguments:?}: {text}");
        }
        assert!(!empty.path().join("report.json").exists(), "{arguments:?}");
        assert_eq!(run(&["byte.figure4"]), Some(0));
        let earlier = FILES.map(read);
        let (ended, printed) = run_in(&name, arguments);
        assert_eq!(ended, Some(code), "{arguments:?}");
        assert!(printed.contains("is of an earlier run"), "{arguments:?}: {printed}");
        assert_eq!(FILES.map(read), earlier, "{arguments:?}");
    }
    assert_eq!(run(&["--list"]), Some(0), "a list is no run");
    assert!(folder.path().join("report.json").exists());
}

#[test]
fn files_without_end_are_read_up_to_a_limit() {
    let zeros = "/dev/zero";
    let rig = ["run", "--port", "bench", "--rig-file", zeros];
    let replay = ["run", "--rig", "replay:/dev/zero"];
    let corpus = ["run", "--corpus", zeros, "--list"];
    let app = ["run", "--rig", "direct", "--app", zeros];
    for arguments in [&rig[..], &replay, &corpus, &app] {
        let (code, printed) = run_command(arguments);
        assert_eq!(code, Some(3), "{arguments:?}: {printed}");
        assert!(printed.contains(zeros) && printed.contains("bytes"), "{arguments:?}: {printed}");
    }
    let input = fs::File::open(zeros).expect("a device");
    for positions in [zeros, "-"] {
        let mut sargon = Command::new(path("sargon"));
        let input = input.try_clone().expect("a device");
        let output = sargon.args(["residues", positions]).stdin(input).output().expect("it starts");
        assert_eq!(output.status.code(), Some(3), "{output:?}");
    }
}

#[test]
fn devices_folders_and_dangling_links_are_not_files() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let dangling = folder.path().join("dangling");
    symlink("nowhere", &dangling).expect("a link");
    let inside = folder.path().to_string_lossy();
    for name in ["/dev/full", "/dev/null", &inside, &dangling.to_string_lossy()] {
        for option in ["--results", "--record"] {
            let (code, printed) =
                run_command(&["run", "--rig", "direct", "byte.figure4", "--force", option, name]);
            assert!(matches!(code, Some(2 | 3)), "{option} {name}: {printed}");
            assert!(printed.contains(name), "{option} {name}: {printed}");
        }
    }
    assert!(!folder.path().join("nowhere").exists());
}

#[test]
fn a_full_disk_behind_standard_error_changes_neither_verdict_nor_exit_code() {
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let run = |arguments: &[&str], out: Stdio| {
        let mut run = command(arguments);
        run.stdout(out).stderr(full()).status().expect("it starts").code()
    };
    assert_eq!(run(&["run", "--rig", "direct", "byte.figure4"], Stdio::null()), Some(0));
    assert_eq!(run(&["run", "--port", "/dev/nonexistent"], Stdio::null()), Some(3));
    assert_eq!(run(&["run", "--rig", "direct", "byte.figure4"], full().into()), Some(3));
}
