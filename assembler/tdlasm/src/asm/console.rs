//! The operator's console: printed texts, prompts and replies.

use std::collections::HashSet;

use super::options::ConsoleReply;
use crate::syntax::lex;

#[derive(Debug)]
pub(super) struct Console<'a> {
    answers: &'a [ConsoleReply],
    /// The number of unnamed replies used so far.
    given: usize,
    /// The symbols whose prompts had no reply.
    unanswered: HashSet<String>,
    pub(super) messages: Vec<String>,
}

impl<'a> Console<'a> {
    pub(super) fn new(answers: &'a [ConsoleReply]) -> Self {
        Self { answers, given: 0, unanswered: HashSet::new(), messages: Vec::new() }
    }

    /// Reads the value of a symbol. Returns `None` if there is no reply.
    pub(super) fn ask_console(&mut self, name: &str, prompt: &str) -> Option<u16> {
        let reply = self.reply(name, prompt);
        if reply.is_none() {
            self.unanswered.insert(name.to_owned());
        }
        reply
    }

    /// Returns `true` if the prompt for a symbol had no reply.
    pub(super) fn lacks(&self, name: &str) -> bool {
        self.unanswered.contains(name)
    }

    fn reply(&mut self, name: &str, prompt: &str) -> Option<u16> {
        let mut unnamed_answers = self.answers.iter().filter(|answer| answer.name.is_none());
        let named = self
            .answers
            .iter()
            .find(|answer| answer.name.as_ref().is_some_and(|other| is_same(other, name)));
        let answer = match named {
            Some(answer) => answer,
            None => {
                self.given += 1;
                unnamed_answers.nth(self.given - 1)?
            }
        };
        let (value, shown) = typed(&answer.keys);
        self.messages.push(format!("{prompt}:{shown}"));
        Some(value)
    }
}

/// Returns `true` if a reply names a symbol, of which perhaps six characters are significant.
fn is_same(given: &str, symbol: &str) -> bool {
    let counts = if symbol.len() == 6 { given.get(..6).unwrap_or(given) } else { given };
    given.eq_ignore_ascii_case(symbol) || counts.eq_ignore_ascii_case(symbol)
}

/// Returns the number that keys enter, and the terminal output.
///
/// ZASM accepts digits and the letters of hexadecimal numbers and radix suffixes, and rings the
/// bell at any other key. A leading zero is not needed; a digit that is too large ends the number.
fn typed(keys: &str) -> (u16, String) {
    let mut taken = String::new();
    let mut shown = String::new();
    for key in keys.chars() {
        shown.push(key);
        if is_taken(key) {
            taken.push(key);
        } else {
            shown.push_str("\u{7}?");
        }
    }
    (number(&taken), shown)
}

fn is_taken(key: char) -> bool {
    matches!(key.to_ascii_uppercase(), '0'..='9' | 'A'..='F' | 'H' | 'O' | 'Q' | '.')
}

fn number(keys: &str) -> u16 {
    lex::number(format!("0{keys}").as_bytes(), 10).map_or(0, |(_, number)| number.value)
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn keys_that_are_not_part_of_a_number_ring_the_bell() {
        assert_eq!(typed("8+1"), (81, "8+\u{7}?1".into()));
        assert_eq!(typed("FH"), (15, "FH".into()));
        assert_eq!((typed("1A").0, typed("9Q").0, typed("").0), (1, 0, 0));
    }
}
