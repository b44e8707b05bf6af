//! Reads test files.

mod case;
mod expect;
mod interrupts;
mod memory;
mod property;
mod request;
mod step;
mod values;

use std::path::{Path, PathBuf};

use cli_support::text::Escape;
use firmware::profile::BoardProfile;
use tdlasm::source::{DiskLoader, Loader};

use crate::model::{Heading, StackArea, TestFile};
use crate::program::{Console, Program, ProgramFiles};
use crate::reader::{Document, Entry, Fields, FileError};

pub(crate) use request::{CallRequest, Request};
use values::Context;
pub(crate) use values::{is_output, without_prefix};

/// The default stack of the caller: 256 bytes, well below the return address.
const STACK: StackArea = StackArea { top: 0xFF00, size: 256 };

impl TestFile {
    /// Reads a test file, and assembles and links its program.
    ///
    /// # Errors
    /// Returns `FileError` with line and column of the first error. Errors of the assembler and
    /// the linker are at the field that names the sources.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::read_with(path, &DiskLoader)
    }

    /// Reads a test file and the files that it names from `loader`.
    ///
    /// # Errors
    /// As [`TestFile::read`].
    pub fn read_with(path: &Path, loader: &dyn Loader) -> Result<Self, FileError> {
        let text = crate::program::read(loader, path).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| format!("{}: not UTF-8", path.escaped()))
        });
        let at_start = |message| FileError { path: path.to_owned(), line: 1, column: 1, message };
        Self::parse_with(path, &text.map_err(at_start)?, loader)
    }

    /// Reads a test file from memory. Its path serves for messages, and for its folder.
    ///
    /// # Errors
    /// As [`TestFile::read`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        Self::parse_with(path, text, &DiskLoader)
    }

    /// Reads a test file from memory, and the files that it names from `loader`.
    ///
    /// # Errors
    /// As [`TestFile::read`].
    pub fn parse_with(path: &Path, text: &str, loader: &dyn Loader) -> Result<Self, FileError> {
        let document = Document { path, text, loader };
        let table = document.table()?;
        let fields = Fields::root(&document, &table);
        let mut file = Self::of_program(&fields, path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let context = Context { program: &file.program, folder };
        let setup =
            fields.get("setup").map(|entry| step::steps(&entry, &context, 0)).transpose()?;
        let mut cases = Vec::new();
        for entry in items(&fields, "case")? {
            cases.extend(case::cases(&entry, &context)?);
        }
        let mut properties = Vec::new();
        for entry in items(&fields, "property")? {
            properties.push(property::property(&entry, &context)?);
        }
        fields.finish()?;
        file.setup = setup.unwrap_or_default();
        (file.cases, file.properties) = (cases, properties);
        check_names(&document, &file.headings().collect::<Vec<_>>())?;
        Ok(file)
    }

    /// Reads the fields about the program and its stack.
    fn of_program(fields: &Fields<'_>, path: &Path) -> Result<Self, FileError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let (program, sources) = program(fields, folder)?;
        let boards = boards(fields)?;
        let stack = stack(fields, &Context { program: &program, folder })?;
        Ok(Self {
            path: path.to_owned(),
            program,
            sources,
            boards,
            stack,
            setup: Vec::new(),
            cases: Vec::new(),
            properties: Vec::new(),
        })
    }
}

/// Returns the tables of an array such as `[[case]]`.
fn items<'a>(fields: &Fields<'a>, name: &'static str) -> Result<Vec<Entry<'a>>, FileError> {
    let what = format!("an array of tables: [[{name}]]");
    fields.get(name).map_or(Ok(Vec::new()), |entry| entry.items(&what))
}

fn program(fields: &Fields<'_>, folder: &Path) -> Result<(Program, Vec<PathBuf>), FileError> {
    let paths = |name, example| -> Result<Vec<PathBuf>, FileError> {
        let texts = fields.get(name).map(|entry| entry.texts(example)).transpose()?;
        Ok(texts.unwrap_or_default().iter().map(|name| folder.join(name)).collect())
    };
    let path = |name, example| -> Result<Option<PathBuf>, FileError> {
        let text = fields.get(name).map(|entry| entry.text(example)).transpose()?;
        Ok(text.map(|name| folder.join(name)))
    };
    let console = fields.get("console");
    let kind = console.as_ref().map(console_kind).transpose()?;
    let files = ProgramFiles {
        sources: paths("sources", "[\"mul.asm\"]")?,
        objects: paths("objects", "[\"mul.o\"]")?,
        hex: path("hex", "\"mul.hex\"")?,
        symbols: path("symbols", "\"mul.sym\"")?,
        origin: fields.get("origin").map(|entry| values::plain(&entry, 2)).transpose()?,
        layout: path("layout", "\"layout.toml\"")?,
        defines: defines(fields)?,
        include: paths("include", "[\"include\"]")?,
        console: matches!(kind, Some(Console::Cpm | Console::Routine(_))),
    };
    let named = ["sources", "objects", "hex"].into_iter().find_map(|name| fields.get(name));
    let Some(named) = named else {
        let message = "no program: expected sources = [\"mul.asm\"], objects or hex";
        return Err(fields.document.error(0, message));
    };
    if files.hex.is_some() && !(files.sources.is_empty() && files.objects.is_empty()) {
        return Err(named.error("a program is either hex, or sources and objects"));
    }
    if files.origin.is_some() && files.layout.is_some() {
        return Err(named.error("give either an origin or a layout"));
    }
    let mut program =
        files.load_with(fields.document.loader).map_err(|message| named.error(message))?;
    if let (Some(kind), Some(console)) = (kind, console) {
        program.set_console(kind).map_err(|message| console.error(message))?;
    }
    Ok((program, files.sources))
}

fn console_kind(entry: &Entry<'_>) -> Result<Console, FileError> {
    let example = "\"cpm\", { routine = \"PUTC\" } or { port = 0x81 }";
    let wrong = || entry.expected(example);
    if let Some(text) = entry.as_text() {
        return (text == "cpm").then_some(Console::Cpm).ok_or_else(wrong);
    }
    let table = entry.fields(example)?;
    let routine = table.get("routine").map(|name| name.text("\"PUTC\"")).transpose()?;
    let port = table.get("port").map(|port| values::plain(&port, 1)).transpose()?;
    table.finish()?;
    match (routine, port) {
        (Some(name), None) => Ok(Console::Routine(name.to_owned())),
        (None, Some(port)) => Ok(Console::Port(port as u8)),
        _ => Err(wrong()),
    }
}

fn defines(fields: &Fields<'_>) -> Result<Vec<(String, u16)>, FileError> {
    let Some(entry) = fields.get("defines") else { return Ok(Vec::new()) };
    let table = entry.fields("a table such as { DEBUG = 1 }")?;
    table.all().map(|one| Ok((one.key.to_owned(), values::plain(&one, 2)?))).collect()
}

fn boards(fields: &Fields<'_>) -> Result<Vec<String>, FileError> {
    let Some(entry) = fields.get("boards") else { return Ok(Vec::new()) };
    let boards = entry.texts("[\"rc2014-classic\"]")?;
    match boards.iter().find_map(|name| BoardProfile::named(name).err()) {
        Some(error) => Err(entry.error(error.to_string())),
        None => Ok(boards),
    }
}

fn stack(fields: &Fields<'_>, context: &Context<'_>) -> Result<StackArea, FileError> {
    let mut stack = STACK;
    let entry = fields.get("stack");
    if let Some(entry) = &entry {
        let table = entry.fields("a table such as { top = 0xF000, size = 128 }")?;
        if let Some(top) = table.get("top") {
            stack.top = context.number(&top, 2)?;
        }
        if let Some(size) = table.get("size") {
            stack.size = size.integer(0..0x8000)? as u16;
        }
        table.finish()?;
    }
    // Two more bytes hold the return address.
    let bottom = stack.top.checked_sub(stack.size + 2);
    let is_free = bottom.is_some_and(|bottom| !context.program.overlaps(bottom, stack.top - 1));
    if is_free {
        return Ok(stack);
    }
    let message = format!(
        "the stack of {} bytes below {:04X}H overlaps the program: expected free memory, as in \
         stack = {{ top = 0xF000, size = 128 }}",
        stack.size, stack.top
    );
    Err(entry.map_or_else(|| fields.document.error(0, &*message), |entry| entry.error(&*message)))
}

/// Reads what cases and properties have in common.
fn heading(fields: &Fields<'_>) -> Result<Heading, FileError> {
    let name = fields.require("name", "name = \"wraps at 256\"")?;
    let tags = fields.get("tags").map(|entry| entry.texts("[\"slow\"]")).transpose()?;
    let skip = fields.get("skip").map(|entry| entry.text("\"needs a CTC\"")).transpose()?;
    Ok(Heading {
        name: name.text("\"wraps at 256\"")?.to_owned(),
        line: fields.document.line(fields.at),
        tags: tags.unwrap_or_default(),
        skip: skip.map(str::to_owned),
    })
}

fn check_names(document: &Document<'_>, headings: &[&Heading]) -> Result<(), FileError> {
    for (index, heading) in headings.iter().enumerate() {
        let earlier = headings[..index].iter().find(|other| other.name == heading.name);
        if let Some(earlier) = earlier {
            let name = heading.name.escaped();
            let message = format!("the name '{name}' is also that of line {}", earlier.line);
            let path = document.path.to_owned();
            return Err(FileError { path, line: heading.line, column: 1, message });
        }
    }
    Ok(())
}
