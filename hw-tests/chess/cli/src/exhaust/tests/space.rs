//! The spaces and the reference, against the second model.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use sargon_reference::{Colour, exchange, minimax};

use super::model;
use crate::exhaust::space::{ArraySpace, Space};

/// Bishops and queens a side, sections, arrays.
const SPACES: [(Space, usize, usize, usize, u32); 3] = [
    (Space::Core, 1, 1, 378, 857_304),
    (Space::TwoBishops, 2, 1, 594, 2_117_016),
    (Space::TwoQueens, 2, 2, 756, 3_429_216),
];

#[test]
fn the_spaces_have_the_sections_that_nested_loops_make() {
    for (space, bishops, queens, sections, arrays) in SPACES {
        let expected = model::sections(bishops, queens);
        assert_eq!(
            (expected.len(), ArraySpace::new(space, Colour::Black).count()),
            (sections, arrays)
        );
        let all = ArraySpace::new(space, Colour::White);
        for (number, values) in expected.iter().enumerate() {
            let (_, array) = all.at(all.index(number as u32 * 6));
            assert_eq!(array.in_order(Colour::White), *values, "{space} {number}");
            assert_eq!(usize::from(array.count(Colour::White)), values.len());
        }
    }
}

#[test]
fn numbers_go_through_pieces_then_defenders_then_attackers() {
    let all = ArraySpace::new(Space::Core, Colour::Black);
    let sections = model::sections(1, 1);
    for attackers in [0, 1, 377] {
        for defenders in 0..378 {
            for (index, value) in [1, 3, 3, 5, 9, 10].into_iter().enumerate() {
                let number = (attackers * 378 + defenders) * 6 + index;
                let (piece, array) = all.at(all.index(number as u32));
                assert_eq!((piece.colour, piece.kind.value()), (Colour::Black, value));
                assert_eq!(array.in_order(Colour::White), sections[attackers]);
                assert_eq!(array.in_order(Colour::Black), sections[defenders]);
            }
        }
    }
}

#[test]
fn exchange_and_minimax_are_those_of_the_second_model_on_100_000_arrays() {
    let mut random = ChaCha8Rng::seed_from_u64(1978);
    for owner in [Colour::White, Colour::Black] {
        let all = ArraySpace::new(Space::TwoQueens, owner);
        for _ in 0..50_000 {
            let number = random.next_u32() % all.count();
            let (piece, array) = all.at(all.index(number));
            let [attackers, defenders] = [owner.other(), owner].map(|side| array.in_order(side));
            let stake = piece.kind.value();
            let residue = model::exchange(stake.into(), &attackers, &defenders);
            assert_eq!(i32::from(exchange(piece, &array).residue), residue, "{number}");
            let best = model::minimax(stake.into(), &attackers, &defenders);
            assert_eq!(i32::from(minimax(stake, &attackers, &defenders)), best, "{number}");
        }
    }
}

#[test]
fn the_core_figures_on_the_page_of_evaluators_are_those_of_the_second_model() {
    let page = include_str!("../../../../../../docs/EVALUATORS.md").replace(',', "");
    let model::Folded { crc, off_minimax: (above, below), .. } =
        model::fold(&model::sections(1, 1), 0..857_304);
    let row = format!("| core | 857304 | {crc:08X} | {above} | {below} |\n");
    assert!(page.contains(&row), "{row}");
}
