//! Handlers for the requests of the protocol.

use std::path::PathBuf;

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
    CallHierarchyItem, DocumentSymbolParams, GotoDefinitionResponse, Position,
    SemanticTokensDeltaParams, SemanticTokensParams, SemanticTokensRangeParams,
    TextDocumentIdentifier, TextDocumentPositionParams, TextEdit, WorkspaceSymbolParams,
};
use serde::de::DeserializeOwned;
use tdlasm::asm::Options;
use tdlasm_rewrite::fmt;

use super::outgoing::{Outgoing, Reply, invalid_params};
use super::positions::LineIndex;
use super::session::Session;
use super::tokens::Tokens;
use super::{
    annotations, code_actions, completion, documents, hover, navigate, outline, positions, rename,
    signatures, tokens,
};

type RequestError = (ErrorCode, String);

impl Session {
    pub(super) fn handle_request(&mut self, request: Request) -> Outgoing {
        self.workspace.refresh();
        match &*request.method {
            GotoDefinition::METHOD
            | References::METHOD
            | DocumentHighlightRequest::METHOD
            | DocumentSymbolRequest::METHOD
            | WorkspaceSymbolRequest::METHOD
            | PrepareRenameRequest::METHOD
            | Rename::METHOD => self.handle_name_request(request),
            CallHierarchyPrepare::METHOD
            | CallHierarchyIncomingCalls::METHOD
            | CallHierarchyOutgoingCalls::METHOD => self.handle_call_request(request),
            CodeActionRequest::METHOD
            | DocumentLinkRequest::METHOD
            | Formatting::METHOD
            | RangeFormatting::METHOD => self.handle_change_request(request),
            _ => self.handle_text_request(request),
        }
    }

    fn handle_name_request(&mut self, request: Request) -> Outgoing {
        match &*request.method {
            GotoDefinition::METHOD => self.reply::<GotoDefinition>(request, |session, asked| {
                let (path, offset) = session.file_position(&asked.text_document_position_params)?;
                let found = navigate::definition(&session.workspace, &path, offset);
                Ok(Some(GotoDefinitionResponse::Array(found)))
            }),
            References::METHOD => self.reply::<References>(request, |session, asked| {
                let (path, offset) = session.file_position(&asked.text_document_position)?;
                let wanted = asked.context.include_declaration;
                Ok(Some(navigate::references(&session.workspace, &path, offset, wanted)))
            }),
            DocumentHighlightRequest::METHOD => {
                self.reply::<DocumentHighlightRequest>(request, |session, asked| {
                    let (path, offset) =
                        session.file_position(&asked.text_document_position_params)?;
                    Ok(Some(navigate::highlights(&session.workspace, &path, offset)))
                })
            }
            DocumentSymbolRequest::METHOD => {
                let id = request.id.clone();
                self.reply_with(request, |session, asked: DocumentSymbolParams| {
                    let path = documents::to_path(&asked.text_document.uri);
                    let found = outline::symbols(&session.workspace, Some(&path), "");
                    Reply::new(id, &found).map_err(serialize_error)
                })
            }
            WorkspaceSymbolRequest::METHOD => {
                let id = request.id.clone();
                self.reply_with(request, |session, asked: WorkspaceSymbolParams| {
                    let found = outline::symbols(&session.workspace, None, &asked.query);
                    Reply::new(id, &found).map_err(serialize_error)
                })
            }
            PrepareRenameRequest::METHOD => {
                self.reply::<PrepareRenameRequest>(request, |session, asked| {
                    let (path, offset) = session.file_position(&asked)?;
                    rename::prepare(&session.workspace, &path, offset)
                        .map(Some)
                        .map_err(request_failed)
                })
            }
            Rename::METHOD => self.reply::<Rename>(request, |session, asked| {
                let (path, offset) = session.file_position(&asked.text_document_position)?;
                rename::rename(&session.workspace, &path, offset, &asked.new_name)
                    .map(Some)
                    .map_err(request_failed)
            }),
            _ => method_not_found(request),
        }
    }

    fn handle_text_request(&mut self, request: Request) -> Outgoing {
        match &*request.method {
            HoverRequest::METHOD => self.reply::<HoverRequest>(request, |session, asked| {
                let (path, offset) = session.file_position(&asked.text_document_position_params)?;
                Ok(hover::hover(&session.workspace, &path, offset))
            }),
            Completion::METHOD => self.reply::<Completion>(request, |session, asked| {
                let (path, offset) = session.file_position(&asked.text_document_position)?;
                Ok(Some(completion::completion(&session.workspace, &path, offset)))
            }),
            SignatureHelpRequest::METHOD => {
                self.reply::<SignatureHelpRequest>(request, |session, asked| {
                    let (path, offset) =
                        session.file_position(&asked.text_document_position_params)?;
                    Ok(signatures::help(&session.workspace, &path, offset))
                })
            }
            FoldingRangeRequest::METHOD => {
                self.reply::<FoldingRangeRequest>(request, |session, asked| {
                    let (_, text) = session.text(&asked.text_document)?;
                    Ok(Some(outline::folding(&text)))
                })
            }
            InlayHintRequest::METHOD => {
                self.reply::<InlayHintRequest>(request, |session, asked| {
                    let (path, text) = session.text(&asked.text_document)?;
                    Ok(Some(annotations::hints(&session.workspace, &path, &text, asked.range)))
                })
            }
            CodeLensRequest::METHOD => self.reply::<CodeLensRequest>(request, |session, asked| {
                let (path, text) = session.text(&asked.text_document)?;
                Ok(Some(match documents::is_test_file(&path) {
                    true => annotations::test_lenses(&path, &text),
                    false => annotations::lenses(&session.workspace, &path, &text),
                }))
            }),
            SelectionRangeRequest::METHOD => {
                self.reply::<SelectionRangeRequest>(request, |session, asked| {
                    let (_, text) = session.text(&asked.text_document)?;
                    let one = |position| annotations::selection(&text, offset(&text, position));
                    Ok(Some(asked.positions.into_iter().map(one).collect()))
                })
            }
            _ => self.handle_token_request(request),
        }
    }

    fn handle_token_request(&mut self, request: Request) -> Outgoing {
        let id = request.id.clone();
        match &*request.method {
            SemanticTokensFullRequest::METHOD => {
                self.reply_with(request, |session, asked: SemanticTokensParams| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let found = tokens::tokens(&session.workspace, &path, &text, None);
                    Reply::new(id, &session.token_cache.full(&path, found)).map_err(serialize_error)
                })
            }
            SemanticTokensFullDeltaRequest::METHOD => {
                self.reply_with(request, |session, asked: SemanticTokensDeltaParams| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let found = tokens::tokens(&session.workspace, &path, &text, None);
                    let delta = session.token_cache.delta(&path, found, &asked.previous_result_id);
                    Reply::new(id, &delta).map_err(serialize_error)
                })
            }
            SemanticTokensRangeRequest::METHOD => {
                self.reply_with(request, |session, asked: SemanticTokensRangeParams| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let lines = LineIndex::new(&text);
                    let range = lines.offset(asked.range.start)..lines.offset(asked.range.end);
                    let found = tokens::tokens(&session.workspace, &path, &text, Some(range));
                    Reply::new(id, &Tokens::without_id(found)).map_err(serialize_error)
                })
            }
            _ => method_not_found(request),
        }
    }

    fn handle_call_request(&mut self, request: Request) -> Outgoing {
        match &*request.method {
            CallHierarchyPrepare::METHOD => {
                self.reply::<CallHierarchyPrepare>(request, |session, asked| {
                    let (path, offset) =
                        session.file_position(&asked.text_document_position_params)?;
                    Ok(Some(navigate::prepare(&session.workspace, &path, offset)))
                })
            }
            CallHierarchyIncomingCalls::METHOD => {
                self.reply::<CallHierarchyIncomingCalls>(request, |session, asked| {
                    let (path, offset) = session.file_position_of(&asked.item)?;
                    Ok(Some(navigate::incoming(&session.workspace, &path, offset)))
                })
            }
            CallHierarchyOutgoingCalls::METHOD => {
                self.reply::<CallHierarchyOutgoingCalls>(request, |session, asked| {
                    let (path, offset) = session.file_position_of(&asked.item)?;
                    Ok(Some(navigate::outgoing(&session.workspace, &path, offset)))
                })
            }
            _ => method_not_found(request),
        }
    }

    fn handle_change_request(&mut self, request: Request) -> Outgoing {
        match &*request.method {
            CodeActionRequest::METHOD => {
                self.reply::<CodeActionRequest>(request, |session, asked| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let is_wanted = asked.context.only.as_ref().is_none_or(|only| {
                        only.iter().any(|kind| ["", "quickfix"].contains(&kind.as_str()))
                    });
                    let found =
                        code_actions::actions(&session.workspace, &path, &text, asked.range);
                    Ok(Some(if is_wanted { found } else { Vec::new() }))
                })
            }
            DocumentLinkRequest::METHOD => {
                self.reply::<DocumentLinkRequest>(request, |session, asked| {
                    let (path, text) = session.text(&asked.text_document)?;
                    Ok(Some(outline::links(&session.workspace, &path, &text)))
                })
            }
            Formatting::METHOD => self.reply::<Formatting>(request, |session, asked| {
                session.formatting_edits(&asked.text_document)
            }),
            RangeFormatting::METHOD => self.reply::<RangeFormatting>(request, |session, asked| {
                let edits = session.formatting_edits(&asked.text_document)?;
                Ok(edits.map(|edits| positions::edits_in_range(edits, asked.range)))
            }),
            _ => method_not_found(request),
        }
    }

    fn reply<R: RequestMethod>(
        &mut self,
        request: Request,
        answer: impl FnOnce(&mut Self, R::Params) -> Result<R::Result, RequestError>,
    ) -> Outgoing {
        let id = request.id.clone();
        self.reply_with(request, |session, asked| {
            let result = answer(session, asked)?;
            Reply::new(id, &result).map_err(serialize_error)
        })
    }

    /// Replies to a request with a result that is serialized already.
    fn reply_with<P: DeserializeOwned>(
        &mut self,
        request: Request,
        answer: impl FnOnce(&mut Self, P) -> Result<Reply, RequestError>,
    ) -> Outgoing {
        match serde_json::from_value(request.params) {
            Err(error) => invalid_params(request.id, &error).into(),
            Ok(parameters) => match answer(self, parameters) {
                Ok(answer) => Outgoing::Answer(answer),
                Err((code, message)) => Response::new_err(request.id, code as i32, message).into(),
            },
        }
    }

    fn file_position(
        &self,
        asked: &TextDocumentPositionParams,
    ) -> Result<(PathBuf, usize), RequestError> {
        let (path, text) = self.text(&asked.text_document)?;
        Ok((path, offset(&text, asked.position)))
    }

    fn file_position_of(&self, item: &CallHierarchyItem) -> Result<(PathBuf, usize), RequestError> {
        let (path, text) = self.text(&TextDocumentIdentifier { uri: item.uri.clone() })?;
        Ok((path, offset(&text, item.selection_range.start)))
    }

    fn text(&self, asked: &TextDocumentIdentifier) -> Result<(PathBuf, Vec<u8>), RequestError> {
        let path = documents::to_path(&asked.uri);
        let unknown = || format!("cannot read {}; open it first", asked.uri.as_str());
        let text =
            self.workspace.text(&path).ok_or_else(|| (ErrorCode::InvalidParams, unknown()))?;
        Ok((path, text))
    }

    fn formatting_edits(
        &self,
        asked: &TextDocumentIdentifier,
    ) -> Result<Option<Vec<TextEdit>>, RequestError> {
        let (path, text) = self.text(asked)?;
        let Options { include_dirs, long_symbols, .. } = self.workspace.options(&path);
        let options = fmt::Options { include_dirs, long_symbols };
        let formatted = fmt::format(&self.workspace.documents, &path, &text, &options)
            .map_err(|error| request_failed(error.to_string()))?;
        Ok(Some(positions::diff_lines(&text, &formatted)))
    }
}

fn request_failed(why: String) -> RequestError {
    (ErrorCode::RequestFailed, why)
}

fn serialize_error(error: serde_json::Error) -> RequestError {
    request_failed(error.to_string())
}

fn offset(text: &[u8], position: Position) -> usize {
    LineIndex::new(text).offset(position)
}

fn method_not_found(request: Request) -> Outgoing {
    let message = format!("unsupported method {}", request.method);
    Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message).into()
}
