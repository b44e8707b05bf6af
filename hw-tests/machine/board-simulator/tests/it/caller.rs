//! The caller on simulated boards of both serial chips, through the client of the link.

mod bench;
mod calls;
mod contracts;
mod counting;
mod faults;
mod malformed;
mod places;
mod speed;
