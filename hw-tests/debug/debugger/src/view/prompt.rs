//! The command line: editing, history, completion and pasted text.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent};
use tui_input::backend::crossterm::EventHandler;
use tui_input::{Input, InputRequest};

use super::Screen;
use crate::commands::completions;
use crate::{Debugger, render};

/// Maximum number of completions that the status row lists.
const MAX_LISTED: usize = 12;

/// A command line being typed.
pub(super) struct Prompt {
    /// `:` or `/`.
    sign: char,
    input: Input,
    /// How many lines of the history are after the one shown.
    back: usize,
}

impl Prompt {
    pub(super) fn new(sign: char, text: &str) -> Self {
        Self { sign, input: Input::new(text.to_owned()), back: 0 }
    }

    /// The text with a mark before which typed characters are inserted.
    pub(super) fn shown(&self) -> String {
        let (before, after) = self.input.value().split_at(self.cursor());
        render::printable(&format!("{}{before}_{after}", self.sign))
    }

    /// The offset of the cursor, in bytes.
    fn cursor(&self) -> usize {
        let mut offsets = self.input.value().char_indices().map(|(at, _)| at);
        offsets.nth(self.input.cursor()).unwrap_or(self.input.value().len())
    }

    fn insert(&mut self, text: &str) {
        for c in text.chars().map(|c| if c.is_control() { ' ' } else { c }) {
            self.input.handle(InputRequest::InsertChar(c));
        }
    }

    /// Completes the name before the cursor as far as all names agree; returns the names if there
    /// are several.
    fn complete(&mut self, debugger: &Debugger) -> Option<String> {
        let before = self.input.value()[..self.cursor()].to_owned();
        let (start, names) = completions(debugger, &before);
        let names: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
        let first = names.first()?.to_ascii_uppercase();
        let in_common = |name: &&str| {
            let both = name.bytes().zip(first.bytes());
            both.take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count()
        };
        let length = names.iter().map(in_common).min().unwrap_or(0);
        let completed = names[0].get(..length).unwrap_or_default().to_owned();
        for _ in before[start..].chars() {
            self.input.handle(InputRequest::DeletePrevChar);
        }
        self.insert(&completed);
        (names.len() > 1).then(|| names[..names.len().min(MAX_LISTED)].join(" "))
    }
}

impl Screen {
    /// Handles a key while a command line is typed.
    pub(super) fn type_into(
        &mut self,
        debugger: &Debugger,
        mut prompt: Prompt,
        key: KeyEvent,
    ) -> Option<String> {
        let is_empty = prompt.input.value().is_empty();
        match key.code {
            KeyCode::Esc => return None,
            KeyCode::Backspace if is_empty => return None,
            KeyCode::Enter => {
                let sign = if prompt.sign == '/' { "/" } else { "" };
                let line = format!("{sign}{}", prompt.input.value());
                if self.history.last() != Some(&line) {
                    self.history.push(line.clone());
                }
                return Some(line);
            }
            KeyCode::Up => self.recall(&mut prompt, 1),
            KeyCode::Down => self.recall(&mut prompt, -1),
            KeyCode::Tab => self.status = prompt.complete(debugger).unwrap_or_default(),
            _ => _ = prompt.input.handle_event(&Event::Key(key)),
        }
        self.prompt = Some(prompt);
        None
    }

    /// Shows an earlier or later line of the history.
    fn recall(&self, prompt: &mut Prompt, back: isize) {
        let wanted = prompt.back.saturating_add_signed(back).min(self.history.len());
        let line =
            wanted.checked_sub(1).map(|at| self.history[self.history.len() - 1 - at].clone());
        *prompt = Prompt { back: wanted, ..Prompt::new(':', &line.unwrap_or_default()) };
    }

    /// Inserts pasted text into the command line: its characters are no keys.
    pub fn paste(&mut self, text: &str) {
        self.prompt.get_or_insert_with(|| Prompt::new(':', "")).insert(text.trim_end());
    }
}
