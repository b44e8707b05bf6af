//! Reads test files.

mod call;
mod decode;
mod property;
mod request;
mod rows;
mod tables;
mod values;

use std::collections::HashMap;
use std::path::Path;

use cli_support::text::Escape;
use firmware::profile::BoardProfile;
use tdlasm::source::{DiskLoader, Loader};

use crate::document::{Document, FileError, FileErrors, Node};
use crate::model::{Case, Heading, Property, StackArea, Step, TestFile};
use crate::program::{Console, Program, ProgramFiles};

pub(crate) use request::{CallRequest, Request};
pub(crate) use tables::is_output;
use tables::{CaseTable, ConsoleTable, ProgramTable, StackTable, TestsTable};
pub(crate) use values::without_prefix;

/// The default stack of the caller: 256 bytes, well below the return address.
const STACK: StackArea = StackArea { top: 0xFF00, size: 256 };
/// The maximum of bytes of stack.
const MAX_STACK: u16 = 0x7FFF;

impl TestFile {
    /// Reads a test file, and assembles and links its program.
    ///
    /// # Errors
    /// Returns all errors with line and column. Errors of the assembler and the linker are at the
    /// field that names the sources.
    pub fn read(path: &Path) -> Result<Self, FileErrors> {
        Self::read_with(path, &DiskLoader)
    }

    /// Reads a test file and the files that it names from `loader`.
    ///
    /// # Errors
    /// As [`TestFile::read`].
    pub fn read_with(path: &Path, loader: &dyn Loader) -> Result<Self, FileErrors> {
        let text = crate::program::read(loader, path).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| format!("{}: not UTF-8", path.escaped()))
        });
        let text = text.map_err(|message| {
            FileErrors(vec![FileError { path: path.to_owned(), line: 1, column: 1, message }])
        });
        Self::parse_with(path, &text?, loader)
    }

    /// Reads a test file from memory. Its path serves for messages, and for its folder.
    ///
    /// # Errors
    /// As [`TestFile::read`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileErrors> {
        Self::parse_with(path, text, &DiskLoader)
    }

    /// Reads a test file from memory, and the files that it names from `loader`.
    ///
    /// # Errors
    /// As [`TestFile::read`].
    pub fn parse_with(path: &Path, text: &str, loader: &dyn Loader) -> Result<Self, FileErrors> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Document::read(path, text, rows::expand_rows, |document, root| {
            let reader = Reader { document, program: None, is_broken: false, folder, loader };
            let file = reader.program_file(root);
            let (program, is_broken) = (file.as_ref().map(|file| &file.program), file.is_none());
            let reader = Reader { program, is_broken, ..reader };
            let tests = reader.tests(root);
            reader.report_unknown_keys();
            let (setup, cases, properties) = tests?;
            Some(Self { path: path.to_owned(), setup, cases, properties, ..file? })
        })
    }
}

/// Converts the tables of a document. What is wrong is reported to the document.
#[derive(Clone, Copy)]
struct Reader<'d, 't> {
    document: &'d Document<'t>,
    program: Option<&'d Program>,
    /// Whether the program has errors, so that any label is accepted.
    is_broken: bool,
    /// The folder of the test file.
    folder: &'d Path,
    loader: &'d dyn Loader,
}

impl Reader<'_, '_> {
    /// Reads the fields about the program and its stack. Returns `None` after an error.
    fn program_file(&self, node: Node) -> Option<TestFile> {
        let document = self.document;
        let errors = document.error_count();
        let table: ProgramTable = self.decode(node)?;
        let named = ["sources", "objects", "hex"].iter().find_map(|key| document.field(node, key));
        let console = table.console.as_ref().map(|console| console.node);
        let kind = table.console.and_then(|console| self.console(console));
        let paths = |names: Vec<String>| names.iter().map(|name| self.folder.join(name)).collect();
        let path = |name: Option<String>| name.map(|name| self.folder.join(name));
        let files = ProgramFiles {
            sources: table.sources.map(paths).unwrap_or_default(),
            objects: table.objects.map(paths).unwrap_or_default(),
            hex: path(table.hex),
            symbols: path(table.symbols),
            origin: table.origin,
            layout: path(table.layout),
            defines: table.defines.0,
            include: paths(table.include),
            console: matches!(kind, Some(Console::Cpm | Console::Routine(_))),
        };
        let wrong = match named {
            None => Some("no program: expected sources = [\"mul.asm\"], objects or hex"),
            _ if files.hex.is_some() && !(files.sources.is_empty() && files.objects.is_empty()) => {
                Some("a program is either hex, or sources and objects")
            }
            _ if files.origin.is_some() && files.layout.is_some() => {
                Some("give either an origin or a layout")
            }
            _ => None,
        };
        let named = named.unwrap_or(node);
        wrong.into_iter().for_each(|message| document.report(named, message));
        let has_errors = document.error_count() > errors;
        for error in table.boards.iter().filter_map(|name| BoardProfile::named(name).err()) {
            document.report(document.field(node, "boards").unwrap_or(node), error.to_string());
        }
        if has_errors {
            return None;
        }
        let report = |node| move |message: String| document.report(node, message);
        let mut program = files.load_with(self.loader).map_err(report(named)).ok()?;
        if let (Some(kind), Some(console)) = (kind, console) {
            program.set_console(kind).map_err(report(console)).ok()?;
        }
        let stack = Reader { program: Some(&program), ..*self }.stack(table.stack, node);
        let (path, setup, cases, properties) = Default::default();
        let (sources, boards, panes) = (files.sources, table.boards, table.pane);
        Some(TestFile { path, program, sources, boards, stack, panes, setup, cases, properties })
    }

    fn console(&self, table: ConsoleTable) -> Option<Console> {
        let is_cpm = table.kind.is_some_and(|node| self.document.as_text(node) == Some("cpm"));
        match (is_cpm, table.routine, table.port) {
            (true, None, None) => Some(Console::Cpm),
            (false, Some(name), None) => Some(Console::Routine(name)),
            (false, None, Some(port)) => Some(Console::Port(port)),
            _ => {
                let expected = "\"cpm\", { routine = \"PUTC\" } or { port = 0x81 }";
                self.document.report_expected(table.node, expected);
                None
            }
        }
    }

    /// Reads the stack, whose address may be a label.
    fn stack(&self, node: Option<Node>, file: Node) -> StackArea {
        let table: StackTable = node.and_then(|node| self.decode(node)).unwrap_or_default();
        let top = table.top.unwrap_or(STACK.top);
        let size = table.size.unwrap_or(STACK.size);
        // Two more bytes hold the return address.
        let bottom = top.checked_sub(size.saturating_add(2));
        let overlaps = |bottom| self.program.is_some_and(|one| one.overlaps(bottom, top - 1));
        if size > MAX_STACK {
            let message = format!("size: {size} is not in 0 to {MAX_STACK}");
            self.document.report(node.unwrap_or(file), message);
        } else if bottom.is_none_or(overlaps) {
            let message = format!(
                "the stack of {size} bytes below {top:04X}H overlaps the program: expected free \
                 memory, as in stack = {{ top = 0xF000, size = 128 }}"
            );
            self.document.report(node.unwrap_or(file), message);
        }
        StackArea { top, size }
    }

    /// Reads the calls before each case, the cases, and the properties.
    fn tests(&self, node: Node) -> Option<(Vec<Step>, Vec<Case>, Vec<Property>)> {
        let TestsTable { setup, case, property } = self.decode(node)?;
        let setup = setup.map(|node| self.steps(node, 0)).unwrap_or_default();
        let cases: Vec<_> = case.into_iter().filter_map(|node| self.case(node)).collect();
        let properties = property.into_iter().filter_map(|node| self.property(node));
        let properties: Vec<_> = properties.collect();
        let mut lines = HashMap::new();
        let headings = cases.iter().map(|case| &case.heading);
        for Heading { name, line, .. } in headings.chain(properties.iter().map(|one| &one.heading))
        {
            if let Some(earlier) = lines.insert(name, line) {
                let message =
                    format!("the name '{}' is also that of line {earlier}", name.escaped());
                self.document.report_at((*line, 1), message);
            }
        }
        Some((setup, cases, properties))
    }

    /// Reads what cases and properties have in common.
    fn heading(&self, node: Node) -> Option<Heading> {
        Some(Heading { line: self.document.line(node), ..self.decode(node)? })
    }

    fn case(&self, node: Node) -> Option<Case> {
        let heading = self.heading(node);
        let CaseTable { steps, rows } = self.decode(node)?;
        let steps = match (steps, rows) {
            (Some(node), Some(_)) => {
                self.document.report(node, "give either steps or rows");
                return None;
            }
            (None, Some(node)) => {
                self.report_type(node, "rows");
                return None;
            }
            (Some(node), None) => {
                let is_array = self.document.data(node).value.is_array();
                if is_array && self.document.children(node).is_empty() {
                    self.document.report(node, "expected at least one call");
                }
                self.steps(node, 1)
            }
            (None, None) => vec![self.step(node)?],
        };
        Some(Case { heading: heading?, steps })
    }
}
