//! Simulated board, host reference and hardware-in-the-loop regression.

pub mod modern;
pub mod reference;
pub mod sim;
