//! The description of a monitor that has no loader of its own: a TOML file.

use std::ffi::OsStr;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use serde::Deserialize;
use tdlasm::image::{Image, ImageRun, s_records};

use crate::records::{END_RECORD, HexRecord};

/// A command's placeholders, each for four hexadecimal digits.
pub(crate) const ADDRESS: &str = "{address}";
pub(crate) const FIRST: &str = "{first}";
pub(crate) const LAST: &str = "{last}";
/// The placeholder for the line that was sent, in `load.line_reply`.
pub(crate) const LINE: &str = "{line}";

/// A monitor that accepts programs, as a TOML file describes it. docs/LOADERS.md lists the keys.
///
/// ```
/// use rcflash_monitors::MonitorDescription;
///
/// let text = "prompt = '>'\nrun = \"G {address}\\r\"\n[load]\ncommand = \"L\\r\"\n";
/// assert!(MonitorDescription::parse(text).is_ok());
/// let error = MonitorDescription::parse("prompt = '>'\nrun = 'G'\n[load]\n");
/// assert_eq!(error.unwrap_err().to_string(), "run: needs {address}, and no other placeholder");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MonitorDescription {
    pub(crate) prompt: String,
    #[serde(default = "all_memory", deserialize_with = "memory_range")]
    pub(crate) memory: RangeInclusive<u16>,
    #[serde(default = "yes")]
    pub(crate) echo: bool,
    #[serde(default)]
    pub(crate) cancel: String,
    pub(crate) run: String,
    pub(crate) load: LoadDescription,
    pub(crate) dump: Option<DumpDescription>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadDescription {
    #[serde(default)]
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) format: LoadFormat,
    line_end: Option<String>,
    end: Option<String>,
    #[serde(default)]
    pub(crate) line_reply: String,
    #[serde(default)]
    pub(crate) success: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DumpDescription {
    pub(crate) command: String,
    /// The number of rows after which the monitor waits for `next` or `quit`; 0 for never.
    #[serde(default)]
    pub(crate) rows: usize,
    #[serde(default)]
    pub(crate) next: String,
    #[serde(default)]
    pub(crate) quit: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LoadFormat {
    #[default]
    Hex,
    SRecord,
    Xmodem,
}

/// Error returned for the description of a monitor; the text has the line or the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptionError(String);

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.trim_end())
    }
}

impl std::error::Error for DescriptionError {}

impl MonitorDescription {
    /// Parses the content of a file.
    ///
    /// # Errors
    /// Returns [`DescriptionError`] for invalid TOML, an unknown key, and keys that do not fit each
    /// other.
    pub fn parse(text: &str) -> Result<Self, DescriptionError> {
        let description: Self =
            toml::from_str(text).map_err(|error| DescriptionError(error.to_string()))?;
        match description.problem() {
            Some(problem) => Err(DescriptionError(problem.to_owned())),
            None => Ok(description),
        }
    }

    /// Returns `true` if a value of `--via` is the path of a description.
    pub(crate) fn is_file_name(via: &str) -> bool {
        Path::new(via).extension() == Some(OsStr::new("toml"))
    }

    /// Returns `true` if a text ends with the prompt, alone in its line.
    pub(crate) fn at_prompt(&self, received: &[u8]) -> bool {
        let before = received.strip_suffix(self.prompt.as_bytes());
        before.is_some_and(|before| matches!(before.last(), None | Some(b'\r' | b'\n')))
    }

    fn problem(&self) -> Option<&'static str> {
        let load = &self.load;
        let is_xmodem = load.format == LoadFormat::Xmodem;
        let wanted: &[&str] = if is_xmodem { &[ADDRESS] } else { &[] };
        if self.prompt.trim().is_empty() {
            return Some("prompt: is empty");
        }
        if !has_only(&self.run, &[ADDRESS]) {
            return Some("run: needs {address}, and no other placeholder");
        }
        if !has_only(&load.command, wanted) {
            return Some(match is_xmodem {
                true => "load.command: needs {address} for xmodem, and no other placeholder",
                false => "load.command: has a placeholder, but each line has its address",
            });
        }
        if is_xmodem && (load.line_end.is_some() || load.end.is_some()) {
            return Some("load: line_end and end are for lines, not for xmodem");
        }
        if !load.line_reply.is_empty() && (is_xmodem || !may_have(&load.line_reply, &[LINE])) {
            return Some("load.line_reply: is for lines, and {line} is its only placeholder");
        }
        self.dump.as_ref().and_then(DumpDescription::problem)
    }
}

impl DumpDescription {
    fn problem(&self) -> Option<&'static str> {
        if !self.command.contains(FIRST) || !may_have(&self.command, &[FIRST, LAST]) {
            return Some("dump.command: needs {first}, and may have {last}");
        }
        match (self.rows, self.next.is_empty()) {
            (0, true) if self.quit.is_empty() => None,
            (1.., false) => None,
            _ => Some("dump: rows needs next, and next and quit need rows"),
        }
    }
}

impl LoadDescription {
    pub(crate) fn line_end(&self) -> &str {
        self.line_end.as_deref().unwrap_or("\r")
    }

    /// Returns what ends a load.
    pub(crate) fn end(&self) -> String {
        let record = match self.format {
            LoadFormat::SRecord => "S9030000FC",
            _ => END_RECORD,
        };
        self.end.clone().unwrap_or_else(|| format!("{record}\r"))
    }

    /// Returns a line of the program without its end.
    pub(crate) fn line(&self, record: &HexRecord) -> String {
        if self.format != LoadFormat::SRecord {
            return record.text();
        }
        let run = ImageRun { address: record.address, bytes: record.data.clone() };
        let text = s_records(&Image::new([run]), "", None);
        // Between the header and the end.
        text.lines().nth(1).unwrap_or_default().to_owned()
    }
}

/// Returns `true` if a text has all of these placeholders and no other braces.
fn has_only(text: &str, placeholders: &[&str]) -> bool {
    placeholders.iter().all(|name| text.contains(name)) && may_have(text, placeholders)
}

/// Returns `true` if a text has no braces but those of these placeholders.
fn may_have(text: &str, placeholders: &[&str]) -> bool {
    let rest = placeholders.iter().fold(text.to_owned(), |text, name| text.replace(name, ""));
    !rest.contains(['{', '}'])
}

fn yes() -> bool {
    true
}

fn all_memory() -> RangeInclusive<u16> {
    0..=u16::MAX
}

/// Parses two addresses in hexadecimal, as in `8000-FBFF`.
fn memory_range<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<RangeInclusive<u16>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let hex = |text: &str| u16::from_str_radix(text, 16).ok();
    let ends = text.split_once('-').and_then(|(first, last)| Some(hex(first)?..=hex(last)?));
    ends.filter(|range| !range.is_empty()).ok_or_else(|| {
        serde::de::Error::custom("expected two addresses in hexadecimal, such as \"8000-FBFF\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        MonitorDescription::parse(text).expect_err("it is wrong").to_string()
    }

    #[test]
    fn errors_have_the_line_or_the_key() {
        for (text, words) in [
            ("prompt = '>'\npace = 1", "line 2"),
            ("prompt = '>'\nrun = 'G {address}'\nmemory = '9-8'\n[load]", "line 3"),
            ("prompt = '>'\nrun = 'G {address}'\n[load]\nformat = 'bin'", "line 4"),
            ("prompt = ' '\nrun = 'G {address}'\n[load]", "prompt: is empty"),
            ("prompt = '>'\nrun = 'G {entry}'\n[load]", "run: needs {address}"),
            ("prompt = '>'\nrun = 'G {address}'\n[load]\ncommand = 'L {first}'", "load.command"),
            (
                "prompt = '>'\nrun = 'G {address}'\n[load]\ncommand = 'T'\nformat = 'xmodem'",
                "load.command: needs {address}",
            ),
            ("prompt = '>'\nrun = 'G {address}'\n[load]\n[dump]\ncommand = 'D'", "needs {first}"),
            (
                "prompt = '>'\nrun = 'G {address}'\n[load]\n[dump]\ncommand = 'D {first}'\nrows = 8",
                "dump: rows needs next",
            ),
        ] {
            let error = error(text);
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn an_s_record_is_that_of_the_reference_manual() {
        // M68000 Family Programmer's Reference, appendix C.3.
        let data = [0x28, 0x5F, 0x24, 0x5F, 0x22, 0x12, 0x22, 0x6A];
        let data = [&data[..], &[0, 4, 0x24, 0x29, 0, 8, 0x23, 0x7C]].concat();
        let text = "prompt = '>'\nrun = 'G {address}'\n[load]\nformat = 's-record'";
        let load = MonitorDescription::parse(text).expect("it is right").load;
        let record = HexRecord { number: 1, address: 0, data };
        assert_eq!(load.line(&record), "S1130000285F245F2212226A000424290008237C2A");
        assert_eq!(load.end(), "S9030000FC\r");
    }
}
