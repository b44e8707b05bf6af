//! Tests of the library, linked once.

mod checksum;
mod corners;
mod corrupted;
mod corrupted_input;
mod dwarf;
mod idioms;
mod layers;
mod link;
mod lints;
mod listing;
mod manual;
mod object;
mod opcode_table;
mod opcodes;
mod oracle;
mod oracle_listings;
mod oracle_objects;
mod oracle_whole;
mod overlap;
mod pasm;
mod robustness;
mod roundtrip;
#[cfg(feature = "system-tests")]
mod system;
mod tdl_object;
mod vectors;
