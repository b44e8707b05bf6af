//! The first requests after a start: none is lost, even if the host does not wait for the banner.

use std::time::Duration;

use firmware::ProgramKind;
use firmware_wire::Role;
use rcflash_link::loader;

use crate::flash::line::{BoardNearby, image, programmed, spec};

/// From RUN's reply until the chip is set up: 6,000 T-states.
const SET_UP: Duration = Duration::from_millis(1);

#[test]
fn no_request_is_lost_that_comes_while_the_application_makes_its_tables() {
    let near = BoardNearby::new(spec(), programmed());
    let (mut link, monitor) = near.monitor();
    let application = image(ProgramKind::Application);
    let address = application.address;
    let bytes = &application.bytes;
    loader::upload_all(&mut link, &monitor, address, bytes, |_| {}).expect("it is there");
    for wait in 0..40 {
        loader::jump(&mut link, address).expect("it starts");
        link.drain_banner("starting", SET_UP + Duration::from_micros(500 * wait)).expect("a line");
        let running = loader::identify(&mut link).expect("it answers");
        assert_eq!((running.role, link.stats().total_retries()), (Role::Application, 0), "{wait}");
        loader::enter_monitor(&mut link).expect("it goes back");
    }
    assert_eq!(link.stats().total_retries(), 0, "{:?}", link.stats());
}
