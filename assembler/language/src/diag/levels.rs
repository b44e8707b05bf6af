//! The caller's wishes about messages: which are shown, and which count as errors.

use super::{Code, Severity};

/// Wishes about messages; of two about the same message the later one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels {
    rules: Vec<Rule>,
}

/// One wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rule {
    /// The message; without one all that are warnings by default.
    code: Option<Code>,
    /// The severity that it gets; `None` hides it.
    severity: Option<Severity>,
}

/// Error for a wish that cannot be fulfilled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LevelError {
    /// No message has this name.
    #[error("no message is named {0}; the names are {1}")]
    Unknown(String, String),
    /// The message is always an error.
    #[error("{0} is always an error: without what it asks for there is nothing to assemble")]
    AlwaysError(&'static str),
}

impl Levels {
    /// Adds a wish: `NAME` for a warning, `no-NAME` for a step less (a warning is hidden, an error
    /// becomes a warning), `error=NAME`, or `all`, `none` and `error` for all warnings. A name is
    /// that of the message or its code, such as `truncated` or `Q01`.
    ///
    /// # Errors
    /// Returns [`LevelError`] if no message has that name, or it can only be an error.
    ///
    /// ```
    /// use tdlasm::diag::{Code, Levels, Severity};
    ///
    /// let mut levels = Levels::default();
    /// levels.add("error")?;
    /// levels.add("no-truncated")?;
    /// levels.add("no-redefined")?;
    /// assert_eq!(levels.severity(Code::Truncated), None);
    /// assert_eq!(levels.severity(Code::Wrap), Some(Severity::Error));
    /// assert_eq!(levels.severity(Code::Redefined), Some(Severity::Warning));
    /// # Ok::<(), tdlasm::diag::LevelError>(())
    /// ```
    pub fn add(&mut self, wish: &str) -> Result<(), LevelError> {
        let rule = match wish {
            "all" => Rule { code: None, severity: Some(Severity::Warning) },
            "none" => Rule { code: None, severity: None },
            "error" => Rule { code: None, severity: Some(Severity::Error) },
            _ => named(wish)?,
        };
        self.rules.push(rule);
        Ok(())
    }

    /// Makes a message an error.
    ///
    /// # Errors
    /// Returns [`LevelError`] if no message has that name.
    pub fn deny(&mut self, name: &str) -> Result<(), LevelError> {
        let code = Some(message(name)?);
        self.rules.push(Rule { code, severity: Some(Severity::Error) });
        Ok(())
    }

    /// Returns how much a message matters; `None` if it is not to be shown.
    #[must_use]
    pub fn severity(&self, code: Code) -> Option<Severity> {
        let default = code.severity();
        let concerns = |rule: &&Rule| match rule.code {
            Some(named) => named == code,
            None => default == Severity::Warning,
        };
        self.rules.iter().rev().find(concerns).map_or(Some(default), |rule| rule.severity)
    }
}

/// The rule of a wish about one message.
fn named(wish: &str) -> Result<Rule, LevelError> {
    if let Some(name) = wish.strip_prefix("error=") {
        return Ok(Rule { code: Some(message(name)?), severity: Some(Severity::Error) });
    }
    // A name may begin with "no-" itself.
    let (code, severity) = match wish.strip_prefix("no-") {
        Some(name) if message(wish).is_err() => {
            let code = message(name)?;
            let less = (code.severity() == Severity::Error).then_some(Severity::Warning);
            (code, less)
        }
        _ => (message(wish)?, Some(Severity::Warning)),
    };
    if !code.is_demotable() {
        return Err(LevelError::AlwaysError(code.group()));
    }
    Ok(Rule { code: Some(code), severity })
}

fn message(name: &str) -> Result<Code, LevelError> {
    let mut all = Code::ALL.iter();
    let found = all.find(|code| code.group() == name || code.id() == name).copied();
    found.ok_or_else(|| {
        let names: Vec<&str> = Code::ALL.iter().map(|code| code.group()).collect();
        LevelError::Unknown(name.to_owned(), names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_begins_with_no_can_be_turned_off() {
        let mut levels = Levels::default();
        levels.add("no-end").expect("a warning");
        assert_eq!(levels.severity(Code::NoEnd), Some(Severity::Warning));
        levels.add("no-no-end").expect("a warning");
        assert_eq!(levels.severity(Code::NoEnd), None);
    }

    #[test]
    fn wishes_about_all_warnings_leave_errors_alone() {
        let mut levels = Levels::default();
        levels.add("none").expect("a wish");
        assert_eq!(levels.severity(Code::Undefined), Some(Severity::Error));
    }

    #[test]
    fn every_message_can_be_promoted_and_demoted_or_says_that_it_cannot() {
        for code in Code::ALL {
            let mut levels = Levels::default();
            let demoted = levels.add(&format!("no-{}", code.group()));
            let expected = match code.severity() {
                Severity::Error => Some(Severity::Warning),
                Severity::Warning => None,
            };
            match code.is_demotable() {
                true => assert_eq!((demoted, levels.severity(*code)), (Ok(()), expected)),
                false => assert_eq!(demoted, Err(LevelError::AlwaysError(code.group()))),
            }
            levels.deny(code.id()).expect("every message can be an error");
            assert_eq!(levels.severity(*code), Some(Severity::Error));
        }
    }
}
