//! Selection of cases by name, tag and shard, and their order.

use std::fmt;
use std::str::FromStr;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use crate::suite::Suite;

/// A selection of cases, and their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Patterns, as of [`NamePatterns`]; all cases if empty.
    pub names: Vec<String>,
    /// Tags, of which a case must have one; all cases if empty.
    pub tags: Vec<String>,
    /// The part of the selected cases to use.
    pub shard: Option<Shard>,
    /// Seed of a random order; the given order without.
    pub seed: Option<u64>,
}

/// One of several parts of equal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// The index, from 1.
    pub(crate) part: usize,
    /// The number of shards.
    pub(crate) of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(part, of)| Some(Self { part: part.parse().ok()?, of: of.parse().ok()? }));
        let is_good = |shard: &Self| (1..=shard.of).contains(&shard.part);
        numbers
            .filter(is_good)
            .ok_or_else(|| format!("invalid shard '{text}': expected PART/PARTS, such as 2/5"))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl Selection {
    /// Returns the selected cases. Each case is in exactly one shard of a selection.
    pub fn of<S: Suite>(&self, mut cases: Vec<S::Case>) -> Vec<S::Case> {
        let names = NamePatterns::new(&self.names, cases.iter().map(S::id));
        let has_tag = |tags: &[String]| tags.iter().any(|tag| self.tags.contains(tag));
        cases.retain(|case| {
            names.includes(S::id(case)) && (self.tags.is_empty() || has_tag(S::tags(case)))
        });
        if let Some(Shard { part, of }) = self.shard {
            cases = cases.into_iter().skip(part - 1).step_by(of).collect();
        }
        if let Some(seed) = self.seed {
            shuffle(&mut cases, seed);
        }
        cases
    }
}

/// Patterns of names, each with whether it is a glob.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamePatterns(Vec<(String, bool)>);

impl NamePatterns {
    /// Creates patterns from texts: a name of `names` matches itself only, and any other text is a
    /// glob, in which `*` matches any text and `?` any character.
    pub fn new(patterns: &[String], names: impl Iterator<Item = impl AsRef<str>>) -> Self {
        let pattern = |text: &String| (text.clone(), text.contains(['*', '?']));
        let mut patterns: Vec<_> = patterns.iter().map(pattern).collect();
        for name in names {
            patterns.iter_mut().for_each(|(text, is_glob)| *is_glob &= text != name.as_ref());
        }
        Self(patterns)
    }

    /// Returns `true` if a name matches a pattern, or there are none.
    pub fn includes(&self, name: &str) -> bool {
        let matches = |(text, is_glob): &(String, bool)| match is_glob {
            true => matches_glob(text, name),
            false => text == name,
        };
        self.0.is_empty() || self.0.iter().any(matches)
    }
}

/// Shuffles cases; the seed alone determines the order.
pub fn shuffle<T>(cases: &mut [T], seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for last in (1..cases.len()).rev() {
        let chosen = random.next_u64() % (last as u64 + 1);
        cases.swap(last, chosen as usize);
    }
}

/// Returns `true` if a text matches a glob with `*` and `?`.
fn matches_glob(pattern: &str, text: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => text.is_empty(),
        Some('*') => {
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.map(|at| &text[at..]).any(|behind| matches_glob(rest.as_str(), behind))
        }
        Some(wanted) => {
            let mut there = text.chars();
            let is_met = there.next().is_some_and(|found| wanted == '?' || wanted == found);
            is_met && matches_glob(rest.as_str(), there.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_suite::{TestCase, TestSuite, case};

    fn ids(selection: &Selection) -> Vec<String> {
        let numbered = (0..100).map(|number| case(&format!("mul.{number}")));
        let tagged = |id| TestCase { tags: vec!["odd".to_owned()], ..case(id) };
        let cases: Vec<_> = numbered.chain(["div.1", "div.21"].map(tagged)).collect();
        selection.of::<TestSuite>(cases).into_iter().map(|case| case.id).collect()
    }

    #[test]
    fn names_globs_and_tags_choose() {
        let named = |names: &[&str]| Selection {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            ..Selection::default()
        };
        assert_eq!(ids(&named(&["mul.1"])), ["mul.1"]);
        assert_eq!(ids(&named(&["1"])), [""; 0]);
        assert_eq!(ids(&named(&["*.1", "d?v.2*"])), ["mul.1", "div.1", "div.21"]);
        let tagged = Selection { tags: vec!["odd".to_owned()], ..Selection::default() };
        assert_eq!(ids(&tagged).len(), 2);
    }

    #[test]
    fn the_name_of_a_case_selects_this_case_only_whatever_characters_it_has() {
        let included = |pattern: &str, names: [&str; 3]| {
            let patterns = NamePatterns::new(&[pattern.to_owned()], names.into_iter());
            names.into_iter().filter(|name| patterns.includes(name)).count()
        };
        assert_eq!(included("a*b", ["a*b", "axb", "ab"]), 1);
        assert_eq!(included("what?", ["what?", "whats", "what"]), 1);
        assert_eq!(included("a*b", ["a*bc", "axb", "ab"]), 2);
        assert_eq!(included("[b", ["[b", "b", "[bc"]), 1);
    }

    #[test]
    fn shards_share_out_every_case_once() {
        let all = ids(&Selection::default());
        let shard = |part| Some(Shard { part, of: 5 });
        let mut parts: Vec<_> = (1..=5)
            .flat_map(|part| ids(&Selection { shard: shard(part), ..Selection::default() }))
            .collect();
        let mut sorted = all.clone();
        sorted.sort();
        parts.sort();
        assert_eq!(parts, sorted);
        for wrong in ["0/5", "6/5", "2", "a/b", "1/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_seed_decides_the_order_and_nothing_else() {
        let seeded = |seed| ids(&Selection { seed: Some(seed), ..Selection::default() });
        assert_eq!(seeded(7), seeded(7));
        assert_ne!(seeded(7), seeded(8));
        let mut one = seeded(7);
        let mut all = ids(&Selection::default());
        one.sort();
        all.sort();
        assert_eq!(one, all);
    }
}
