//! Swap-off of a whole position, after SOMA (Maynard Smith and Michie, "Machines that play games",
//! New Scientist 12, 1961): no search, only the exchanges that pay, played until none is left.

use cozy_chess::{Color, Square};

use super::{Capture, Pieces, Values, order_captures, swap_off};

/// One exchange of the line: all captures on one square, until a side stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Who begins it.
    pub side: Color,
    /// The square that is fought for.
    pub square: Square,
    /// Where the capturers come from, in order, sides alternating.
    pub from: Vec<Square>,
    /// What the beginner gains by it.
    pub gain: i32,
}

/// The exchanges that would be played if both sides only captured where it pays, the most profitable
/// first; a side with nothing to gain lets the other move. Ends when neither gains. Every
/// exchange takes at least one piece off the board, so there are at most 63.
#[must_use]
pub fn soma(pieces: &Pieces, to_move: Color, values: Values) -> Vec<Exchange> {
    let mut board = *pieces;
    let mut side = to_move;
    let mut line = Vec::new();
    let mut passed = false;
    loop {
        match best(&board, side, values) {
            Some(first) => {
                let exchange = play_out(&mut board, side, first, values);
                side = if exchange.from.len() % 2 == 1 { !side } else { side };
                line.push(exchange);
                passed = false;
            }
            None if passed => return line,
            None => {
                passed = true;
                side = !side;
            }
        }
    }
}

fn best(board: &Pieces, side: Color, values: Values) -> Option<Capture> {
    let ordered = order_captures(board, side, values);
    ordered.captures.first().copied().filter(|capture| capture.value > 0)
}

/// Plays the captures on one square as long as each pays the side that makes it.
fn play_out(board: &mut Pieces, side: Color, first: Capture, values: Values) -> Exchange {
    let mut from = vec![first.from];
    board.play(first.from, first.to);
    let mut mover = !side;
    while swap_off(board, first.to, mover, values) > 0 {
        let Some((next, _)) = board.least_valuable(first.to, mover, board.occupied()) else {
            break;
        };
        board.play(next, first.to);
        from.push(next);
        mover = !mover;
    }
    Exchange { side, square: first.to, from, gain: first.value }
}
