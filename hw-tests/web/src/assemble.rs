//! Programs to download and to run: assembled and linked, with all files that `tdlasm` writes.

use std::path::PathBuf;

use firmware::ProgramKind;
use firmware::evaluator::Behaviour;
use firmware::profile::BoardProfile;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tdlasm::diag::{Diagnostic, render};
use tdlasm::image::intel_hex;
use tdlasm::link::{Program, link};
use tdlasm::listing::render_modern;
use tdlasm::object::{write_executable, write_tdl};
use tdlasm::source::MemoryLoader;
use tdlasm::{Assembly, Options};

use crate::board::{EvaluatorSources, SourceFile, profile};
use crate::build_info::crc32;
use crate::error::PageError;
use crate::program::placement_notice;
use crate::sources::{defines, page_name};

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct AssembleRequest {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) behaviour: Option<String>,
    #[serde(default)]
    pub(crate) defines: std::collections::BTreeMap<String, u16>,
    pub(crate) board: Option<String>,
}

impl AssembleRequest {
    /// The evaluator's behaviour, if the sources are an evaluator's.
    pub(crate) fn behaviour(&self) -> Result<Option<Behaviour>, PageError> {
        self.behaviour.as_deref().map(|word| word.parse().map_err(PageError::new)).transpose()
    }

    /// The symbols that are defined before the first line.
    pub(crate) fn defines(&self) -> Result<Vec<(String, u16)>, PageError> {
        let mut all = self.behaviour()?.map(defines).unwrap_or_default();
        all.extend(self.defines.iter().map(|(name, value)| (name.clone(), *value)));
        Ok(all)
    }

    fn options(&self) -> Result<Options, PageError> {
        let defines = self.defines()?;
        let include_dirs = vec![PathBuf::new()];
        Ok(Options { defines, include_dirs, listing: true, lines: true, ..Options::default() })
    }

    /// Assembles the first file.
    pub(crate) fn assembly(&self) -> Result<Assembly, PageError> {
        let first = self.files.first().ok_or_else(|| PageError::new("no file to assemble"))?;
        Ok(tdlasm::asm::run(&loader(&self.files), &[first.name.as_str().into()], &self.options()?))
    }
}

/// Loads the files of an editor.
pub(crate) fn loader(files: &[SourceFile]) -> MemoryLoader {
    let with = |loader: MemoryLoader, file: &SourceFile| {
        loader.with(file.name.as_str(), file.text.as_bytes())
    };
    files.iter().fold(MemoryLoader::new(), with)
}

pub(crate) struct AssembleOutput {
    pub(crate) answer: Value,
    pub(crate) bytes: Vec<Vec<u8>>,
}

#[derive(Debug, Serialize)]
struct AssembleReply {
    messages: Vec<Value>,
    text: String,
    program: Option<Value>,
    outputs: Vec<Value>,
}

#[derive(Default)]
struct Outputs {
    stem: String,
    files: Vec<Value>,
    bytes: Vec<Vec<u8>>,
}

impl Outputs {
    fn new(name: &str) -> Self {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
        Self { stem, ..Self::default() }
    }

    fn add(&mut self, kind: &str, ending: &str, bytes: Vec<u8>) {
        let name = format!("{}.{ending}", self.stem);
        self.files.push(json!({ "name": name, "kind": kind, "bytes": self.bytes.len() }));
        self.bytes.push(bytes);
    }

    fn add_program(&mut self, program: &Program, fill: u8) {
        self.add("hex", "hex", intel_hex(&program.image, program.entry).into_bytes());
        self.add("bin", "bin", program.image.flat(fill));
        self.add("elf", "elf", write_executable(program));
        self.add("map", "map", program.map().into_bytes());
    }

    fn made(
        self,
        messages: Vec<Value>,
        text: String,
        program: Option<Value>,
    ) -> Result<AssembleOutput, PageError> {
        let Self { files: outputs, bytes, .. } = self;
        let answer = AssembleReply { messages, text, program, outputs };
        Ok(AssembleOutput { answer: serde_json::to_value(answer).map_err(PageError::new)?, bytes })
    }
}

pub(crate) fn assemble(sources: &AssembleRequest) -> Result<AssembleOutput, PageError> {
    let profile = profile(sources.board.as_deref())?;
    match sources.behaviour()? {
        Some(behaviour) => evaluator(sources, behaviour, &profile),
        None => program(sources, &profile),
    }
}

/// The application with an evaluator, with the messages of its files and the linker.
fn evaluator(
    sources: &AssembleRequest,
    behaviour: Behaviour,
    profile: &BoardProfile,
) -> Result<AssembleOutput, PageError> {
    let evaluator = EvaluatorSources { behaviour, files: sources.files.clone() };
    let mut outputs = Outputs::new(&format!("sargon-{behaviour}"));
    match evaluator.build(profile, ProgramKind::Application) {
        Ok(built) => {
            outputs.add_program(&built.program, 0xFF);
            // The image with its build id.
            outputs.bytes[1].clone_from(&built.bytes);
            let program = json!({
                "address": built.address,
                "size": built.bytes.len(),
                "entry": built.address,
                "build": format!("{:08X}", built.build),
                "crc32": crc32(&built.bytes),
            });
            outputs.made(Vec::new(), String::new(), Some(program))
        }
        Err(error) => {
            let messages = match &error {
                firmware::build::BuildError::Assembly(failure) => messages(failure.assembly()),
                other => vec![message_without_location(&other.to_string())],
            };
            outputs.made(messages, PageError::from(error).message, None)
        }
    }
}

/// A program of the user's own.
fn program(sources: &AssembleRequest, profile: &BoardProfile) -> Result<AssembleOutput, PageError> {
    let assembly = sources.assembly()?;
    let mut outputs = Outputs::new(&sources.files[0].name);
    let mut text = render::human(&assembly.diagnostics, &assembly.sources, false);
    let mut found = messages(&assembly);
    let Assembly { listing, sources: texts, modules, .. } = &assembly;
    if assembly.has_errors() {
        return outputs.made(found, text, None);
    }
    let listed = render_modern(listing, texts);
    let layout = board_debugger::ram_layout(profile);
    let linked = match link(modules, &layout) {
        Ok(linked) => linked,
        Err(errors) => {
            found.extend(errors.0.iter().map(|error| message_without_location(&error.to_string())));
            text.push_str(&errors.to_string());
            return outputs.made(found, text, None);
        }
    };
    outputs.add("listing", "lst", listed.into_bytes());
    outputs.add_program(&linked, layout.fill());
    if let Ok(bytes) = write_tdl(modules, assembly.object_form) {
        outputs.add("tdl", "rel", bytes);
    }
    let bytes = linked.image.flat(layout.fill());
    let first = linked.image.bounds().map_or(0, |(first, _)| first);
    let entry = linked.entry.unwrap_or(first);
    let notice = placement_notice(&linked.image, entry, profile);
    let program = json!({
        "notice": notice.unwrap_or_else(|error| error.message),
        "address": first,
        "size": bytes.len(),
        "entry": linked.entry,
        "crc32": crc32(&bytes),
    });
    outputs.made(found, text, Some(program))
}

fn messages(assembly: &Assembly) -> Vec<Value> {
    let sources = &assembly.sources;
    let message = |one: &Diagnostic| {
        let span = render::in_file(one.span, sources);
        let (start, end) = (sources.location(span.start), sources.location(span.end));
        json!({
            "severity": one.severity.name(),
            "code": one.code.id(),
            "message": one.message,
            "file": page_name(&start.source.name),
            "line": start.line,
            "column": start.column,
            "endLine": end.line,
            "endColumn": end.column,
            "help": one.help,
        })
    };
    assembly.diagnostics.iter().map(message).collect()
}

/// A message about the program as a whole.
fn message_without_location(message: &str) -> Value {
    json!({
        "severity": "error", "code": "", "message": message, "file": "",
        "line": 1, "column": 1, "endLine": 1, "endColumn": 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str, behaviour: Option<&str>) -> AssembleRequest {
        let file = SourceFile { name: "a.asm".to_owned(), text: text.to_owned() };
        let behaviour = behaviour.map(str::to_owned);
        AssembleRequest { files: vec![file], behaviour, defines: Default::default(), board: None }
    }

    #[test]
    fn a_program_has_all_its_files() {
        let made = assemble(&sources("START:\tMVI A,5\n\tJMP START\n\t.END START\n", None));
        let made = made.expect("it assembles");
        let outputs = made.answer["outputs"].as_array().expect("a list");
        let kinds: Vec<_> = outputs.iter().filter_map(|file| file["kind"].as_str()).collect();
        assert_eq!(kinds, ["listing", "hex", "bin", "elf", "map", "tdl"]);
        assert_eq!(made.bytes[2], [0x3E, 5, 0xC3, 0, 0x80], "in the classic board's RAM");
        assert_eq!(made.answer["program"]["entry"], 0x8000);
    }

    #[test]
    fn errors_have_their_places_and_no_program() {
        let made = assemble(&sources("\tMVI Q,5\n", None)).expect("it answers");
        assert_eq!(made.answer["messages"][0]["line"], 1);
        assert!(made.answer["program"].is_null() && made.bytes.is_empty());
        let mut of_ours = sources("\tMVI Q,5\n", Some("corrected"));
        of_ours.files[0].name = "xchng.asm".to_owned();
        let made = assemble(&of_ours).expect("it answers");
        assert_eq!(made.answer["messages"][0]["file"], "xchng.asm");
    }

    #[test]
    fn the_evaluator_is_the_image_that_the_programs_build() {
        let mut ours = sources("", Some("corrected"));
        ours.files.clear();
        let made = assemble(&ours).expect("it answers");
        let profile = profile(None).expect("it ships");
        let built = firmware::build::build(&profile, ProgramKind::Application).expect("it builds");
        assert_eq!(made.bytes[1], built.bytes);
        assert_eq!(made.answer["program"]["build"], format!("{:08X}", built.build));
    }
}
