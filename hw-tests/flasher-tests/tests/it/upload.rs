//! Uploads, starts and uses the application on the simulated board, over the pseudo-terminal.

use crate::background_process;
use crate::cable;
use crate::programs;
mod reconnect;
mod resume;

use board_simulator::board_spec;
use board_simulator::{BoardServer, ServerOptions};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::Role;
use rcflash_link::Link;
use rcflash_link::loader::{enter_monitor, run, upload_all};
use rcflash_transport::port::Port;

#[test]
fn the_application_is_uploaded_verified_and_started() {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let rom = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let app = build(&profile, ProgramKind::Application).unwrap_or_else(|error| panic!("{error}"));
    let spec = board_spec(&profile);
    let server = BoardServer::start(spec, &rom.bytes, ServerOptions::default()).expect("a pty");
    let port = Port::open(&server.path().to_string_lossy(), 115_200).expect("it opens");
    let mut link = Link::new(Box::new(port), 115_200);
    let monitor = enter_monitor(&mut link).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((monitor.role, monitor.build_id), (Role::Monitor, rom.build));
    upload_all(&mut link, &monitor, app.address, &app.bytes, |_| {})
        .unwrap_or_else(|e| panic!("{e}"));
    let running = run(&mut link, app.address).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((running.role, running.build_id), (Role::Application, app.build));
    assert_eq!(link.stats().total_retries(), 0, "{:?}", link.stats());
    let again = enter_monitor(&mut link).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.build_id, rom.build);
}
