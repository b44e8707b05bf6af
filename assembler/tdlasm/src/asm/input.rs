//! The input stack: open files and macro texts, and open conditional blocks.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::source::{Loader, Origin, Source, SourceMap, cut_at_end, is_plain, plain_text};

/// The kind of text that a frame reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    File,
    /// A file named by `.INSERT`.
    Insert,
    Macro,
}

/// The file and line of a statement; in macro text, those of the end of the outermost call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StatementPlace {
    /// The index of the file in the source map.
    pub(crate) source: u32,
    /// The number of lines before it.
    pub(crate) lines: u32,
}

impl StatementPlace {
    /// Returns the file and the line, from 1.
    pub(crate) fn file_line(self, sources: &SourceMap) -> (&Source, u32) {
        (sources.get(self.source as usize), self.lines + 1)
    }
}

/// A macro call in PASM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MacroCall {
    /// The index of its text in the source map.
    pub(crate) source: u32,
    /// The number of parameters, which is the value of `&`.
    pub(crate) parameter_count: u16,
    /// The number of its temporaries: the operand of `.TEMPS`.
    pub(crate) temporaries: u16,
}

/// A text that is being read.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    /// The index of the text in the source map.
    pub(crate) source: usize,
    pub(crate) text: Arc<Vec<u8>>,
    /// The offset of the text in the source map.
    pub(crate) base: u32,
    /// The offset in the text of the next byte to read.
    pub(crate) pos: usize,
    /// The number of line ends before that byte.
    pub(crate) lines: u32,
    /// For a macro text, the position of the outermost call.
    pub(crate) call: Option<StatementPlace>,
    /// The number of blocks that were open when this text was entered.
    blocks: usize,
    /// In Zilog's notation, the scope of locals outside of the macro.
    pub(crate) outer_scope: Option<u32>,
    /// In PASM, the macro call.
    pub(crate) macro_call: Option<MacroCall>,
    /// The offset in the text at which the rest of the calling line begins.
    pub(crate) resume_at: usize,
    /// Whether a `]` follows the macro call, which may close a block outside of the macro.
    pub(crate) bracket_follows_call: bool,
}

impl Frame {
    pub(crate) fn new(kind: FrameKind, sources: &SourceMap, index: usize) -> Self {
        let Source { text, base, .. } = sources.get(index);
        Self {
            kind,
            source: index,
            text: Arc::clone(text),
            base: *base,
            pos: 0,
            lines: 0,
            call: None,
            blocks: 0,
            outer_scope: None,
            macro_call: None,
            resume_at: text.len(),
            bracket_follows_call: false,
        }
    }

    /// Returns `true` if only brackets follow in the macro text, and nothing follows the call.
    fn is_exit_last(&self) -> bool {
        let left = &self.text[self.pos.min(self.resume_at)..self.resume_at];
        let behind = self.text[self.resume_at..].trim_ascii();
        let nothing = left.iter().all(|byte| matches!(byte, b']' | b' ' | b'\t'));
        nothing && (behind.is_empty() || behind[0] == b';')
    }
}

/// The text of a file, and what was removed from it.
pub(crate) type Loaded = (Arc<Vec<u8>>, Option<String>);

/// A change to the input stack, requested by a statement.
#[derive(Debug)]
pub(crate) enum InputChange {
    Into(Frame),
    ExitMacro,
    /// Continue at this offset of the innermost macro text.
    Goto(usize),
    End,
}

/// The texts being read, and the conditional blocks open in them.
#[derive(Default)]
pub(crate) struct InputStack {
    /// The texts of the files read so far. A pipe can be read only once.
    pub(crate) loaded: HashMap<PathBuf, Loaded>,
    /// The files of the current pass whose removed parts were returned.
    noted: HashSet<PathBuf>,
    /// The open texts, innermost last.
    frames: Vec<Frame>,
    macro_depth: usize,
    /// The total size of the open macro texts.
    pub(crate) open_text: usize,
    /// The offsets of the brackets that open the conditional blocks being assembled.
    blocks: Vec<u32>,
    pub(crate) pending_change: Option<InputChange>,
    /// Whether macro text was inserted into the operands of the current statement.
    pub(crate) has_macro_text: bool,
    /// Whether macro text was inserted into the operands of the next statement.
    pub(crate) next_has_macro_text: bool,
    /// Whether the previous statement was an `.EXIT` that left a macro.
    pub(crate) left_macro_by_exit: bool,
    pub(crate) macro_calls: usize,
    /// Whether `.END` was read, or the file cannot be read.
    pub(crate) ended: bool,
    /// The total size of all macro texts so far.
    pub(crate) macro_text: usize,
}

impl InputStack {
    pub(crate) fn restart(&mut self) {
        *self = Self { loaded: std::mem::take(&mut self.loaded), ..Self::default() };
    }

    pub(crate) fn push(&mut self, frame: Frame) {
        if frame.kind == FrameKind::Macro {
            self.macro_depth += 1;
            self.open_text += frame.text.len();
        }
        self.frames.push(frame);
    }

    pub(crate) fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        if frame.kind == FrameKind::Macro {
            self.macro_depth -= 1;
            self.open_text -= frame.text.len();
        }
        Some(frame)
    }

    pub(crate) fn top(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// Returns the open sources, innermost first.
    fn open_sources(&self) -> impl Iterator<Item = usize> {
        self.frames.iter().rev().map(|frame| frame.source)
    }

    pub(crate) fn is_open(&self, sources: &SourceMap, name: &str) -> bool {
        self.open_sources().any(|open| *sources.get(open).name == *name)
    }

    pub(crate) fn macro_depth(&self) -> usize {
        self.macro_depth
    }

    /// Returns the numbers of open texts and blocks.
    pub(crate) fn nesting(&self) -> (usize, usize) {
        (self.frames.len(), self.blocks.len())
    }

    pub(crate) fn insert_depth(&self) -> usize {
        self.frames.iter().filter(|frame| frame.kind == FrameKind::Insert).count()
    }

    /// Leaves the innermost macro text, and all texts and blocks opened in it. The rest of the
    /// calling line is read next. If the text ends with the `.EXIT`, ZASM also skips the line end,
    /// so that the next line continues the statement.
    fn exit_macro(&mut self) {
        self.left_macro_by_exit = true;
        while let Some(mut frame) = self.pop() {
            if frame.kind == FrameKind::Macro {
                if frame.resume_at < frame.text.len() && frame.is_exit_last() {
                    return;
                }
                self.blocks.truncate(frame.blocks);
                if frame.resume_at < frame.text.len() {
                    frame.pos = frame.resume_at;
                    self.push(frame);
                }
                return;
            }
        }
    }

    /// Returns the innermost macro text.
    pub(crate) fn macro_text_read(&self) -> Option<&Arc<Vec<u8>>> {
        let frame = self.frames.iter().rev().find(|frame| frame.kind == FrameKind::Macro);
        frame.map(|frame| &frame.text)
    }

    fn continue_macro_at(&mut self, pos: usize) {
        while self.frames.last().is_some_and(|frame| frame.kind != FrameKind::Macro) {
            self.pop();
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.pos = pos;
            self.blocks.truncate(frame.blocks);
        }
    }

    fn exit_file(&mut self) {
        while self.pop().is_some_and(|frame| frame.kind != FrameKind::File) {}
        self.blocks.clear();
    }

    pub(crate) fn apply_change(&mut self) {
        match self.pending_change.take() {
            Some(InputChange::Into(mut frame)) => {
                frame.blocks = self.blocks.len();
                self.push(frame);
            }
            Some(InputChange::ExitMacro) => self.exit_macro(),
            Some(InputChange::Goto(pos)) => self.continue_macro_at(pos),
            Some(InputChange::End) => self.exit_file(),
            None => {}
        }
    }

    /// Returns `true` if a `]` closes a block here. ZASM accepts one anywhere from the second macro
    /// call on, but before that only while a block is open.
    pub(crate) fn in_block(&self) -> bool {
        self.macro_calls > 1 || !self.blocks.is_empty()
    }

    /// Returns `true` in a block or macro text, where unquoted arguments and texts end at `]`.
    pub(crate) fn is_enclosed(&self) -> bool {
        !self.blocks.is_empty() || self.macro_depth > 0
    }

    /// Returns `true` if a `]` accepted here has no block to close.
    pub(crate) fn closes_nothing(&self) -> bool {
        self.blocks.len() <= self.outside_blocks()
    }

    /// Returns the number of open blocks that a `]` in the innermost text cannot close: none in the
    /// text of the first macro call, whose argument may have the bracket of a block.
    fn outside_blocks(&self) -> usize {
        if self.macro_calls <= 1 {
            return 0;
        }
        let text = self.frames.last();
        let text =
            text.filter(|frame| frame.kind == FrameKind::Macro && !frame.bracket_follows_call);
        text.map_or(0, |frame| frame.blocks)
    }

    pub(crate) fn reset_blocks(&mut self) {
        self.blocks.clear();
        self.macro_calls = 0;
        self.frames.iter_mut().for_each(|frame| frame.blocks = 0);
    }

    /// Enters a block after its bracket at offset `at`.
    pub(crate) fn open_block(&mut self, at: u32) {
        self.blocks.push(at);
    }

    /// Returns the offset of the bracket that opened the innermost block.
    pub(crate) fn innermost_block(&self) -> Option<u32> {
        self.blocks.last().copied()
    }

    /// Leaves the blocks that were opened in the innermost text.
    pub(crate) fn leave_blocks(&mut self) {
        self.blocks.truncate(self.frames.last().map_or(0, |frame| frame.blocks));
    }

    pub(crate) fn close_block(&mut self) {
        let left = self.blocks.len().saturating_sub(1).max(self.outside_blocks());
        self.blocks.truncate(left);
    }

    /// Reads a file, unless it was read before. The first time in a pass, also returns what was
    /// removed from its text.
    pub(crate) fn load(&mut self, loader: &dyn Loader, path: &Path) -> io::Result<Loaded> {
        if !self.loaded.contains_key(path) {
            let mut text = loader.load(path)?;
            let mut removed = None;
            if !is_plain(&text) {
                let (plain, found) = plain_text(&text);
                (text, removed) = (plain.into_owned(), found);
                cut_at_end(&mut text);
            }
            self.loaded.insert(path.to_owned(), (Arc::new(text), removed));
        }
        let (text, removed) = &self.loaded[path];
        let removed = removed.clone().filter(|_| self.noted.insert(path.to_owned()));
        Ok((Arc::clone(text), removed))
    }

    /// Returns the folder of the file that is read, perhaps by macro texts.
    pub(crate) fn folder<'s>(&self, sources: &'s SourceMap) -> Option<&'s Path> {
        let mut open = self.open_sources().map(|open| sources.get(open));
        let file = open.find(|open| !matches!(open.origin, Origin::Macro(_)))?;
        Path::new(&*file.name).parent()
    }
}
