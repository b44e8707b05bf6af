//! The requests of the protocol, and how each is answered.

use std::path::PathBuf;

use lsp_server::{ErrorCode, Request as Asked, Response};
use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare,
    CodeActionRequest, Completion, DocumentHighlightRequest, DocumentLinkRequest,
    DocumentSymbolRequest, FoldingRangeRequest, Formatting, GotoDefinition, HoverRequest,
    PrepareRenameRequest, RangeFormatting, References, Rename, Request,
    SemanticTokensFullDeltaRequest, SemanticTokensFullRequest, WorkspaceSymbolRequest,
};
use lsp_types::{
    CallHierarchyItem, CompletionResponse, DocumentSymbolResponse, GotoDefinitionResponse,
    Position, SemanticTokensResult, TextDocumentIdentifier, TextDocumentPositionParams, TextEdit,
    WorkspaceSymbolResponse,
};

use tdlasm::asm::Options;
use tdlasm_rewrite::fmt;

use super::session::Session;
use super::text::Lines;
use super::{
    actions, calls, completion, edits, folding, hover, links, navigate, rename, tokens, uri,
};

/// The reason why a request cannot be answered.
type Refusal = (ErrorCode, String);

impl Session {
    /// The answer to a request.
    pub(super) fn answer(&mut self, request: Asked) -> Response {
        self.workspace.refresh();
        match &*request.method {
            GotoDefinition::METHOD
            | References::METHOD
            | DocumentHighlightRequest::METHOD
            | DocumentSymbolRequest::METHOD
            | WorkspaceSymbolRequest::METHOD
            | PrepareRenameRequest::METHOD
            | Rename::METHOD => self.about_names(request),
            CallHierarchyPrepare::METHOD
            | CallHierarchyIncomingCalls::METHOD
            | CallHierarchyOutgoingCalls::METHOD => self.about_calls(request),
            CodeActionRequest::METHOD
            | DocumentLinkRequest::METHOD
            | Formatting::METHOD
            | RangeFormatting::METHOD => self.about_changes(request),
            _ => self.about_texts(request),
        }
    }

    /// Requests about names wherever they stand.
    fn about_names(&mut self, request: Asked) -> Response {
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
            _ => unknown(request),
        }
    }

    /// Requests about a text, or a place in it.
    fn about_texts(&mut self, request: Asked) -> Response {
        match &*request.method {
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
                    Ok(Some(folding::folding(&text)))
                })
            }
            SemanticTokensFullRequest::METHOD => {
                self.reply::<SemanticTokensFullRequest>(request, |session, asked| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let found = tokens::tokens(&session.workspace, &path, &text);
                    let found = session.given.full(&path, found);
                    Ok(Some(SemanticTokensResult::Tokens(found)))
                })
            }
            SemanticTokensFullDeltaRequest::METHOD => {
                self.reply::<SemanticTokensFullDeltaRequest>(request, |session, asked| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let found = tokens::tokens(&session.workspace, &path, &text);
                    let from = &asked.previous_result_id;
                    Ok(Some(session.given.delta(&path, found, from)))
                })
            }
            _ => unknown(request),
        }
    }

    /// Requests about routines and their callers.
    fn about_calls(&mut self, request: Asked) -> Response {
        match &*request.method {
            CallHierarchyPrepare::METHOD => {
                self.reply::<CallHierarchyPrepare>(request, |session, asked| {
                    let (path, offset) = session.place(&asked.text_document_position_params)?;
                    Ok(Some(calls::prepare(&session.workspace, &path, offset)))
                })
            }
            CallHierarchyIncomingCalls::METHOD => {
                self.reply::<CallHierarchyIncomingCalls>(request, |session, asked| {
                    let (path, offset) = session.routine(&asked.item)?;
                    Ok(Some(calls::incoming(&session.workspace, &path, offset)))
                })
            }
            CallHierarchyOutgoingCalls::METHOD => {
                self.reply::<CallHierarchyOutgoingCalls>(request, |session, asked| {
                    let (path, offset) = session.routine(&asked.item)?;
                    Ok(Some(calls::outgoing(&session.workspace, &path, offset)))
                })
            }
            _ => unknown(request),
        }
    }

    /// Requests about what could be changed in a text, and where it leads.
    fn about_changes(&mut self, request: Asked) -> Response {
        match &*request.method {
            CodeActionRequest::METHOD => {
                self.reply::<CodeActionRequest>(request, |session, asked| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let is_wanted = asked.context.only.as_ref().is_none_or(|only| {
                        only.iter().any(|kind| ["", "quickfix"].contains(&kind.as_str()))
                    });
                    let found = actions::actions(&session.workspace, &path, &text, asked.range);
                    Ok(Some(if is_wanted { found } else { Vec::new() }))
                })
            }
            DocumentLinkRequest::METHOD => {
                self.reply::<DocumentLinkRequest>(request, |session, asked| {
                    let (path, text) = session.text(&asked.text_document)?;
                    Ok(Some(links::links(&session.workspace, &path, &text)))
                })
            }
            Formatting::METHOD => self.reply::<Formatting>(request, |session, asked| {
                session.formatted(&asked.text_document)
            }),
            RangeFormatting::METHOD => self.reply::<RangeFormatting>(request, |session, asked| {
                let edits = session.formatted(&asked.text_document)?;
                Ok(edits.map(|edits| edits::within(edits, asked.range)))
            }),
            _ => unknown(request),
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

    /// The file and the offset of the name of a routine that the editor was given.
    fn routine(&self, item: &CallHierarchyItem) -> Result<(PathBuf, usize), Refusal> {
        let (path, text) = self.text(&TextDocumentIdentifier { uri: item.uri.clone() })?;
        Ok((path, offset(&text, item.selection_range.start)))
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
        let Options { include_dirs, long_symbols, .. } = self.workspace.options(&path);
        let options = fmt::Options { include_dirs, long_symbols };
        let formatted = fmt::format(&self.workspace.documents, &path, &text, &options)
            .map_err(|error| failed(error.to_string()))?;
        Ok(Some(edits::between(&text, &formatted)))
    }
}

fn failed(why: String) -> Refusal {
    (ErrorCode::RequestFailed, why)
}

fn offset(text: &[u8], position: Position) -> usize {
    Lines::new(text).offset(position)
}

pub(super) fn invalid(id: lsp_server::RequestId, error: &serde_json::Error) -> Response {
    Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string())
}

fn unknown(request: Asked) -> Response {
    let message = format!("tdlasm does not answer {}", request.method);
    Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
}
