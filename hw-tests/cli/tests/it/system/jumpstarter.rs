//! A board as a device of Jumpstarter, by the script of the book.
//! Jumpstarter and its serial driver are the real ones, of `.ci/install/jumpstarter`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::sim::ServedBoard;

#[test]
fn the_example_runs_the_regression_on_a_device_and_ends_with_its_exit_code() {
    let board = ServedBoard::start(&["--listen", "0", "--stuck", "WACT:0"]);
    let address = board.path.strip_prefix("tcp://").expect("an address");
    let programs = std::env::var_os("JUMPSTARTER_BIN")
        .map(PathBuf::from)
        .expect("export JUMPSTARTER_BIN=$(.ci/install/jumpstarter)");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let exporter = format!(
        "apiVersion: jumpstarter.dev/v1alpha1\nkind: ExporterConfig\n\
         metadata: {{namespace: default, name: bench}}\nendpoint: ''\ntoken: ''\n\
         export:\n  serial:\n    type: jumpstarter_driver_pyserial.driver.PySerial\n    \
         config: {{url: 'socket://{address}'}}\n"
    );
    std::fs::write(folder.path().join("exporter.yaml"), exporter).expect("a file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lab/jumpstarter_port.py");
    let mut shell = Command::new(programs.join("jmp"));
    // With a local exporter, the exit code of jmp is 0 in any case.
    let line = "\"$@\"; echo \"exit code $?\"";
    shell.args(["shell", "--exporter-config", "exporter.yaml", "--", "sh", "-c", line, "sh"]);
    shell.arg(programs.join("python")).arg(script).arg(env!("CARGO_BIN_EXE_hw-tests"));
    shell.args(["run", "byte.figure1"]).current_dir(folder.path()).stdin(Stdio::null());
    let output = shell.env("HOME", folder.path()).output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("FAIL: 0 of 1 cases"), "{output:?}");
    assert!(printed.contains("\nexit code 1\n"), "{output:?}");
}
