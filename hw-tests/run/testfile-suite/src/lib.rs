//! Tests of Z80 routines, described in TOML files: calls with registers and memory, and what is
//! expected of them; properties of all inputs.
//!
//! ```
//! use std::path::Path;
//!
//! use tdlasm::source::DiskLoader;
//! use testfile_suite::{TestFile, TestOptions, Verdict, run_one};
//!
//! # let folder = tempfile::tempdir()?;
//! # let source = "TWICE: ADD A\n RET\n .INTERN TWICE\n .END\n";
//! # std::fs::write(folder.path().join("twice.asm"), source)?;
//! # let path = folder.path().join("twice.test.toml");
//! let text = r#"
//!     sources = ["twice.asm"]
//!     [[case]]
//!     name = "doubles"
//!     call = "TWICE"
//!     in = { A = 21 }
//!     expect = { A = 42, flags = "NC", cycles = 14 }
//! "#;
//! let file = TestFile::parse(&path, text, &DiskLoader)?;
//! let mut machine = file.program.machine();
//! let result = run_one(&file, 0, &mut machine, &TestOptions::default())?;
//! assert_eq!(result.verdict, Verdict::Pass);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Machine`] is what runs calls: [`RoutineMachine`], or [`BoardMachine`], a board on which the
//! caller runs.

mod baseline;
mod board;
mod build;
mod c_function;
mod call_server;
mod case;
mod contract;
mod debug;
mod document;
mod judge;
mod machine;
mod matcher;
mod model;
mod parse;
mod program;
mod property;
mod registers;
mod result;
mod run;
mod suite;
mod written;

pub use baseline::CycleBaseline;
pub use board::BoardMachine;
pub use board_simulator::routines::{Call, CallEnd, RoutineMachine};
pub use build::{run_build, run_build_of};
pub use call_server::CallServer;
pub use case::TestOptions;
pub use contract::Contract;
pub use debug::CallState;
pub use document::{FileError, FileErrors};
pub use hil_harness::suite::Verdict;
pub use machine::{ArgumentSweep, Machine, MachineError, Measure};
pub use matcher::{Matcher, Operator, Test};
pub use model::{
    Accesses, Case, Expectation, ExpectedAccesses, ExpectedMemory, GeneratedBlock, Generator,
    Heading, Judge, ListedCase, Property, StackArea, Step, TestFile,
};
pub use program::{Console, LinkedConsole, Program, ProgramFiles};
pub use result::{Difference, RunError, TestDetails, UNOBSERVED};
pub use run::run_one;
pub use suite::{TestCase, TestFiles, TestResult};
pub use tdlasm::image::ImageRun;
pub use written::Written;
pub use z80_core::{Flags, Registers, parse_address};
