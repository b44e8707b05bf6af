//! `rcflash setup`: from a board that was just plugged in to its first cases.

mod reset;

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use clap::Args;
use cli_support::exit::{
    CommandError, CommandResult, ENVIRONMENT, FAILED, INTERRUPTED, NOTHING_SELECTED, USAGE,
};
use cli_support::output::{json_line, print};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{Identity, Role};
use rcflash_link::rig::{DEFAULT_BOARD, FlowControl, NewBoard, ResetMethod, Rig, RigFile};
use rcflash_monitors::Peer;
use rcflash_transport::port::{OpenError, PortInfo};
use serde::Serialize;

use super::ports::{list, text_line};
use super::probe::{Found, via_option};
use super::stop_on_interrupt;
use super::target::Target;

/// The share of the corpus that is run: 10 of its 1,240 cases.
const FIRST_CASES: &str = "1/124";
/// The longest latency of an adapter, in milliseconds, that does not slow requests down.
const MAX_LATENCY_MS: u32 = 2;

/// How often a question looks whether it was interrupted.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

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
    /// Neither run the first ten cases nor reset the board
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
    /// What resets the board; `None` if nothing was tried, or nothing but a person does.
    reset: Option<ResetMethod>,
    advice: Vec<String>,
    next: Vec<String>,
}

pub(super) fn setup(args: &SetupArgs) -> CommandResult {
    let rig = RigFile::read_or_new(args.rig_file.as_deref())?;
    // A board is probed for seconds: what is wrong already is told first.
    args.name.as_deref().map_or(Ok(()), |name| rig.check_free(name))?;
    let asks = !args.yes && !args.json && std::io::stdin().is_terminal();
    let stop = stop_on_interrupt()?;
    let port = choose_port(args.port.as_deref(), asks.then_some(&*stop))?;
    let profile = BoardProfile::named(args.board.as_deref().unwrap_or(DEFAULT_BOARD))?;
    cli_support::eprint_message!("probing {}", port.path);
    let known = rig.boards_on(&port).into_iter().next().filter(|_| args.name.is_none());
    let mut target = Target { rig: Rig::from_port(&port.path), profile };
    if let Some(known) = known {
        let noted = rig.resolve(known)?;
        target.rig = Rig { flow: noted.flow, reset: noted.reset, ..target.rig };
    }
    let line = target.open().map_err(|error| open_failure(&error, &port))?;
    let has_lines = line.capabilities().control_lines;
    let found = reset::find_released(&mut target, line, &stop)?;
    if !args.json {
        print(&format!("{}: {} at {} baud\n", port.path, found.label(), found.result.baud))?;
    }
    let board = choose_board(args.board.as_deref(), &found, asks.then_some(&*stop))?;
    let name = known.or(args.name.as_deref()).map_or_else(|| rig.free_name("bench"), str::to_owned);
    let via = via_option(found.peer);
    let mut entry = new_board(&port, &found, &board, &target.rig)?;
    let mut report = SetupReport {
        advice: advice(&found, &port),
        next: next_commands(&name, found.peer, via),
        passed: None,
        reset: None,
        port: port.path.clone(),
        program: found.name.clone(),
        certain: found.result.certain,
        baud: found.result.baud,
        flow_control: !found.result.flow_control_off,
        board: board.clone(),
        name: name.clone(),
        rig_file: rig.path().to_owned(),
        via,
    };
    if !args.no_run && runs_cases(found.peer) {
        report.passed = match known {
            Some(_) => first_cases(&report, rig.path())?,
            None => with_trial_rig(&name, &entry, |file| first_cases(&report, file))?,
        };
    }
    let has_failed = report.passed == Some(false);
    if !has_failed && !args.no_run && runs_cases(found.peer) {
        report.reset =
            reset::find_method(&mut target, &found, has_lines, asks, &stop, &mut report.advice)?;
        let reset = (target.rig.reset.method, target.rig.reset.active_level);
        let is_new = std::mem::replace(&mut entry.reset, reset) != reset;
        if known.is_some() && is_new {
            let keys = entry.reset_keys();
            report.advice.push(format!("add to the entry of {name}: {}", keys.trim_end()));
        }
    }
    if known.is_none() && !has_failed {
        rig.add(&name, &entry)?;
    }
    print(&if args.json { json_line(&report)? } else { text(&report) })?;
    if has_failed {
        let kept = if known.is_none() { "; the rig file was not changed" } else { "" };
        let problem = format!(
            "the first cases did not pass{kept}: is {board} the board's profile (--board)? is the \
             cable loose?"
        );
        return Err(CommandError::new(FAILED, problem));
    }
    Ok(0)
}

/// Returns the profile that is given, that of the program on the board, or that a person chooses;
/// `stop` is set where one can be asked.
fn choose_board(
    given: Option<&str>,
    found: &Found,
    stop: Option<&AtomicBool>,
) -> Result<String, CommandError> {
    if let Some(board) = given.map(str::to_owned).or_else(|| recognized(found.identity.as_ref())) {
        return Ok(board);
    }
    let Some(stop) = stop else {
        return Ok(found.result.board.unwrap_or(DEFAULT_BOARD).to_owned());
    };
    let Some(named) = found.result.board else { return ask_board(stop) };
    let question = format!(
        "{} names the board: use the profile {named} ({})? [Y/n] ",
        found.name,
        products(&BoardProfile::named(named)?).join(", ")
    );
    loop {
        match ask(&question, stop)?.to_ascii_lowercase().as_str() {
            "" | "y" | "yes" => return Ok(named.to_owned()),
            "n" | "no" => return ask_board(stop),
            _ => {}
        }
    }
}

/// Returns the given port, the only one, or the one that a person chooses; `stop` is set where one
/// can be asked.
fn choose_port(given: Option<&str>, stop: Option<&AtomicBool>) -> Result<PortInfo, CommandError> {
    let ports = list()?;
    if let Some(given) = given {
        let known = ports.into_iter().find(|port| port.path == given);
        return Ok(known.unwrap_or_else(|| PortInfo::from_path(given)));
    }
    let adapters: Vec<_> = ports.into_iter().filter(|port| port.kind == "usb").collect();
    match (adapters.as_slice(), stop) {
        ([only], _) => Ok(only.clone()),
        (_, Some(stop)) => ask_port(&adapters, |question| ask(question, stop), list),
        ([], None) => Err(CommandError::new(
            NOTHING_SELECTED,
            "no USB adapter found; plug it in, or pass --port",
        )),
        (several, None) => {
            let names: Vec<_> = several.iter().map(|port| text_line(port, &[])).collect();
            let problem = format!("several ports; pass --port with one:\n  {}", names.join("\n  "));
            Err(CommandError::new(USAGE, problem))
        }
    }
}

/// Asks for one of the ports, or for the adapter to be plugged in, until there is one.
fn ask_port(
    ports: &[PortInfo],
    ask: impl Fn(&str) -> Result<String, CommandError>,
    list: impl Fn() -> Result<Vec<PortInfo>, CommandError>,
) -> Result<PortInfo, CommandError> {
    let is_new = |port: &PortInfo| !ports.iter().any(|known| known.path == port.path);
    loop {
        for (number, port) in ports.iter().enumerate() {
            cli_support::eprint_message!("{}: {}", number + 1, text_line(port, &[]));
        }
        let answer = ask("number of the port, or plug the adapter in and press Enter: ")?;
        if let Some(port) = answer.parse().ok().and_then(|n: usize| ports.get(n.checked_sub(1)?)) {
            return Ok(port.clone());
        }
        let appeared = list()?.into_iter().find(|port| port.kind == "usb" && is_new(port));
        match appeared {
            Some(port) => return Ok(port),
            None => cli_support::eprint_message!("no such number, and no new port appeared"),
        }
    }
}

/// Asks which of the boards it is, by the names that their owners know, until one is named.
fn ask_board(stop: &AtomicBool) -> Result<String, CommandError> {
    let profiles: Vec<_> =
        BoardProfile::names().filter_map(|name| BoardProfile::named(name).ok()).collect();
    let boards: Vec<(&str, &str)> = profiles
        .iter()
        .flat_map(|profile| products(profile).into_iter().map(|board| (board, &*profile.name)))
        .collect();
    for (number, (board, profile)) in boards.iter().enumerate() {
        cli_support::eprint_message!("{:2}: {board} ({profile})", number + 1);
    }
    let question = format!("number or name of the board or its profile [{DEFAULT_BOARD}]: ");
    loop {
        let answer = ask(&question, stop)?;
        if answer.is_empty() {
            return Ok(DEFAULT_BOARD.to_owned());
        }
        let number = answer.parse().ok().and_then(|number: usize| number.checked_sub(1));
        let is_named = |(board, profile): &&(&str, &str)| {
            [board, profile].iter().any(|name| name.eq_ignore_ascii_case(&answer))
        };
        match number.and_then(|index| boards.get(index)).or_else(|| boards.iter().find(is_named)) {
            Some((_, profile)) => return Ok((*profile).to_owned()),
            None => cli_support::eprint_message!(
                "no board of the list is called '{}'",
                cli_support::text::escape_controls(&answer)
            ),
        }
    }
}

fn products(profile: &BoardProfile) -> Vec<&str> {
    profile.boards.iter().map(|board| &*board.name).collect()
}

/// Asks a person, and returns the answer without white space around it.
///
/// # Errors
/// Returns `CommandError` if there is no answer, or `stop` is set meanwhile.
fn ask(question: &str, stop: &AtomicBool) -> Result<String, CommandError> {
    let failed = |error| CommandError::new(ENVIRONMENT, format!("can't ask: {error}"));
    let mut stderr = std::io::stderr();
    stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush()).map_err(failed)?;
    // Reading goes on after a signal: it is left to a thread, which ends with the program.
    let (sender, answer) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let _ = sender.send(read.map(|length| (length > 0).then_some(line)));
    });
    loop {
        if stop.load(Ordering::Relaxed) {
            let _ = stderr.write_all(b"\n");
            return Err(CommandError::new(INTERRUPTED, "interrupted; nothing was written"));
        }
        match answer.recv_timeout(STOP_POLL_INTERVAL) {
            Ok(Ok(Some(line))) => return Ok(line.trim().to_owned()),
            Ok(Ok(None)) => return Err(failed(std::io::ErrorKind::UnexpectedEof.into())),
            Ok(Err(error)) => return Err(failed(error)),
            Err(_) => {}
        }
    }
}

/// Returns the profile whose monitor or evaluator has the build id that the board reports.
fn recognized(identity: Option<&Identity>) -> Option<String> {
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

/// Returns the board's entry for the rig file.
fn new_board<'a>(
    port: &'a PortInfo,
    found: &Found,
    board: &'a str,
    rig: &Rig,
) -> Result<NewBoard<'a>, CommandError> {
    let is_default = found.result.baud == BoardProfile::named(board)?.uart.baud;
    Ok(NewBoard {
        port: port.by_id.as_ref().unwrap_or(&port.path),
        board,
        baud: (!is_default).then_some(found.result.baud),
        flow: match found.result.flow_control_off {
            true => FlowControl::None,
            false => rig.flow,
        },
        reset: (rig.reset.method, rig.reset.active_level),
    })
}

/// Calls `action` with a rig file that has only this board, in a folder of its own.
fn with_trial_rig<T>(
    name: &str,
    entry: &NewBoard<'_>,
    action: impl FnOnce(&Path) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let folder = tempfile::tempdir().map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("can't create a folder for a rig file: {error}"))
    })?;
    let file = folder.path().join("rig.toml");
    RigFile::read_or_new(Some(&file))?.add(name, entry)?;
    action(&file)
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

/// Returns what follows the line about the program.
fn text(report: &SetupReport) -> String {
    let mut text = format!("board profile {}\n", report.board);
    if report.passed != Some(false) {
        let file = report.rig_file.display().to_string();
        let file = cli_support::text::escape_controls(&file);
        text += &format!("named {} in {file}\n", report.name);
    }
    if let Some(method) = report.reset {
        text += &format!("reset by {method:?}\n").to_lowercase();
    }
    for advice in &report.advice {
        text += &format!("note: {advice}\n");
    }
    if report.passed != Some(false) {
        text += &format!("\nNext:\n  {}\n", report.next.join("\n  "));
    }
    text
}

/// Runs the first cases by `hw-tests`; `None` if it is not installed.
fn first_cases(report: &SetupReport, rig_file: &Path) -> Result<Option<bool>, CommandError> {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name("hw-tests"));
    let beside = beside.map(|path| path.with_extension(std::env::consts::EXE_EXTENSION));
    let program = beside.filter(|path| path.exists()).unwrap_or_else(|| "hw-tests".into());
    let mut command = Command::new(program);
    command.args(["run", "--port", &report.name, "--shard", FIRST_CASES, "--rig-file"]);
    command.arg(rig_file);
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
    use std::cell::RefCell;

    use super::*;

    fn adapter(number: u16) -> PortInfo {
        let usb = Some((0x0403, number));
        PortInfo { kind: "usb", usb, ..PortInfo::from_path(&format!("/dev/ttyUSB{number}")) }
    }

    /// Returns the port for answers where ports 0 and 1 are known, and these are there then.
    fn chosen(answers: &[&str], then: &[PortInfo]) -> Result<String, u8> {
        let known = [adapter(0), adapter(1)];
        let left = RefCell::new(answers.iter());
        let ask = |_: &str| match left.borrow_mut().next() {
            Some(answer) => Ok((*answer).to_owned()),
            None => Err(CommandError::new(ENVIRONMENT, "no more answers")),
        };
        let port = ask_port(&known, ask, || Ok(then.to_vec()));
        port.map(|port| port.path).map_err(|error| error.code)
    }

    #[test]
    fn a_port_is_chosen_by_its_number_or_by_plugging_it_in() {
        let built_in = PortInfo { kind: "built in", ..PortInfo::from_path("/dev/ttyS0") };
        let known = [built_in, adapter(0), adapter(1)];
        assert_eq!(chosen(&["1"], &known).as_deref(), Ok("/dev/ttyUSB0"));
        for answer in ["", "0", "3", "-1", "/dev/ttyUSB1"] {
            assert_eq!(chosen(&[answer], &known), Err(ENVIRONMENT), "{answer}");
            assert_eq!(chosen(&[answer, "2"], &known).as_deref(), Ok("/dev/ttyUSB1"), "{answer}");
            let more = [&known[..], &[adapter(7)]].concat();
            assert_eq!(chosen(&[answer], &more).as_deref(), Ok("/dev/ttyUSB7"), "{answer}");
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
