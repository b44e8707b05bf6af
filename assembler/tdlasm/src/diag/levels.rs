//! Lint levels: which diagnostics are hidden, warnings or errors.

use super::{DiagnosticCode, Severity};

/// The severities selected by the caller; of two rules about a diagnostic the later applies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintLevels {
    rules: Vec<LintRule>,
}

/// A lint level for one or all diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LintRule {
    /// The diagnostic. If `None`, all diagnostics that are warnings by default.
    code: Option<DiagnosticCode>,
    /// The severity. `None` hides the diagnostic.
    severity: Option<Severity>,
}

/// Error returned by [`LintLevels::add`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LevelError {
    /// No diagnostic has this name.
    #[error("unknown message '{0}'; the names are {1}")]
    Unknown(String, String),
    /// The diagnostic is always an error.
    #[error("{0} is always an error: without the file or value there is nothing to assemble")]
    AlwaysError(&'static str),
}

impl LintLevels {
    /// Adds an option: `NAME` for a warning, `no-NAME` for one level less (a warning is hidden, an
    /// error becomes a warning), `error=NAME`, or `all`, `none` and `error` for all warnings.
    /// `NAME` is the name or the code of a diagnostic, such as `truncated` or `Q01`.
    ///
    /// # Errors
    /// Returns [`LevelError`] if no diagnostic has that name, or if it is always an error.
    ///
    /// ```
    /// use tdlasm::diag::{DiagnosticCode, LintLevels, Severity};
    ///
    /// let mut levels = LintLevels::default();
    /// levels.add("error")?;
    /// levels.add("no-truncated")?;
    /// levels.add("no-redefined")?;
    /// assert_eq!(levels.severity(DiagnosticCode::Truncated), None);
    /// assert_eq!(levels.severity(DiagnosticCode::Wrap), Some(Severity::Error));
    /// assert_eq!(levels.severity(DiagnosticCode::Redefined), Some(Severity::Warning));
    /// # Ok::<(), tdlasm::diag::LevelError>(())
    /// ```
    pub fn add(&mut self, option: &str) -> Result<(), LevelError> {
        let rule = match option {
            "all" => LintRule { code: None, severity: Some(Severity::Warning) },
            "none" => LintRule { code: None, severity: None },
            "error" => LintRule { code: None, severity: Some(Severity::Error) },
            _ => named(option)?,
        };
        self.rules.push(rule);
        Ok(())
    }

    /// Returns the severity of a diagnostic, or `None` if it is hidden.
    pub fn severity(&self, code: DiagnosticCode) -> Option<Severity> {
        let default = code.severity();
        let concerns = |rule: &&LintRule| match rule.code {
            Some(named) => named == code,
            None if code.is_off_by_default() => rule.severity == Some(Severity::Warning),
            None => default == Severity::Warning,
        };
        let default = (!code.is_off_by_default()).then_some(default);
        self.rules.iter().rev().find(concerns).map_or(default, |rule| rule.severity)
    }
}

fn named(option: &str) -> Result<LintRule, LevelError> {
    if let Some(name) = option.strip_prefix("error=") {
        return Ok(LintRule { code: Some(message(name)?), severity: Some(Severity::Error) });
    }
    // The name itself can begin with `no-`.
    let (code, severity) = match option.strip_prefix("no-") {
        Some(name) if message(option).is_err() => {
            let code = message(name)?;
            let less = (code.severity() == Severity::Error).then_some(Severity::Warning);
            (code, less)
        }
        _ => (message(option)?, Some(Severity::Warning)),
    };
    if !code.is_demotable() {
        return Err(LevelError::AlwaysError(code.group()));
    }
    Ok(LintRule { code: Some(code), severity })
}

fn message(name: &str) -> Result<DiagnosticCode, LevelError> {
    let mut all = DiagnosticCode::ALL.iter();
    let found = all.find(|code| code.group() == name || code.id() == name).copied();
    found.ok_or_else(|| {
        let names: Vec<&str> = DiagnosticCode::ALL.iter().map(|code| code.group()).collect();
        LevelError::Unknown(name.to_owned(), names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_begins_with_no_can_be_turned_off() {
        let mut levels = LintLevels::default();
        levels.add("no-end").expect("a warning");
        assert_eq!(levels.severity(DiagnosticCode::NoEnd), Some(Severity::Warning));
        levels.add("no-no-end").expect("a warning");
        assert_eq!(levels.severity(DiagnosticCode::NoEnd), None);
    }

    #[test]
    fn options_about_all_warnings_leave_errors_alone() {
        let mut levels = LintLevels::default();
        levels.add("none").expect("a valid option");
        assert_eq!(levels.severity(DiagnosticCode::Undefined), Some(Severity::Error));
    }

    #[test]
    fn every_message_can_be_promoted_and_demoted_or_is_rejected() {
        for code in DiagnosticCode::ALL {
            let mut levels = LintLevels::default();
            let demoted = levels.add(&format!("no-{}", code.group()));
            let expected = match code.severity() {
                Severity::Error => Some(Severity::Warning),
                Severity::Warning => None,
            };
            match code.is_demotable() {
                true => assert_eq!((demoted, levels.severity(*code)), (Ok(()), expected)),
                false => assert_eq!(demoted, Err(LevelError::AlwaysError(code.group()))),
            }
            levels.add(&format!("error={}", code.id())).expect("every message can be an error");
            assert_eq!(levels.severity(*code), Some(Severity::Error));
        }
    }
}
