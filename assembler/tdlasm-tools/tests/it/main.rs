//! Tests of conversion and formatting.

mod convert_roundtrip;
mod convert_targets;
mod converted_programs;
mod generator;
mod hints;
mod oracle;
mod oracle_programs;
mod programs;
mod slips;
#[cfg(feature = "system-tests")]
mod system;
mod work;
mod zilog_forms;
mod zilog_notation;
mod zilog_programs;
