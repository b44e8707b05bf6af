//! What receives a program on the board: the values of `--via`, the same in all programs.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use cli_support::exit::CommandError;

use crate::{MonitorDescription, ResidentMonitor, StockMonitor};

/// A value of `--via`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// This project's boot monitor.
    BootMonitor,
    /// A stock monitor that this crate knows.
    Stock(ResidentMonitor),
    /// A stock monitor that this file describes.
    File(PathBuf),
}

impl Via {
    /// Returns the words, each with its explanation for `--help`.
    pub fn words() -> impl Iterator<Item = (&'static str, &'static str)> {
        let stock = ResidentMonitor::NAMED.into_iter().map(|(_, word, help)| (word, help));
        std::iter::once(("monitor", "This project's boot monitor")).chain(stock)
    }

    /// Returns the stock monitor, of a file after reading it; `None` for this project's monitor.
    ///
    /// # Errors
    /// Returns an error with exit code 3 and the line or key for an invalid description.
    pub fn stock_monitor(&self) -> Result<Option<ResidentMonitor>, CommandError> {
        match self {
            Self::BootMonitor => Ok(None),
            Self::Stock(monitor) => Ok(Some(monitor.clone())),
            Self::File(file) => Ok(Some(ResidentMonitor::Memory(StockMonitor::from_file(file)?))),
        }
    }
}

impl FromStr for Via {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "monitor" {
            return Ok(Self::BootMonitor);
        }
        if let Some(monitor) = ResidentMonitor::from_name(text) {
            return Ok(Self::Stock(monitor));
        }
        if MonitorDescription::is_file_name(text) {
            return Ok(Self::File(text.into()));
        }
        let words: Vec<_> = Self::words().map(|(word, _)| word).collect();
        let words = words.join(", ");
        Err(format!("unknown monitor: expected {words} or FILE.toml"))
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BootMonitor => f.write_str("monitor"),
            Self::Stock(monitor) => f.write_str(monitor.name()),
            Self::File(file) => write!(f, "{}", file.display()),
        }
    }
}

#[cfg(feature = "args")]
mod args {
    use std::ffi::OsStr;

    use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
    use clap::{Arg, Args, Command, Error};

    use super::Via;

    /// The option `--via`.
    #[derive(Debug, Clone, Args)]
    pub struct ViaArgs {
        /// What receives the program on the board, or FILE.toml that describes its monitor
        ///
        /// `hw-tests` returns to a stock monitor at the end (docs/LOADERS.md).
        #[arg(long, value_name = "MONITOR", value_parser = ViaParser, default_value = "monitor")]
        pub via: Via,
    }

    /// Parses [`Via`]; help and completions list its words.
    #[derive(Clone)]
    struct ViaParser;

    impl TypedValueParser for ViaParser {
        type Value = Via;

        fn parse_ref(
            &self,
            command: &Command,
            arg: Option<&Arg>,
            value: &OsStr,
        ) -> Result<Via, Error> {
            let parser = StringValueParser::new().try_map(|text| text.parse::<Via>());
            parser.parse_ref(command, arg, value)
        }

        fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
            let value = |(word, help)| PossibleValue::new(word).help(help);
            Some(Box::new(Via::words().map(value)))
        }
    }
}

#[cfg(feature = "args")]
pub use args::ViaArgs;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_parsed_and_printed() {
        for (word, _) in Via::words() {
            assert_eq!(word.parse::<Via>().expect(word).to_string(), word);
        }
        assert_eq!("my.toml".parse(), Ok(Via::File("my.toml".into())));
        let error = "xmodem".parse::<Via>().expect_err("no word");
        assert!(error.contains("scm, romwbw, basic, cpm or FILE.toml"), "{error}");
    }
}
