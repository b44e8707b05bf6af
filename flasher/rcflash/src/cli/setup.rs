//! `rcflash setup`: from a board that was just plugged in to its first cases.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use cli_support::exit::{
    CommandError, CommandResult, ENVIRONMENT, FAILED, NOTHING_SELECTED, USAGE,
};
use cli_support::output::{json_line, print};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{Identity, Role};
use rcflash_link::rig::{DEFAULT_BOARD, FlowControl, NewBoard, Rig, RigFile};
use rcflash_monitors::Peer;
use rcflash_transport::port::{OpenError, PortInfo};
use serde::Serialize;

use super::ports::{list, text_line};
use super::probe::{Found, find, via_option};
use super::stop_on_interrupt;
use super::target::Target;

/// The share of the corpus that is run: 10 of its 1,240 cases.
const FIRST_CASES: &str = "1/124";
/// The longest latency of an adapter, in milliseconds, that does not slow requests down.
const MAX_LATENCY_MS: u32 = 2;

#[derive(Args)]
pub(super) struct SetupArgs {
    /// Serial device or address; by default a list to choose from
    #[arg(long, value_name = "DEVICE|ADDRESS")]
    port: Option<String>,
    /// Board profile; by default as recognized, else asked for
    #[arg(long, value_name = "PROFILE")]
    board: Option<String>,
    /// Name of the board in the rig file [default: bench]
    #[arg(long)]
    name: Option<String>,
    /// Rig file [default: RCFLASH_RIG, or rcflash/rig.toml in the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    rig_file: Option<PathBuf>,
    /// Do not run the first ten cases
    #[arg(long)]
    no_run: bool,
    /// Ask nothing
    #[arg(long)]
    yes: bool,
    /// Print the result as a line of JSON; asks nothing
    #[arg(long)]
    json: bool,
}

/// The result of a setup.
#[derive(Serialize)]
struct SetupReport {
    port: String,
    /// What replied, with its version.
    program: String,
    /// `false` if the program was inferred from the form of its prompt only.
    certain: bool,
    baud: u32,
    /// Whether the board stops the host by RTS.
    flow_control: bool,
    board: String,
    /// The name in the rig file.
    name: String,
    rig_file: PathBuf,
    /// The loader for `--via`; `None` for this project's monitor.
    via: Option<&'static str>,
    /// Whether the first cases passed; `None` if they were not run.
    passed: Option<bool>,
    advice: Vec<String>,
    next: Vec<String>,
}

pub(super) fn setup(args: &SetupArgs) -> CommandResult {
    let rig = RigFile::read_or_new(args.rig_file.as_deref())?;
    // A board is probed for seconds: what is wrong already is told first.
    args.name.as_deref().map_or(Ok(()), |name| rig.check_free(name))?;
    let asks = !args.yes && !args.json && std::io::stdin().is_terminal();
    let port = choose_port(args.port.as_deref(), asks)?;
    let profile = BoardProfile::named(args.board.as_deref().unwrap_or(DEFAULT_BOARD))?;
    cli_support::eprint_message!("probing {}", port.path);
    let target = Target { rig: Rig::from_port(&port.path), profile };
    let stop = stop_on_interrupt()?;
    let line = target.open().map_err(|error| open_failure(&error, &port))?;
    let found = find(&target, line, stop)?;
    let board = match (&args.board, recognized_board(found.identity.as_ref())) {
        (Some(board), _) => board.clone(),
        (None, Some(board)) => board,
        (None, None) if asks => ask_board()?,
        (None, None) => DEFAULT_BOARD.to_owned(),
    };
    let name = enter(args, &rig, &port, &found, &board)?;
    let via = via_option(found.peer);
    let mut report = SetupReport {
        advice: advice(&found, &port),
        next: next_commands(&name, found.peer, via),
        passed: None,
        port: port.path,
        program: found.name,
        certain: found.result.certain,
        baud: found.result.baud,
        flow_control: !found.result.flow_control_off,
        board,
        name,
        rig_file: rig.path().to_owned(),
        via,
    };
    if !args.json {
        print(&text(&report))?;
    }
    if !args.no_run && runs_cases(found.peer) {
        report.passed = first_cases(&report)?;
    }
    if args.json {
        print(&json_line(&report)?)?;
    } else {
        print(&format!("\nNext:\n  {}\n", report.next.join("\n  ")))?;
    }
    match report.passed {
        Some(false) => Err(CommandError::new(FAILED, "the first cases did not pass")),
        _ => Ok(0),
    }
}

/// Returns the given port, the only one, or the one that a person chooses.
fn choose_port(given: Option<&str>, asks: bool) -> Result<PortInfo, CommandError> {
    let ports = list()?;
    if let Some(given) = given {
        let known = ports.into_iter().find(|port| port.path == given);
        return Ok(known.unwrap_or_else(|| PortInfo::from_path(given)));
    }
    let adapters: Vec<_> = ports.into_iter().filter(|port| port.kind == "usb").collect();
    match (adapters.as_slice(), asks) {
        ([only], _) => Ok(only.clone()),
        (_, true) => ask_port(&adapters, ask, list),
        ([], false) => Err(CommandError::new(
            NOTHING_SELECTED,
            "no USB adapter found; plug it in, or pass --port",
        )),
        (several, false) => {
            let names: Vec<_> = several.iter().map(|port| text_line(port, &[])).collect();
            let problem = format!("several ports; pass --port with one:\n  {}", names.join("\n  "));
            Err(CommandError::new(USAGE, problem))
        }
    }
}

/// Asks for one of the ports, or for the adapter to be plugged in.
fn ask_port(
    ports: &[PortInfo],
    ask: impl FnOnce(&str) -> Result<String, CommandError>,
    list: impl FnOnce() -> Result<Vec<PortInfo>, CommandError>,
) -> Result<PortInfo, CommandError> {
    for (number, port) in ports.iter().enumerate() {
        cli_support::eprint_message!("{}: {}", number + 1, text_line(port, &[]));
    }
    let answer = ask("number of the port, or plug the adapter in and press Enter: ")?;
    if let Some(port) = answer.parse().ok().and_then(|n: usize| ports.get(n.checked_sub(1)?)) {
        return Ok(port.clone());
    }
    let is_new = |port: &PortInfo| !ports.iter().any(|known| known.path == port.path);
    let appeared = list()?.into_iter().find(|port| port.kind == "usb" && is_new(port));
    appeared.ok_or_else(|| CommandError::new(NOTHING_SELECTED, "no new port appeared"))
}

fn ask_board() -> Result<String, CommandError> {
    let names: Vec<_> = BoardProfile::names().collect();
    let question = format!("board profile ({}) [{DEFAULT_BOARD}]: ", names.join(", "));
    match ask(&question)?.as_str() {
        "" => Ok(DEFAULT_BOARD.to_owned()),
        name => Ok(BoardProfile::named(name)?.name),
    }
}

fn ask(question: &str) -> Result<String, CommandError> {
    let failed = |error| CommandError::new(ENVIRONMENT, format!("can't ask: {error}"));
    let mut stderr = std::io::stderr();
    stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush()).map_err(failed)?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    Ok(answer.trim().to_owned())
}

/// Returns the profile whose monitor or evaluator has the build id that the board reports.
fn recognized_board(identity: Option<&Identity>) -> Option<String> {
    let identity = identity?;
    let kind = match identity.role {
        Role::Monitor => ProgramKind::Monitor,
        _ => ProgramKind::Application,
    };
    let mut profiles = BoardProfile::names().filter_map(|name| BoardProfile::named(name).ok());
    let has_build = |profile: &BoardProfile| {
        build(profile, kind).is_ok_and(|image| image.build == identity.build_id)
    };
    profiles.find(has_build).map(|profile| profile.name)
}

/// Writes the board into the rig file, unless the port has a name there, and returns its name.
fn enter(
    args: &SetupArgs,
    rig: &RigFile,
    port: &PortInfo,
    found: &Found,
    board: &str,
) -> Result<String, CommandError> {
    if let (None, Some(name)) = (&args.name, rig.boards_on(port).first()) {
        return Ok((*name).to_owned());
    }
    let name = args.name.clone().unwrap_or_else(|| rig.free_name("bench"));
    let is_default = found.result.baud == BoardProfile::named(board)?.uart.baud;
    rig.add(
        &name,
        &NewBoard {
            port: port.by_id.as_ref().unwrap_or(&port.path),
            board,
            baud: (!is_default).then_some(found.result.baud),
            flow: match found.result.flow_control_off {
                true => FlowControl::None,
                false => FlowControl::RtsCts,
            },
        },
    )?;
    Ok(name)
}

/// Returns the error for a port that can't be opened, with a udev rule if permission lacks.
fn open_failure(error: &OpenError, port: &PortInfo) -> CommandError {
    let rule = match (error, port.usb) {
        (OpenError::PermissionDenied(_), Some((vendor, _))) => format!(
            "; or put this line into /etc/udev/rules.d/60-rc2014.rules, and plug the adapter in \
             again: SUBSYSTEM==\"tty\", ATTRS{{idVendor}}==\"{vendor:04x}\", TAG+=\"uaccess\", \
             ENV{{ID_MM_DEVICE_IGNORE}}=\"1\""
        ),
        _ => String::new(),
    };
    CommandError::new(ENVIRONMENT, format!("{error}{rule}"))
}

/// Returns whether programs can be loaded without a person's help.
fn runs_cases(peer: Peer) -> bool {
    !matches!(peer, Peer::XmodemReceiver | Peer::CpmMonitor)
}

fn advice(found: &Found, port: &PortInfo) -> Vec<String> {
    let mut advice = Vec::new();
    if found.result.flow_control_off {
        advice.push(
            "the board can't stop the host: its RTS is not connected to the adapter's CTS, and \
             large loads are slower"
                .to_owned(),
        );
    }
    if let Some((path, milliseconds)) = latency_timer(&port.path)
        && milliseconds > MAX_LATENCY_MS
    {
        advice.push(format!(
            "the adapter waits {milliseconds} ms for more bytes; 1 ms is faster: echo 1 | sudo \
             tee {}",
            path.display()
        ));
    }
    if !runs_cases(found.peer) {
        advice.push(format!("no cases were run: {}", found.peer.load_hint()));
    }
    advice
}

/// Returns the latency timer of an FTDI adapter on Linux, and its file.
fn latency_timer(device: &str) -> Option<(PathBuf, u32)> {
    let name = Path::new(device).canonicalize().ok()?.file_name()?.to_owned();
    let path = Path::new("/sys/class/tty").join(name).join("device/latency_timer");
    let milliseconds = std::fs::read_to_string(&path).ok()?.trim().parse().ok()?;
    Some((path, milliseconds))
}

fn next_commands(name: &str, peer: Peer, via: Option<&str>) -> Vec<String> {
    let via = via.map_or_else(String::new, |via| format!(" --via {via}"));
    let mut next = vec![format!("rcflash monitor --port {name}")];
    if runs_cases(peer) {
        next.push(format!("rcflash run --port {name}{via} hello.asm"));
        next.push(format!("hw-tests run --port {name}{via}"));
        next.push(format!("hw-tests new mul; hw-tests test mul/mul.test.toml --port {name}{via}"));
    }
    next
}

fn text(report: &SetupReport) -> String {
    let SetupReport { port, program, baud, board, name, rig_file, .. } = report;
    let guessed = if report.certain { "" } else { " (guessed)" };
    let mut text = format!(
        "{port}: {program}{guessed} at {baud} baud\nboard profile {board}\nnamed {name} in {}\n",
        cli_support::text::escape_controls(&rig_file.display().to_string())
    );
    for advice in &report.advice {
        text += &format!("note: {advice}\n");
    }
    text
}

/// Runs the first cases by `hw-tests`; `None` if it is not installed.
fn first_cases(report: &SetupReport) -> Result<Option<bool>, CommandError> {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name("hw-tests"));
    let beside = beside.map(|path| path.with_extension(std::env::consts::EXE_EXTENSION));
    let program = beside.filter(|path| path.exists()).unwrap_or_else(|| "hw-tests".into());
    let mut command = Command::new(program);
    command.args(["run", "--port", &report.name, "--shard", FIRST_CASES, "--rig-file"]);
    command.arg(&report.rig_file);
    if let Some(via) = report.via {
        command.args(["--via", via]);
    }
    let command = command.stdin(Stdio::null()).stdout(std::io::stderr());
    match command.status() {
        Ok(status) => Ok(Some(status.success())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            cli_support::eprint_message!("hw-tests is not installed, so that no cases were run");
            Ok(None)
        }
        Err(error) => Err(CommandError::new(ENVIRONMENT, format!("can't start hw-tests: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(number: u16) -> PortInfo {
        let usb = Some((0x0403, number));
        PortInfo { kind: "usb", usb, ..PortInfo::from_path(&format!("/dev/ttyUSB{number}")) }
    }

    /// Returns the port for an answer where ports 0 and 1 are known, and these are there then.
    fn chosen(answer: &str, then: &[PortInfo]) -> Result<String, u8> {
        let known = [adapter(0), adapter(1)];
        let port = ask_port(&known, |_| Ok(answer.to_owned()), || Ok(then.to_vec()));
        port.map(|port| port.path).map_err(|error| error.code)
    }

    #[test]
    fn a_port_is_chosen_by_its_number_or_by_plugging_it_in() {
        let built_in = PortInfo { kind: "built in", ..PortInfo::from_path("/dev/ttyS0") };
        let known = [built_in, adapter(0), adapter(1)];
        assert_eq!(chosen("1", &known).as_deref(), Ok("/dev/ttyUSB0"));
        assert_eq!(chosen("2", &known).as_deref(), Ok("/dev/ttyUSB1"));
        for answer in ["", "0", "3", "-1", "/dev/ttyUSB1"] {
            assert_eq!(chosen(answer, &known), Err(NOTHING_SELECTED), "{answer}");
            let more = [&known[..], &[adapter(7)]].concat();
            assert_eq!(chosen(answer, &more).as_deref(), Ok("/dev/ttyUSB7"), "{answer}");
        }
    }

    #[test]
    fn only_a_denied_usb_adapter_needs_a_udev_rule() {
        let denied = OpenError::PermissionDenied("/dev/ttyUSB0".to_owned());
        let message = |error: &OpenError, port: PortInfo| open_failure(error, &port).message;
        assert!(message(&denied, adapter(0)).contains("ATTRS{idVendor}==\"0403\", TAG+="));
        assert!(!message(&denied, PortInfo::from_path("/dev/ttyS0")).contains("udev"));
        let busy = OpenError::Busy("/dev/ttyUSB0".to_owned(), None);
        assert_eq!(message(&busy, adapter(0)), busy.to_string());
    }
}
