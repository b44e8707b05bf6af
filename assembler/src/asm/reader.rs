//! What is read next: the files, inserted files, macro texts and conditional blocks that are open.

use std::rc::Rc;

/// What kind of text a frame reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// A file of the run.
    File,
    /// A file named by `.INSERT`.
    Insert,
    /// The text of a macro call.
    Macro,
    /// The chosen part of a conditional, within the text of the frame below.
    Block,
}

/// A stretch of a text that is being read.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    /// The index of the text in the source map.
    pub(crate) source: usize,
    pub(crate) text: Rc<Vec<u8>>,
    /// The text's first offset in the source map.
    pub(crate) base: u32,
    /// The stretch that is yet to read, in the text.
    pub(crate) pos: usize,
    pub(crate) end: usize,
}

/// How a statement changes what is read next.
#[derive(Debug)]
pub(crate) enum Jump {
    /// Reads this first.
    Into(Frame),
    /// Leaves the macro text.
    ExitMacro,
    /// Leaves the file, if another follows, or everything.
    End,
}

/// The texts that are open, the innermost last.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    frames: Vec<Frame>,
    macro_depth: usize,
    insert_depth: usize,
}

impl Reader {
    pub(crate) fn push(&mut self, frame: Frame) {
        self.macro_depth += usize::from(frame.kind == FrameKind::Macro);
        self.insert_depth += usize::from(frame.kind == FrameKind::Insert);
        self.frames.push(frame);
    }

    pub(crate) fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.macro_depth -= usize::from(frame.kind == FrameKind::Macro);
        self.insert_depth -= usize::from(frame.kind == FrameKind::Insert);
        Some(frame)
    }

    pub(crate) fn top(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// The sources that are open, the innermost first.
    pub(crate) fn open_sources(&self) -> impl Iterator<Item = usize> {
        self.frames.iter().rev().map(|frame| frame.source)
    }

    /// How many macro texts are open.
    pub(crate) fn macro_depth(&self) -> usize {
        self.macro_depth
    }

    /// How many inserted files are open.
    pub(crate) fn insert_depth(&self) -> usize {
        self.insert_depth
    }

    /// Leaves everything up to and with the innermost macro text.
    pub(crate) fn exit_macro(&mut self) {
        while self.pop().is_some_and(|frame| frame.kind != FrameKind::Macro) {}
    }

    /// Leaves everything up to and with the file of the run.
    pub(crate) fn exit_file(&mut self) {
        while self.pop().is_some_and(|frame| frame.kind != FrameKind::File) {}
    }
}
