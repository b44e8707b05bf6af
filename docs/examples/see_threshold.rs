//! A command for `sargon compare-see --threshold`, with the exchange values of `chess-rules`.

use std::error::Error;
use std::io::stdin;

use chess_rules::Position;
use chess_rules::see::{ExchangeStart, PieceValues};

/// Returns whether a move gains at least a threshold: `FEN; MOVE; THRESHOLD`.
pub fn reply(line: &str) -> Result<bool, Box<dyn Error>> {
    let mut fields = line.split("; ");
    let mut next = || fields.next().ok_or("expected FEN; MOVE; THRESHOLD");
    let position = Position::from_fen(next()?)?;
    let played = position.find_move(next()?).ok_or("no such move")?;
    let exchange = ExchangeStart::after_move(&position, played, PieceValues::UNITS);
    Ok(exchange.see_ge(next()?.parse()?, false))
}

pub fn main() -> Result<(), Box<dyn Error>> {
    for line in stdin().lines() {
        println!("{}", reply(&line?)?);
    }
    Ok(())
}
