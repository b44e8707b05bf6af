//! The table of message codes: the letter is that of the original assembler's listing, the number ours.

/// How much a message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; the output is written.
    Warning,
    /// No output is written.
    Error,
}

macro_rules! codes {
    ($($name:ident $id:literal $group:literal $severity:ident $explain:literal;)*) => {
        /// The kinds of message. The identifiers are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $explain] $name,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// The stable identifier, such as `U01`.
            pub fn id(self) -> &'static str {
                match self { $(Code::$name => $id,)* }
            }

            /// The name by which an option speaks of this message, such as `range`.
            pub fn group(self) -> &'static str {
                match self { $(Code::$name => $group,)* }
            }

            /// The severity unless an option says otherwise.
            pub fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }

            /// What the message means and what to do, in a few sentences.
            pub fn explain(self) -> &'static str {
                match self { $(Code::$name => $explain,)* }
            }
        }
    };
}

codes! {
    Expression "A01" "expression" Error
        "An expression is missing, incomplete or followed by something that is no operator. Operators are \
        + - * / @ & ! ^ < > and the unary # + -; there is none for comparison.";
    Operand "A02" "operand" Error
        "The operands do not fit the instruction or directive. The language manual lists the forms that each \
        instruction takes.";
    Unterminated "A04" "unterminated" Error
        "A string, bracket or macro body is opened and never closed. Brackets are counted in comments and strings \
        as well, so a bracket in a comment can be the culprit.";
    MacroForm "B01" "macro" Error
        "A macro definition has the form `.DEFINE NAME[A,B]=[text]`.";
    MacroLimit "B02" "macro-limit" Error
        "Macros call themselves without end, or their text grows beyond all bounds. A recursive macro needs a \
        conditional that ends it.";
    Doubled "D01" "doubled" Warning
        "The symbol is defined twice with different values (M01 says where); here its first value is used.";
    External "E01" "external" Error
        "A symbol that is declared external may not be defined in this module. Its area, where .LOC goes on, can be \
        reserved, but neither filled nor have its places exported.";
    File "F01" "file" Error
        "A file cannot be read, inserts itself, or is inserted too deep. Files are sought beside the file that names \
        them and then in the folders that -I gives.";
    Stray "L01" "stray" Error
        "A character stands where a label, an operator or a comment should be. A comment begins with a semicolon.";
    Redefined "M01" "redefined" Error
        "A symbol or macro has one definition only, save those assigned with a single = sign.";
    Register "M02" "register" Error
        "The names of registers cannot be given another meaning.";
    Operator "O01" "operator" Error
        "The word is no instruction, directive or macro.";
    Phase "P01" "phase" Error
        "A symbol has one value in the first pass and another in the second, because a conditional or a size \
        depends on something that is defined only later.";
    Truncated "Q01" "truncated" Warning
        "The value does not fit the field, so only its low bits are used. A byte takes -256..255, a bit number and \
        the operand of RST 0..7.";
    Extra "Q02" "extra" Warning
        "There is more on the line than the instruction or directive takes; the rest is ignored.";
    Digit "Q03" "digit" Warning
        "The number holds a digit that its radix does not have; only the digits before it count.";
    Displacement "Q04" "displacement" Warning
        "An index displacement is a signed byte, -128..127. A value above 127 reaches backwards.";
    Empty "Q05" "empty" Warning
        "An empty string assembles to nothing, not even to the final zero of .ASCIZ.";
    NoEnd "Q06" "no-end" Warning
        "The original assembler wants .END as the last line of a program.";
    Bracket "Q07" "bracket" Warning
        "A bracket in a comment or string is counted like any other and can end a conditional or macro early.";
    Wrap "Q08" "wrap" Warning
        "The location counter passed FFFFH and went on at 0.";
    Overwrite "Q09" "overwrite" Warning
        "Bytes are assembled twice to the same address; the later ones count.";
    Relocation "R01" "relocation" Error
        "A relocatable or external value may only be added to or subtracted from an absolute one, and used as a \
        16-bit value; the difference of two values in one section is absolute.";
    Range "R02" "range" Error
        "A relative jump reaches from 126 bytes before its own address to 129 bytes after it. Use the absolute jump.";
    Forward "R03" "forward" Error
        "The value is needed at once, so that it cannot be a symbol that is defined further below.";
    Table "T01" "limit" Error
        "A limit of the assembler is reached.";
    Undefined "U01" "undefined" Error
        "The symbol is not defined. Only the first six characters of a name count unless long symbols are on.";
    Circular "U02" "circular" Error
        "Symbols are defined by each other, so that none has a value.";
    Index "X01" "index" Error
        "Only X and Y may stand in index parentheses, and a displacement must stand before them: 0(X).";
    Intel "Z01" "i8080" Warning
        "The instruction does not exist on the 8080, which .I8080 asked for.";
    User "*01" "user" Error
        "The source itself reports an error by .ERROR.";
    TooMany "T02" "too-many" Error
        "So many errors were found that the rest is left out.";
}

impl Code {
    /// The letter that the original assembler's listing shows, if the message existed there.
    pub fn letter(self) -> Option<char> {
        let ours = matches!(
            self,
            Code::Displacement | Code::Bracket | Code::NoEnd | Code::Wrap | Code::Overwrite
        );
        self.id().chars().next().filter(|_| !ours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn identifiers_and_groups_are_unique() {
        let ids: HashSet<_> = Code::ALL.iter().map(|code| code.id()).collect();
        let groups: HashSet<_> = Code::ALL.iter().map(|code| code.group()).collect();
        assert_eq!((ids.len(), groups.len()), (Code::ALL.len(), Code::ALL.len()));
    }
}
