//! The input: the texts, the files and macro texts that are open, and the blocks of conditionals.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::source::{Loader, Origin, SourceMap, Span};

/// The kinds of text that a frame reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// A file of the run.
    File,
    /// A file named by `.INSERT`.
    Insert,
    /// The text of a macro call.
    Macro,
}

/// A text that is being read.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    /// The index of the text in the source map.
    pub(crate) source: usize,
    pub(crate) text: Arc<Vec<u8>>,
    /// The text's first offset in the source map.
    pub(crate) base: u32,
    /// The next byte to read, in the text.
    pub(crate) pos: usize,
    /// The number of blocks that were open when the text was entered.
    blocks: usize,
    /// The place in the text where the rest of the call's line begins.
    pub(crate) tail: usize,
    /// Whether a `]` stands behind the call, which may close a block outside.
    pub(crate) closes: bool,
}

impl Frame {
    /// Whether nothing but brackets follows in the macro's text, and nothing behind its call.
    fn is_exit_last(&self) -> bool {
        let left = &self.text[self.pos.min(self.tail)..self.tail];
        let behind = self.text[self.tail..].trim_ascii();
        let nothing = left.iter().all(|byte| matches!(byte, b']' | b' ' | b'\t'));
        nothing && (behind.is_empty() || behind[0] == b';')
    }
}

/// A change of what is read next, made by a statement.
#[derive(Debug)]
pub(crate) enum Jump {
    /// Reads this text first.
    Into(Frame),
    /// Leaves the macro text.
    ExitMacro,
    /// Leaves the file, if another follows, or everything.
    End,
}

/// A statement of a file: the text by its number among those that were opened, the offset in it,
/// and the location counter before the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PlaceOf {
    offset: u32,
    counter: u16,
}

/// The places at which the two passes met the statements of the files.
#[derive(Debug, Default)]
pub(crate) struct Places {
    first: Vec<PlaceOf>,
    /// The number of statements that the second pass has met.
    met: usize,
    /// The place of the statement before, in the second pass.
    before: Option<u32>,
    /// The statement behind which the passes part.
    pub(crate) parted: Option<u32>,
}

impl Places {
    fn restart(&mut self) {
        self.met = 0;
        self.before = None;
        self.parted = None;
    }

    /// Notes a statement of the first pass.
    pub(crate) fn note(&mut self, offset: u32, counter: u16) {
        self.first.push(PlaceOf { offset, counter });
    }

    /// Compares a statement of the second pass, which stands at `place` in the source map, with the
    /// first.
    pub(crate) fn compare(&mut self, offset: u32, counter: u16, place: u32) {
        if self.parted.is_some() {
            return;
        }
        if self.first.get(self.met) != Some(&PlaceOf { offset, counter }) {
            self.parted = self.before;
        }
        self.met += 1;
        self.before = Some(place);
    }
}

/// The input: texts, open frames and open blocks.
pub(crate) struct Input<'a> {
    loader: &'a dyn Loader,
    include_dirs: &'a [PathBuf],
    pub(crate) sources: SourceMap,
    /// The texts that are open, the innermost last.
    frames: Vec<Frame>,
    macro_depth: usize,
    /// The size of the macro texts that are open.
    pub(crate) open_text: usize,
    insert_depth: usize,
    /// The number of conditional texts that are being assembled, one in the other.
    blocks: usize,
    pub(crate) jump: Option<Jump>,
    /// Whether a macro's text was put into the operands of the statement.
    pub(crate) spliced: bool,
    /// The same for the next statement.
    pub(crate) splices_next: bool,
    /// Whether a parenthesis of the statement is open at the end of its line.
    pub(crate) runs_on: bool,
    /// Whether `.EXIT` has just left a macro.
    pub(crate) exited: bool,
    /// Places of the files' statements in the first pass, and where the second differs.
    pub(crate) places: Places,
    /// The number of macro calls so far.
    pub(crate) calls: usize,
    /// The files of the run.
    pub(crate) files: Vec<PathBuf>,
    /// Whether the file ended with `.END`, or cannot be read at all.
    pub(crate) ended: bool,
    /// The size of all macro texts so far.
    pub(crate) macro_text: usize,
}

impl<'a> Input<'a> {
    pub(crate) fn new(loader: &'a dyn Loader, include_dirs: &'a [PathBuf]) -> Self {
        Self {
            loader,
            include_dirs,
            sources: SourceMap::default(),
            frames: Vec::new(),
            macro_depth: 0,
            open_text: 0,
            insert_depth: 0,
            blocks: 0,
            jump: None,
            spliced: false,
            splices_next: false,
            runs_on: false,
            exited: false,
            places: Places::default(),
            calls: 0,
            files: Vec::new(),
            ended: false,
            macro_text: 0,
        }
    }

    /// Makes ready for another pass over the files.
    pub(crate) fn restart(&mut self) {
        self.frames.clear();
        self.blocks = 0;
        self.macro_depth = 0;
        self.open_text = 0;
        self.insert_depth = 0;
        self.jump = None;
        self.runs_on = false;
        self.exited = false;
        self.places.restart();
        self.calls = 0;
        self.ended = false;
        self.macro_text = 0;
    }

    pub(crate) fn push(&mut self, frame: Frame) {
        if frame.kind == FrameKind::Macro {
            self.macro_depth += 1;
            self.open_text += frame.text.len();
        }
        self.insert_depth += usize::from(frame.kind == FrameKind::Insert);
        self.frames.push(frame);
    }

    pub(crate) fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        if frame.kind == FrameKind::Macro {
            self.macro_depth -= 1;
            self.open_text -= frame.text.len();
        }
        self.insert_depth -= usize::from(frame.kind == FrameKind::Insert);
        Some(frame)
    }

    pub(crate) fn top(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// The sources that are open, the innermost first.
    fn open_sources(&self) -> impl Iterator<Item = usize> {
        self.frames.iter().rev().map(|frame| frame.source)
    }

    /// Whether a file of this name is open.
    pub(crate) fn is_open(&self, name: &str) -> bool {
        self.open_sources().any(|open| *self.sources.get(open).name == *name)
    }

    /// The number of macro texts that are open.
    pub(crate) fn macro_depth(&self) -> usize {
        self.macro_depth
    }

    /// The number of inserted files that are open.
    pub(crate) fn insert_depth(&self) -> usize {
        self.insert_depth
    }

    /// Leaves everything up to and with the innermost macro text, and the blocks opened in it. What
    /// stands behind the call on its line is still to be read; but an `.EXIT` with which the text
    /// ends takes the line's end along, so that the next line is the rest of the statement.
    fn exit_macro(&mut self) {
        self.exited = true;
        while let Some(mut frame) = self.pop() {
            if frame.kind == FrameKind::Macro {
                if frame.tail < frame.text.len() && frame.is_exit_last() {
                    return;
                }
                self.blocks = self.blocks.min(frame.blocks);
                if frame.tail < frame.text.len() {
                    frame.pos = frame.tail;
                    self.push(frame);
                }
                return;
            }
        }
    }

    /// Leaves everything up to and with the file of the run.
    fn exit_file(&mut self) {
        while self.pop().is_some_and(|frame| frame.kind != FrameKind::File) {}
        self.blocks = 0;
    }

    /// Does what the last statement asked for.
    #[inline]
    pub(crate) fn follow_jump(&mut self) {
        match self.jump.take() {
            Some(Jump::Into(mut frame)) => {
                frame.blocks = self.blocks;
                self.push(frame);
            }
            Some(Jump::ExitMacro) => self.exit_macro(),
            Some(Jump::End) => self.exit_file(),
            None => {}
        }
    }

    /// Whether a `]` closes a block here. The original takes one anywhere from the second call of a
    /// macro on; in the text of the first call only for blocks that were opened in it.
    #[inline]
    pub(crate) fn in_block(&self) -> bool {
        self.calls > 1 || self.blocks > self.outside_blocks()
    }

    /// Whether a block or the text of a macro is open: plain arguments and texts end at their `]`.
    pub(crate) fn is_enclosed(&self) -> bool {
        self.blocks > 0 || self.macro_depth > 0
    }

    /// Whether a `]` that is taken here closes nothing.
    pub(crate) fn is_surplus(&self) -> bool {
        self.blocks <= self.outside_blocks()
    }

    /// The number of open blocks that no `]` of the innermost text may close, if it is a macro's.
    fn outside_blocks(&self) -> usize {
        let text = self.frames.last();
        let text = text.filter(|frame| frame.kind == FrameKind::Macro && !frame.closes);
        text.map_or(0, |frame| frame.blocks)
    }

    /// Begins a module: a block that its predecessor left open is none of its own.
    pub(crate) fn forget_blocks(&mut self) {
        self.blocks = 0;
        self.calls = 0;
        self.frames.iter_mut().for_each(|frame| frame.blocks = 0);
    }

    pub(crate) fn open_block(&mut self) {
        self.blocks += 1;
    }

    pub(crate) fn close_block(&mut self) {
        self.blocks = self.blocks.saturating_sub(1).max(self.outside_blocks());
    }

    /// A frame that reads the whole of a text.
    pub(crate) fn frame(&self, kind: FrameKind, index: usize) -> Frame {
        let source = self.sources.get(index);
        let text = Arc::clone(&source.text);
        let tail = text.len();
        Frame {
            kind,
            source: index,
            text,
            base: source.base,
            pos: 0,
            blocks: 0,
            tail,
            closes: false,
        }
    }

    /// Reads a file; the text is not yet in the map.
    pub(crate) fn load(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.loader.load(path)
    }

    /// The path of an inserted file: beside the file that names it, then in the given folders, with
    /// `.ASM` if there is none without.
    pub(crate) fn find_insert(&self, name: &str) -> Option<PathBuf> {
        let beside = self.open_sources().map(|open| self.sources.get(open)).find_map(|open| {
            (!matches!(open.origin, Origin::Macro(_)))
                .then(|| Path::new(&*open.name).parent().map(Path::to_owned))
        });
        let folders = beside.flatten().into_iter().chain(self.include_dirs.iter().cloned());
        // Names had no case on CP/M; here the file may have either.
        let names = [name.to_owned(), name.to_lowercase(), name.to_uppercase()];
        let names = names.map(|name| [name.clone(), format!("{name}.ASM"), format!("{name}.asm")]);
        folders
            .flat_map(|folder| names.as_flattened().iter().map(move |name| folder.join(name)))
            .find(|path| self.loader.exists(path))
    }

    /// A place for messages about a file that cannot be read.
    pub(crate) fn stand_in(&mut self, name: &str) -> Span {
        let index = self.sources.add(name.into(), Origin::File, Vec::new());
        let start = index.map_or(0, |index| self.sources.get(index).base);
        Span::new(start, start)
    }

    /// The end of the last file of the run.
    pub(crate) fn end_of_files(&self) -> Option<Span> {
        let files = self.sources.iter().filter(|source| source.origin == Origin::File);
        let last = files.last()?;
        let end = last.base + last.text.len() as u32;
        Some(Span::new(end, end))
    }
}
