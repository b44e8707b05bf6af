//! ROM BASIC: the hex loader is typed in, runs on the simulated processor, and takes the program.

use monitor_standins::{Basic, FaultOptions, MonitorModel, MonitorOptions};
use rcflash_monitors::LoadRequest;
use tdlasm::image::{Image, ImageRun};

use super::bench::{Bench, faults};
use super::virtual_bench::VirtualBench;

fn basic() -> Box<dyn MonitorModel> {
    Box::<Basic>::default()
}

#[test]
fn a_program_is_loaded_read_back_and_started_in_every_basic() {
    let peers: [(Box<dyn MonitorModel>, &str); 5] = [
        (basic(), "8049h"),
        (Box::new(Basic::feilipu()), "8204h"),
        (Box::new(Basic::default().at_memory_prompt()), "8049h"),
        (Box::new(Basic::default().at_start_prompt()), "8049h"),
        (Box::new(Basic::feilipu().at_start_prompt()), "8204h"),
    ];
    for (peer, usr) in peers {
        let bench = VirtualBench::new(peer, MonitorOptions::default());
        let found = format!("ROM BASIC, USR's address at {usr}");
        bench.write("basic").assert_verified(&[found.as_str()]);
        assert!(bench.has_loaded() && bench.has_run());
    }
}

#[test]
fn without_flow_control_nothing_is_lost() {
    let options = MonitorOptions { host_obeys_rts: false, ..MonitorOptions::default() };
    let bench = VirtualBench::new(basic(), options);
    let request = LoadRequest { entry: None, ..bench.request() };
    bench.load("basic", &request).assert_verified(&["was received correctly"]);
    assert!(bench.has_loaded());
    assert_eq!(bench.line.lost(), 0);
    // It is back in BASIC, so that it can be loaded again.
    bench.load("basic", &request).assert_verified(&[]);
}

#[test]
fn corrupted_lines_are_resent_at_once() {
    // After the hex loader was typed in: 57 lines of 60 characters and some.
    let fault = FaultOptions {
        corruption_odds: Some(150),
        first_fault_after: 4000,
        max_faults: 4,
        ..FaultOptions::default()
    };
    let bench = VirtualBench::new(basic(), faults(fault));
    bench.write("basic").assert_verified(&[]);
    assert!(bench.has_loaded());
}

#[test]
fn a_damaged_byte_of_the_hex_loader_is_typed_again() {
    let fault = FaultOptions {
        corruption_odds: Some(100),
        first_fault_after: 500,
        max_faults: 3,
        ..FaultOptions::default()
    };
    let bench = VirtualBench::new(basic(), faults(fault));
    let words = ["of the hex loader was corrupted and typed again"];
    bench.write("basic").assert_verified(&words);
    assert!(bench.has_loaded());
}

#[test]
fn a_missing_hex_loader_is_not_started() {
    let mut peer = basic();
    peer.memory().expect("it has some").protect(0x8910..=0x8910);
    let bench = VirtualBench::new(peer, MonitorOptions::default());
    bench.write("basic").assert_ends(3, &["the loader's bytes add up to", "but BASIC printed"]);
}

#[test]
fn memory_that_keeps_what_it_holds_is_named() {
    let mut peer = basic();
    peer.memory().expect("it has some").protect(0x9123..=0x9123);
    let bench = VirtualBench::new(peer, MonitorOptions::default());
    let words = ["verify failed: 1 of 700 bytes differ, first at 9123h in line 19"];
    bench.write("basic").assert_ends(1, &words);
}

#[test]
fn a_loader_left_running_is_returned_to_basic() {
    let bench = Bench::new(basic(), MonitorOptions::default());
    let mut child = bench.start("basic", &["--pace", "slowest"]);
    bench.wait_for_first_line(&mut child);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    bench
        .write("basic", &[])
        .assert_ends(0, &["the monitor waited for the rest of a line", "verified"]);
}

#[test]
fn programs_on_basics_own_memory_and_other_basics_are_refused() {
    let image = |address| Image::new([ImageRun { address, bytes: vec![0; 16] }]);
    let low = VirtualBench::with(basic(), MonitorOptions::default(), image(0x8000));
    low.write("basic").assert_ends(3, &["only 8400h-FEFFh is free while BASIC runs"]);
    let high = VirtualBench::with(basic(), MonitorOptions::default(), image(0xFEE0));
    high.write("basic").assert_ends(3, &["BASIC's stack is at FF4Eh", "Memory top?"]);
    let unknown = VirtualBench::new(Box::new(Basic::with_unknown_usr()), MonitorOptions::default());
    unknown.write("basic").assert_ends(3, &["looking for USR's address", "another BASIC"]);
}

#[test]
fn silence_and_other_monitors_are_reported() {
    let silent = faults(FaultOptions { silent: true, ..FaultOptions::default() });
    VirtualBench::new(basic(), silent)
        .write("basic")
        .assert_ends(3, &["no reply within", "looking for BASIC's prompt"]);
    VirtualBench::new(Box::<monitor_standins::Scm>::default(), MonitorOptions::default())
        .write("basic")
        .assert_ends(
            3,
            &["found the Small Computer Monitor instead of the ROM BASIC", "--via scm"],
        );
}
