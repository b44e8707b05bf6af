//! Pages of 66 lines.

use std::fmt::Write;

/// Lines per page.
const LINES: usize = 66;
const ROWS: usize = 55;
/// Lines of the heading, with the empty lines around it.
const HEAD: usize = 8;
/// The column of the page number.
const NUMBER: usize = 64;
/// The significant characters of a module's name.
const NAME_LENGTH: usize = 6;
/// The name of modules without `.IDENT`.
const UNNAMED: &str = ".MAIN.";

/// The pages so far, and the heading of the next one.
#[derive(Default)]
pub(super) struct Pages {
    text: String,
    program: String,
    ident: String,
    pub(super) title: String,
    pub(super) subtitle: String,
    /// Whether the module's name precedes the title: not after `.XLINK`.
    pub(super) named: bool,
    number: usize,
    /// Rows on the current page. The heading comes with the first row, after a title before it.
    used: Option<usize>,
}

impl Pages {
    pub(super) fn new(program: &str, first: usize) -> Self {
        Self { program: program.to_owned(), named: true, number: first, ..Self::default() }
    }

    /// Begins a module. Its name is known from the first pass; titles are not.
    pub(super) fn begin_module(&mut self, ident: Option<&str>) {
        self.end();
        self.set_ident(ident.unwrap_or(UNNAMED));
        self.title.clear();
        self.subtitle.clear();
        self.named = true;
    }

    pub(super) fn set_ident(&mut self, ident: &str) {
        self.ident = ident.chars().take(NAME_LENGTH).collect();
    }

    pub(super) fn row(&mut self, row: &str) {
        if self.used.is_none() {
            self.head();
        }
        self.text.push_str(row);
        self.text.push_str("\r\n");
        self.used = self.used.map(|used| used + 1);
        if self.used == Some(ROWS) {
            self.end();
        }
    }

    /// Prints the error count below the rows. ZASM does not count it as a row of the page.
    pub(super) fn closing_line(&mut self, line: &str) {
        (0..3).for_each(|_| self.row(""));
        self.text.push_str(line);
        self.text.push_str("\r\n");
    }

    fn head(&mut self) {
        let blank = "\r\n";
        let number = self.number;
        let name = if self.named { format!("{:<6} - ", self.ident) } else { String::new() };
        // Writing to a string cannot fail.
        let _ =
            write!(self.text, "{blank}{blank}{blank}{:<NUMBER$}PAGE {number}\r\n", self.program);
        let _ = write!(self.text, "{name}{}\r\n{}\r\n{blank}{blank}", self.title, self.subtitle);
        self.number += 1;
        self.used = Some(0);
    }

    /// Ends the page, which has at least a heading.
    pub(super) fn new_page(&mut self) {
        if self.used.is_none() {
            self.head();
        }
        self.end();
    }

    pub(super) fn end(&mut self) {
        if let Some(used) = self.used.take() {
            (HEAD + used..LINES).for_each(|_| self.text.push_str("\r\n"));
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.end();
        self.text
    }
}
