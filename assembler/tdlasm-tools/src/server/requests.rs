//! Handlers for the requests of the protocol.

use crate::fmt;
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::request::{self, Request as RequestMethod};
use lsp_types::{
    CallHierarchyItem, DocumentSymbolResponse, GotoDefinitionResponse, Position, SemanticTokens,
    TextDocumentIdentifier, TextEdit, WorkspaceSymbolResponse,
};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::session::Session;
use super::workspace::File;
use super::{
    annotations, code_actions, completion, documents, hover, navigate, outline, positions, rename,
    signatures, tokens,
};

type RequestError = (ErrorCode, String);

/// The document that a request is about, and perhaps a position in it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPlace {
    text_document: TextDocumentIdentifier,
    #[serde(default)]
    position: Position,
}

/// Finds the handler of a request by its method.
struct Dispatcher<'s> {
    session: &'s mut Session,
    request: Request,
    response: Option<Response>,
}

impl Dispatcher<'_> {
    /// Calls `handler` if the request is `R`; `P` is read from the same parameters.
    fn handle<R: RequestMethod, P: DeserializeOwned>(
        mut self,
        handler: impl FnOnce(&mut Session, P, R::Params) -> Result<R::Result, RequestError>,
    ) -> Self {
        if self.request.method == R::METHOD {
            let params = self.request.params.take();
            let read = P::deserialize(&params)
                .and_then(|place| Ok((place, serde_json::from_value(params)?)));
            let result = read
                .map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
                .and_then(|(place, params)| handler(self.session, place, params));
            let id = self.request.id.clone();
            self.response = Some(match result {
                Ok(result) => Response::new_ok(id, result),
                Err((code, message)) => Response::new_err(id, code as i32, message),
            });
        }
        self
    }

    /// Calls `handler` if the request is `R`.
    fn on<R: RequestMethod>(
        self,
        handler: impl FnOnce(&mut Session, R::Params) -> Result<R::Result, RequestError>,
    ) -> Self {
        self.handle::<R, IgnoredAny>(|session, _, params| handler(session, params))
    }

    /// Calls `handler` with the file that the request is about, if it is `R`.
    fn on_file<R: RequestMethod>(
        self,
        handler: impl FnOnce(&File<'_>, R::Params) -> Result<R::Result, RequestError>,
    ) -> Self {
        self.handle::<R, RequestPlace>(|session, place, params| {
            handler(&session.file(&place.text_document)?, params)
        })
    }

    /// Calls `handler` with the file and the offset that the request is about, if it is `R`.
    fn on_place<R: RequestMethod>(
        self,
        handler: impl FnOnce(&File<'_>, usize, R::Params) -> Result<R::Result, RequestError>,
    ) -> Self {
        self.handle::<R, RequestPlace>(|session, place, params| {
            let file = session.file(&place.text_document)?;
            let offset = file.lines().offset(place.position);
            handler(&file, offset, params)
        })
    }

    fn finish(self) -> Response {
        let Request { id, method, .. } = self.request;
        let message = format!("unsupported method {method}");
        let unknown = || Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
        self.response.unwrap_or_else(unknown)
    }
}

impl Session {
    pub(super) fn handle_request(&mut self, request: Request) -> Response {
        self.workspace.refresh();
        with_handlers(Dispatcher { session: self, request, response: None }).finish()
    }

    fn file(&self, document: &TextDocumentIdentifier) -> Result<File<'_>, RequestError> {
        let unknown = || format!("cannot read {}; open it first", document.uri.as_str());
        let file = self.workspace.file(documents::to_path(&document.uri));
        file.ok_or_else(|| (ErrorCode::InvalidParams, unknown()))
    }

    /// Returns the file and the offset of a routine's name.
    fn routine(&self, item: CallHierarchyItem) -> Result<(File<'_>, usize), RequestError> {
        let file = self.file(&TextDocumentIdentifier { uri: item.uri })?;
        let offset = file.lines().offset(item.selection_range.start);
        Ok((file, offset))
    }
}

/// Offers the request to the handlers of all methods.
fn with_handlers(dispatcher: Dispatcher<'_>) -> Dispatcher<'_> {
    dispatcher
        .on_place::<request::GotoDefinition>(|file, offset, _| {
            Ok(Some(GotoDefinitionResponse::Array(navigate::definition(file, offset))))
        })
        .on_place::<request::References>(|file, offset, asked| {
            Ok(Some(navigate::references(file, offset, asked.context.include_declaration)))
        })
        .on_place::<request::DocumentHighlightRequest>(|file, offset, _| {
            Ok(Some(navigate::highlights(file, offset)))
        })
        .on::<request::DocumentSymbolRequest>(|session, asked| {
            let path = documents::to_path(&asked.text_document.uri);
            let found = outline::symbols(&session.workspace, Some(&path), "");
            Ok(Some(DocumentSymbolResponse::Flat(found)))
        })
        .on::<request::WorkspaceSymbolRequest>(|session, asked| {
            let found = outline::symbols(&session.workspace, None, &asked.query);
            Ok(Some(WorkspaceSymbolResponse::Flat(found)))
        })
        .on_place::<request::PrepareRenameRequest>(|file, offset, _| {
            rename::prepare(file, offset).map(Some).map_err(request_failed)
        })
        .on_place::<request::Rename>(|file, offset, asked| {
            rename::rename(file, offset, &asked.new_name).map(Some).map_err(request_failed)
        })
        .on_place::<request::CallHierarchyPrepare>(|file, offset, _| {
            Ok(Some(navigate::prepare(file, offset)))
        })
        .on::<request::CallHierarchyIncomingCalls>(|session, asked| {
            let (file, offset) = session.routine(asked.item)?;
            Ok(Some(navigate::incoming(&file, offset)))
        })
        .on::<request::CallHierarchyOutgoingCalls>(|session, asked| {
            let (file, offset) = session.routine(asked.item)?;
            Ok(Some(navigate::outgoing(&file, offset)))
        })
        .on_place::<request::HoverRequest>(|file, offset, _| Ok(hover::hover(file, offset)))
        .on_place::<request::Completion>(|file, offset, _| {
            Ok(Some(completion::completion(file, offset)))
        })
        .on_place::<request::SignatureHelpRequest>(|file, offset, _| {
            Ok(signatures::help(file, offset))
        })
        .on_file::<request::FoldingRangeRequest>(|file, _| Ok(Some(outline::folding(file))))
        .on_file::<request::InlayHintRequest>(|file, asked| {
            Ok(Some(annotations::hints(file, asked.range)))
        })
        .on_file::<request::CodeLensRequest>(|file, _| {
            Ok(Some(match documents::is_test_file(&file.path) {
                true => annotations::test_lenses(file),
                false => annotations::lenses(file),
            }))
        })
        .on_file::<request::DocumentLinkRequest>(|file, _| Ok(Some(outline::links(file))))
        .on_file::<request::SemanticTokensFullRequest>(|file, _| {
            let data = tokens::tokens(file);
            Ok(Some(SemanticTokens { result_id: None, data }.into()))
        })
        .on_file::<request::CodeActionRequest>(|file, asked| {
            let is_wanted = asked.context.only.as_ref().is_none_or(|only| {
                only.iter().any(|kind| ["", "quickfix"].contains(&kind.as_str()))
            });
            let found = is_wanted.then(|| code_actions::actions(file, asked.range));
            Ok(Some(found.unwrap_or_default()))
        })
        .on_file::<request::Formatting>(|file, _| formatting_edits(file).map(Some))
        .on_file::<request::RangeFormatting>(|file, asked| {
            Ok(Some(positions::edits_in_range(formatting_edits(file)?, asked.range)))
        })
}

fn formatting_edits(file: &File<'_>) -> Result<Vec<TextEdit>, RequestError> {
    let documents = &file.workspace.documents;
    let formatted = fmt::format(documents, &file.path, &file.text, &file.options())
        .map_err(|error| request_failed(error.to_string()))?;
    Ok(positions::diff_lines(&file.text, &formatted))
}

fn request_failed(why: String) -> RequestError {
    (ErrorCode::RequestFailed, why)
}
