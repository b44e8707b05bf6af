//! End-to-end tests of `rcflash`, in `tests/it`. They need the simulated board and the stand-ins of
//! stock monitors, which are above the flasher in the order of crates.
