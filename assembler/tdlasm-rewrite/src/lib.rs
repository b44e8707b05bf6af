//! Sources written anew: [`convert`] exchanges the mnemonics of TDL and Zilog, [`mod@fmt`] lays a
//! source out in columns.

pub mod convert;
pub mod fmt;
