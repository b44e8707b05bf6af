//! Puts images on Z80 boards over a serial line, and knows that they are there.
