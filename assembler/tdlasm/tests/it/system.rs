//! Comparisons with GNU binutils for the Z80, which `.ci` builds.

mod gnu;
