//! Tools for Z80 source in the TDL dialect: [`mod@convert`] translates between the mnemonics of TDL
//! and Zilog, [`mod@fmt`] formats a source in columns, [`server`] is the language server for
//! editors. What cannot be converted or formatted without a change of meaning is left unchanged and
//! reported.
//!
//! ```
//! use tdlasm_tools::convert::translate;
//!
//! assert_eq!(translate("LD", b"A,(IX+5)").as_deref(), Some("MOV A,5(X)"));
//! ```

pub mod convert;
pub mod fmt;
mod mnemonics;
pub mod server;
mod source_scan;
mod statement;
