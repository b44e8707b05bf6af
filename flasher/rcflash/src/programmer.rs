//! Images of ROM chips, and programming them with `minipro`.
//!
//! | part | in |
//! |---|---|
//! | the chips, and their names for `minipro` | `chip` |
//! | pages that jumpers select | `layout` |
//! | binary or Intel HEX | `format` |
//! | programming, reading back, comparing | `minipro`, `child` |

#![deny(clippy::cast_possible_truncation)]

mod chip;
mod exit;
mod format;
mod layout;
mod minipro;

pub(crate) use chip::{CHIPS, Chip, ChipKind};
pub(crate) use format::{Format, FormatError, reject_hex_text};
pub(crate) use layout::{ChipContent, ChipLayout, LayoutError};
pub(crate) use minipro::{ProgrammerError, WriteJob, run_timeout, strip_escapes};
