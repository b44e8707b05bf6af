//! Elo, the sequential test and least squares, against published values and values by hand.

use chess_experiments::statistics::{PairScores, elo, expected_score, least_squares, sprt_bounds};

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.001, "{found}, expected {expected}");
}

#[test]
fn elo_is_the_logistic_scale() {
    // Ten to one is 400, three to one 400 log10(3).
    for (score, difference) in [(0.5, 0.0), (10.0 / 11.0, 400.0), (0.75, 190.849)] {
        assert_near(elo(score), difference);
        assert_near(elo(1.0 - score), -difference);
        assert_near(expected_score(difference), score);
    }
}

#[test]
fn the_bounds_of_the_sequential_test_are_walds() {
    // ln (0.95 / 0.05) = ln 19, as cutechess prints it for alpha = beta = 0.05.
    let (low, high) = sprt_bounds();
    assert_near(low, -2.944);
    assert_near(high, 2.944);
}

#[test]
fn pairs_give_elo_its_interval_and_the_ratio() {
    // 50 pairs with 1 point and 50 with 3/2: mean 0.625, each 0.125 away from it.
    let mut pairs = PairScores::default();
    (0..100).for_each(|number| pairs.add(2 + number % 2));
    let (mean, variance) = pairs.moments();
    assert_near(mean, 0.625);
    assert_near(variance, 0.125 * 0.125);
    // 400 log10(0.625 / 0.375); 1.95996 * 0.0125 either side of 0.625 on the same scale.
    let (difference, margin) = pairs.elo();
    assert_near(difference, 88.739);
    assert_near(margin, 18.178);
    // s1 = 1 / (1 + 10^(-5/400)) = 0.507194; 100 * 0.007194 * (1.25 - 1.007194) / 0.03125.
    assert_near(pairs.log_likelihood_ratio(0.0, 5.0), 5.590);
}

#[test]
fn least_squares_solves_the_textbook_line() {
    // (1, 6), (2, 5), (3, 7), (4, 10): y = 3.5 + 1.4 x, the example of Wikipedia's page.
    let points = [(1.0, 6.0), (2.0, 5.0), (3.0, 7.0), (4.0, 10.0)];
    let rows = points.map(|(x, y)| ([1.0, x], y));
    let [constant, slope] = least_squares(&rows).expect("independent factors");
    assert_near(constant, 3.5);
    assert_near(slope, 1.4);
    assert_eq!(least_squares(&[([1.0, 2.0], 1.0), ([2.0, 4.0], 2.0)]), None);
}
