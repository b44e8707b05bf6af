//! The variants of the searcher.

use std::fmt;

use chess_rules::see::SeeDefinition;

/// The order of captures, and where losing ones are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureOrder {
    /// As generated; all before quiet moves.
    Generated,
    /// The most valuable victim first, then the least valuable attacker; all before quiet moves.
    MvvLva,
    /// The same, but captures whose exchange value is below 0 come last.
    Threshold,
    /// By exchange value; captures below 0 come last.
    Exchange(SeeDefinition),
    /// By Sargon's residue of the square after the move; captures below 0 come last.
    Sargon,
}

/// The evaluation of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafRule {
    /// A search of captures and promotions to a queen.
    Quiescence,
    /// Material and squares alone.
    Static,
    /// Sargon's residues as the article uses them: the loss, 3/4 of the second prize.
    Article,
    /// The same, and a bonus for each further battle won.
    Bonus,
    /// Sargon's residues as the original program uses them.
    Original,
}

/// A variant of the searcher. Its name lists its parts, joined by `+`, the order of captures first:
/// `generated`, `mvv-lva`, `threshold`, `swap`, `swap-promo`, `swap-pins`, `legal` or `xchng`.
///
/// | part | effect |
/// |---|---|
/// | `drop` | losing captures are left out of the quiescence search |
/// | `killers`, `history` | order quiet moves by earlier cutoffs |
/// | `quiets` | late quiet moves are searched less deeply |
/// | `captures`, `checks` | the same for captures, and quiet checks, that lose by exchange value |
/// | `static`, `article`, `bonus`, `original` | replace the quiescence search ([`LeafRule`]) |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Player {
    name: String,
    /// The order of captures.
    pub order: CaptureOrder,
    /// The evaluation of leaves.
    pub leaf: LeafRule,
    /// Leaves losing captures out of the quiescence search.
    pub drops_losing: bool,
    /// Tries the quiet moves first that refuted others at the same ply.
    pub killers: bool,
    /// Orders quiet moves by how often and how deep they refuted others.
    pub history: bool,
    /// Reduces late quiet moves.
    pub reduces_quiets: bool,
    /// Reduces late losing captures.
    pub reduces_captures: bool,
    /// Reduces late quiet checks on guarded squares.
    pub reduces_checks: bool,
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl std::str::FromStr for Player {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut parts = name.split('+');
        let order = match parts.next().unwrap_or_default() {
            "generated" => CaptureOrder::Generated,
            "mvv-lva" => CaptureOrder::MvvLva,
            "threshold" => CaptureOrder::Threshold,
            "xchng" => CaptureOrder::Sargon,
            other => CaptureOrder::Exchange(
                other.replace('-', "_").parse().map_err(|_| format!("unknown order '{other}'"))?,
            ),
        };
        let mut player = Self {
            name: name.to_owned(),
            order,
            leaf: LeafRule::Quiescence,
            drops_losing: false,
            killers: false,
            history: false,
            reduces_quiets: false,
            reduces_captures: false,
            reduces_checks: false,
        };
        parts.try_for_each(|part| player.add(part))?;
        Ok(player)
    }
}

impl Player {
    fn add(&mut self, part: &str) -> Result<(), String> {
        match part {
            "drop" => self.drops_losing = true,
            "killers" => self.killers = true,
            "history" => self.history = true,
            "quiets" => self.reduces_quiets = true,
            "captures" => self.reduces_captures = true,
            "checks" => self.reduces_checks = true,
            "static" => self.leaf = LeafRule::Static,
            "article" => self.leaf = LeafRule::Article,
            "bonus" => self.leaf = LeafRule::Bonus,
            "original" => self.leaf = LeafRule::Original,
            other => return Err(format!("unknown part '{other}' of '{}'", self.name)),
        }
        Ok(())
    }
}
