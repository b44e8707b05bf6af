//! The requests and notifications of the protocol, and what is done about each.

use std::path::{Path, PathBuf};

use lsp_server::{ErrorCode, Notification as Notice, Request as Asked, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    Notification, PublishDiagnostics,
};
use lsp_types::request::{
    Completion, DocumentHighlightRequest, DocumentSymbolRequest, FoldingRangeRequest, Formatting,
    GotoDefinition, HoverRequest, PrepareRenameRequest, References, Rename, Request,
    SemanticTokensFullRequest, WorkspaceSymbolRequest,
};
use lsp_types::{
    CompletionOptions, CompletionResponse, DocumentSymbolResponse, FoldingRangeProviderCapability,
    GotoDefinitionResponse, HoverProviderCapability, InitializeParams, InitializeResult, OneOf,
    Position, RenameOptions, SemanticTokensFullOptions, SemanticTokensOptions,
    SemanticTokensResult, ServerCapabilities, ServerInfo, TextDocumentIdentifier,
    TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextEdit,
    WorkDoneProgressOptions, WorkspaceSymbolResponse,
};
use serde::Deserialize;
use serde_json::Value;

use crate::asm::Options;
use crate::fmt;
use crate::source::bracket_pairs;

use super::completion;
use super::diagnostics::Published;
use super::documents::Document;
use super::folding;
use super::hover;
use super::navigate;
use super::rename;
use super::text::Lines;
use super::tokens;
use super::uri;
use super::workspace::Workspace;

/// What the editor can say when it begins the session, as `initializationOptions`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wishes {
    /// Symbols that are defined before the first line.
    define: std::collections::BTreeMap<String, u16>,
    /// Folders to look for inserted files in, besides that of the file.
    include: Vec<PathBuf>,
    long_symbols: bool,
    pabs: bool,
}

/// A session with an editor.
#[derive(Debug)]
pub(super) struct Session {
    workspace: Workspace,
    published: Published,
    /// Whether something changed since the editor was told what is wrong.
    stale: bool,
}

/// What keeps a request from being answered.
type Refusal = (ErrorCode, String);

impl Session {
    pub(super) fn new(options: Options) -> Self {
        let options = Options { listing: true, references: true, ..options };
        Self { workspace: Workspace::new(options), published: Published::default(), stale: false }
    }

    pub(super) fn initialize(&mut self, request: Asked) -> Response {
        let parsed = serde_json::from_value::<InitializeParams>(request.params);
        let parameters = match parsed {
            Ok(parameters) => parameters,
            Err(error) => return invalid(request.id, &error),
        };
        let wishes = parameters.initialization_options.clone().unwrap_or_default();
        match serde_json::from_value::<Option<Wishes>>(wishes) {
            Ok(wishes) => self.heed(wishes.unwrap_or_default()),
            Err(error) => return invalid(request.id, &error),
        }
        for folder in folders(&parameters) {
            self.workspace.add_folder(&folder);
        }
        let name = env!("CARGO_PKG_NAME").to_owned();
        let server_info =
            Some(ServerInfo { name, version: Some(env!("CARGO_PKG_VERSION").into()) });
        Response::new_ok(request.id, InitializeResult { capabilities: capabilities(), server_info })
    }

    fn heed(&mut self, wishes: Wishes) {
        let options = &mut self.workspace.options;
        options.defines.extend(wishes.define);
        options.include_dirs.extend(wishes.include);
        options.long_symbols |= wishes.long_symbols;
        options.absolute |= wishes.pabs;
    }

    pub(super) fn notice(&mut self, notice: Notice) {
        // A notification that says nothing we understand has no answer, so it is passed over.
        let Notice { method, params } = notice;
        match &*method {
            DidOpenTextDocument::METHOD => with::<DidOpenTextDocument>(params, |opened| {
                let document = opened.text_document;
                let path = uri::to_path(&document.uri);
                let (uri, version, text) = (document.uri, document.version, document.text);
                self.workspace.documents.open.insert(path.clone(), Document { uri, version, text });
                self.changed(&path);
            }),
            DidChangeTextDocument::METHOD => with::<DidChangeTextDocument>(params, |changed| {
                let path = uri::to_path(&changed.text_document.uri);
                if let Some(document) = self.workspace.documents.open.get_mut(&path) {
                    document.version = changed.text_document.version;
                    document.change(changed.content_changes);
                    self.changed(&path);
                }
            }),
            DidCloseTextDocument::METHOD => with::<DidCloseTextDocument>(params, |closed| {
                let path = uri::to_path(&closed.text_document.uri);
                self.workspace.documents.open.remove(&path);
                self.changed(&path);
            }),
            DidChangeWatchedFiles::METHOD => with::<DidChangeWatchedFiles>(params, |watched| {
                for change in watched.changes {
                    self.changed(&uri::to_path(&change.uri));
                }
            }),
            _ => {}
        }
    }

    fn changed(&mut self, path: &Path) {
        self.workspace.changed(path);
        self.stale = true;
    }

    /// What the editor has to be told.
    pub(super) fn news(&mut self) -> Vec<Notice> {
        if !std::mem::take(&mut self.stale) {
            return Vec::new();
        }
        self.workspace.refresh();
        let news = self.published.news(&self.workspace).into_iter();
        news.map(|one| Notice::new(PublishDiagnostics::METHOD.into(), one)).collect()
    }

    pub(super) fn answer(&mut self, request: Asked) -> Response {
        self.workspace.refresh();
        match &*request.method {
            GotoDefinition::METHOD => self.reply::<GotoDefinition>(request, |session, asked| {
                let (path, offset) = session.place(&asked.text_document_position_params)?;
                let found = navigate::definition(&session.workspace, &path, offset);
                Ok(Some(GotoDefinitionResponse::Array(found)))
            }),
            References::METHOD => self.reply::<References>(request, |session, asked| {
                let (path, offset) = session.place(&asked.text_document_position)?;
                let wanted = asked.context.include_declaration;
                Ok(Some(navigate::references(&session.workspace, &path, offset, wanted)))
            }),
            DocumentHighlightRequest::METHOD => {
                self.reply::<DocumentHighlightRequest>(request, |session, asked| {
                    let (path, offset) = session.place(&asked.text_document_position_params)?;
                    Ok(Some(navigate::highlights(&session.workspace, &path, offset)))
                })
            }
            DocumentSymbolRequest::METHOD => {
                self.reply::<DocumentSymbolRequest>(request, |session, asked| {
                    let path = uri::to_path(&asked.text_document.uri);
                    let found = navigate::symbols(&session.workspace, Some(&path), "");
                    Ok(Some(DocumentSymbolResponse::Flat(found)))
                })
            }
            WorkspaceSymbolRequest::METHOD => {
                self.reply::<WorkspaceSymbolRequest>(request, |session, asked| {
                    let found = navigate::symbols(&session.workspace, None, &asked.query);
                    Ok(Some(WorkspaceSymbolResponse::Flat(found)))
                })
            }
            HoverRequest::METHOD => self.reply::<HoverRequest>(request, |session, asked| {
                let (path, offset) = session.place(&asked.text_document_position_params)?;
                Ok(hover::hover(&session.workspace, &path, offset))
            }),
            Completion::METHOD => self.reply::<Completion>(request, |session, asked| {
                let (path, offset) = session.place(&asked.text_document_position)?;
                let found = completion::completion(&session.workspace, &path, offset);
                Ok(Some(CompletionResponse::Array(found)))
            }),
            FoldingRangeRequest::METHOD => {
                self.reply::<FoldingRangeRequest>(request, |session, asked| {
                    let (_, text) = session.text(&asked.text_document)?;
                    Ok(Some(folding::folding(&text, &bracket_pairs(&text))))
                })
            }
            SemanticTokensFullRequest::METHOD => {
                self.reply::<SemanticTokensFullRequest>(request, |session, asked| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let found = tokens::tokens(&session.workspace, &path, &text);
                    Ok(Some(SemanticTokensResult::Tokens(found)))
                })
            }
            PrepareRenameRequest::METHOD => {
                self.reply::<PrepareRenameRequest>(request, |session, asked| {
                    let (path, offset) = session.place(&asked)?;
                    rename::prepare(&session.workspace, &path, offset).map(Some).map_err(failed)
                })
            }
            Rename::METHOD => self.reply::<Rename>(request, |session, asked| {
                let (path, offset) = session.place(&asked.text_document_position)?;
                rename::rename(&session.workspace, &path, offset, &asked.new_name)
                    .map(Some)
                    .map_err(failed)
            }),
            Formatting::METHOD => self.reply::<Formatting>(request, |session, asked| {
                session.formatted(&asked.text_document)
            }),
            method => {
                let message = format!("tdlasm does not answer {method}");
                Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
            }
        }
    }

    fn reply<R: Request>(
        &mut self,
        request: Asked,
        answer: impl FnOnce(&mut Self, R::Params) -> Result<R::Result, Refusal>,
    ) -> Response {
        match serde_json::from_value(request.params) {
            Err(error) => invalid(request.id, &error),
            Ok(parameters) => match answer(self, parameters) {
                Ok(result) => Response::new_ok(request.id, result),
                Err((code, message)) => Response::new_err(request.id, code as i32, message),
            },
        }
    }

    /// The file and the offset that a request is about.
    fn place(&self, asked: &TextDocumentPositionParams) -> Result<(PathBuf, usize), Refusal> {
        let (path, text) = self.text(&asked.text_document)?;
        Ok((path, offset(&text, asked.position)))
    }

    fn text(&self, asked: &TextDocumentIdentifier) -> Result<(PathBuf, Vec<u8>), Refusal> {
        let path = uri::to_path(&asked.uri);
        let unknown = || format!("cannot read {}; open it first", asked.uri.as_str());
        let text =
            self.workspace.text(&path).ok_or_else(|| (ErrorCode::InvalidParams, unknown()))?;
        Ok((path, text))
    }

    fn formatted(&self, asked: &TextDocumentIdentifier) -> Result<Option<Vec<TextEdit>>, Refusal> {
        let (path, text) = self.text(asked)?;
        let Options { include_dirs, long_symbols, .. } = self.workspace.options.clone();
        let options = fmt::Options { include_dirs, long_symbols };
        let formatted = fmt::format(&self.workspace.documents, &path, &text, &options)
            .map_err(|error| failed(error.to_string()))?;
        Ok(Some(super::edits::between(&text, &formatted)))
    }
}

fn failed(why: String) -> Refusal {
    (ErrorCode::RequestFailed, why)
}

fn offset(text: &[u8], position: Position) -> usize {
    Lines::new(text).offset(position)
}

fn invalid(id: lsp_server::RequestId, error: &serde_json::Error) -> Response {
    Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string())
}

fn with<N: Notification>(parameters: Value, act: impl FnOnce(N::Params)) {
    if let Ok(parameters) = serde_json::from_value(parameters) {
        act(parameters);
    }
}

/// The folders that the editor shows.
fn folders(parameters: &InitializeParams) -> Vec<PathBuf> {
    if let Some(folders) = &parameters.workspace_folders {
        return folders.iter().map(|folder| uri::to_path(&folder.uri)).collect();
    }
    #[expect(deprecated, reason = "editors that know no folders name the one here")]
    parameters.root_uri.iter().map(uri::to_path).collect()
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".into(), "$".into(), "%".into()]),
            ..CompletionOptions::default()
        }),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: tokens::legend(),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_formatting_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}
