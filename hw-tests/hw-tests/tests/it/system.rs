//! MAME's boards, and labgrid's coordinator and exporter.

mod broken_routines;
mod caller;
mod labgrid;
