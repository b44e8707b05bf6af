//! The language server beside the page's editor.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use tdlasm::Options;
use tdlasm_tools::server::LanguageServer;

use crate::board::SourceFile;
use crate::error::PageError;

/// A place in a file; lines and columns count from 1, columns in units of UTF-16.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub(crate) struct TextLocation {
    file: String,
    line: u32,
    column: u32,
}

/// A message about a source.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Diagnostic {
    severity: &'static str,
    code: String,
    message: String,
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Token {
    line: u32,
    column: u32,
    length: u32,
    #[serde(rename = "type")]
    kind: String,
    modifiers: Vec<&'static str>,
}

/// A session of the language server, with the texts that it was given.
pub(crate) struct Editor {
    server: LanguageServer,
    defines: Vec<(String, u16)>,
    texts: BTreeMap<String, String>,
    version: i32,
    remarks: BTreeMap<String, Vec<Value>>,
    /// The names of the numbers of tokens.
    kinds: Vec<String>,
}

impl Editor {
    /// Begins a session in which these symbols are defined.
    pub(crate) fn new(defines: Vec<(String, u16)>) -> Result<Self, PageError> {
        let mut options = Options { defines: defines.clone(), ..Options::default() };
        options.include_dirs.push(Default::default());
        let mut editor = Self {
            server: LanguageServer::new(options),
            defines,
            texts: BTreeMap::new(),
            version: 0,
            remarks: BTreeMap::new(),
            kinds: Vec::new(),
        };
        let begun = editor.request("initialize", json!({ "capabilities": {} }))?;
        let kinds = begun.pointer("/capabilities/semanticTokensProvider/legend/tokenTypes");
        let kinds = kinds.and_then(Value::as_array).into_iter().flatten();
        editor.kinds = kinds.filter_map(|kind| kind.as_str().map(str::to_owned)).collect();
        Ok(editor)
    }

    /// Whether the session is one for these symbols.
    pub(crate) fn has(&self, defines: &[(String, u16)]) -> bool {
        self.defines == defines
    }

    /// Takes the texts of all files, and returns what is wrong with them.
    pub(crate) fn check(&mut self, files: &[SourceFile]) -> Result<Vec<Diagnostic>, PageError> {
        let gone: Vec<String> = (self.texts.keys())
            .filter(|name| !files.iter().any(|file| file.name == **name))
            .cloned()
            .collect();
        for name in gone {
            self.notify("textDocument/didClose", json!({ "textDocument": { "uri": name } }))?;
            self.texts.remove(&name);
            self.remarks.remove(&name);
        }
        for file in files {
            self.open_or_change(file)?;
        }
        for one in self.server.take_notifications() {
            let all = one.pointer("/params/diagnostics").and_then(Value::as_array);
            let file = one.pointer("/params/uri").and_then(Value::as_str);
            if let (Some(file), Some(all)) = (file, all) {
                self.remarks.insert(file.to_owned(), all.clone());
            }
        }
        let all = self.remarks.iter();
        Ok(all.flat_map(|(file, all)| all.iter().map(|one| diagnostic(file, one))).collect())
    }

    /// Opens a file, or takes its new text.
    fn open_or_change(&mut self, file: &SourceFile) -> Result<(), PageError> {
        let SourceFile { name, text } = file;
        let known = self.texts.get(name);
        if known == Some(text) {
            return Ok(());
        }
        self.version += 1;
        let version = self.version;
        if known.is_some() {
            let document = json!({ "uri": name, "version": version });
            let changes = json!([{ "text": text }]);
            let changed = json!({ "textDocument": document, "contentChanges": changes });
            self.notify("textDocument/didChange", changed)?;
        } else {
            let document =
                json!({ "uri": name, "languageId": "tdl", "version": version, "text": text });
            self.notify("textDocument/didOpen", json!({ "textDocument": document }))?;
        }
        self.texts.insert(name.clone(), text.clone());
        Ok(())
    }

    pub(crate) fn tokens(&mut self, file: &str) -> Result<Vec<Token>, PageError> {
        let asked = json!({ "textDocument": { "uri": file } });
        let answer = self.request("textDocument/semanticTokens/full", asked)?;
        let data: Vec<u32> = serde_json::from_value(answer["data"].clone()).unwrap_or_default();
        let (mut line, mut column) = (1, 1);
        let mut tokens = Vec::new();
        for [lines, columns, length, kind, modifiers] in data.as_chunks::<5>().0.iter().copied() {
            column = if lines > 0 { 1 + columns } else { column + columns };
            line += lines;
            let kind = self.kinds.get(kind as usize).cloned().unwrap_or_default();
            let modifiers = if modifiers & 1 != 0 { vec!["declaration"] } else { Vec::new() };
            tokens.push(Token { line, column, length, kind, modifiers });
        }
        Ok(tokens)
    }

    /// Text about a place, and the stretch that it is about.
    pub(crate) fn hover(&mut self, place: &TextLocation) -> Result<Value, PageError> {
        let answer = self.request("textDocument/hover", at(place))?;
        let Some(markdown) = answer.pointer("/contents/value") else { return Ok(Value::Null) };
        let range = &answer["range"];
        let [from, to] = ["start", "end"].map(|end| place_of(&place.file, &range[end]));
        Ok(json!({ "markdown": markdown, "from": from, "to": to }))
    }

    pub(crate) fn completion(&mut self, place: &TextLocation) -> Result<Value, PageError> {
        let answer = self.request("textDocument/completion", at(place))?;
        let item = |item: &Value| {
            let insert = item.pointer("/textEdit/newText").unwrap_or(&item["label"]);
            json!({
                "label": item["label"],
                "kind": completion_kind(item["kind"].as_u64()),
                "detail": item.get("detail"),
                "insert": insert,
            })
        };
        let items: Vec<Value> = answer.as_array().into_iter().flatten().map(item).collect();
        Ok(json!({ "items": items }))
    }

    pub(crate) fn definition(
        &mut self,
        place: &TextLocation,
    ) -> Result<Option<TextLocation>, PageError> {
        let answer = self.request("textDocument/definition", at(place))?;
        let first = if answer.is_array() { &answer[0] } else { &answer };
        let file = first["uri"].as_str();
        Ok(file.map(|file| place_of(file, &first["range"]["start"])))
    }

    fn notify(&mut self, method: &str, params: Value) -> Result<(), PageError> {
        let message = json!({ "method": method, "params": params });
        self.server.handle_message(message).map_err(PageError::new)?;
        Ok(())
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, PageError> {
        let message = json!({ "id": 1, "method": method, "params": params });
        let answer =
            self.server.handle_message(message).map_err(PageError::new)?.unwrap_or_default();
        match answer.pointer("/error/message").and_then(Value::as_str) {
            Some(message) => Err(PageError::new(message)),
            None => Ok(answer["result"].clone()),
        }
    }
}

fn at(place: &TextLocation) -> Value {
    let [line, character] = [place.line, place.column].map(|number| number.saturating_sub(1));
    let position = json!({ "line": line, "character": character });
    json!({ "textDocument": { "uri": place.file }, "position": position })
}

fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0) + 1
}

fn place_of(file: &str, position: &Value) -> TextLocation {
    let line = number(&position["line"]);
    TextLocation { file: file.to_owned(), line, column: number(&position["character"]) }
}

fn diagnostic(file: &str, one: &Value) -> Diagnostic {
    let [start, end] = ["start", "end"].map(|end| place_of(file, &one["range"][end]));
    let printed = one["message"].as_str().unwrap_or_default();
    let (message, help) = match printed.split_once("\nhelp: ") {
        Some((message, help)) => (message, Some(help.to_owned())),
        None => (printed, None),
    };
    Diagnostic {
        severity: if one["severity"] == 1 { "error" } else { "warning" },
        code: one["code"].as_str().unwrap_or_default().to_owned(),
        message: message.to_owned(),
        file: start.file,
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        help,
    }
}

fn completion_kind(kind: Option<u64>) -> &'static str {
    match kind {
        Some(3) => "function",
        Some(6) => "variable",
        Some(9) => "module",
        Some(14) => "keyword",
        Some(15) => "macro",
        Some(21) => "constant",
        _ => "text",
    }
}

#[cfg(test)]
mod tests {
    use firmware::evaluator::Behaviour;

    use super::*;
    use crate::sources::{defines, edited, sources};

    fn file(text: &str) -> SourceFile {
        SourceFile { name: "a.asm".to_owned(), text: text.to_owned() }
    }

    fn place(line: u32, column: u32) -> TextLocation {
        TextLocation { file: "a.asm".to_owned(), line, column }
    }

    #[test]
    fn our_sources_have_no_messages_and_a_fault_in_one_has_its_place() {
        for behaviour in Behaviour::ALL {
            let mut editor = Editor::new(defines(behaviour)).expect("it begins");
            let all = sources(behaviour).expect("they ship");
            let remarks = editor.check(&all).expect("it answers");
            assert!(remarks.is_empty(), "{behaviour}: {remarks:?}");
            let broken = SourceFile { name: "pnck.asm".into(), text: "\tMVI Q,1\n".into() };
            let all = edited(behaviour, &[broken]).expect("they ship");
            let remarks = editor.check(&all).expect("it answers");
            let first = remarks.first().expect("Q is not a register");
            assert_eq!((first.file.as_str(), first.line, first.severity), ("pnck.asm", 1, "error"));
        }
    }

    #[test]
    fn the_editor_s_requests_are_answered() {
        let mut editor = Editor::new(Vec::new()).expect("it begins");
        let text = file("START:\tMVI\tA,5\t; five\n\tJMP\tSTART\n\t.END\n");
        assert!(editor.check(&[text]).expect("it answers").is_empty());
        let tokens = editor.tokens("a.asm").expect("it answers");
        assert_eq!((tokens[0].line, tokens[0].column, tokens[0].length), (1, 1, 5));
        assert!(tokens.iter().any(|token| token.line == 2 && token.kind == "keyword"));
        let hover = editor.hover(&place(2, 3)).expect("it answers");
        assert!(hover["markdown"].as_str().is_some_and(|text| text.contains("JMP")), "{hover}");
        let defined = editor.definition(&place(2, 7)).expect("it answers");
        assert_eq!(defined, Some(place(1, 1)));
        let words = editor.completion(&place(2, 7)).expect("it answers");
        let labels: Vec<_> = words["items"].as_array().expect("a list").iter().collect();
        assert!(labels.iter().any(|item| item["label"] == "START"), "{words}");
    }

    #[test]
    fn a_removed_file_has_no_messages() {
        let mut editor = Editor::new(Vec::new()).expect("it begins");
        assert_eq!(editor.check(&[file("\tMVI Q,1\n\t.END\n")]).expect("it answers").len(), 1);
        assert!(editor.check(&[]).expect("it answers").is_empty());
    }
}
