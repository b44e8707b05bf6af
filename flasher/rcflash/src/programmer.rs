//! ROM chips for an EPROM programmer: what a chip is to hold, as a file, and having it written.
//!
//! | part | in |
//! |---|---|
//! | the chips, and their names for `minipro` | `chip` |
//! | pages that jumpers choose | `layout` |
//! | binary or Intel HEX | `format` |
//! | writing, reading back, comparing | `minipro`, `child` |

#![deny(clippy::cast_possible_truncation)]

mod child;
mod chip;
mod exit;
mod format;
mod layout;
mod minipro;

pub(crate) use chip::{CHIPS, Chip, Kind};
pub(crate) use format::{Format, FormatError, check_binary};
pub(crate) use layout::{Content, Layout, LayoutError};
pub(crate) use minipro::{Job, ProgrammerError, patience, plain};
