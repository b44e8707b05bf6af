//! Chess boards in HTML pages.

/// The style sheet of boards, for light and dark pages.
pub const STYLE: &str = include_str!("diagram/board.css");
/// The script that draws boards by the function `shape` of its page, which makes an SVG element.
pub const SCRIPT: &str = include_str!("diagram/board.js");
