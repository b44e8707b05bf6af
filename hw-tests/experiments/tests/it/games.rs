//! Matches: openings, reproducibility, resumption.

use chess_experiments::{Match, Node, opening};

/// A match whose moves take 20 microseconds of counted work.
fn small_match() -> Match {
    let players = ["swap+drop", "mvv-lva"].map(|name| name.parse().expect("a player"));
    Match { players, seed: 3, ns: 20_000 }
}

fn pgn(of: &Match, games: std::ops::Range<u64>) -> String {
    games.map(|number| of.play(number).pgn(of)).collect()
}

#[test]
fn a_match_is_the_same_byte_for_byte_and_of_legal_moves() {
    let of = small_match();
    let text = pgn(&of, 0..2);
    assert_eq!(text, pgn(&of, 0..2));
    for (number, game) in text.split("[Event").skip(1).enumerate() {
        let [first, second] = &of.players;
        let (white, black) = if number == 0 { (first, second) } else { (second, first) };
        assert!(game.contains(&format!("[White \"{white}\"]\n[Black \"{black}\"]")));
        let (_, moves) = game.split_once("\n\n").expect("tags and moves");
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let mut position = Node::from_fen(start).expect("the start").position;
        for token in moves.split_whitespace().filter(|token| !token.ends_with('.')) {
            if ["1-0", "0-1", "1/2-1/2"].contains(&token) {
                break;
            }
            position = position.play(position.find_move(token).expect(token));
        }
    }
}

#[test]
fn both_games_of_a_pair_have_one_opening_and_pairs_differ() {
    let of = small_match();
    let openings = [0, 1, 2].map(|number| of.play(number).moves[..8].to_vec());
    assert_eq!(openings[0], openings[1]);
    assert_ne!(openings[0], openings[2]);
    assert_eq!(openings[2], opening(3, 1));
    assert_ne!(openings[2], opening(4, 1));
}

#[test]
fn a_file_cut_anywhere_resumes_after_its_last_complete_game() {
    let of = small_match();
    let games = [pgn(&of, 0..1), pgn(&of, 1..2)];
    let text = games.concat();
    let scores = of.read(&text).expect("whole").1;
    for length in 0..=text.len() {
        let complete = usize::from(length >= games[0].len()) + usize::from(length == text.len());
        let end = games[..complete].concat().len();
        assert_eq!(of.read(&text[..length]), Ok((end, scores[..complete].to_vec())), "{length}");
    }
}

#[test]
fn a_file_of_another_match_is_refused() {
    let of = small_match();
    let text = pgn(&of, 0..1);
    for other in [Match { seed: 4, ..of.clone() }, Match { ns: 30_000, ..of.clone() }] {
        assert_eq!(other.read(&text), Err("game 0 is not of this match".to_owned()));
    }
    assert!(of.read(&text.replace("[Round \"0\"]", "[Round \"1\"]")).is_err());
}
