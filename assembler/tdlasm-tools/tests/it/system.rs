//! Comparisons with other assemblers.

mod convert_expanded;
mod convert_peers;
mod peer;
mod zilog_peers;
