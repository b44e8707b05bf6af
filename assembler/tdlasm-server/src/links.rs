//! Document links from `.INSERT` lines to the included files.

use std::path::Path;

use lsp_types::DocumentLink;
use tdlasm::syntax::directive::Directive;

use super::positions::LineIndex;
use super::workspace::Workspace;

/// Returns the links in a file; an included file that is not found has none.
pub(super) fn links(workspace: &Workspace, path: &Path, text: &[u8]) -> Vec<DocumentLink> {
    let Some(statements) = workspace.statements(path, text) else { return Vec::new() };
    let lines = LineIndex::new(text);
    let link = |operands: &std::ops::Range<usize>| {
        let found = workspace
            .programs_including(path)
            .find_map(|one| one.included_file_at(path, operands.start))?;
        Some(DocumentLink {
            range: lines.range(operands.clone()),
            target: Some(workspace.uri(found)?),
            tooltip: None,
            data: None,
        })
    };
    let inserts = statements.list.iter().filter_map(|(_, parts)| parts.as_ref()).filter(|parts| {
        let directive = Directive::from_word(&text[parts.operator.clone()]);
        directive == Some(Directive::Insert) && !parts.operands.is_empty()
    });
    inserts.filter_map(|parts| link(&parts.operands)).collect()
}
