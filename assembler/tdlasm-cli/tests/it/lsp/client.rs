//! A minimal language client, which runs the real program and shares no code with the server.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The timeout of every wait, long enough for a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// A message with its time of arrival and length.
struct Received {
    message: Value,
    at: Instant,
    bytes: usize,
}

/// A session with the running program.
pub(crate) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Received>,
    next: i64,
    /// The text and version of each open document by its URI.
    documents: HashMap<String, (String, i64)>,
    /// The last diagnostics of each document.
    pub(crate) diagnostics: HashMap<String, Value>,
    /// The time at which the last message was sent.
    pub(crate) sent: Instant,
    /// The time at which the last message was complete, and its length.
    pub(crate) arrived: Instant,
    pub(crate) bytes: usize,
}

fn spawn(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tdlasm"))
        .arg("lsp")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Reads messages to the end of the output.
fn listen(output: impl Read + Send + 'static) -> Receiver<Received> {
    let (sender, messages) = channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let mut length = None;
            loop {
                let mut header = String::new();
                if output.read_line(&mut header).unwrap_or(0) == 0 {
                    return;
                }
                let header = header.strip_suffix("\r\n").expect("headers end with CR LF");
                if header.is_empty() {
                    break;
                }
                if let Some(value) = header.strip_prefix("Content-Length: ") {
                    length = Some(value.parse().expect("a length"));
                }
            }
            let mut body = vec![0; length.expect("each message has a length")];
            output.read_exact(&mut body).expect("as many bytes as promised");
            let at = Instant::now();
            let message = serde_json::from_slice(&body).expect("JSON");
            if sender.send(Received { message, at, bytes: body.len() }).is_err() {
                return;
            }
        }
    });
    messages
}

/// The outputs and exit code of a server.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    /// The text on standard output.
    pub(crate) answered: String,
    /// The text on standard error.
    pub(crate) printed: String,
}

/// Runs a server with these bytes as input.
pub(crate) fn raw(input: &[u8], close: bool) -> Ended {
    let mut server = spawn(&[]);
    let mut stdin = server.stdin.take().expect("a pipe");
    let mut stdout = server.stdout.take().expect("a pipe");
    let mut stderr = server.stderr.take().expect("a pipe");
    // It may have ended before all is written.
    let _ = stdin.write_all(input).and_then(|()| stdin.flush());
    let kept = if close {
        drop(stdin);
        None
    } else {
        Some(stdin)
    };
    let code = wait(&mut server).code();
    drop(kept);
    let mut answered = String::new();
    let mut printed = String::new();
    stdout.read_to_string(&mut answered).expect("text");
    stderr.read_to_string(&mut printed).expect("text");
    Ended { code, answered, printed }
}

fn wait(server: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = server.try_wait().expect("a child") {
            return status;
        }
        if start.elapsed() > DEADLINE {
            let _ = server.kill();
            panic!("the server does not end");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// A message with its header.
pub(crate) fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Returns the URI of a file.
pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Client {
    /// Starts a session in a folder.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        Self::with(&[], folder)
    }

    /// Starts a session with arguments of the command line.
    pub(crate) fn with(arguments: &[&str], folder: Option<&Path>) -> Self {
        let mut server = spawn(arguments);
        let input = server.stdin.take();
        let messages = listen(server.stdout.take().expect("a pipe"));
        let documents = HashMap::new();
        let diagnostics = HashMap::new();
        let now = Instant::now();
        let mut client = Self {
            server,
            input,
            messages,
            next: 0,
            documents,
            diagnostics,
            sent: now,
            arrived: now,
            bytes: 0,
        };
        let folders = folder.map(|folder| json!([{ "uri": uri(folder), "name": "test" }]));
        let parameters = json!({
            "processId": null, "rootUri": null, "capabilities": {}, "workspaceFolders": folders,
        });
        client.request("initialize", parameters).expect("capabilities");
        client.notify("initialized", json!({}));
        client
    }

    /// The number of the server's process.
    #[allow(dead_code, reason = "for the bench")]
    pub(crate) fn process(&self) -> u32 {
        self.server.id()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("an open pipe");
        let framed = framed(message);
        self.sent = Instant::now();
        input.write_all(&framed).and_then(|()| input.flush()).expect("the server listens");
    }

    pub(crate) fn notify(&mut self, method: &str, parameters: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    /// Sends a request and returns its result, or the code and message of the error.
    pub(crate) fn request(
        &mut self,
        method: &str,
        parameters: Value,
    ) -> Result<Value, (i64, String)> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        loop {
            let message = self.receive();
            if message["id"] != id {
                continue;
            }
            return match message.get("error") {
                None => Ok(message["result"].clone()),
                Some(error) => {
                    let text = error["message"].as_str().expect("a text").to_owned();
                    Err((error["code"].as_i64().expect("a code"), text))
                }
            };
        }
    }

    /// Returns the next message; stores diagnostics.
    fn receive(&mut self) -> Value {
        let received = self.messages.recv_timeout(DEADLINE).expect("the server answers");
        let Received { message, at, bytes } = received;
        (self.arrived, self.bytes) = (at, bytes);
        if message["method"] == "textDocument/publishDiagnostics" {
            let uri = message["params"]["uri"].as_str().expect("a URI").to_owned();
            self.diagnostics.insert(uri, message["params"].clone());
        }
        message
    }

    /// Opens a document that need not be on the disk.
    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        self.documents.insert(uri.to_owned(), (text.to_owned(), 1));
        let document = json!({ "uri": uri, "languageId": "tdl", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the `nth` occurrence of `old` in a document by an incremental change.
    pub(crate) fn replace(&mut self, uri: &str, old: &str, nth: usize, new: &str) {
        let text = self.text(uri);
        let start = text.match_indices(old).nth(nth).expect("it occurs").0;
        self.splice(uri, start..start + old.len(), new);
    }

    /// The text of an open document.
    pub(crate) fn text(&self, uri: &str) -> &str {
        &self.documents[uri].0
    }

    /// Replaces a range of a document by an incremental change.
    pub(crate) fn splice(&mut self, uri: &str, range: Range<usize>, new: &str) {
        let (text, version) = self.documents.get_mut(uri).expect("an open document");
        let positions = json!({
            "start": position(text, range.start), "end": position(text, range.end),
        });
        text.replace_range(range, new);
        *version += 1;
        let document = json!({ "uri": uri, "version": version });
        let changes = json!([{ "range": positions, "text": new }]);
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": changes }),
        );
    }

    /// The diagnostics of the current version of a document: `line:character: code message`, in the
    /// order of places.
    pub(crate) fn messages(&mut self, uri: &str) -> Vec<String> {
        let version = self.documents[uri].1;
        while self.diagnostics.get(uri).is_none_or(|found| found["version"] != version) {
            self.receive();
        }
        let found = self.diagnostics[uri]["diagnostics"].as_array().expect("a list");
        let shown = found.iter().map(|one| {
            let start = &one["range"]["start"];
            let text = one["message"].as_str().expect("a text").lines().next().unwrap_or_default();
            let code = one["code"].as_str().expect("a code");
            format!("{}:{}: {code} {text}", start["line"], start["character"])
        });
        shown.collect()
    }

    /// Sends a request for the position of the `nth` occurrence of `word` in an open document.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        uri: &str,
        (word, nth): (&str, usize),
        more: Value,
    ) -> Result<Value, (i64, String)> {
        let text = &self.documents[uri].0;
        let at = text.match_indices(word).nth(nth).unwrap_or_else(|| panic!("no {word}")).0;
        let mut parameters =
            json!({ "textDocument": { "uri": uri }, "position": position(text, at) });
        for (key, value) in more.as_object().into_iter().flatten() {
            parameters[key] = value.clone();
        }
        self.request(method, parameters)
    }

    /// Ends the session by the protocol; returns the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        assert_eq!(self.request("shutdown", Value::Null), Ok(Value::Null));
        self.notify("exit", Value::Null);
        wait(&mut self.server).code()
    }

    /// Closes the input without a message; returns the exit code.
    pub(crate) fn hang_up(mut self) -> Option<i32> {
        drop(self.input.take());
        wait(&mut self.server).code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // On success it has ended already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The line and the character, counted in units of UTF-16, of an offset.
pub(crate) fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    json!({
        "line": before.matches('\n').count(),
        "character": before[start..].encode_utf16().count(),
    })
}

/// The places of a result: `file:line:character-character`.
pub(crate) fn places(result: &Value) -> Vec<String> {
    let one = |place: &Value| {
        let start = &place["range"]["start"];
        let end = &place["range"]["end"];
        let uri = place["uri"].as_str().map(PathBuf::from).unwrap_or_default();
        let file = uri.file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("{file}:{}:{}-{}", start["line"], start["character"], end["character"])
    };
    result.as_array().expect("a list").iter().map(one).collect()
}
