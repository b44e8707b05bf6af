//! The differences as a self-contained HTML page: boards with both exchanges.

use cli_support::exit::{BUG, CommandError};
use cli_support::text::escape_json;
use sargon_corpus::analysis::{
    EvaluatorDiff, EvaluatorStats, ExchangeLine, SquareExchange, convert, diagram,
};
use sargon_corpus::args::NamedPosition;
use sargon_reference::{Square, find_pins};
use serde::Serialize;

/// The page, with placeholders in braces.
const PAGE: &str = include_str!("page.html");
/// The squares drawn; of more, the page has the counts.
const MAX_SQUARES: usize = 1000;

/// The squares on which Sargon's residue is not the swap value.
#[derive(Default)]
pub(super) struct DifferencesPage {
    squares: Vec<SquareView>,
}

#[derive(Serialize)]
pub(super) struct SquareView {
    id: String,
    fen: String,
    square: String,
    residue: i32,
    swap: i32,
    reason: String,
    sargon: LineView,
    modern: LineView,
}

/// Squares of capturers with the points lost after each, and squares of those that do not capture.
#[derive(Serialize)]
struct LineView {
    captures: Vec<(String, i32)>,
    declined: Option<String>,
    left_out: Vec<String>,
}

impl From<ExchangeLine> for LineView {
    fn from(line: ExchangeLine) -> Self {
        let captures = line.captures.iter().map(|(from, lost)| (from.to_string(), *lost)).collect();
        let left_out = line.left_out.iter().map(Square::to_string).collect();
        Self { captures, declined: line.declined.map(|from| from.to_string()), left_out }
    }
}

impl DifferencesPage {
    /// Adds the squares of a position.
    pub(super) fn add(&mut self, named: &NamedPosition, compared: &[EvaluatorDiff]) {
        let mut differing = compared.iter().filter(|one| one.residue != one.swap).peekable();
        if differing.peek().is_none() {
            return;
        }
        let position = named.position();
        let pieces = convert::pieces(&position);
        let pins = find_pins(&position);
        let views = differing.filter_map(|found| {
            let exchange = SquareExchange::new(&position, &pieces, &pins, found.square)?;
            Some(SquareView {
                id: named.id.clone(),
                fen: named.fen.clone(),
                square: found.square.to_string(),
                residue: found.residue,
                swap: found.swap,
                reason: found.reason(),
                sargon: ExchangeLine::by_sargon(&position, &pins, found.square).into(),
                modern: ExchangeLine::by_swap(&exchange).into(),
            })
        });
        self.squares.extend(views.take(MAX_SQUARES - self.squares.len()));
    }

    /// Returns the page.
    pub(super) fn html(&self, counts: &EvaluatorStats) -> Result<String, CommandError> {
        #[derive(Serialize)]
        struct Data<'a> {
            squares: &'a [SquareView],
            counts: &'a EvaluatorStats,
        }
        let data = serde_json::to_string(&Data { squares: &self.squares, counts });
        let data = data.map_err(|error| CommandError::new(BUG, error))?;
        // Without `<` the data can't end the script element.
        let data = escape_json(&data).replace('<', "\\u003c");
        let page = PAGE
            .replace("{{board-style}}", diagram::STYLE.trim_end())
            .replace("{{style}}", include_str!("page.css").trim_end())
            .replace("{{board-script}}", diagram::SCRIPT.trim_end())
            .replace("{{script}}", include_str!("page.js").trim_end());
        Ok(page.replace("{{data}}", &data))
    }
}
