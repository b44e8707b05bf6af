//! The simulated devices against their data sheets.

mod banks;
mod board;
mod ctc;
mod eeprom;
mod flash;
mod ns550;
mod sio;
