//! Handlers for the requests of the protocol.

use crate::fmt;
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare,
    CodeActionRequest, CodeLensRequest, Completion, DocumentHighlightRequest, DocumentLinkRequest,
    DocumentSymbolRequest, FoldingRangeRequest, Formatting, GotoDefinition, HoverRequest,
    InlayHintRequest, PrepareRenameRequest, RangeFormatting, References, Rename,
    Request as RequestMethod, SelectionRangeRequest, SemanticTokensFullDeltaRequest,
    SemanticTokensFullRequest, SemanticTokensRangeRequest, SignatureHelpRequest,
    WorkspaceSymbolRequest,
};
use lsp_types::{
    CallHierarchyItem, DocumentSymbolResponse, GotoDefinitionResponse, Position, SemanticTokens,
    TextDocumentIdentifier, TextDocumentPositionParams, TextEdit, WorkspaceSymbolResponse,
};

use super::session::Session;
use super::workspace::File;
use super::{
    annotations, code_actions, completion, documents, hover, navigate, outline, positions, rename,
    signatures, tokens,
};

type RequestError = (ErrorCode, String);

/// Finds the handler of a request by its method.
struct Dispatcher<'s> {
    session: &'s mut Session,
    request: Request,
    response: Option<Response>,
}

impl Dispatcher<'_> {
    /// Calls `handler` if the request is `R`.
    fn on<R: RequestMethod>(
        mut self,
        handler: impl FnOnce(&mut Session, R::Params) -> Result<R::Result, RequestError>,
    ) -> Self {
        if self.request.method == R::METHOD {
            let id = self.request.id.clone();
            self.response = Some(match serde_json::from_value(self.request.params.take()) {
                Err(error) => {
                    Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string())
                }
                Ok(parameters) => match handler(self.session, parameters) {
                    Ok(result) => Response::new_ok(id, result),
                    Err((code, message)) => Response::new_err(id, code as i32, message),
                },
            });
        }
        self
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
        let dispatcher = Dispatcher { session: self, request, response: None };
        let dispatcher = on_names(dispatcher);
        let dispatcher = on_texts(dispatcher);
        let dispatcher = on_tokens(dispatcher);
        on_changes(dispatcher).finish()
    }

    /// Returns the file and the offset that a request is about.
    fn place(&self, asked: &TextDocumentPositionParams) -> Result<(File<'_>, usize), RequestError> {
        self.place_in(&asked.text_document, asked.position)
    }

    fn place_of(&self, item: CallHierarchyItem) -> Result<(File<'_>, usize), RequestError> {
        self.place_in(&TextDocumentIdentifier { uri: item.uri }, item.selection_range.start)
    }

    fn place_in(
        &self,
        document: &TextDocumentIdentifier,
        position: Position,
    ) -> Result<(File<'_>, usize), RequestError> {
        let file = self.file(document)?;
        let offset = file.lines().offset(position);
        Ok((file, offset))
    }

    fn file(&self, document: &TextDocumentIdentifier) -> Result<File<'_>, RequestError> {
        let unknown = || format!("cannot read {}; open it first", document.uri.as_str());
        let file = self.workspace.file(documents::to_path(&document.uri));
        file.ok_or_else(|| (ErrorCode::InvalidParams, unknown()))
    }

    fn formatting_edits(
        &self,
        document: &TextDocumentIdentifier,
    ) -> Result<Vec<TextEdit>, RequestError> {
        let file = self.file(document)?;
        let options = self.workspace.format_options(&file.path);
        let formatted = fmt::format(&self.workspace.documents, &file.path, &file.text, &options)
            .map_err(|error| request_failed(error.to_string()))?;
        Ok(positions::diff_lines(&file.text, &formatted))
    }
}

fn on_names(dispatcher: Dispatcher<'_>) -> Dispatcher<'_> {
    dispatcher
        .on::<GotoDefinition>(|session, asked| {
            let (file, offset) = session.place(&asked.text_document_position_params)?;
            Ok(Some(GotoDefinitionResponse::Array(navigate::definition(&file, offset))))
        })
        .on::<References>(|session, asked| {
            let (file, offset) = session.place(&asked.text_document_position)?;
            let with_definitions = asked.context.include_declaration;
            Ok(Some(navigate::references(&file, offset, with_definitions)))
        })
        .on::<DocumentHighlightRequest>(|session, asked| {
            let (file, offset) = session.place(&asked.text_document_position_params)?;
            Ok(Some(navigate::highlights(&file, offset)))
        })
        .on::<DocumentSymbolRequest>(|session, asked| {
            let path = documents::to_path(&asked.text_document.uri);
            let found = outline::symbols(&session.workspace, Some(&path), "");
            Ok(Some(DocumentSymbolResponse::Flat(found)))
        })
        .on::<WorkspaceSymbolRequest>(|session, asked| {
            let found = outline::symbols(&session.workspace, None, &asked.query);
            Ok(Some(WorkspaceSymbolResponse::Flat(found)))
        })
        .on::<PrepareRenameRequest>(|session, asked| {
            let (file, offset) = session.place(&asked)?;
            rename::prepare(&file, offset).map(Some).map_err(request_failed)
        })
        .on::<Rename>(|session, asked| {
            let (file, offset) = session.place(&asked.text_document_position)?;
            rename::rename(&file, offset, &asked.new_name).map(Some).map_err(request_failed)
        })
        .on::<CallHierarchyPrepare>(|session, asked| {
            let (file, offset) = session.place(&asked.text_document_position_params)?;
            Ok(Some(navigate::prepare(&file, offset)))
        })
        .on::<CallHierarchyIncomingCalls>(|session, asked| {
            let (file, offset) = session.place_of(asked.item)?;
            Ok(Some(navigate::incoming(&file, offset)))
        })
        .on::<CallHierarchyOutgoingCalls>(|session, asked| {
            let (file, offset) = session.place_of(asked.item)?;
            Ok(Some(navigate::outgoing(&file, offset)))
        })
}

fn on_texts(dispatcher: Dispatcher<'_>) -> Dispatcher<'_> {
    dispatcher
        .on::<HoverRequest>(|session, asked| {
            let (file, offset) = session.place(&asked.text_document_position_params)?;
            Ok(hover::hover(&file, offset))
        })
        .on::<Completion>(|session, asked| {
            let (file, offset) = session.place(&asked.text_document_position)?;
            Ok(Some(completion::completion(&file, offset)))
        })
        .on::<SignatureHelpRequest>(|session, asked| {
            let (file, offset) = session.place(&asked.text_document_position_params)?;
            Ok(signatures::help(&file, offset))
        })
        .on::<FoldingRangeRequest>(|session, asked| {
            Ok(Some(outline::folding(&session.file(&asked.text_document)?.text)))
        })
        .on::<InlayHintRequest>(|session, asked| {
            Ok(Some(annotations::hints(&session.file(&asked.text_document)?, asked.range)))
        })
        .on::<CodeLensRequest>(|session, asked| {
            let file = session.file(&asked.text_document)?;
            Ok(Some(match documents::is_test_file(&file.path) {
                true => annotations::test_lenses(&file),
                false => annotations::lenses(&file),
            }))
        })
        .on::<SelectionRangeRequest>(|session, asked| {
            let file = session.file(&asked.text_document)?;
            let ranges = asked.positions.into_iter();
            Ok(Some(ranges.map(|position| annotations::selection(&file, position)).collect()))
        })
        .on::<DocumentLinkRequest>(|session, asked| {
            Ok(Some(outline::links(&session.file(&asked.text_document)?)))
        })
}

fn on_tokens(dispatcher: Dispatcher<'_>) -> Dispatcher<'_> {
    dispatcher
        .on::<SemanticTokensFullRequest>(|session, asked| {
            let file = session.file(&asked.text_document)?;
            let (found, path) = (tokens::tokens(&file, None), file.path);
            Ok(Some(session.token_cache.full(&path, found).into()))
        })
        .on::<SemanticTokensFullDeltaRequest>(|session, asked| {
            let file = session.file(&asked.text_document)?;
            let (found, path) = (tokens::tokens(&file, None), file.path);
            Ok(Some(session.token_cache.delta(&path, found, &asked.previous_result_id)))
        })
        .on::<SemanticTokensRangeRequest>(|session, asked| {
            let file = session.file(&asked.text_document)?;
            let data = tokens::tokens(&file, Some(file.lines().offsets(asked.range)));
            Ok(Some(SemanticTokens { result_id: None, data }.into()))
        })
}

fn on_changes(dispatcher: Dispatcher<'_>) -> Dispatcher<'_> {
    dispatcher
        .on::<CodeActionRequest>(|session, asked| {
            let file = session.file(&asked.text_document)?;
            let is_wanted = asked.context.only.as_ref().is_none_or(|only| {
                only.iter().any(|kind| ["", "quickfix"].contains(&kind.as_str()))
            });
            let found = is_wanted.then(|| code_actions::actions(&file, asked.range));
            Ok(Some(found.unwrap_or_default()))
        })
        .on::<Formatting>(|session, asked| session.formatting_edits(&asked.text_document).map(Some))
        .on::<RangeFormatting>(|session, asked| {
            let edits = session.formatting_edits(&asked.text_document)?;
            Ok(Some(positions::edits_in_range(edits, asked.range)))
        })
}

fn request_failed(why: String) -> RequestError {
    (ErrorCode::RequestFailed, why)
}
