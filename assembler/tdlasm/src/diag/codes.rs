//! The table of diagnostic codes. The letter is ZASM's error flag; the number is this project's.

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The output is written.
    Warning,
    /// No output is written.
    Error,
}

impl Severity {
    /// Returns `warning` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The name of each code and its explanation, a line each.
const EXPLANATIONS: &str = include_str!("explanations.txt");

macro_rules! codes {
    ($($name:ident $id:literal $group:literal $severity:ident;)*) => {
        /// The kinds of diagnostics. The identifiers are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DiagnosticCode {
            $(#[doc = concat!("`", $id, "`, `", $group, "`.")] $name,)*
        }

        impl DiagnosticCode {
            /// Every code, in the order of the table.
            pub const ALL: &[DiagnosticCode] = &[$(DiagnosticCode::$name),*];

            /// Returns the stable identifier, such as `U01`.
            pub fn id(self) -> &'static str {
                match self { $(DiagnosticCode::$name => $id,)* }
            }

            /// Returns the name in options, such as `range`.
            pub fn group(self) -> &'static str {
                match self { $(DiagnosticCode::$name => $group,)* }
            }

            /// Returns the default severity.
            pub fn severity(self) -> Severity {
                match self { $(DiagnosticCode::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    Expression "A01" "expression" Error;
    Operand "A02" "operand" Error;
    Unterminated "A04" "unterminated" Error;
    Continued "A03" "continued" Error;
    MacroForm "B01" "macro" Error;
    MacroLimit "B02" "macro-limit" Error;
    Doubled "D01" "doubled" Warning;
    External "E01" "external" Error;
    File "F01" "file" Error;
    Internal "I01" "internal" Error;
    Stray "L01" "stray" Error;
    AfterCreated "L02" "after-created" Warning;
    Redefined "M01" "redefined" Error;
    Register "M02" "register" Error;
    Operator "O01" "operator" Error;
    Phase "P01" "phase" Error;
    Truncated "Q01" "truncated" Warning;
    TrailingText "Q02" "extra" Warning;
    Digit "Q03" "digit" Error;
    Displacement "W01" "displacement" Warning;
    MissingOperand "Q04" "short" Error;
    AssignmentIgnored "Q06" "kept" Warning;
    Quote "Q07" "quote" Error;
    NoRegister "Q08" "wrong-register" Error;
    Size "Q09" "size" Warning;
    ExtraOperand "Q11" "extra-operand" Error;
    Heading "Q10" "heading" Warning;
    Empty "Q05" "empty" Warning;
    NoEnd "W02" "no-end" Warning;
    Bracket "W03" "bracket" Warning;
    Wrap "W04" "wrap" Warning;
    Overwrite "W05" "overwrite" Warning;
    MoreErrors "W06" "more" Error;
    Unanswered "W07" "unanswered" Error;
    TooFar "W08" "too-far" Warning;
    LostByte "W09" "lost-byte" Warning;
    IndexAsNumber "W11" "index-as-number" Warning;
    OddPointer "W13" "odd-pointer" Warning;
    EarlyValue "W14" "early-value" Warning;
    LostLine "W15" "lost-line" Warning;
    Surplus "W16" "surplus" Warning;
    FileText "W17" "file-text" Warning;
    NumberAsRegister "W18" "number-as-register" Warning;
    RegisterAsNumber "W19" "register-as-number" Warning;
    WrongPair "W20" "wrong-pair" Warning;
    SymbolAsOperator "W21" "symbol-as-operator" Warning;
    InstructionAsLabel "W22" "instruction-as-label" Warning;
    SameSix "W23" "same-six" Warning;
    DecimalAddress "W24" "decimal-address" Warning;
    Unreachable "W25" "unreachable" Warning;
    Unbalanced "W26" "unbalanced-stack" Warning;
    UnusedLabel "W27" "unused-label" Warning;
    Zilog "W28" "zilog" Error;
    Z180Trap "W29" "z180-trap" Warning;
    ZilogJump "W30" "zilog-jump" Warning;
    Complement "W31" "complement" Warning;
    TextForm "W32" "text-form" Warning;
    Parentheses "W33" "parentheses" Warning;
    ShiftSign "W34" "shift-sign" Warning;
    OpenBlock "W35" "open-block" Warning;
    AfterEnd "W36" "after-end" Warning;
    MacroGap "W12" "macro-gap" Warning;
    Relocation "R01" "relocation" Error;
    Range "R02" "range" Error;
    SourcesTooLarge "T01" "limit" Error;
    Undefined "U01" "undefined" Error;
    Index "X01" "index" Error;
    Intel "Z01" "i8080" Warning;
    User "*01" "user" Error;
    TooMany "W10" "too-many" Error;
}

impl DiagnosticCode {
    /// Returns an explanation: what the diagnostic means and how to solve it.
    pub fn explain(self) -> &'static str {
        let own = |line: &'static str| line.strip_prefix(self.group())?.strip_prefix(": ");
        EXPLANATIONS.lines().find_map(own).unwrap_or_default()
    }

    /// Returns `true` if options can reduce an error to a warning. They cannot if the program was
    /// not read to its end, or no meaningful code could be assembled.
    pub fn is_demotable(self) -> bool {
        !matches!(
            self,
            DiagnosticCode::Unterminated
                | DiagnosticCode::MacroLimit
                | DiagnosticCode::File
                | DiagnosticCode::SourcesTooLarge
                | DiagnosticCode::TooMany
                | DiagnosticCode::Unanswered
        )
    }

    /// Returns `true` if the diagnostic is hidden unless an option enables it.
    pub fn is_off_by_default(self) -> bool {
        self == DiagnosticCode::UnusedLabel
    }

    /// Returns ZASM's error flag, or `None` for a diagnostic that ZASM lacks.
    pub fn error_flag(self) -> Option<char> {
        self.id().chars().next().filter(|letter| *letter != OURS)
    }
}

/// The letter of diagnostics that ZASM lacks.
const OURS: char = 'W';

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn identifiers_and_groups_are_unique() {
        let ids: HashSet<_> = DiagnosticCode::ALL.iter().map(|code| code.id()).collect();
        let groups: HashSet<_> = DiagnosticCode::ALL.iter().map(|code| code.group()).collect();
        assert_eq!(
            (ids.len(), groups.len()),
            (DiagnosticCode::ALL.len(), DiagnosticCode::ALL.len())
        );
    }
}
