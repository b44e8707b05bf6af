//! The grammar below statements: words, numbers, texts and expressions. Nothing here knows a
//! symbol's value.

mod cursor;
pub mod expr;
pub mod lex;
pub mod work;

pub use cursor::Cursor;
