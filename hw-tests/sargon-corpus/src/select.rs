//! Choosing cases: by name, by tag, by shard, and in which order.

use std::fmt;
use std::str::FromStr;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use super::Case;

/// Which cases, and in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Names, whole or with `*` for any text and `?` for any character; every case when there are
    /// none.
    pub names: Vec<String>,
    /// Tags, of which a case must have one; any will do when there are none.
    pub tags: Vec<String>,
    /// Texts: a tag, or a part of the name.
    pub texts: Vec<String>,
    /// A part of what is left.
    pub shard: Option<Shard>,
    /// Chooses an order; without, it is the corpus's.
    pub seed: Option<u64>,
}

/// One of some parts of equal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 1.
    part: usize,
    /// The number of shards.
    of: usize,
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
            .ok_or_else(|| format!("'{text}' is no shard; the second of five is 2/5"))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl Selection {
    /// The cases that are meant. Each case is in exactly one shard of a selection.
    #[must_use]
    pub fn of(&self, mut cases: Vec<Case>) -> Vec<Case> {
        cases.retain(|case| self.wants(case));
        if let Some(Shard { part, of }) = self.shard {
            let places = cases.into_iter().enumerate();
            cases = places.filter(|(at, _)| at % of == part - 1).map(|(_, case)| case).collect();
        }
        if let Some(seed) = self.seed {
            shuffle(&mut cases, seed);
        }
        cases
    }

    fn wants(&self, case: &Case) -> bool {
        let named = |pattern: &String| matches(pattern, &case.id);
        let told = |text: &String| case.tags.contains(text) || case.id.contains(text);
        let any = |wanted: &[String], is_met: &dyn Fn(&String) -> bool| {
            wanted.is_empty() || wanted.iter().any(is_met)
        };
        any(&self.names, &named)
            && any(&self.tags, &|tag| case.tags.contains(tag))
            && any(&self.texts, &told)
    }
}

/// Puts cases into an order that the seed alone decides.
pub fn shuffle(cases: &mut [Case], seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for last in (1..cases.len()).rev() {
        let chosen = random.next_u64() % (last as u64 + 1);
        cases.swap(last, chosen as usize);
    }
}

/// Whether a text is as a pattern says in which `*` is any text and `?` any character.
fn matches(pattern: &str, text: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => text.is_empty(),
        Some('*') => {
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.map(|at| &text[at..]).any(|behind| matches(rest.as_str(), behind))
        }
        Some(wanted) => {
            let mut there = text.chars();
            let is_met = there.next().is_some_and(|found| wanted == '?' || wanted == found);
            is_met && matches(rest.as_str(), there.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;

    fn ids(selection: &Selection) -> Vec<String> {
        let cases = shipped().expect("it ships");
        selection.of(cases).into_iter().map(|case| case.id).collect()
    }

    #[test]
    fn names_globs_and_tags_choose() {
        let named = |names: &[&str]| Selection {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            ..Selection::default()
        };
        assert_eq!(ids(&named(&["byte.figure1"])), ["byte.figure1"]);
        assert_eq!(ids(&named(&["figure1"])), [""; 0]);
        assert_eq!(ids(&named(&["*.figure1", "odd.fu?l"])), ["byte.figure1", "odd.full"]);
        let tagged = Selection { tags: vec!["document".to_owned()], ..Selection::default() };
        assert_eq!(ids(&tagged).len(), 6);
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
