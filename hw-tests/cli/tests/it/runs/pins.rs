//! No position has 32 pins, so that the board's list, which has room for as many, is never full.

use std::collections::HashMap;

/// File and rank, from 0.
type At = (i8, i8);

const DIRECTIONS: [At; 8] = [(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)];

/// The required contents of squares: none, or a piece of White (`true`) or Black.
type Squares = HashMap<At, Option<bool>>;

/// A line from a royal piece outwards, and the piece's colour.
type Line = (Vec<At>, bool);

fn line(from: At, (right, up): At) -> Vec<At> {
    let squares = (1..8).map(|steps| (from.0 + steps * right, from.1 + steps * up));
    squares.take_while(|(file, rank)| (0..8).contains(file) && (0..8).contains(rank)).collect()
}

/// Returns the arrangements of a friend and then an enemy on a line that agree with the squares
/// decided so far.
fn arrangements((line, colour): &Line, decided: &Squares) -> Vec<Squares> {
    let mut arrangements = Vec::new();
    for enemy in 1..line.len() {
        for friend in 0..enemy {
            let piece = |place| match place {
                _ if place == friend => Some(*colour),
                _ if place == enemy => Some(!colour),
                _ => None,
            };
            let arrangement: Squares =
                (0..=enemy).map(|place| (line[place], piece(place))).collect();
            if arrangement
                .iter()
                .all(|(at, piece)| decided.get(at).is_none_or(|other| other == piece))
            {
                arrangements.push(arrangement);
            }
        }
    }
    arrangements
}

/// Returns `true` if all lines can have a pin at once; the line with the fewest arrangements is
/// decided first.
fn can_all_be_pins(lines: &[Line], decided: &Squares) -> bool {
    let arrangements_of = |line| arrangements(line, decided);
    let fewest = lines
        .iter()
        .map(arrangements_of)
        .enumerate()
        .min_by_key(|(_, arrangements)| arrangements.len());
    let Some((place, arrangements)) = fewest else { return true };
    let mut others = lines.to_vec();
    others.remove(place);
    arrangements.into_iter().any(|arrangement| {
        let mut decided = decided.clone();
        decided.extend(arrangement);
        can_all_be_pins(&others, &decided)
    })
}

/// A royal piece with two squares or more in all directions is on c3 to f6. Only colours are
/// considered: not every enemy pins, which only reduces the number of pins.
#[test]
fn no_position_has_32_pins() {
    let inner: Vec<At> = (2..6).flat_map(|file| (2..6).map(move |rank| (file, rank))).collect();
    for places in 0_u32..1 << 16 {
        let royals: Vec<At> = (0..16).filter(|i| places >> i & 1 == 1).map(|i| inner[i]).collect();
        if royals.len() != 4 {
            continue;
        }
        // The first is White's, without loss of generality, and so is one of the others.
        for other in 1..4 {
            let colour = |i: usize| i == 0 || i == other;
            let decided: Squares =
                royals.iter().enumerate().map(|(i, at)| (*at, Some(colour(i)))).collect();
            let of = |i: usize| DIRECTIONS.map(|direction| (line(royals[i], direction), colour(i)));
            let lines: Vec<Line> = (0..4).flat_map(of).collect();
            assert!(!can_all_be_pins(&lines, &decided), "{royals:?}");
        }
    }
}

#[test]
fn three_royal_pieces_less_can_have_all_their_pins() {
    let lines = DIRECTIONS.map(|direction| (line((3, 3), direction), true));
    assert!(can_all_be_pins(&lines, &HashMap::from([((3, 3), Some(true))])));
}
