//! T-states by routine and line: the figures against the instruction table and the board's
//! clock, and the command.

use board_simulator::profiling::{StepCounter, flame_graph_svg, line_times, routine_times};
use firmware::code_map::CodeMap;
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use sargon_corpus::encode;
use sargon_debugging::start_evaluator;
use sargon_reference::parse_fen;

use crate::hw_tests;

/// The article's Figure 1: 20 pieces.
const FIGURE_1: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -";
/// Limit of T-states, many times those of a position.
const MAX_T_STATES: u64 = 20_000_000;

/// A board that was measured while it examined Figure 1, and the T-states that passed.
fn measured() -> (StepCounter, CodeMap, u64) {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let started = start_evaluator(&profile, &Evaluator::default());
    let (mut machine, code) = started.unwrap_or_else(|error| panic!("{error}"));
    let position = parse_fen(FIGURE_1).expect("a position");
    machine.send(&Request::Position { squares: encode::squares(&position) });
    let mut meter = StepCounter::new(&code);
    let began = machine.board.clock() - machine.board.halted_time();
    assert!(meter.run(&mut machine.board, MAX_T_STATES), "it comes to rest");
    assert_eq!(machine.take_replies().len(), 3, "20 pieces, 13 a frame, and the end");
    let passed = machine.board.clock() - machine.board.halted_time() - began;
    (meter, code, passed)
}

#[test]
fn every_t_state_is_counted_once() {
    let (meter, code, passed) = measured();
    assert_eq!(meter.calls().total(0), passed);
    let by_line: u64 = line_times(&meter, &code).iter().map(|line| line.t_states).sum();
    let by_routine: u64 = routine_times(&meter, &code).iter().map(|one| one.self_t_states).sum();
    assert_eq!(by_line, by_routine);
    // The rest is the acceptance of interrupts, which is not an instruction, and the jump at their
    // vector.
    assert!(by_line < passed && by_line > passed * 9 / 10, "{by_line} of {passed}");
}

#[test]
fn instructions_take_the_t_states_of_the_table() {
    let (meter, code, _) = measured();
    let mut looked_at = 0;
    for line in code.lines().filter(|line| line.is_code) {
        for (address, decoded) in code.instructions(line) {
            let count = meter.at(address);
            let clocks = decoded.form.clocks;
            let taken = u64::from(clocks.taken);
            let not = u64::from(clocks.not_taken);
            let expected = if taken == not {
                count.runs * taken
            } else {
                count.jumps * taken + (count.runs - count.jumps) * not
            };
            assert_eq!(
                count.t_states,
                expected,
                "{} {}",
                code.address_name(address),
                decoded.form.mnemonic
            );
            looked_at += u64::from(count.runs > 0);
        }
    }
    assert!(looked_at > 500, "{looked_at} instructions ran");
}

#[test]
fn calls_are_those_that_the_position_requires() {
    let (meter, code, _) = measured();
    let all = routine_times(&meter, &code);
    let of =
        |name: &str| all.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no {name}"));
    let pieces = FIGURE_1
        .split(' ')
        .next()
        .map_or(0, |board| board.chars().filter(char::is_ascii_alphabetic).count());
    for name in ["XCHNG", "ATTACK", "NEWLST"] {
        assert_eq!(of(name).calls, pieces as u64, "{name}: once for each piece");
    }
    assert_eq!(of("PINFND").calls, 1);
    assert!(of("ATTACK").total_t_states > of("ATTACK").self_t_states, "it calls others");
}

#[test]
fn the_flame_graph_is_well_formed_and_each_bar_lies_in_its_callers() {
    let (meter, code, _) = measured();
    let picture = flame_graph_svg(meter.calls(), &code, "<Figure 1>");
    assert!(picture.contains("&lt;Figure 1&gt;") && !picture.contains("<Figure"));
    for tag in ["g", "title", "svg", "text"] {
        let opened = picture.matches(&format!("<{tag}>")).count()
            + picture.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, picture.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    let bars: Vec<[f64; 3]> =
        picture.lines().filter(|line| line.contains("T-states (")).map(bar).collect();
    assert!(bars.len() > 10 && picture.contains(">XCHNG") && picture.contains("<title>ATTACK:"));
    for [x, y, width] in &bars[1..] {
        let caller = |[cx, cy, wide]: &&[f64; 3]| {
            (cy - (y - 18.0)).abs() < 0.1 && cx - 0.1 <= *x && x + width <= cx + wide + 0.1
        };
        assert!(bars.iter().find(caller).is_some(), "a bar at {x} {y}");
    }
}

/// Left edge, upper edge and width of a bar.
fn bar(line: &str) -> [f64; 3] {
    [" x=\"", " y=\"", " width=\""].map(|name| {
        let rest = line.split(name).nth(1).expect("the attribute");
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    })
}

#[test]
fn the_command_prints_tables_listings_and_pictures() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flame.svg").display().to_string();
    let (code, tables, _) = hw_tests(&["profile", "--lines", "3", "--flame", &file, FIGURE_1]);
    assert_eq!(code, Some(0));
    assert!(tables.contains("  XCHNG\n") && tables.contains("acia.asm:"), "{tables}");
    assert!(std::fs::read_to_string(&file).expect("a picture").ends_with("</svg>\n"));
    let (_, listing, _) = hw_tests(&["profile", "--annotate", "newlst.asm", FIGURE_1]);
    // In the corrected evaluator its label has a line of its own. MVI A,FENCE: 7 T-states for each
    // of 20 pieces.
    let after = listing.split("NEWLST:]\n").nth(1).expect("its label");
    let entry = after.lines().next().expect("its first instruction");
    let words: Vec<_> = entry.split_whitespace().collect();
    assert_eq!((words[0], words[1]), ("140", "20"), "{entry}");
    let (code, _, printed) = hw_tests(&["profile", "--annotate", "none.asm", FIGURE_1]);
    assert!(code == Some(2) && printed.contains("xchng.asm"), "{printed}");
}

#[test]
fn routines_that_are_jumped_to_or_run_into_count_for_those_before_them() {
    let (meter, code, _) = measured();
    let all = routine_times(&meter, &code);
    for one in &all {
        assert!(
            one.total_t_states >= one.self_t_states,
            "with callees is less than its own: {one:?}"
        );
    }
    // ATTACK jumps to ATKSAV for each piece that it finds, and never calls it.
    let atksav = all.iter().find(|one| one.name == "ATKSAV").expect("it ran");
    let entry = code.symbol("ATKSAV").expect("a label");
    assert_eq!(atksav.calls, meter.at(entry).runs);
    let picture = flame_graph_svg(meter.calls(), &code, "Figure 1");
    assert!(picture.contains("<title>ATKSAV:"), "it is in the flame graph");
}

#[test]
fn other_programs_read_the_profile() {
    let folder = tempfile::tempdir().expect("a folder");
    let scope = folder.path().join("scope.json").display().to_string();
    let grind = folder.path().join("callgrind.out").display().to_string();
    let arguments = ["profile", "--speedscope", &scope, "--callgrind", &grind, "--json", FIGURE_1];
    let (code, json, printed) = hw_tests(&arguments);
    assert_eq!(code, Some(0), "{printed}");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let rows = value["routines"].as_array().expect("routines");
    let of = |name: &str| rows.iter().find(|row| row["name"] == name).expect("the routine");
    let scope: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(scope).expect("written")).expect("JSON");
    let profile = &scope["profiles"][0];
    let weights: u64 = profile["weights"]
        .as_array()
        .expect("weights")
        .iter()
        .filter_map(serde_json::Value::as_u64)
        .sum();
    assert_eq!(profile["endValue"], weights);
    let frames = scope["shared"]["frames"].as_array().expect("frames");
    let samples = profile["samples"].as_array().expect("samples");
    let deepest = samples.iter().filter_map(|one| one.as_array()).map(Vec::len).max();
    assert!(frames.iter().any(|one| one["name"] == "ATKSAV") && deepest > Some(3));
    let grind_text = std::fs::read_to_string(&grind).expect("written");
    let after = grind_text.split("\nfn=XCHNG\n").nth(1).expect("XCHNG");
    let own: u64 = after
        .lines()
        .take_while(|line| !line.starts_with(['c', 'f']))
        .filter_map(|line| line.split(' ').nth(1)?.parse::<u64>().ok())
        .sum();
    assert_eq!(of("XCHNG")["self_t_states"], own, "its lines are its own T-states");
}

#[test]
fn two_behaviours_stand_beside_each_other() {
    let json = |arguments: &[&str]| -> serde_json::Value {
        let (_, shown, printed) = hw_tests(&[&["profile", "--json", FIGURE_1], arguments].concat());
        serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{error}: {printed}"))
    };
    let both = json(&["--against", "fast"]);
    for (at, behaviour) in ["corrected", "fast"].into_iter().enumerate() {
        assert_eq!(both[at]["behaviour"], behaviour);
        let alone = json(&["--behaviour", behaviour]);
        assert_eq!(both[at]["routines"], alone["routines"], "{behaviour}");
    }
    let (_, table, _) = hw_tests(&["profile", "--against", "fast", FIGURE_1]);
    let row = |name: &str| table.lines().find(|line| line.ends_with(&format!("  {name}")));
    let cells = |name: &str| row(name).map(|row| row.split_whitespace().collect::<Vec<_>>());
    assert!(table.starts_with("   corrected          fast   part  routine"), "{table}");
    assert_eq!(cells("SPREAD").expect("a row")[0], "0", "only the fast one has it");
    assert_eq!(cells("NEXTAD").expect("a row")[1], "0", "only the other one calls it");
    let own = |at: usize| {
        let all = both[at]["routines"].as_array().expect("routines").iter();
        all.map(|one| one["self_t_states"].as_u64().expect("a number")).sum::<u64>().to_string()
    };
    assert_eq!(cells("all").expect("a row")[..2], [own(0), own(1)]);
}
