//! The rules in which Sargon and a modern evaluator differ, and sets of them.

use serde::Serialize;

/// A rule in which Sargon and a modern evaluator differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// XCHNG weighs one attacker against one defender; minimax searches the whole exchange.
    Stop,
    /// Sargon excludes pinned pieces; the swap algorithm ignores pins.
    Pin,
    /// Sargon does not find pieces behind one of the other colour.
    XRay,
    /// Sargon's king captures by its value of 10, even if a pinned piece or one behind it guards; a
    /// modern evaluator's only an unguarded piece.
    King,
    /// Sargon's pawn does not promote; a modern one that captures on the last rank does.
    Promotion,
    /// Sargon captures in the order of the array, which has room for an army without promoted
    /// pieces; a modern evaluator always sends the least valuable piece.
    Filing,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 6] =
        [Self::Stop, Self::Pin, Self::XRay, Self::King, Self::Promotion, Self::Filing];

    /// Returns the rule's display name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop rule",
            Self::Pin => "pin",
            Self::XRay => "x-ray",
            Self::King => "king",
            Self::Promotion => "promotion",
            Self::Filing => "filing",
        }
    }
}

/// A set of modern rules; the others are Sargon's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules(u8);

impl Rules {
    /// All rules of Sargon.
    pub const SARGON: Self = Self(0);
    /// All rules of a modern evaluator.
    pub const MODERN: Self = Self((1 << Rule::ALL.len()) - 1);

    /// Returns every set, those with fewer modern rules first.
    pub fn all() -> impl Iterator<Item = Self> {
        let mut all: Vec<_> = (0..=Self::MODERN.0).map(Self).collect();
        all.sort_by_key(|rules| rules.0.count_ones());
        all.into_iter()
    }

    /// Returns the modern rules of the set.
    #[must_use]
    pub fn modern_rules(self) -> Vec<Rule> {
        Rule::ALL.into_iter().filter(|rule| self.is_modern(*rule)).collect()
    }

    /// Returns the set with one more modern rule.
    #[must_use]
    pub fn with(self, rule: Rule) -> Self {
        Self(self.0 | 1 << rule as u8)
    }

    /// Returns `true` if a rule is modern.
    #[must_use]
    pub fn is_modern(self, rule: Rule) -> bool {
        self.0 & (1 << rule as u8) != 0
    }
}
