//! Generates long programs from a seed together with their bytes.
//!
//! It is written from the manual alone and shares no code with the assembler: `expression`
//! evaluates what it writes, and each statement knows its bytes.

mod data;
mod expression;
pub(crate) mod random;
mod statement;

use random::Random;

/// A program and its expected results.
pub(crate) struct Generated {
    pub(crate) source: String,
    /// From address 0 on; reserved bytes are 0.
    pub(crate) image: Vec<u8>,
    /// Each label's value.
    pub(crate) labels: Vec<(String, u16)>,
    /// The address at which each line of the source begins.
    pub(crate) lines: Vec<usize>,
}

/// The bound of the code, so that addresses stay below 64 KiB.
const LIMIT: usize = 0xF800;

/// A program of this many lines; the same for the same seed.
pub(crate) fn program(seed: u64, lines: usize) -> Generated {
    let mut program = Program::new(seed);
    program.line(" .LOC 0");
    program.line("J = 0");
    for text in statement::MACROS.lines() {
        program.line(text);
    }
    program.code(" NOP", &[0]);
    while program.lines.len() < lines - 20 {
        program.statement();
    }
    program.finish()
}

/// A field that waits for a label.
struct Fixup {
    at: usize,
    label: usize,
    addend: u16,
}

/// The program so far.
struct Program {
    random: Random,
    source: String,
    image: Vec<u8>,
    lines: Vec<usize>,
    /// Names, with values as soon as they are defined.
    labels: Vec<(String, Option<u16>)>,
    /// Labels that are used but not defined yet.
    pending: Vec<usize>,
    fixups: Vec<Fixup>,
    /// The value of the symbol `J`.
    counter: u16,
}

impl Program {
    fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            source: String::new(),
            image: Vec::new(),
            lines: Vec::new(),
            labels: Vec::new(),
            pending: Vec::new(),
            fixups: Vec::new(),
            counter: 0,
        }
    }

    fn line(&mut self, text: &str) {
        self.lines.push(self.image.len());
        self.source.push_str(text);
        self.source.push_str(self.random.pick(&["\n", "\n", "\n", " \n", "\t; TEXT ' \" ; 5\n"]));
    }

    fn code(&mut self, text: &str, bytes: &[u8]) {
        self.line(text);
        self.image.extend(bytes);
    }

    fn is_full(&self) -> bool {
        self.image.len() > LIMIT
    }

    /// A new label of six characters.
    fn new_label(&mut self) -> usize {
        let first = self.random.pick(&["L", "$", "%", ".", "Z"]);
        self.labels.push((format!("{first}{:05}", self.labels.len()), None));
        self.labels.len() - 1
    }

    /// Defines a label here; returns its text.
    fn define(&mut self, label: usize) -> String {
        let (name, value) = &mut self.labels[label];
        *value = Some(self.image.len() as u16);
        format!("{name}:")
    }

    /// An address as an operand: its text, and the value if it is known already. The fixup is for
    /// the two bytes of the image after the next `skip`.
    fn address(&mut self, skip: usize) -> (String, u16) {
        let addend = self.random.below(300) as u16;
        let at = self.image.len() + skip;
        let label = match self.random.below(3) {
            0 => return self.number_word(),
            1 if !self.labels.is_empty() => self.random.below(self.labels.len()),
            _ => {
                let label = self.new_label();
                self.pending.push(label);
                label
            }
        };
        self.fixups.push(Fixup { at, label, addend });
        (format!("{}+{addend}", self.labels[label].0), 0)
    }

    fn finish(mut self) -> Generated {
        for label in std::mem::take(&mut self.pending) {
            let text = self.define(label);
            self.line(&text);
        }
        self.code(" HLT", &[0x76]);
        self.line(" .END");
        let known = |(name, value): (String, Option<u16>)| (name, value.expect("all are defined"));
        let labels: Vec<_> = self.labels.into_iter().map(known).collect();
        for fixup in self.fixups {
            let value = labels[fixup.label].1.wrapping_add(fixup.addend);
            self.image[fixup.at..fixup.at + 2].copy_from_slice(&value.to_le_bytes());
        }
        Generated { source: self.source, image: self.image, labels, lines: self.lines }
    }
}
