//! Lexer and expression parser: words, numbers, texts and expressions, without the values of
//! symbols.

mod cursor;
pub mod expr;
pub mod lex;
pub mod work;

pub use cursor::Cursor;
