//! Source-to-source tools for Z80 assembly in the TDL dialect: [`mod@convert`] translates between
//! the mnemonics of TDL and Zilog, [`mod@fmt`] formats a source in columns. What cannot be
//! converted or formatted without a change of meaning is left unchanged and reported.
//!
//! ```
//! use tdlasm_rewrite::convert::translate;
//!
//! assert_eq!(translate("LD", b"A,(IX+5)").as_deref(), Some("MOV A,5(X)"));
//! ```

pub mod convert;
pub mod fmt;
pub mod mnemonics;
mod source_scan;
mod statement;
