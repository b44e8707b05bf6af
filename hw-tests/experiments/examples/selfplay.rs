//! Plays a match and appends its games to a PGN file. In this package's folder:
//!
//! ```text
//! cargo run --release --example selfplay -- swap+drop mvv-lva games.pgn 2000
//! ```
//!
//! Arguments: both players (`chess_experiments::Player`), the file, the number of games,
//! microseconds of counted work a move (3000), the seed of the openings (1). A file that exists is
//! continued; its games must be of the same match. The result is printed at the end.

use std::fs::File;
use std::io::{Read, Write};
use std::time::Instant;

use chess_experiments::statistics::{PairScores, sprt_bounds};
use chess_experiments::{Match, Player, Work};

/// The hypotheses of the sequential test, in Elo.
const SPRT: (f64, f64) = (0.0, 5.0);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [first, second, file, games, more @ ..] = &args[..] else {
        return Err("usage: selfplay PLAYER PLAYER FILE GAMES [MICROSECONDS [SEED]]".into());
    };
    let number = |index: usize, default| more.get(index).map_or(Ok(default), |text| text.parse());
    let players: [Player; 2] = [first.parse()?, second.parse()?];
    let of = Match { players, seed: number(1, 1)?, ns: 1000 * number(0, 3000)? };
    let (mut file, mut scores) = resume(&of, file)?;
    let started = Instant::now();
    let mut work = [Work::default(); 2];
    let from = scores.len() as u64;
    for number in from..games.parse()? {
        let game = of.play(number);
        file.write_all(game.pgn(&of).as_bytes())?;
        scores.push(if Match::white(number) == 0 { game.white } else { 2 - game.white });
        work.iter_mut().zip(game.work).for_each(|(to, from)| *to += from);
    }
    report(&of, &scores);
    let played = scores.len() as u64 - from;
    let counted = (work[0].ns + work[1].ns) as f64 / 1e9;
    println!("{played} games in {:.0} s; counted {counted:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Opens a file after its last complete game; returns the first player's half points of each game.
fn resume(of: &Match, path: &str) -> Result<(File, Vec<usize>), Box<dyn std::error::Error>> {
    let mut file = File::options().read(true).append(true).create(true).open(path)?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let (end, scores) = of.read(&text).map_err(|error| format!("{path}: {error}"))?;
    file.set_len(end as u64)?;
    Ok((file, scores))
}

fn report(of: &Match, scores: &[usize]) {
    let count = |half| scores.iter().filter(|score| **score == half).count();
    let mut pairs = PairScores::default();
    scores.chunks_exact(2).for_each(|pair| pairs.add(pair[0] + pair[1]));
    let (elo, margin) = pairs.elo();
    let (lower, upper) = sprt_bounds();
    let (low, high) = SPRT;
    println!("{} - {}: {} games", of.players[0], of.players[1], scores.len());
    println!("won {}, drawn {}, lost {}; pairs {:?}", count(2), count(1), count(0), pairs.counts);
    println!("Elo {elo:+.1} +- {margin:.1}");
    let ratio = pairs.log_likelihood_ratio(low, high);
    println!("SPRT {low} to {high} Elo: LLR {ratio:.2}, bounds {lower:.2} and {upper:.2}");
}
