//! Locks: whom they exclude, and how their holder is shown.

use std::time::{Duration, SystemTime};

use rcflash_transport::lock::{LockError, LockHolder, PortLock};
use rcflash_transport::platform::files::runtime_dir;

#[test]
fn a_holder_is_shown_with_the_time_in_a_readable_unit() {
    for (seconds, text) in [
        (0, "for 0 s)"),
        (119, "for 119 s)"),
        (120, "for 2 min)"),
        (7199, "for 119 min)"),
        (7200, "for 2 h)"),
        (90_000, "for 25 h)"),
    ] {
        let since = SystemTime::now() - Duration::from_secs(seconds) - Duration::from_millis(1);
        let holder = LockHolder { pid: 77, command: "rcflash write".to_owned(), since };
        assert_eq!(holder.to_string(), format!("`rcflash write` (process 77, {text}"));
    }
}

#[test]
fn each_address_has_a_lock_of_its_own_with_a_name_for_any_file_system() {
    let lock = |address| PortLock::acquire_address(address);
    let first = lock("bench.local:65001/a?b").expect("it is free");
    let file = runtime_dir("rcflash").join("net-bench.local-65001-a-b.lock");
    assert!(file.exists(), "{}", file.display());
    let Err(LockError::Held { holder: Some(holder) }) = lock("bench.local:65001/a?b") else {
        panic!("it is held")
    };
    let program = std::env::current_exe().expect("this test");
    let program = program.file_name().expect("a file").to_string_lossy();
    assert_eq!(holder.pid, std::process::id());
    assert!(holder.command.starts_with(&*program), "{}", holder.command);
    assert!(holder.command.len() <= 120);
    let other = lock("bench.local:65002/a?b").expect("another address");
    drop((first, other));
    assert!(!file.exists(), "it is released");
}
