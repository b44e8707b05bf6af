//! Known chips for ROM sockets, with their names for `minipro`.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChipKind {
    /// Erased by ultraviolet light, or by the programmer where the chip is of the W27C series.
    Eprom,
    /// Overwritten without erasing; may reject writes until its protection is disabled.
    Eeprom,
    /// Erased by the programmer, by sector or as a whole.
    Flash,
}

impl ChipKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Eprom => "EPROM",
            Self::Eeprom => "EEPROM",
            Self::Flash => "flash",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chip {
    pub(crate) name: &'static str,
    pub(crate) kind: ChipKind,
    pub(crate) size: usize,
    /// The `minipro` name of a common maker's chip; makers differ in voltage and timing.
    pub(crate) device: &'static str,
    /// A note on a common mistake, or empty.
    pub(crate) caution: &'static str,
}

const KIB: usize = 1024;

const PROTECTION: &str = "may come with software data protection enabled, and then rejects writes: \
     minipro's -u disables it first, -P enables it afterwards; a board that writes \
     the chip needs it disabled";
const EPROM: &str = "must be blank: erase it under ultraviolet light first (a W27C with the \
     programmer's -E), and check with -b";

pub(crate) const CHIPS: [Chip; 9] = [
    eprom("27c64", 8, "AM27C64@DIP28"),
    eprom("27c128", 16, "AM27C128@DIP28"),
    eprom("27c256", 32, "AT27C256R@DIP28"),
    eprom("27c512", 64, "W27C512@DIP28"),
    eeprom("28c64", 8, "AT28C64B"),
    eeprom("28c256", 32, "AT28C256"),
    flash("sst39sf010a", 128, "SST39SF010A"),
    flash("sst39sf020a", 256, "SST39SF020A"),
    flash("sst39sf040", 512, "SST39SF040"),
];

const fn eprom(name: &'static str, kilobytes: usize, device: &'static str) -> Chip {
    Chip { name, kind: ChipKind::Eprom, size: kilobytes * KIB, device, caution: EPROM }
}

const fn eeprom(name: &'static str, kilobytes: usize, device: &'static str) -> Chip {
    Chip { name, kind: ChipKind::Eeprom, size: kilobytes * KIB, device, caution: PROTECTION }
}

const fn flash(name: &'static str, kilobytes: usize, device: &'static str) -> Chip {
    Chip { name, kind: ChipKind::Flash, size: kilobytes * KIB, device, caution: "" }
}

impl Chip {
    /// Returns the chip with this name, with or without the maker's prefix: `AT28C256`, `39SF040`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let same = |chip: &&Self| {
            let short = chip.name.trim_start_matches("sst");
            let bare = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let bare = bare.split('@').next().unwrap_or_default();
            bare == short || is_short_for(bare, short) || is_version_of(bare, short)
        };
        CHIPS.iter().find(same).copied()
    }
}

/// Returns `true` if only the version letter is missing, as in `39sf010` for `39sf010a`.
fn is_short_for(bare: &str, short: &str) -> bool {
    short.strip_suffix('a') == Some(bare)
}

/// Returns `true` if only a version letter is added, as in `28c64b` and `27c256r`.
fn is_version_of(bare: &str, short: &str) -> bool {
    bare.strip_prefix(short).is_some_and(|rest| {
        rest.len() == 1 && rest.chars().all(|letter| letter.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_has_as_many_kilobits_as_its_name_says() {
        for chip in CHIPS {
            let name = chip.name.trim_end_matches('a');
            let digits = name.rsplit(char::is_alphabetic).next().expect("the last part");
            let number: usize = digits.parse().expect("a number");
            // 27C and 28C count kilobits, 39SF tenths of 1024 kilobits.
            let kilobits = if chip.kind == ChipKind::Flash { number / 10 * 1024 } else { number };
            assert_eq!(chip.size, kilobits * 1024 / 8, "{}", chip.name);
        }
    }

    #[test]
    fn a_chip_is_known_by_the_name_that_is_printed_on_it() {
        for (printed, name) in [
            ("27C512", Some("27c512")),
            ("W27C512", Some("27c512")),
            ("AT28C64B", Some("28c64")),
            ("AT27C256R@DIP28", Some("27c256")),
            ("39SF010", Some("sst39sf010a")),
            ("SST39SF020A", Some("sst39sf020a")),
            ("sst39sf040", Some("sst39sf040")),
            ("27c1024", None),
            ("28c2", None),
            ("", None),
            ("a", None),
        ] {
            assert_eq!(Chip::from_name(printed).map(|chip| chip.name), name, "{printed}");
        }
    }

    #[test]
    fn every_chip_is_found_by_its_device() {
        for chip in CHIPS {
            assert_eq!(Chip::from_name(chip.device), Some(chip));
        }
    }
}
