//! `rcflash write --via` end to end: the real program against stand-ins of stock monitors, over a
//! serial device.

mod basic;
mod bench;
mod contact;
mod files;
mod flow;
mod hex;
mod hosted;
mod loads;
mod lossy;
mod mame;
#[path = "../common/programs.rs"]
mod programs;
mod spoilt;
mod states;
