//! The keystrokes of a typist in a program: at its beginning, in its middle and at its end.

use std::ops::Range;

/// A keystroke: the range that it replaces, and the new text.
pub(crate) struct Stroke {
    pub(crate) range: Range<usize>,
    pub(crate) new: &'static str,
}

/// A simulated typist, with the text as changed so far.
struct Typist {
    text: String,
    strokes: Vec<Stroke>,
}

impl Typist {
    fn replace(&mut self, range: Range<usize>, new: &'static str) {
        self.text.replace_range(range.clone(), new);
        self.strokes.push(Stroke { range, new });
    }

    /// Types letter by letter, then deletes letter by letter.
    fn type_and_take_back(&mut self, at: usize, new: &'static str) {
        for letter in 0..new.len() {
            self.replace(at + letter..at + letter, &new[letter..letter + 1]);
        }
        for letter in (0..new.len()).rev() {
            self.replace(at + letter..at + letter + 1, "");
        }
    }

    /// The first place of a text from an offset on.
    fn find(&self, what: &str, from: usize) -> Option<usize> {
        self.text[from..].find(what).map(|at| from + at)
    }

    fn at_place(&mut self, from: usize) {
        let line = self.find("\n\tINX H\n", from).expect("a line of the program");
        // A comment, an operand, a new line.
        self.type_and_take_back(line + "\n\tINX H".len(), "\t; on");
        self.type_and_take_back(line, "\n\tMVI A,12");
        if let Some(label) = self.find("\nL", from) {
            // The last digit of a label is deleted and typed again, and so is a digit of an
            // operand.
            let digit = label + "\nL0000".len();
            let was: &'static str = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
                [usize::from(self.text.as_bytes()[digit] - b'0')];
            self.replace(digit..digit + 1, "");
            self.replace(digit..digit, was);
        }
        // A whole line is deleted and typed again.
        self.replace(line + 1..line + "\n\tINX H\n".len(), "");
        self.replace(line + 1..line + 1, "\tINX H\n");
    }

    fn in_macro(&mut self) {
        if let Some(body) = self.find("\n\tMVI A,WHAT", 0) {
            self.type_and_take_back(body + "\n\tMVI A,WHAT".len(), "+1");
            self.type_and_take_back(body, "\n\tSTC");
        }
    }
}

/// Keystrokes that leave the text unchanged in the end.
pub(crate) fn strokes(text: &str) -> Vec<Stroke> {
    let mut typist = Typist { text: text.to_owned(), strokes: Vec::new() };
    let middle = (0..text.len() / 2).rev().find(|at| text.as_bytes()[*at] == b'\n').unwrap_or(0);
    let end = text[..text.len() - 500].rfind('\n').unwrap_or(0);
    for place in [0, middle, end] {
        typist.at_place(place);
    }
    typist.in_macro();
    typist.strokes
}
