//! Errors of the linker.

use std::fmt;

use crate::module::{AreaError, Place};

/// The errors of one link: all of them, or the first hundred and a count of the others.
///
/// [`Debug`](fmt::Debug) shows their messages too, since `main` prints its error so.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkErrors(pub Vec<LinkError>);

impl fmt::Display for LinkErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let end = if index + 1 < self.0.len() { "\n" } else { "" };
            write!(f, "error[{}]: {error}{end}", error.code())?;
        }
        Ok(())
    }
}

impl fmt::Debug for LinkErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LinkErrors {}

/// Errors beyond this number are only counted.
const MAX_ERRORS: usize = 100;

/// Collects the errors of a link. Descriptions are computed only for the errors that are shown.
#[derive(Debug, Default)]
pub(super) struct Errors {
    found: Vec<LinkError>,
    more: usize,
}

impl Errors {
    pub(super) fn push(&mut self, error: impl FnOnce() -> LinkError) {
        if self.found.len() < MAX_ERRORS {
            self.found.push(error());
        } else {
            self.more += 1;
        }
    }

    /// Counts errors without describing them.
    pub(super) fn leave_out(&mut self, count: usize) {
        self.more += count;
    }

    pub(super) fn into_result(mut self) -> Result<(), LinkErrors> {
        if self.more > 0 {
            self.found.push(LinkError::More { count: self.more });
        }
        if self.found.is_empty() { Ok(()) } else { Err(LinkErrors(self.found)) }
    }
}

/// The position of a field in the linked program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The module.
    pub module: String,
    /// The nearest label at or before the field, and the distance from it.
    pub label: Option<(String, u16)>,
    /// The field's final address.
    pub address: u16,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module {}", self.module)?;
        match &self.label {
            Some((label, 0)) => write!(f, ", at {label}")?,
            Some((label, distance)) => write!(f, ", at {label}+{distance}")?,
            None => {}
        }
        write!(f, " ({:04X}H)", self.address)
    }
}

/// An error of the linker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// No module defines the symbol.
    #[error("no module defines {name}; it is used in {}", list(.uses))]
    Undefined {
        /// The symbol.
        name: String,
        /// The first few of its uses.
        uses: Vec<Site>,
    },
    /// Two modules export the symbol.
    #[error("{name} is defined twice: {} and {}; export it from one of them \
    only", at(.first), at(.second))]
    Duplicate {
        /// The symbol.
        name: String,
        /// Module and source line of the first definition.
        first: (String, Option<Place>),
        /// Module and source line of the other definition.
        second: (String, Option<Place>),
    },
    /// The layout has no rule for the section.
    #[error("no rule of the layout places {section} of module {module}; add a [[place]] for it")]
    Unplaced {
        /// The module.
        module: String,
        /// The section's TDL name.
        section: &'static str,
    },
    /// The section does not fit its region.
    #[error(
        "{section} of module {module} is {excess} bytes too long for region '{region}'{}",
        near.as_ref().map_or(String::new(), |near| format!("; the region ends after {near}"))
    )]
    Overflow {
        /// The module.
        module: String,
        /// The section's TDL name.
        section: &'static str,
        /// The region.
        region: String,
        /// The number of bytes that do not fit.
        excess: u32,
        /// The last label that still fits.
        near: Option<String>,
    },
    /// Two sections contain the same addresses.
    #[error("{first} and {second} both fill {bytes} bytes")]
    Overlap {
        /// The number of overlapping bytes.
        bytes: u32,
        /// The first overlapping byte, in the section at the lower address.
        first: Site,
        /// The same byte in the other section.
        second: Site,
    },
    /// Further errors that are not described.
    #[error("{count} more errors of this program are left out")]
    More {
        /// The number of them.
        count: usize,
    },
    /// The value does not fit its field.
    #[error("{value} does not fit {field} in {site}")]
    Range {
        /// The value, signed where the field is.
        value: i32,
        /// The range of the field.
        field: &'static str,
        /// The field.
        site: Site,
    },
    /// The program has bytes at the address of a checksum.
    #[error(
        "the {kind} checksum at {at:04X}H has no place: the program has a byte at {address:04X}H{}",
        near.as_ref().map_or(String::new(), |near| format!(", after {near}"))
    )]
    Checksum {
        /// The kind of checksum, as the layout has it.
        kind: &'static str,
        /// The address in the layout.
        at: u16,
        /// The first conflicting byte.
        address: u16,
        /// The nearest label at or before that byte.
        near: Option<String>,
    },
    /// An external area is not only reserved.
    #[error(transparent)]
    Area(#[from] AreaError),
}

impl LinkError {
    /// Returns a stable name for the kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Undefined { .. } => "L001",
            Self::Duplicate { .. } => "L002",
            Self::Unplaced { .. } => "L003",
            Self::Overflow { .. } => "L004",
            Self::Overlap { .. } => "L005",
            Self::Range { .. } => "L006",
            Self::More { .. } => "L999",
            Self::Checksum { .. } => "L007",
            Self::Area(_) => "L008",
        }
    }
}

fn list(sites: &[Site]) -> String {
    sites.iter().map(Site::to_string).collect::<Vec<_>>().join("; ")
}

fn at((module, place): &(String, Option<Place>)) -> String {
    match place {
        Some(place) => format!("{}:{} (module {module})", place.file, place.line),
        None => format!("module {module}"),
    }
}
