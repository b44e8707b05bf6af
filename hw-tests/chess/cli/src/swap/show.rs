//! Exchange values as text.

use std::fmt::Write;

use crate::values::{COLUMNS, columns, legal};

use super::move_value::{MoveDetail, MoveValue, ThresholdResult};

pub(super) fn table(id: &str, values: &[MoveValue]) -> String {
    let mut text = format!("{id}\n  {:<16}{COLUMNS}\n", "");
    for MoveValue { uci, san, value, at_least } in values {
        let note =
            at_least.map_or_else(String::new, |reached| format!("  {}", threshold_text(reached)));
        let _ = writeln!(text, "  {uci:<6}{san:<10}{}{note}", columns(value));
    }
    text
}

/// Returns whether a threshold is reached, by both definitions where they differ.
fn threshold_text(reached: ThresholdResult) -> &'static str {
    match (reached.swap, reached.swap_promo) {
        (true, true) => "yes",
        (false, false) => "no",
        (true, false) => "yes, with promotion no",
        (false, true) => "no, with promotion yes",
    }
}

impl MoveDetail {
    /// Returns the list of gains as the wiki prints it, then the value in every form.
    pub(super) fn text(&self, threshold: Option<i32>) -> String {
        let mut text = String::new();
        for (depth, gain) in self.gains.iter().enumerate() {
            let _ = match self.folded.get(depth) {
                Some(folded) => writeln!(text, "gain[{depth}] = {gain:>6}   folded {folded:>6}"),
                None => writeln!(text, "gain[{depth}] = {gain:>6}   no recapture"),
            };
        }
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<44}{value:>8}");
        };
        let value = &self.short.value;
        let san = &self.short.san;
        line(&format!("{san}, by the swap list"), value.swap.to_string());
        let pruned = format!("with pruning, {} gains evaluated", self.pruned_gains.len());
        line(&pruned, self.pruned_value.to_string());
        line("with pawns that promote (swap_promo)", value.swap_promo.to_string());
        line("without pinned pieces (swap_pins)", value.swap_pins.to_string());
        line("by legal captures in the best order (legal)", legal(value));
        line("the square, if its attackers may decline", self.pseudo_legal_gain.to_string());
        if let (Some(threshold), Some(reached)) = (threshold, self.short.at_least) {
            line(&format!("at least {threshold}"), threshold_text(reached).to_owned());
        }
        text
    }
}
