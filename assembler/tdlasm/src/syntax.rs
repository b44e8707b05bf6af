//! Lexer and expression parser, without the values of symbols.

mod cursor;
pub mod directive;
pub mod expr;
pub mod lex;
pub mod work;
pub mod zilog;

pub use cursor::Cursor;
