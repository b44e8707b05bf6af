//! Which warnings are shown, and which count as errors.

use super::{Code, Severity};

/// The caller's wishes about warnings; errors stay errors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels {
    rules: Vec<(Option<Code>, Option<Severity>)>,
}

/// A wish that names no warning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no warning named {0}; the names are {1}")]
pub struct UnknownWarning(String, String);

impl Levels {
    /// Adds a wish: `NAME`, `no-NAME`, `error=NAME`, or `all`, `none` and `error` for all warnings. A later wish wins.
    ///
    /// # Errors
    /// When there is no warning of that name.
    ///
    /// ```
    /// use tdlasm::diag::{Code, Levels, Severity};
    ///
    /// let mut levels = Levels::default();
    /// levels.add("error").unwrap();
    /// levels.add("no-truncated").unwrap();
    /// assert_eq!(levels.severity(Code::Truncated), None);
    /// assert_eq!(levels.severity(Code::Wrap), Some(Severity::Error));
    /// ```
    pub fn add(&mut self, wish: &str) -> Result<(), UnknownWarning> {
        let rule = match wish {
            "all" => (None, Some(Severity::Warning)),
            "none" => (None, None),
            "error" => (None, Some(Severity::Error)),
            _ => match (wish.strip_prefix("no-"), wish.strip_prefix("error=")) {
                (_, Some(name)) => (Some(warning(name)?), Some(Severity::Error)),
                // A name may begin with "no-" itself.
                (Some(name), _) if warning(wish).is_err() => (Some(warning(name)?), None),
                _ => (Some(warning(wish)?), Some(Severity::Warning)),
            },
        };
        self.rules.push(rule);
        Ok(())
    }

    /// How much a message matters; `None` if it is not to be shown.
    #[must_use]
    pub fn severity(&self, code: Code) -> Option<Severity> {
        if code.severity() == Severity::Error {
            return Some(Severity::Error);
        }
        let mut rules = self.rules.iter().rev();
        let rule = rules.find(|(one, _)| one.is_none_or(|one| one == code));
        rule.map_or(Some(Severity::Warning), |(_, severity)| *severity)
    }
}

fn warning(name: &str) -> Result<Code, UnknownWarning> {
    let mut warnings = Code::ALL.iter().filter(|code| code.severity() == Severity::Warning);
    warnings.clone().find(|code| code.group() == name || code.id() == name).copied().ok_or_else(
        || {
            let names: Vec<&str> = warnings.by_ref().map(|code| code.group()).collect();
            UnknownWarning(name.to_owned(), names.join(", "))
        },
    )
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
    fn errors_cannot_be_turned_off() {
        let mut levels = Levels::default();
        levels.add("none").expect("a wish");
        assert_eq!(levels.severity(Code::Undefined), Some(Severity::Error));
        assert!(levels.add("no-undefined").is_err());
    }
}
