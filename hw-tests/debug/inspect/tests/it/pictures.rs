//! The pictures of docs/DEBUGGING.md: the view of a program in two sizes. `BLESS=1` redraws them.

use std::fmt::Write;
use std::path::Path;

use board_debugger::{Debugger, LoadedProgram, board_with_program};
use firmware::code_map::MappedProgram;
use firmware::profile::BoardProfile;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::{Color, Modifier};
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;

use crate::owned_view::View;

/// For ROM, so that the pictures do not depend on the monitor.
const SOURCE: &str = "\
; Adds the bytes of a table.
\t.INTERN START,SUM,TABLE,TOTAL
\t.LOC 0
START:\tLXI SP,9000H
\tLXI H,TABLE
\tMVI B,5
\tCALL SUM
\tSTA TOTAL
\tHLT
; SUM - HL: bytes, B: their number. Returns A: the sum.
SUM:\tXRA A
..NEXT:\tADD M
\tMOV M,A\t; the sum so far
\tINX H
\tDJNZ ..NEXT
\tRET
\t.LOC 8000H
TABLE:\t.BYTE 3,1,4,1,5
TOTAL:\t.BLKB 1
\t.END START
";

/// Keys that show the program in the third round of its loop, and its table.
const KEYS: &str = ":break SUM..NEXT if B <= 3\n:memory TABLE\nc:next 2\n";

/// Pixels of a character.
const WIDTH: u16 = 8;
const HEIGHT: u16 = 18;

fn view() -> View {
    let loader = MemoryLoader::new().with("sum.asm", SOURCE);
    let options = tdlasm::Options { lines: true, ..Default::default() };
    let assembly = tdlasm::assemble(&loader, &["sum.asm".into()], &options);
    let assembly = assembly.unwrap_or_else(|error| panic!("{error}"));
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let layout: Layout = board_debugger::ram_layout(&profile);
    let program = link(&assembly.modules, &layout).unwrap_or_else(|error| panic!("{error}"));
    let entry = program.entry.expect("its start");
    let loaded = LoadedProgram::new(MappedProgram::from(&program), entry);
    let (board, mut code) = board_with_program(&profile, loaded).expect("it fits");
    code.set_text("sum.asm", SOURCE);
    let mut view = View::new(Debugger::new(board, code));
    for key in KEYS.chars() {
        let key = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        assert!(view.press(key, &mut |_, _| false));
    }
    view
}

/// The classes of a cell: colours, bold and reversed.
fn class(cell: &Cell) -> &'static str {
    match (cell.fg, cell.modifier) {
        (_, modifier) if modifier.contains(Modifier::REVERSED) => "v",
        (Color::Red, _) => "r",
        (Color::Green, _) => "g",
        (_, modifier) if modifier.contains(Modifier::BOLD) => "b",
        _ => "",
    }
}

fn picture(columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("in memory");
    let view = view();
    terminal.draw(|frame| view.draw(frame)).expect("in memory");
    let buffer = terminal.backend().buffer();
    let (width, height) = (columns * WIDTH + 16, rows * HEIGHT + 16);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\">\n\
         <title>hw-inspect debug on a terminal of {columns} columns and {rows} rows</title>\n\
         <style>text{{font:13px ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;\
         white-space:pre;fill:#d6d3d1}}.b{{font-weight:bold}}.g{{fill:#86efac}}\
         .r{{fill:#fca5a5;font-weight:bold}}.v{{fill:#fdba74}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#1c1917\"/>\n"
    );
    for y in 0..rows {
        let cells: Vec<&Cell> = (0..columns).map(|x| &buffer[(x, y)]).collect();
        let mut x = 0;
        for run in cells.chunk_by(|one, next| class(one) == class(next)) {
            let text: String = run.iter().map(|cell| cell.symbol()).collect();
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            let length = run.len() as u16 * WIDTH;
            let (left, top) = (8 + x * WIDTH, 22 + y * HEIGHT);
            let _ = writeln!(
                svg,
                "<text class=\"{}\" x=\"{left}\" y=\"{top}\" textLength=\"{length}\" \
                 xml:space=\"preserve\">{text}</text>",
                class(run[0])
            );
            x += run.len() as u16;
        }
    }
    svg + "</svg>\n"
}

#[test]
fn the_pages_pictures_show_the_view() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/pictures");
    for (columns, rows) in [(80, 24), (120, 40)] {
        let svg = picture(columns, rows);
        // The sums 3, 4 and 8, and the bytes that are not added yet.
        assert!(view().text(columns, rows).contains("03 04 08 01 05"));
        let path = folder.join(format!("debugger-{columns}x{rows}.svg"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &svg).expect("written");
        }
        let present = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(present == svg, "{}: redraw it with BLESS=1", path.display());
    }
}
