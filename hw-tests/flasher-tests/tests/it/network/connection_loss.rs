//! A run whose connection is lost and comes back.

use std::time::Duration;

use crate::network::background_process::BackgroundProcess;
use crate::network::proxy::Proxy;
use crate::network::sim::ServedBoard;
use crate::network::{hw_tests, servers};

/// A run that has lost its connection.
pub(super) struct RunWithLoss {
    run: BackgroundProcess,
    pub(super) proxy: Proxy,
}

impl RunWithLoss {
    pub(super) fn new(place: &str, scheme: &str, more: &[&str]) -> Self {
        let proxy = Proxy::new(place, Duration::from_millis(5));
        let mut command = hw_tests();
        command.args(["run", "--count", "100", "--port", &proxy.address(scheme)]).args(more);
        let mut run = BackgroundProcess::start(command);
        run.wait_for_message("Sargon exchange evaluator");
        proxy.cut();
        run.wait_for_message("port disconnected; waiting up to");
        Self { run, proxy }
    }

    /// Returns its exit code and its output.
    pub(super) fn ended(self) -> (Option<i32>, String) {
        let (output, rest) = self.run.finish();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned() + &rest)
    }
}

#[test]
fn a_run_resumes_when_its_server_is_reached_again() {
    let board = ServedBoard::start(&[]);
    let server = servers::ours(&board.path, &[]);
    let losing = RunWithLoss::new(server.place(), "rfc2217", &[]);
    losing.proxy.reconnect();
    let (code, printed) = losing.ended();
    assert_eq!(code, Some(0), "{printed}");
    assert!(
        printed.contains("port reconnected") && printed.contains("PASS: 100 of 100"),
        "{printed}"
    );
}

#[test]
fn a_run_whose_server_stays_unreachable_ends_after_the_timeout() {
    let board = ServedBoard::start(&["--listen", "0"]);
    let place = board.path.trim_start_matches("tcp://").to_owned();
    let (code, printed) = RunWithLoss::new(&place, "tcp", &["--reconnect", "1s"]).ended();
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("INCOMPLETE"), "{printed}");
}
