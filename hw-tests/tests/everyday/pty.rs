//! Pseudo-terminals in the place of a person's.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The person's side, and what opens the program's.
pub(crate) fn open() -> (File, impl Fn() -> OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).expect("a pseudo-terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("its other end");
    let name = ptsname(&master, Vec::new()).expect("its name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let end = move || rustix::fs::open(&name, flags, Mode::empty()).expect("it opens");
    (File::from(master), end)
}

/// What has come; a short wait if nothing has.
pub(crate) fn read(terminal: &mut File) -> String {
    let wait = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    let ready = poll(&mut [PollFd::new(&*terminal, PollFlags::IN)], Some(&wait));
    let mut bytes = [0; 4096];
    // At the end of the other side it is an error.
    let count = if ready.is_ok_and(|count| count > 0) { terminal.read(&mut bytes) } else { Ok(0) };
    String::from_utf8_lossy(&bytes[..count.unwrap_or(0)]).into_owned()
}
