//! docs/ci/board-job, the job for CI services, on simulated boards.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::reports::cheap_rook_in;
use tempfile::TempDir;

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// A job in a separate folder.
struct Job(TempDir);

impl Job {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a scratch folder"))
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).expect("it is written")
    }

    /// Runs the job with these variables; returns its exit code and the number of power cycles.
    fn run(&self, variables: &[(&str, &str)]) -> (Option<i32>, usize) {
        self.run_script(&documents().join("ci/board-job"), variables)
    }

    fn run_script(&self, script: &Path, variables: &[(&str, &str)]) -> (Option<i32>, usize) {
        let program = Path::new(env!("CARGO_BIN_EXE_hw-tests")).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let power = self.path("power");
        let _ = std::fs::remove_file(&power);
        let mut job = Command::new("bash");
        job.arg(script).current_dir(self.0.path()).env_remove("GITHUB_STEP_SUMMARY");
        job.env("PATH", format!("{}:{path}", program.display()));
        job.env("XDG_CONFIG_HOME", "/nonexistent").envs(variables.iter().copied());
        job.env("POWER_CYCLE", format!("echo cycled >> '{}'", power.display()));
        let output = job.output().expect("bash is here");
        let cycled = std::fs::read_to_string(power).unwrap_or_default().lines().count();
        (output.status.code(), cycled)
    }
}

#[test]
fn a_job_leaves_its_artefacts_and_ends_with_the_code_of_the_run() {
    let job = Job::new();
    assert_eq!(job.run(&[("RIG", "direct"), ("OPTIONS", "--tag document")]), (Some(0), 1));
    for file in ["report.json", "report.md", "report.html", "junit.xml", "results.jsonl"] {
        assert!(job.path("report").join(file).exists(), "{file}");
    }
    assert!(!job.path("report/flaky.txt").exists());
    // The next job starts a new run in the same folder.
    assert_eq!(job.run(&[("RIG", "direct direct"), ("OPTIONS", "--tag document")]), (Some(0), 1));
    assert_eq!(job.run(&[]), (Some(1), 0), "RIG is missing");
}

#[test]
fn the_summary_of_a_job_is_its_own_report() {
    let job = Job::new();
    let run = |options| {
        let variables =
            [("RIG", "direct"), ("OPTIONS", options), ("GITHUB_STEP_SUMMARY", "summary.md")];
        let code = job.run(&variables).0;
        (code, std::fs::read_to_string(job.path("summary.md")).unwrap_or_default())
    };
    let (code, summary) = run("--tag document");
    assert_eq!((code, &*summary), (Some(0), &*job.text("report/report.md")));
    // A usage error leaves the report of the job before.
    let (code, after) = run("--no-such-option");
    assert_eq!((code, &*after), (Some(2), &*summary));
}

#[test]
fn a_wrong_result_is_not_retried_and_a_baseline_accepts_it() {
    let job = Job::new();
    let app = cheap_rook_in(job.0.path());
    let options = format!("--tag document --app {app}");
    let variables = [("RIG", "direct"), ("OPTIONS", &*options)];
    let known = [("BASELINE", "known.json")];
    assert_eq!(job.run(&[&variables[..], &known].concat()), (Some(1), 1), "no such file yet");
    std::fs::copy(job.path("report/report.json"), job.path("known.json")).expect("a copy");
    assert_eq!(job.run(&[&variables[..], &known].concat()), (Some(0), 1));
}

#[test]
fn a_baseline_in_the_folder_of_the_report_is_read_before_it_is_replaced() {
    let job = Job::new();
    let app = cheap_rook_in(job.0.path());
    let options = format!("--tag document --app {app}");
    let report = ("BASELINE", "report/report.json");
    assert_eq!(job.run(&[("RIG", "direct"), ("OPTIONS", &options), report]), (Some(1), 1));
    assert_eq!(job.run(&[("RIG", "direct"), ("OPTIONS", &options), report]), (Some(0), 1));
    // A rig that fails twice leaves a report with no case run, which the second try must not take
    // for the baseline; results that the job removes are refused.
    let results = job.path("report/results.jsonl");
    let before = std::fs::read(&results).expect("it is written");
    let removed = ("BASELINE", "report/results.jsonl");
    assert_eq!(job.run(&[("RIG", "direct"), ("OPTIONS", &options), removed]), (Some(2), 0));
    assert_eq!(std::fs::read(&results).expect("it is there"), before);
}

#[test]
fn a_failing_rig_is_retried_once_after_a_power_cycle() {
    let job = Job::new();
    assert_eq!(job.run(&[("RIG", "/dev/no-such-board")]), (Some(3), 2));
}

#[test]
fn flaky_cases_are_listed() {
    let job = Job::new();
    let options = "--faults 1 --tag play --shard 1/10";
    let (code, _) = job.run(&[("RIG", "direct"), ("OPTIONS", options)]);
    let report = std::fs::read_to_string(job.path("report/report.json")).expect("a report");
    let flaky = report.matches("\"verdict\":\"flaky\"").count();
    let listed = std::fs::read_to_string(job.path("report/flaky.txt")).unwrap_or_default();
    assert!(flaky > 0, "another seed of faults is needed: {code:?}");
    assert_eq!(listed.lines().count(), flaky, "{listed}");
}

/// Returns the command in a line of a template of GitHub, GitLab or Jenkins.
fn command(line: &str) -> Option<&str> {
    let is_command = |text: &&str| text.starts_with("cargo ") || text.starts_with("PATH=");
    let after = |start| line.split_once(start).map(|(_, rest)| rest);
    let starts = ["- run: ", "    - ", "sh '", "script: '"].into_iter();
    starts.filter_map(after).find(is_command)?.split('\'').next()
}

#[test]
fn the_commands_of_each_template_build_the_programs_and_run_the_job() {
    for name in ["github.yml", "gitlab.yml", "Jenkinsfile"] {
        let text = std::fs::read_to_string(documents().join("ci").join(name)).expect("a template");
        let commands: Vec<_> = text.lines().filter_map(command).collect();
        let [build, run] = commands[..] else { panic!("{name}: {commands:?}") };
        let job = Job::new();
        let link = |from: &Path, to: &str| {
            std::os::unix::fs::symlink(from, job.path(to)).expect("a link");
        };
        link(&documents(), "docs");
        let tools = job.path("tools");
        std::fs::create_dir(&tools).expect("a folder");
        // The programs are built already; cargo puts them where it is told to.
        let built = Path::new(env!("CARGO_BIN_EXE_hw-tests")).parent().expect("a folder");
        let cargo = format!(
            "cargo() {{ for to; do :; done; case $to in /*) ;; *) to=target ;; esac\n\
             mkdir -p \"$to\"; ln -s '{}' \"$to/release\"; echo \"$@\" >built; }}",
            built.display()
        );
        // Without the programs in PATH, but for those of the system.
        let script = format!("set -e\n{cargo}\nPATH=/usr/bin:/bin\n{build}\n{run}\n");
        std::fs::write(job.path("script"), script).expect("a file");
        let tools = tools.to_string_lossy();
        let variables = [
            ("RIG", "direct"),
            ("BASELINE", "known.json"),
            ("OPTIONS", "--tag document"),
            ("RUNNER_TOOL_CACHE", &tools),
        ];
        assert_eq!(job.run_script(&job.path("script"), &variables), (Some(0), 1), "{name}");
        let built = std::fs::read_to_string(job.path("built")).expect("cargo was called");
        assert!(built.starts_with("build --locked --release -p hw-tests -p rcflash"), "{built}");
        assert!(job.path("report/junit.xml").exists(), "{name}");
    }
}
