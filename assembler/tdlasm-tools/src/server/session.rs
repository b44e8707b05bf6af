//! The state of a session with an editor: initialization and notifications in both directions.

use std::path::{Path, PathBuf};

use lsp_server::{ErrorCode, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    Notification as NotificationMethod, PublishDiagnostics,
};
use lsp_types::request::{RegisterCapability, Request as _};
use lsp_types::{CodeActionKind, InitializeParams, TextDocumentSyncKind};
use serde_json::{Value, json};
use tdlasm::asm::Options;
use tdlasm::project::FILE_NAME;

use super::diagnostics::PublishedDiagnostics;
use super::workspace::Workspace;
use super::{documents, tokens};

#[derive(Debug)]
pub(super) struct Session {
    pub(super) workspace: Workspace,
    published: PublishedDiagnostics,
    /// The semantic tokens sent last.
    /// Whether the editor supports registration of file watchers.
    can_watch_files: bool,
    /// Whether sources have changed since diagnostics were published.
    stale: bool,
}

impl Session {
    pub(super) fn new(options: Options) -> Self {
        Self {
            workspace: Workspace::new(options),
            published: PublishedDiagnostics::default(),
            can_watch_files: false,
            stale: false,
        }
    }

    pub(super) fn initialize(&mut self, request: Request) -> Response {
        match serde_json::from_value(request.params) {
            Ok(asked) => Response::new_ok(request.id, self.begin(&asked)),
            Err(error) => {
                let code = ErrorCode::InvalidParams as i32;
                Response::new_err(request.id, code, error.to_string())
            }
        }
    }

    fn begin(&mut self, parameters: &InitializeParams) -> Value {
        let workspace = parameters.capabilities.workspace.as_ref();
        let watched = workspace.and_then(|one| one.did_change_watched_files);
        self.can_watch_files = watched.and_then(|one| one.dynamic_registration).unwrap_or(false);
        for folder in folders(parameters) {
            self.workspace.add_folder(&folder);
        }
        let server_info =
            json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") });
        json!({ "capabilities": capabilities(), "serverInfo": server_info })
    }

    /// Returns the request to watch source and project files, if the editor supports it.
    pub(super) fn file_watch_registration(&self) -> Option<Request> {
        let sources = json!({ "globPattern": "**/*.{asm,ASM,z80,Z80}" });
        let projects = json!({ "globPattern": format!("**/{FILE_NAME}") });
        let registration = json!({
            "id": "watched-files",
            "method": DidChangeWatchedFiles::METHOD,
            "registerOptions": { "watchers": [sources, projects] },
        });
        let parameters = json!({ "registrations": [registration] });
        let id = lsp_server::RequestId::from("register-watched-files".to_owned());
        self.can_watch_files
            .then(|| Request::new(id, RegisterCapability::METHOD.into(), parameters))
    }

    pub(super) fn handle_notification(&mut self, notification: Notification) {
        // Notifications have no reply, so invalid and unknown ones are ignored.
        let Notification { method, params } = notification;
        match &*method {
            DidOpenTextDocument::METHOD => with_params::<DidOpenTextDocument>(params, |opened| {
                let path = documents::to_path(&opened.text_document.uri);
                self.published.forget(&path);
                self.workspace.documents.open.insert(path.clone(), opened.text_document);
                self.changed(&path);
            }),
            DidChangeTextDocument::METHOD => {
                with_params::<DidChangeTextDocument>(params, |changed| {
                    let path = documents::to_path(&changed.text_document.uri);
                    if let Some(document) = self.workspace.documents.open.get_mut(&path) {
                        document.version = changed.text_document.version;
                        documents::apply_changes(&mut document.text, changed.content_changes);
                        self.changed(&path);
                    }
                })
            }
            DidCloseTextDocument::METHOD => with_params::<DidCloseTextDocument>(params, |closed| {
                let path = documents::to_path(&closed.text_document.uri);
                self.workspace.documents.open.remove(&path);
                self.changed(&path);
            }),
            DidChangeWatchedFiles::METHOD => {
                with_params::<DidChangeWatchedFiles>(params, |watched| {
                    for change in watched.changes {
                        self.changed(&documents::to_path(&change.uri));
                    }
                })
            }
            _ => {}
        }
    }

    fn changed(&mut self, path: &Path) {
        self.workspace.file_changed(path);
        self.stale = true;
    }

    pub(super) fn pending_notifications(&mut self) -> Vec<Notification> {
        if !std::mem::take(&mut self.stale) {
            return Vec::new();
        }
        self.workspace.refresh();
        let news = self.published.take_changed(&self.workspace).into_iter();
        news.map(|one| Notification::new(PublishDiagnostics::METHOD.into(), one)).collect()
    }
}

fn with_params<N: NotificationMethod>(parameters: Value, act: impl FnOnce(N::Params)) {
    if let Ok(parameters) = serde_json::from_value(parameters) {
        act(parameters);
    }
}

fn folders(parameters: &InitializeParams) -> Vec<PathBuf> {
    if let Some(folders) = &parameters.workspace_folders {
        return folders.iter().map(|folder| documents::to_path(&folder.uri)).collect();
    }
    #[expect(deprecated, reason = "editors that know no folders name the one here")]
    parameters.root_uri.iter().map(documents::to_path).collect()
}

fn capabilities() -> Value {
    json!({
        "textDocumentSync": TextDocumentSyncKind::INCREMENTAL,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": [".", "$", "%"] },
        "signatureHelpProvider": { "triggerCharacters": [" ", "\t", ","] },
        "inlayHintProvider": true,
        "codeLensProvider": {},
        "foldingRangeProvider": true,
        "semanticTokensProvider": {
            "legend": tokens::legend(),
            "full": true,
        },
        "renameProvider": { "prepareProvider": true },
        "documentFormattingProvider": true,
        "documentRangeFormattingProvider": true,
        "documentLinkProvider": {},
        "callHierarchyProvider": true,
        "codeActionProvider": { "codeActionKinds": [CodeActionKind::QUICKFIX] },
    })
}
