//! Tests of the debugger.

mod corrupted;
