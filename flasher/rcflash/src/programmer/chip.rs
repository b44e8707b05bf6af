//! The chips for ROM sockets that a programmer writes, with their names for `minipro`.

/// Method by which a chip is written and erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Erased by ultraviolet light, or by the programmer where the chip is of the W27C series.
    Eprom,
    /// Written in the place of what was there; may refuse that until its protection is taken off.
    Eeprom,
    /// Erased by sector or whole, by the programmer.
    Flash,
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Eprom => "EPROM",
            Self::Eeprom => "EEPROM",
            Self::Flash => "flash",
        }
    }
}

/// A chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chip {
    /// The name it goes by here.
    pub(crate) name: &'static str,
    /// The kind.
    pub(crate) kind: Kind,
    /// Bytes.
    pub(crate) size: usize,
    /// A usual one of its kind, as `minipro` calls it. Makers differ in voltage and timing, so the
    /// name matters.
    pub(crate) device: &'static str,
    /// The mistake that is easily made with it; empty where there is none.
    pub(crate) caution: &'static str,
}

const KIB: usize = 1024;

const PROTECTION: &str = "may come with its software data protection on, and then takes no byte: \
     minipro's -u takes that off first, -P puts it on again afterwards; a board that shall write \
     it needs it off";
const EPROM: &str = "has to be blank: erase it under ultraviolet light first (a W27C by the \
     programmer's -E), and check with -b";

/// Every chip that is known, smallest first.
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
    Chip { name, kind: Kind::Eprom, size: kilobytes * KIB, device, caution: EPROM }
}

const fn eeprom(name: &'static str, kilobytes: usize, device: &'static str) -> Chip {
    Chip { name, kind: Kind::Eeprom, size: kilobytes * KIB, device, caution: PROTECTION }
}

const fn flash(name: &'static str, kilobytes: usize, device: &'static str) -> Chip {
    Chip { name, kind: Kind::Flash, size: kilobytes * KIB, device, caution: "" }
}

impl Chip {
    /// The chip of this name, whatever its case, and with or without its maker's letters:
    /// `AT28C256`, `W27C512`, `39SF040`.
    #[must_use]
    pub(crate) fn named(name: &str) -> Option<Self> {
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

/// Whether a name lacks only the letter of the version, as `39sf010` that of `39sf010a`.
fn is_short_for(bare: &str, short: &str) -> bool {
    short.strip_suffix('a') == Some(bare)
}

/// Whether a name has only a version's letter more, as `28c64b` and `27c256r`.
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
            let kilobits = if chip.kind == Kind::Flash { number / 10 * 1024 } else { number };
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
            assert_eq!(Chip::named(printed).map(|chip| chip.name), name, "{printed}");
        }
    }

    #[test]
    fn every_chip_is_found_by_its_device() {
        for chip in CHIPS {
            assert_eq!(Chip::named(chip.device), Some(chip));
        }
    }
}
