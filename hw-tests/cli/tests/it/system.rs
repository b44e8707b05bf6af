//! MAME's boards, labgrid's coordinator and exporter, and Jumpstarter.

mod broken_routines;
mod caller;
mod jumpstarter;
mod labgrid;
