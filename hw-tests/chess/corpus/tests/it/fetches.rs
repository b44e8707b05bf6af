//! The pieces that an exchange fetches.

use sargon_corpus::analysis::{exchange_steps, piece_fetches};

#[test]
fn the_pieces_of_the_articles_example_are_fetched_in_turn() {
    let (fetches, residue) = piece_fetches(3, &[3, 3, 3], &[1, 9]);
    let pieces: Vec<u8> = fetches.iter().map(|fetch| fetch.piece).collect();
    assert_eq!(pieces, [3, 1, 3, 9, 3, 0]);
    let before: Vec<_> = fetches.iter().map(|f| (f.stake, f.attacker, f.residue)).collect();
    let expected = [
        (3, None, 0),
        (3, Some(3), 0),
        (3, Some(1), 3),
        (1, Some(3), 0),
        (1, Some(3), 0),
        (1, Some(3), 0),
    ];
    assert_eq!(before, expected);
    assert_eq!(residue, 1);
}

#[test]
fn the_residue_is_that_of_the_steps_for_both_sides() {
    let sides: Vec<Vec<u8>> = (0..4_u32.pow(3))
        .map(|number| [number % 4, number / 4 % 4, number / 16])
        .map(|three| three.into_iter().filter(|value| *value > 0))
        .map(|values| values.map(|value| [1, 3, 9][value as usize - 1]).collect())
        .collect();
    for (attackers, defenders) in sides.iter().flat_map(|a| sides.iter().map(move |b| (a, b))) {
        for stake in [1, 3, 5, 9] {
            let steps = exchange_steps(stake, attackers, defenders);
            let expected = steps.last().map_or(0, |step| step.residue);
            let (_, residue) = piece_fetches(stake, attackers, defenders);
            assert_eq!(residue, expected, "{stake} {attackers:?} {defenders:?}");
        }
    }
}
