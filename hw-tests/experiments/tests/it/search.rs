//! The searcher: published counts of moves, mates and tactics that others have set.

use chess_experiments::{Found, HangingPieces, LeafRule, Limit, MATE, Node, Player, Search};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
/// Positions of the Chess Programming Wiki's page "Perft Results", with depth and count.
const PERFT: [(&str, u32, u64); 5] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 3, 8902),
    (KIWIPETE, 2, 2039),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 3, 2812),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 3, 9467),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 2, 1486),
];
/// The orders of captures.
const ORDERS: [&str; 8] =
    ["generated", "mvv-lva", "threshold", "swap", "swap-promo", "swap-pins", "legal", "xchng"];

fn node(fen: &str) -> Node {
    Node::from_fen(fen).expect("a legal position")
}

fn run(player: &str, fen: &str, limit: Limit) -> Found {
    Search::new(player.parse().expect("a player")).run(&node(fen), &[], limit)
}

#[test]
fn moves_are_the_published_number_and_both_boards_agree() {
    for (fen, depth, count) in PERFT {
        assert_eq!(node(fen).perft(depth), count, "{fen}");
        for m in node(fen).moves(false) {
            let after = node(fen).play(m);
            let again = Node::new(after.position).expect("legal");
            assert!(after.board.same_position(&again.board), "{fen}: {m}");
        }
    }
}

#[test]
fn tactical_moves_are_the_captures_and_queens_among_the_legal_moves() {
    for (fen, ..) in PERFT {
        let node = node(fen);
        let mut tactical = node.moves(false);
        tactical.retain(|m| node.is_tactical(*m));
        assert_eq!(node.moves(true), tactical, "{fen}");
    }
    // En passant and a promotion: dxe6, and a8=Q but not a8=N.
    let node = node("4k3/P7/8/3Pp3/8/8/8/4K3 w - e6 0 2");
    let text: Vec<_> = node.moves(true).into_iter().map(|m| node.position.uci(m)).collect();
    assert_eq!(text, ["a7a8q", "d5e6"]);
}

/// Mates in two: Morphy's problem, and number 4 of "Win at Chess" (Reinfeld).
const MATES: [(&str, &str); 2] = [
    ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", "Ra6"),
    ("r1bq2rk/pp3pbp/2p1p1pQ/7P/3P4/2PB1N2/PP3PPR/2KR4 w - - 0 1", "Qxh7+"),
];

#[test]
fn mates_are_found_with_their_distance_by_every_order() {
    for ((fen, best), order) in MATES
        .into_iter()
        .zip([&ORDERS[..], &ORDERS[..4]])
        .flat_map(|(mate, orders)| orders.iter().map(move |order| (mate, order)))
    {
        let found = run(&format!("{order}+drop+killers+history"), fen, Limit::depth(3));
        let san = found.best.map(|m| node(fen).position.san(m));
        assert_eq!((san.as_deref(), found.score), (Some(best), MATE - 3), "{order}: {fen}");
    }
}

#[test]
fn reductions_find_the_mates_later() {
    let parts = "swap+drop+killers+history+quiets+captures+checks";
    let (fen, best) = MATES[0];
    let found = run(parts, fen, Limit::depth(5));
    assert_eq!(found.best.map(|m| node(fen).position.san(m)).as_deref(), Some(best));
    // Ra6 is a late quiet move, so that its refutations are cut short at the mate's own depth.
    assert!(found.depth > 3 && found.score > MATE - 10);
}

#[test]
fn games_that_are_over_have_no_move() {
    let mated = run("swap", "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", Limit::depth(3));
    assert_eq!((mated.best, mated.score), (None, -MATE));
    let stalemate = run("swap", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Limit::depth(3));
    assert_eq!((stalemate.best, stalemate.score), (None, 0));
}

#[test]
fn a_repetition_is_a_draw() {
    // White is a rook down; the perpetual check Qe8+ Kh7 Qh5+ Kg8 was played once before.
    let fen = "6k1/6p1/8/7Q/8/8/rq6/7K w - - 8 20";
    let start = node(fen);
    let mut keys = Vec::new();
    let mut at = start.clone();
    for san in ["Qe8+", "Kh7", "Qh5+", "Kg8"] {
        keys.push(at.board.hash());
        at = at.play(at.position.find_move(san).expect(san));
    }
    let found = Search::new("swap".parse().expect("a player")).run(&at, &keys, Limit::depth(4));
    assert_eq!(found.score, 0);
}

#[test]
fn the_order_changes_the_work_and_not_the_score() {
    // The second position of the wiki's page on the swap algorithm.
    let fen = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1";
    let scores = ORDERS.map(|order| run(order, fen, Limit::depth(2)).score);
    assert_eq!(scores, [scores[0]; 8]);
    let nodes = |player| run(player, fen, Limit::depth(3)).work.nodes();
    assert!(nodes("generated") > nodes("mvv-lva"));
    assert!(nodes("swap") > nodes("swap+drop"));
    assert!(nodes("swap") > nodes("swap+killers+history"));
    assert!(nodes("swap") > nodes("swap+quiets"));
}

#[test]
fn counted_work_ends_a_search() {
    let shorter = run("swap+drop", KIWIPETE, Limit::ns(50_000));
    let longer = run("swap+drop", KIWIPETE, Limit::ns(1_000_000));
    assert!(shorter.depth >= 1 && longer.depth > shorter.depth);
    // The last operation may exceed the limit: a node with its moves.
    assert!((1_000_000..1_050_000).contains(&longer.work.ns), "{}", longer.work.ns);
}

#[test]
fn leaves_score_hanging_pieces_by_the_documents() {
    // The rook has moved to d4 and attacks a bishop and a knight, neither guarded: Black rescues
    // one. The article counts 3/4 of the other; the original half of 2 1/2 points, rounded
    // down to a half. A third attacked piece counts nothing, or a bonus of 25.
    let score = |fen, rule| HangingPieces::of(&node(fen)).score(rule);
    let two = "3b3k/8/8/8/n2R4/8/8/7K b - - 0 1";
    let three = "3b3k/8/8/8/n2R2p1/8/8/7K b - - 0 1";
    assert_eq!(score(two, LeafRule::Article), -225);
    assert_eq!(score(two, LeafRule::Bonus), -225);
    assert_eq!(score(two, LeafRule::Original), -100);
    assert_eq!(score(three, LeafRule::Article), -225);
    assert_eq!(score(three, LeafRule::Bonus), -250);
}

#[test]
fn unknown_parts_are_refused() {
    for name in ["", "best", "swap+fast", "swap+", "drop+swap"] {
        assert!(name.parse::<Player>().is_err(), "{name}");
    }
}
