//! Reads test files.

mod c_call;
mod call;
mod property;
mod values;

use std::collections::HashMap;
use std::path::Path;

use cli_support::text::Escape;
use firmware::profile::BoardProfile;
use tdlasm::source::{DiskLoader, Loader};

use crate::build::Build;
use crate::document::{Document, Fields, FileError, FileErrors, Item};
use crate::model::{Case, Heading, StackArea, Step, TestFile};
use crate::program::{Console, Program, ProgramFiles};

/// The default stack of the caller: 256 bytes, well below the return address.
const STACK: StackArea = StackArea { top: 0xFF00, size: 256 };
/// The maximum of bytes of stack.
const MAX_STACK: u16 = 0x7FFF;
const CASES: &str = "an array of tables: [[case]]";
const CALLS: &str = "an array of calls such as [{ call = \"INIT\" }]";
const PANE_ROWS: &str = "[{ value = \"{HEAD}\" }]";
const ROWS: &str = "rows such as [[\"in.A\", \"expect.HL\"], [3, 21]]";

impl TestFile {
    /// Reads a test file and the files that it names from `loader`, and assembles and links its
    /// program. On a board, one whose test file gives no address begins at `origin`.
    ///
    /// # Errors
    /// Returns all errors with line and column. Errors of the assembler and the linker are at the
    /// field that names the sources.
    pub fn read(path: &Path, loader: &dyn Loader, origin: Option<u16>) -> Result<Self, FileErrors> {
        let text = crate::program::read(loader, path).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| format!("{}: not UTF-8", path.escaped()))
        });
        let text = text.map_err(|message| {
            FileErrors(vec![FileError { path: path.to_owned(), line: 1, column: 1, message }])
        });
        Self::parse_for(path, &text?, loader, origin)
    }

    /// Reads a test file from memory, and the files that it names from `loader`. Its path serves
    /// for messages, and for its folder.
    ///
    /// # Errors
    /// As [`TestFile::read`].
    pub fn parse(path: &Path, text: &str, loader: &dyn Loader) -> Result<Self, FileErrors> {
        Self::parse_for(path, text, loader, None)
    }

    fn parse_for(
        path: &Path,
        text: &str,
        loader: &dyn Loader,
        default_origin: Option<u16>,
    ) -> Result<Self, FileErrors> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Document::read(path, text, |root| {
            let reader = Reader { program: None, is_broken: false, folder, loader, default_origin };
            let read = |fields: &Fields<'_>| {
                // Its fields are known, and checked.
                Build::of(fields);
                let mut file = reader.program_file(fields);
                let (program, is_broken) = (file.as_ref().map(|one| &one.program), file.is_none());
                let tests = Reader { program, is_broken, ..reader }.tests(fields);
                if let Some(file) = &mut file {
                    path.clone_into(&mut file.path);
                    check_panes(fields);
                    (file.setup, file.cases) = tests;
                    let routines: Vec<_> = file.steps().map(|step| step.call.address).collect();
                    file.program.areas.add_routines(&file.program.linked.image, &routines);
                }
                file
            };
            root.table("", read).flatten()
        })
    }
}

/// Checks the keys of the panes, which the debugger reads.
fn check_panes(fields: &Fields<'_>) {
    let row = |fields: &Fields<'_>| {
        fields.text("name", "\"head\"");
        fields.required("value", "\"{HEAD}\"").map(|item| item.text("\"{HEAD}\"").to_owned());
        fields.text("format", "\"decimal\"");
    };
    let pane = |fields: &Fields<'_>| {
        fields.required("name", "\"queue\"").map(|item| item.text("\"queue\"").to_owned());
        fields.text("title", "\"Input queue\"");
        fields.required("rows", PANE_ROWS);
        fields.tables("rows", PANE_ROWS, row);
    };
    fields.tables("pane", "an array of tables: [[pane]]", pane);
}

/// Converts the tables of a document. What is wrong is reported there.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'p> {
    pub(crate) program: Option<&'p Program>,
    /// Whether the program has errors, so that any label is accepted.
    is_broken: bool,
    /// The folder of the test file.
    folder: &'p Path,
    loader: &'p dyn Loader,
    /// See [`ProgramFiles::default_origin`].
    default_origin: Option<u16>,
}

impl<'p> Reader<'p> {
    /// Reads about a program, if there is one, and files in the working directory.
    pub(crate) fn new(program: Option<&'p Program>, default_origin: Option<u16>) -> Self {
        let folder = Path::new("");
        Self { program, is_broken: false, folder, loader: &DiskLoader, default_origin }
    }

    /// Reads the fields about the program and its stack. Returns `None` after an error.
    pub(crate) fn program_file(&self, fields: &Fields<'_>) -> Option<TestFile> {
        let document = fields.table.document;
        let errors = document.error_count();
        let paths = |key, example| {
            let names = fields.texts(key, example).into_iter();
            names.map(|name| self.folder.join(name)).collect::<Vec<_>>()
        };
        let path = |key, example| fields.text(key, example).map(|name| self.folder.join(name));
        let mut files = ProgramFiles {
            sources: paths("sources", "[\"mul.asm\"]"),
            objects: paths("objects", "[\"mul.o\"]"),
            program: path("program", "\"game.bin\""),
            symbols: fields.get("symbols").map_or_else(Vec::new, |item| {
                item.one_or_more(|item| self.folder.join(item.text("\"game.sym\"")))
            }),
            folder: Some(self.folder.to_owned()),
            origin: fields.get("origin").map(|item| self.word(item)),
            default_origin: self.default_origin,
            layout: path("layout", "\"layout.toml\""),
            defines: fields.entries("defines", "a table such as { DEBUG = 1 }", |item| {
                Some((item.key.to_owned(), self.word(item)))
            }),
            include: paths("include", "[\"include\"]"),
            console: None,
        };
        let console = fields.get("console");
        files.console = console.and_then(|item| self.console(item));
        let named = ["sources", "objects", "program"].into_iter().find_map(|key| fields.get(key));
        let wrong = match named {
            None => Some("no program: expected sources = [\"mul.asm\"], objects or program"),
            _ if files.program.is_some()
                && !(files.sources.is_empty() && files.objects.is_empty()) =>
            {
                Some("give either a program, or sources and objects")
            }
            _ if files.origin.is_some() && files.layout.is_some() => {
                Some("give either an origin or a layout")
            }
            _ => None,
        };
        let named = named.unwrap_or(fields.table);
        wrong.into_iter().for_each(|message| named.report(message));
        let has_errors = document.error_count() > errors;
        let boards = fields.texts("boards", "[\"rc2014-classic\"]");
        for error in boards.iter().filter_map(|name| BoardProfile::named(name).err()) {
            fields.get("boards").unwrap_or(fields.table).report(error.to_string());
        }
        let (stack, allowed) = (fields.get("stack"), self.allowed(fields));
        if has_errors {
            return None;
        }
        let mut program = named.checked(files.load(self.loader))?;
        program.allowed = allowed;
        if let (Some(kind), Some(console)) = (files.console, console) {
            console.checked(program.set_console(kind))?;
        }
        let stack = Reader { program: Some(&program), ..*self }.stack(stack, fields.table);
        let (path, setup, cases) = Default::default();
        Some(TestFile { path, program, boards, stack, setup, cases })
    }

    fn console(&self, item: Item<'_>) -> Option<Console> {
        let table = |fields: &Fields<'_>| {
            let routine = fields.text("routine", "\"PUTC\"");
            match (routine, fields.get("port").map(|port| self.byte(port))) {
                (Some(name), None) => Some(Console::Routine(name.to_owned())),
                (None, Some(port)) => Some(Console::Port(port)),
                _ => None,
            }
        };
        let found = match item.as_text() {
            Some("cpm") => Some(Console::Cpm),
            _ if item.value.is_table() => item.table("", table).flatten(),
            _ => None,
        };
        if found.is_none() {
            item.report_expected("\"cpm\", { routine = \"PUTC\" } or { port = 0x81 }");
        }
        found
    }

    /// Reads the stack, whose address may be a label.
    fn stack(&self, item: Option<Item<'_>>, file: Item<'_>) -> StackArea {
        let read = |fields: &Fields<'_>| StackArea {
            top: fields.get("top").map_or(STACK.top, |item| self.word(item)),
            size: fields.get("size").map_or(STACK.size, |item| self.word(item)),
        };
        let table =
            item.and_then(|item| item.table("a table such as { top = 0xF000, size = 128 }", read));
        let StackArea { top, size } = table.unwrap_or(STACK);
        let item = item.unwrap_or(file);
        // Two more bytes hold the return address.
        let bottom = top.checked_sub(size.saturating_add(2));
        let overlaps = |bottom| self.program.is_some_and(|one| one.overlaps(bottom, top - 1));
        if size > MAX_STACK {
            item.report(format!("size: {size} is not in 0 to {MAX_STACK}"));
        } else if bottom.is_none_or(overlaps) {
            let message = format!(
                "the stack of {size} bytes below {top:04X}H overlaps the program: expected free \
                 memory, as in stack = {{ top = 0xF000, size = 128 }}"
            );
            item.report(message);
        }
        StackArea { top, size }
    }

    /// Reads the calls before each case, the cases, and the properties.
    fn tests(&self, fields: &Fields<'_>) -> (Vec<Step>, Vec<Case>) {
        let setup = fields.get("setup").map(|item| self.steps(item, 0)).unwrap_or_default();
        let cases = fields.tables("case", CASES, |fields| self.cases(fields));
        let what = "an array of tables: [[property]]";
        let properties = fields.tables("property", what, |fields| self.property(fields));
        let cases: Vec<_> = cases.into_iter().flatten().chain(properties).collect();
        let mut lines = HashMap::new();
        for heading in cases.iter().map(|case| &case.heading) {
            if let Some(earlier) = lines.insert(&heading.name, heading.line)
                && !heading.name.is_empty()
            {
                let name = heading.name.escaped();
                let message = format!("the name '{name}' is also that of line {earlier}");
                fields.table.document.report((heading.line, 1), message);
            }
        }
        (setup, cases)
    }

    /// Reads what cases and properties have in common.
    fn heading(&self, fields: &Fields<'_>) -> Heading {
        let name = fields.required("name", "\"wraps at 256\"");
        let name = name.map(|item| item.text("\"wraps at 256\""));
        Heading {
            name: name.unwrap_or_default().to_owned(),
            line: fields.table.line(),
            tags: fields.texts("tags", "[\"slow\"]"),
            skip: fields.text("skip", "\"needs a CTC\"").map(str::to_owned),
        }
    }

    /// Reads a case, or those of a table of cases.
    fn cases(&self, fields: &Fields<'_>) -> Vec<Case> {
        let heading = self.heading(fields);
        match (fields.get("steps"), fields.get("rows")) {
            (Some(steps), Some(_)) => {
                steps.report("give either steps or rows");
                Vec::new()
            }
            (None, Some(rows)) => self.rows(rows, &heading, fields),
            (Some(steps), None) => {
                let calls = self.steps(steps, 1);
                if steps.value.as_array().is_some_and(|all| all.is_empty()) {
                    steps.report("expected at least one call");
                }
                vec![Case { heading, steps: calls, property: None }]
            }
            (None, None) => vec![Case { heading, steps: vec![self.step(fields)], property: None }],
        }
    }

    /// Reads a case for each row of values, which the first row puts into `in` or `expect`.
    fn rows<'a>(&self, rows: Item<'a>, heading: &Heading, fields: &Fields<'a>) -> Vec<Case> {
        let arrays = rows.each(ROWS, |row| (row, row.each(ROWS, |cell| cell)));
        let Some(((_, headers), rows)) = arrays.split_first().filter(|(_, rows)| !rows.is_empty())
        else {
            if rows.value.is_array() {
                rows.report(format!("expected a header and values: {ROWS}"));
            }
            let (heading, steps) = (heading.clone(), vec![self.step(fields)]);
            return vec![Case { heading, steps, property: None }];
        };
        for header in headers {
            let name = header.as_text().unwrap_or(header.value.type_str());
            if !name.starts_with("in.") && !name.starts_with("expect.") {
                let name = name.escaped();
                header.report(format!("header '{name}': expected in.A or expect.HL"));
            }
        }
        let mut cases = Vec::new();
        for ((row, values), number) in rows.iter().zip(1..) {
            if values.len() != headers.len() {
                let (found, expected) = (values.len(), headers.len());
                row.report(format!("the row has {found} values, the header {expected}"));
            }
            let key = |header: &Item<'a>| header.as_text().unwrap_or_default();
            let cells = headers.iter().zip(values);
            let cells = cells.map(|(header, value)| Item { key: key(header), ..*value });
            let steps = vec![self.step(&fields.with_row(*row, cells.collect()))];
            let name = format!("{}, row {number}", heading.name);
            let heading = Heading { name, line: row.line(), ..heading.clone() };
            cases.push(Case { heading, steps, property: None });
        }
        cases
    }
}
