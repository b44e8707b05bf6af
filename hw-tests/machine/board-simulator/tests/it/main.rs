//! Tests of the simulated board and its devices.

mod acia;
mod board;
mod caller;
mod calls;
mod devices;
mod guard;
mod network_line;
mod packets;
mod port;
mod z180;
mod z80_crc16;
mod z80_times;
