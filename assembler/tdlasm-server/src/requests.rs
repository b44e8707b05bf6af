//! The requests of the protocol, and how each is answered.

use std::path::PathBuf;

use lsp_server::{ErrorCode, Request as Asked, Response};
use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare,
    CodeActionRequest, Completion, DocumentHighlightRequest, DocumentLinkRequest,
    DocumentSymbolRequest, FoldingRangeRequest, Formatting, GotoDefinition, HoverRequest,
    PrepareRenameRequest, RangeFormatting, References, Rename, Request,
    SemanticTokensFullDeltaRequest, SemanticTokensFullRequest, SemanticTokensRangeRequest,
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

use super::given::Tokens;
use super::outgoing::{Answer, Outgoing};
use super::session::Session;
use super::text::Lines;
use super::{
    actions, calls, completion, edits, folding, hover, links, navigate, rename, symbols, tokens,
    uri,
};

/// The reason why a request cannot be answered.
type Refusal = (ErrorCode, String);

impl Session {
    /// The answer to a request.
    pub(super) fn answer(&mut self, request: Asked) -> Outgoing {
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
    fn about_names(&mut self, request: Asked) -> Outgoing {
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
                let id = request.id.clone();
                self.reply_with(request, |session, asked: DocumentSymbolParams| {
                    let path = uri::to_path(&asked.text_document.uri);
                    let found = symbols::symbols(&session.workspace, Some(&path), "");
                    Answer::new(id, &found).map_err(unsaid)
                })
            }
            WorkspaceSymbolRequest::METHOD => {
                let id = request.id.clone();
                self.reply_with(request, |session, asked: WorkspaceSymbolParams| {
                    let found = symbols::symbols(&session.workspace, None, &asked.query);
                    Answer::new(id, &found).map_err(unsaid)
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
    fn about_texts(&mut self, request: Asked) -> Outgoing {
        match &*request.method {
            HoverRequest::METHOD => self.reply::<HoverRequest>(request, |session, asked| {
                let (path, offset) = session.place(&asked.text_document_position_params)?;
                Ok(hover::hover(&session.workspace, &path, offset))
            }),
            Completion::METHOD => self.reply::<Completion>(request, |session, asked| {
                let (path, offset) = session.place(&asked.text_document_position)?;
                Ok(Some(completion::completion(&session.workspace, &path, offset)))
            }),
            FoldingRangeRequest::METHOD => {
                self.reply::<FoldingRangeRequest>(request, |session, asked| {
                    let (_, text) = session.text(&asked.text_document)?;
                    Ok(Some(folding::folding(&text)))
                })
            }
            _ => self.about_tokens(request),
        }
    }

    /// Requests about the tokens of a text.
    fn about_tokens(&mut self, request: Asked) -> Outgoing {
        let id = request.id.clone();
        match &*request.method {
            SemanticTokensFullRequest::METHOD => {
                self.reply_with(request, |session, asked: SemanticTokensParams| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let found = tokens::tokens(&session.workspace, &path, &text, None);
                    Answer::new(id, &session.given.full(&path, found)).map_err(unsaid)
                })
            }
            SemanticTokensFullDeltaRequest::METHOD => {
                self.reply_with(request, |session, asked: SemanticTokensDeltaParams| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let found = tokens::tokens(&session.workspace, &path, &text, None);
                    let delta = session.given.delta(&path, found, &asked.previous_result_id);
                    Answer::new(id, &delta).map_err(unsaid)
                })
            }
            SemanticTokensRangeRequest::METHOD => {
                self.reply_with(request, |session, asked: SemanticTokensRangeParams| {
                    let (path, text) = session.text(&asked.text_document)?;
                    let lines = Lines::new(&text);
                    let stretch = lines.offset(asked.range.start)..lines.offset(asked.range.end);
                    let found = tokens::tokens(&session.workspace, &path, &text, Some(stretch));
                    Answer::new(id, &Tokens::unnumbered(found)).map_err(unsaid)
                })
            }
            _ => unknown(request),
        }
    }

    /// Requests about routines and their callers.
    fn about_calls(&mut self, request: Asked) -> Outgoing {
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
    fn about_changes(&mut self, request: Asked) -> Outgoing {
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
    ) -> Outgoing {
        let id = request.id.clone();
        self.reply_with(request, |session, asked| {
            let result = answer(session, asked)?;
            Answer::new(id, &result).map_err(unsaid)
        })
    }

    /// Replies to a request with an answer that is text already.
    fn reply_with<P: DeserializeOwned>(
        &mut self,
        request: Asked,
        answer: impl FnOnce(&mut Self, P) -> Result<Answer, Refusal>,
    ) -> Outgoing {
        match serde_json::from_value(request.params) {
            Err(error) => invalid(request.id, &error).into(),
            Ok(parameters) => match answer(self, parameters) {
                Ok(answer) => Outgoing::Answer(answer),
                Err((code, message)) => Response::new_err(request.id, code as i32, message).into(),
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

fn unsaid(error: serde_json::Error) -> Refusal {
    failed(error.to_string())
}

fn offset(text: &[u8], position: Position) -> usize {
    Lines::new(text).offset(position)
}

pub(super) fn invalid(id: lsp_server::RequestId, error: &serde_json::Error) -> Response {
    Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string())
}

fn unknown(request: Asked) -> Outgoing {
    let message = format!("tdlasm does not answer {}", request.method);
    Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message).into()
}
