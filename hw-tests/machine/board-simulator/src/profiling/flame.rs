//! Renders a call tree as a flame graph in SVG; the width of a call is its share of the T-states.

use std::fmt::Write;

use crate::profiling::call_tree::CallTree;
use firmware::code_map::CodeMap;
use quick_xml::escape::escape as escaped;

/// Width of the picture and height of a bar, in pixels.
const WIDTH: f64 = 1200.0;
const BAR_HEIGHT: f64 = 18.0;
/// Height of the margins above and below the bars, in pixels.
const MARGIN: f64 = 28.0;
/// Narrower bars are omitted, in pixels.
const MIN_BAR_WIDTH: f64 = 0.3;
/// Width of a letter in pixels, and the minimum length of a label that is cut off.
const LETTER_WIDTH: f64 = 7.0;
const MIN_LABEL_LETTERS: usize = 3;

/// Renders a flame graph as SVG 1.1 without scripts; each bar has its figures as a tooltip.
pub fn flame_graph_svg(calls: &CallTree, code: &CodeMap, title: &str) -> String {
    let all = calls.total(0).max(1);
    let mut bars = String::new();
    let mut painter = Painter { calls, code, all, depth: 0, bars: &mut bars };
    painter.draw_bar(0, "all", 0.0, 1);
    let depth = painter.depth;
    let height = 2.0 * MARGIN + BAR_HEIGHT * f64::from(depth);
    let title = escaped(title);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" \
         width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"monospace\" font-size=\"12\">\n<title>{title}</title>\n<rect \
         width=\"100%\" height=\"100%\" fill=\"#fffdf5\"/>\n<text x=\"8\" y=\"18\" \
         font-size=\"14\">{title}</text>\n<g transform=\"translate(0 \
         {MARGIN})\">\n{bars}</g>\n</svg>\n"
    )
}

struct Painter<'a> {
    calls: &'a CallTree,
    code: &'a CodeMap,
    all: u64,
    /// The number of rows painted.
    depth: u32,
    bars: &'a mut String,
}

impl Painter<'_> {
    /// Paints a node in its row, counted from 1, and its callees below.
    fn draw_bar(&mut self, number: usize, name: &str, x: f64, row: u32) {
        let total = self.calls.total(number);
        let width = self.scale(total);
        if width < MIN_BAR_WIDTH {
            return;
        }
        self.depth = self.depth.max(row);
        let y = BAR_HEIGHT * f64::from(row - 1);
        let part = total as f64 * 100.0 / self.all as f64;
        let node = self.calls.node(number);
        let own = node.own;
        let calls = node.calls;
        let name = escaped(name);
        let (red, green) = colour(&name);
        let _ = writeln!(
            self.bars,
            "<g><title>{name}: {total} T-states ({part:.2} %), {own} its own, {calls} \
             calls</title><rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{}\" \
             rx=\"2\" fill=\"rgb({red},{green},80)\"/>{}</g>",
            BAR_HEIGHT - 1.0,
            label(&name, x, y, width)
        );
        let mut left = x;
        for callee in &node.callees {
            let name = self.code.address_name(self.calls.node(*callee).routine);
            self.draw_bar(*callee, &name, left, row + 1);
            left += self.scale(self.calls.total(*callee));
        }
    }

    fn scale(&self, t_states: u64) -> f64 {
        t_states as f64 * WIDTH / self.all as f64
    }
}

/// A label with as many letters of the name as fit; empty if too few do.
fn label(name: &str, x: f64, y: f64, width: f64) -> String {
    let room = ((width - 6.0) / LETTER_WIDTH).max(0.0) as usize;
    if room < MIN_LABEL_LETTERS.min(name.len()) {
        return String::new();
    }
    let shown: String = name.chars().take(room).collect();
    format!("<text x=\"{:.2}\" y=\"{}\">{shown}</text>", x + 3.0, y + 13.0)
}

/// A warm colour that depends only on the name.
fn colour(name: &str) -> (u32, u32) {
    let hash = name.bytes().fold(7u32, |hash, byte| hash.wrapping_mul(31) ^ u32::from(byte));
    (205 + hash % 50, 90 + (hash >> 8) % 120)
}
