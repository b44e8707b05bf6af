//! Text of an explanation: the board, the array as in Table 1, the steps as in Figure 4.

use std::fmt::Write;

use firmware_wire::{StepRecord, step};
use sargon_corpus::analysis::{capturer_kinds, with_values};
use sargon_reference::{AttackersArray, PieceKind, Position, Square};

use super::explanation::{ExchangeSteps, Explanation};
use super::follow;
use super::names::{kind, side};

pub(super) fn explanation(battle: &Explanation) -> String {
    let Explanation { square, piece, .. } = battle;
    let mut text = picture(&battle.position, *square);
    let owner = side(piece.colour);
    let name = kind(piece.kind);
    let worth = battle.values.of(piece.kind);
    let _ = writeln!(text, "\n{square}: {owner}'s {name}, worth {worth}");
    if !battle.pins.is_empty() {
        let pinned: Vec<_> = battle.pins.iter().map(|pin| pin.square.to_string()).collect();
        let _ = writeln!(text, "pinned pieces on the board: {}", pinned.join(" "));
    }
    text.push('\n');
    let valued = |word: &ExchangeSteps| with_values(&word.array, |kind| battle.values.of(kind));
    text.push_str(&array(&valued(&battle.host), "attackers array"));
    if battle.board.array != battle.host.array {
        text.push_str(&array(&valued(&battle.board), "the board's, which differs"));
    }
    text.push('\n');
    text.push_str(&steps(battle));
    text.push('\n');
    text.push_str(&match &battle.followed {
        Some(followed) => follow::text(followed),
        None => "XCHNG's own steps can be observed on a simulated board only\n".to_owned(),
    });
    let residue = battle.host.residue();
    let xchng = battle.xchng;
    let _ =
        writeln!(text, "\n{owner} loses {residue} of {worth}; the board's XCHNG returns {xchng}");
    text
}

/// The position with the square in brackets, White below.
fn picture(position: &Position, target: Square) -> String {
    let mut text = String::new();
    for rank in (0..8).rev() {
        let _ = write!(text, "{} ", rank + 1);
        for square in (0..8).filter_map(|file| Square::new(file, rank)) {
            let letter = position.on(square).map_or('.', |piece| piece.letter());
            let (left, right) = if square == target { ('[', ']') } else { (' ', ' ') };
            let _ = write!(text, "{left}{letter}{right}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text + "   a  b  c  d  e  f  g  h\n"
}

/// Returns a table of bytes 1 to 14. The low half of a byte is the entry that is fetched first.
fn array(array: &AttackersArray, title: &str) -> String {
    let bytes = array.to_bytes();
    let half = |value: u8| if value == 0 { "-".to_owned() } else { value.to_string() };
    let rows = ["count", "pawns", "knights", "bishops", "rooks", "queen", "king"];
    let mut text = format!("{title:<28}White              Black\n");
    let _ = writeln!(text, "{:<24}byte high  low    byte high  low", "");
    for (index, row) in rows.iter().enumerate() {
        let _ = write!(text, "  {row:<22}");
        for place in [index, index + 7] {
            let number = place + 1;
            let byte = bytes[place];
            let (high, low) = match index {
                0 => (String::new(), byte.to_string()),
                _ => (half(byte >> 4), half(byte & 15)),
            };
            let _ = write!(text, "{number:>4} {high:>4} {low:>4}    ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// The steps of the host, and beside them those of the board.
fn steps(battle: &Explanation) -> String {
    let host = &battle.host.steps;
    let board = &battle.board.steps;
    if host.is_empty() && board.is_empty() {
        return "no attackers\n".to_owned();
    }
    let head = format!("{:>6}{:>9}{:>6}{:>8}", "stake", "attacker", "guard", "residue");
    let mut text = format!("{:<39}{:^29}{:^33}", "", "host", "board").trim_end().to_owned();
    let _ = writeln!(text, "\n{:<39}{head}  {head}", "");
    let takers = capturing_kinds(battle);
    for index in 0..host.len().max(board.len()) {
        let own = host.get(index);
        let other = board.get(index);
        let words = own.or(other).map(|step| action(battle, step, takers.get(index)));
        let line = format!(
            "{:<2} {:<36}{}  {}{}",
            index + 1,
            words.unwrap_or_default(),
            row(own),
            row(other),
            if own == other { "" } else { "  differ" }
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn row(step: Option<&StepRecord>) -> String {
    let Some(StepRecord { stake, attacker, defender, residue, .. }) = step else {
        return format!("{:29}", "");
    };
    let guard = if *defender == 0 { "-".to_owned() } else { defender.to_string() };
    format!("{stake:>6}{attacker:>9}{guard:>6}{:>8}", *residue as i8)
}

/// Returns the piece that would capture in each of the host's steps.
fn capturing_kinds(battle: &Explanation) -> Vec<PieceKind> {
    let owner = battle.piece.colour;
    let capturer_kinds = |colour| capturer_kinds(&battle.host.array, colour).into_iter();
    let mut own = capturer_kinds(owner.other());
    let mut others = capturer_kinds(owner);
    let (Some(mut taker), mut guard) = (own.next(), others.next()) else { return Vec::new() };
    let mut takers = Vec::new();
    for record in &battle.host.steps {
        takers.push(taker);
        match record.action & !step::DEFENDERS {
            step::TAKES => {
                taker = guard.unwrap_or(taker);
                std::mem::swap(&mut own, &mut others);
            }
            _ => taker = own.next().unwrap_or(taker),
        }
        guard = others.next();
    }
    takers
}

/// Describes the side and its action.
fn action(battle: &Explanation, record: &StepRecord, taker: Option<&PieceKind>) -> String {
    let by_owner = record.action & step::DEFENDERS != 0;
    let owner = battle.piece.colour;
    let who = side(if by_owner { owner } else { owner.other() });
    let taker = taker.map_or("piece", |taker| kind(*taker));
    let what = match record.action & !step::DEFENDERS {
        step::TAKES => "takes",
        step::TAKES_LAST => "takes, no recapture",
        step::NEEDS_HELP => "calls for help",
        step::HAS_NO_HELP => "has no help: stops",
        step::STOPS => "stops: cheaper guard",
        _ => "does an unknown action",
    };
    format!("{who}'s {taker} {what}")
}
