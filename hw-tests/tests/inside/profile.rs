//! Where the T-states go: the figures against the instruction table and the board's clock, and the command.

use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use firmware::wire::Request;
use hw_tests::debug::{CodeMap, Machine};
use hw_tests::encode;
use hw_tests::measure::{Meter, lines, routines, svg};
use hw_tests::reference::parse_fen;

use crate::hw_tests;

/// The article's Figure 1: 20 pieces.
const FIGURE_1: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -";
/// T-states in which a position is done many times over.
const PATIENCE: u64 = 20_000_000;

/// A board that was measured while it examined Figure 1, and the T-states that passed.
fn measured() -> (Meter, CodeMap, u64) {
    let profile = Profile::named("rc2014-classic").expect("it ships");
    let machine = Machine::with_application(&profile, &Evaluator::default());
    let mut machine = machine.unwrap_or_else(|error| panic!("{error}"));
    let position = parse_fen(FIGURE_1).expect("a position");
    machine.send(&Request::Position { squares: encode::squares(&position) });
    let (mut meter, began) =
        (Meter::default(), machine.board.clock() - machine.board.halted_time());
    assert!(meter.run(&mut machine.board, PATIENCE), "it comes to rest");
    assert_eq!(machine.replies().len(), 3, "20 pieces, 13 a frame, and the end");
    let passed = machine.board.clock() - machine.board.halted_time() - began;
    (meter, machine.code(), passed)
}

#[test]
fn every_t_state_is_counted_once() {
    let (meter, code, passed) = measured();
    assert_eq!(meter.calls().total(0), passed);
    let by_line: u64 = lines(&meter, &code).iter().map(|line| line.t_states).sum();
    let by_routine: u64 = routines(&meter, &code).iter().map(|one| one.own).sum();
    assert_eq!(by_line, by_routine);
    // The rest is the acceptance of interrupts, which is no instruction, and the jump that they land on.
    assert!(by_line < passed && by_line > passed * 9 / 10, "{by_line} of {passed}");
}

#[test]
fn instructions_take_what_the_table_says() {
    let (meter, code, _) = measured();
    let mut looked_at = 0;
    for line in code.lines().filter(|line| line.is_code) {
        for (address, decoded) in code.instructions(line) {
            let (count, clocks) = (meter.at(address), decoded.form.clocks);
            let (taken, not) = (u64::from(clocks.taken), u64::from(clocks.not_taken));
            let expected = if taken == not {
                count.runs * taken
            } else {
                count.jumps * taken + (count.runs - count.jumps) * not
            };
            assert_eq!(
                count.t_states,
                expected,
                "{} {}",
                code.name_of(address),
                decoded.form.mnemonic
            );
            looked_at += u64::from(count.runs > 0);
        }
    }
    assert!(looked_at > 500, "{looked_at} instructions ran");
}

#[test]
fn calls_are_those_that_the_position_asks_for() {
    let (meter, code, _) = measured();
    let all = routines(&meter, &code);
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
    assert!(of("ATTACK").total > of("ATTACK").own, "it calls others");
}

#[test]
fn the_flame_graph_is_well_formed_and_each_bar_lies_in_its_callers() {
    let (meter, code, _) = measured();
    let picture = svg(meter.calls(), &code, "<Figure 1>");
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
    let entry =
        listing.lines().find(|line| line.contains("NEWLST:")).expect("its first instruction");
    // MVI A or LXI and the like: 7 or 10 T-states for each of 20 pieces.
    assert!(entry.split_whitespace().nth(1) == Some("20"), "{entry}");
    let (code, _, said) = hw_tests(&["profile", "--annotate", "none.asm", FIGURE_1]);
    assert!(code == Some(2) && said.contains("xchng.asm"), "{said}");
}
