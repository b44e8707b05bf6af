//! External readers of the files that `profile` and `coverage` write.

use std::process::Command;

use crate::hw_tests;

#[test]
fn callgrind_annotate_reads_the_profile() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("callgrind.out").display().to_string();
    let position = "4k3/4p3/8/3p4/8/2N5/8/3RK3 w - -";
    let (code, _, stderr) = hw_tests(&["profile", "--callgrind", &path, position]);
    assert_eq!(code, Some(0), "{stderr}");
    let output = Command::new("callgrind_annotate").arg(&path).output();
    let output = output.expect("callgrind_annotate, of Debian's valgrind");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains(":XCHNG"), "{text}");
}

#[test]
fn genhtml_reads_the_tracefile_and_finds_the_sources() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cover.info").display().to_string();
    let arguments = ["coverage", "--board", "rc2014-classic", "--least", "40", "--lcov", &path];
    let (code, _, stderr) = hw_tests(&arguments);
    assert_eq!(code, Some(0), "{stderr}");
    let html = folder.path().join("html");
    let mut genhtml = Command::new("genhtml");
    genhtml.args(["--branch-coverage", "--quiet", "--output-directory"]).args([&html]).arg(&path);
    let output = genhtml.output().expect("genhtml, of Debian's lcov");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(html.join("index.html").is_file());
}
