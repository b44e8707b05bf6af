//! The pictures of docs/EVALUATOR.md, generated from the reference's results for their positions.
//! `BLESS=1` redraws them.

use std::fmt::Write;

use sargon_reference::{
    AttackersArray, Colour, Direction, Piece, PieceKind, Position, Square, SquareResult, evaluate,
    parse_fen,
};

use crate::book::docs;

/// Pixels of a square's side, and of the margin with the letters.
const SIDE: i32 = 44;
const EDGE: i32 = 22;

/// The boards on the page: name of the picture, position, evaluated square.
const BOARDS: [(&str, &str, &str); 3] = [
    ("exchange", "6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -", "e4"),
    ("pin", "2kr4/6q1/8/5n2/2Kp4/3N3B/5Q2/6B1 w - -", "d4"),
    ("fault", "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -", "e4"),
];

/// Colours for light and dark themes.
const STYLE: &str = "<style>\
    text{font-family:system-ui,sans-serif;text-anchor:middle;dominant-baseline:central}\
    .light{fill:#eee6d6}.dark{fill:#b5a183}.mark{fill:none;stroke:#c2410c;stroke-width:3}\
    .piece{fill:#1c1917;stroke:#faf7f2;stroke-width:.8;stroke-linejoin:round}\
    .pale{fill:#fff;stroke:#1c1917;stroke-width:1.4}\
    .name{font-size:12px;fill:#78716c}.note{font-size:14px;fill:#1c1917}\
    .white{stroke:#15803d}.black{stroke:#1d4ed8}.line{stroke-width:3;stroke-opacity:.75}\
    .cell{fill:#eee6d6;stroke:#78716c}.used{fill:#fdba74}\
    .pin{stroke:#b91c1c;stroke-width:3;stroke-dasharray:5 4}</style>";

fn centre(square: Square) -> (i32, i32) {
    let file = i32::from(square.file());
    let rank = i32::from(square.rank());
    (EDGE + file * SIDE + SIDE / 2, (7 - rank) * SIDE + SIDE / 2 + 4)
}

/// The outlines of pieces, also used by the page `docs/try`: name, and data of an SVG path.
const PIECES: &str = include_str!("../../../../../docs/pictures/pieces.txt");

/// Returns the outline of a piece around the middle of its square, as the data of an SVG path.
///
/// Drawn for this project, so that pictures do not depend on a font.
fn outline(kind: PieceKind) -> &'static str {
    let name = match kind {
        PieceKind::Pawn => "pawn",
        PieceKind::Knight => "knight",
        PieceKind::Bishop => "bishop",
        PieceKind::Rook => "rook",
        PieceKind::Queen => "queen",
        PieceKind::King => "king",
    };
    let mut lines = PIECES.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(piece, _)| *piece == name).expect("the file has every piece").1
}

/// Returns the attackers and defenders of a square, including those behind others, by scanning
/// outwards from it.
fn attackers_and_defenders(position: &Position, target: Square) -> Vec<(Square, Piece)> {
    let reaches = |piece: Piece, direction: Direction, near: bool| {
        let diagonal = Direction::DIAGONAL.contains(&direction);
        match piece.kind {
            PieceKind::Queen => true,
            PieceKind::Bishop => diagonal,
            PieceKind::Rook => !diagonal,
            PieceKind::King => near,
            PieceKind::Pawn => {
                near && diagonal && (direction.ranks > 0) == (piece.colour == Colour::Black)
            }
            PieceKind::Knight => false,
        }
    };
    let mut found = Vec::new();
    for direction in Direction::DIAGONAL.into_iter().chain(Direction::STRAIGHT) {
        let mut at = target.step(direction);
        let mut near = true;
        while let Some(square) = at {
            match position.on(square) {
                Some(piece) if reaches(piece, direction, near) => found.push((square, piece)),
                Some(_) => break,
                None => {}
            }
            near = false;
            at = square.step(direction);
        }
    }
    for leap in Direction::LEAPS {
        let piece = target.step(leap).and_then(|square| Some((square, position.on(square)?)));
        found.extend(piece.filter(|(_, piece)| piece.kind == PieceKind::Knight));
    }
    found
}

fn board(position: &Position, target: Square) -> String {
    let (pins, _) = evaluate(position);
    let width = EDGE * 2 + 8 * SIDE;
    let height = 8 * SIDE + EDGE + 8;
    let mut svg = head(width, height);
    for square in Square::all() {
        let (x, y) = centre(square);
        let shade = if (square.file() + square.rank()) % 2 == 0 { "dark" } else { "light" };
        let left = x - SIDE / 2;
        let top = y - SIDE / 2;
        put(
            &mut svg,
            &format!(
                r#"<rect class="{shade}" x="{left}" y="{top}" width="{SIDE}" height="{SIDE}"/>"#
            ),
        );
    }
    for (square, piece) in attackers_and_defenders(position, target) {
        let from = centre(square);
        let to = centre(target);
        let pinned = pins.iter().any(|pin| pin.square == square);
        let class = match piece.colour {
            _ if pinned => "pin",
            Colour::White => "white line",
            Colour::Black => "black line",
        };
        let ends = format!(r#"x1="{}" y1="{}" x2="{}" y2="{}""#, from.0, from.1, to.0, to.1);
        put(&mut svg, &format!(r#"<line class="{class}" {ends}/>"#));
    }
    let (x, y) = centre(target);
    let left = x - SIDE / 2 + 1;
    let top = y - SIDE / 2 + 1;
    let side = SIDE - 2;
    put(
        &mut svg,
        &format!(r#"<rect class="mark" x="{left}" y="{top}" width="{side}" height="{side}"/>"#),
    );
    for (square, piece) in position.pieces() {
        let (x, y) = centre(square);
        let class = if piece.colour == Colour::White { "piece pale" } else { "piece" };
        let outline = outline(piece.kind);
        let place = format!("translate({x} {y})");
        put(&mut svg, &format!(r#"<path class="{class}" transform="{place}" d="{outline}"/>"#));
    }
    names(&mut svg);
    svg + "</svg>\n"
}

/// The letters and numbers at the edges.
fn names(svg: &mut String) {
    for i in 0..8 {
        let file = char::from(b'a' + i);
        let rank = char::from(b'1' + i);
        let along = EDGE + i32::from(i) * SIDE + SIDE / 2;
        let up = (7 - i32::from(i)) * SIDE + SIDE / 2 + 4;
        let foot = 8 * SIDE + EDGE / 2 + 6;
        put(svg, &format!(r#"<text class="name" x="{along}" y="{foot}">{file}</text>"#));
        put(svg, &format!(r#"<text class="name" x="{}" y="{up}">{rank}</text>"#, EDGE / 2));
    }
}

/// The 14 bytes of a square's attackers array in memory, each with its high and low half.
fn array(array: &AttackersArray) -> String {
    const CELL: i32 = 52;
    let labels = ["count", "pawns", "knights", "bishops", "rooks", "queen", "king"];
    let mut svg = head(14 * CELL + 16, 96);
    for (index, byte) in array.to_bytes().into_iter().enumerate() {
        let x = 8 + index as i32 * CELL;
        let half = |value: u8, left: i32| {
            let class = if value == 0 { "cell" } else { "cell used" };
            let cell = format!(
                r#"<rect class="{class}" x="{left}" y="26" width="{}" height="34"/>"#,
                CELL / 2
            );
            format!(r#"{cell}<text class="note" x="{}" y="44">{value}</text>"#, left + CELL / 4)
        };
        put(&mut svg, &half(byte >> 4, x));
        put(&mut svg, &half(byte & 15, x + CELL / 2));
        let middle = x + CELL / 2;
        put(
            &mut svg,
            &format!(r#"<text class="name" x="{middle}" y="74">{}</text>"#, labels[index % 7]),
        );
    }
    for (side, at) in [("White", 8 + 7 * CELL / 2), ("Black", 8 + 21 * CELL / 2)] {
        put(&mut svg, &format!(r#"<text class="note" x="{at}" y="13">{side}</text>"#));
    }
    svg + "</svg>\n"
}

fn head(width: i32, height: i32) -> String {
    let size = format!(r#"width="{width}" height="{height}" viewBox="0 0 {width} {height}""#);
    let ground = r##"<rect width="100%" height="100%" rx="6" fill="#faf7f2"/>"##;
    format!("<svg xmlns=\"http://www.w3.org/2000/svg\" {size}>\n{STYLE}\n{ground}\n")
}

fn put(svg: &mut String, line: &str) {
    writeln!(svg, "{line}").expect("a string takes all");
}

fn verdict(position: &Position, square: Square) -> SquareResult {
    let (_, verdicts) = evaluate(position);
    verdicts.into_iter().find(|verdict| verdict.square == square).expect("it is occupied")
}

#[test]
fn the_pictures_show_the_references_results() {
    for (name, fen, square) in BOARDS {
        let position = parse_fen(fen).expect("it is a position");
        let target = Square::named(square).expect("it is a square");
        let bytes = array(&verdict(&position, target).array);
        for (file, svg) in
            [(name.to_owned(), board(&position, target)), (format!("{name}-array"), bytes)]
        {
            let path = docs().join("pictures").join(file + ".svg");
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(&path, &svg).expect("the folder is there");
            }
            let there = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(there == svg, "{}: redraw it with BLESS=1", path.display());
        }
    }
}
