//! The table of message codes: the letter is that of the original assembler's listing, the number
//! ours.

/// The severity of a message.
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

            /// Returns what the message means and what to do, in a few sentences.
            pub fn explain(self) -> &'static str {
                match self { $(Code::$name => $explain,)* }
            }
        }
    };
}

codes! {
    Expression "A01" "expression" Error
        "An expression is missing, incomplete or followed by something that is no operator. \
        Operators are + - * / @ & ! ^ < > and the unary # + -; there is none for comparison.";
    Operand "A02" "operand" Error
        "The operands do not fit the instruction or directive. The language manual lists the \
        forms that each instruction takes.";
    Unterminated "A04" "unterminated" Error
        "A string, bracket or macro body is opened and never closed. Brackets are counted in \
        comments and strings as well, so a bracket in a comment can be the culprit.";
    Continued "A03" "continued" Error
        "A parenthesis is open at the end of the line above. The original takes the end of the \
        line for what closes it, and reads over this line. Close the parenthesis.";
    MacroForm "B01" "macro" Error
        "A macro definition has the form `.DEFINE NAME[A,B]=[text]`.";
    MacroLimit "B02" "macro-limit" Error
        "Macros call themselves without end, or their text grows beyond all bounds. A recursive \
        macro needs a conditional that ends it.";
    Doubled "D01" "doubled" Warning
        "The symbol is defined twice with different values (M01 says where); here its first value \
         is used.";
    External "E01" "external" Error
        "A symbol that is declared external may not be defined in this module. Its area, where \
        .LOC goes on, can be reserved, but neither filled nor have its places exported.";
    File "F01" "file" Error
        "A file cannot be read, inserts itself, or is inserted too deep. Files are sought beside \
        the file that names them and then in the folders that -I gives.";
    Internal "I01" "internal" Error
        "A local symbol cannot be exported.";
    Stray "L01" "stray" Error
        "A character stands where a label, an operator or a comment should be. A comment begins \
         with a semicolon.";
    AfterCreated "L02" "after-created" Warning
        "A macro is called with an argument for a dummy that has a default, or a %, and comes \
        after a dummy with %. The original marks the call and assembles what is meant. Put the \
        dummies with % last, and give one of them at most.";
    Redefined "M01" "redefined" Error
        "A symbol or macro has one definition only, save those assigned with a single = sign.";
    Register "M02" "register" Error
        "The names of registers cannot be given another meaning.";
    Operator "O01" "operator" Error
        "The word is no instruction, directive or macro.";
    Phase "P01" "phase" Error
        "A symbol has one value in the first pass and another in the second, because a \
        conditional or a size depends on something that is defined only later.";
    Truncated "Q01" "truncated" Warning
        "The value does not fit the field, so only its low bits are used. A byte takes -256..255, \
        a bit number and the operand of RST 0..7.";
    Extra "Q02" "extra" Warning
        "There is more on the line than the instruction or directive takes; the rest is ignored.";
    Digit "Q03" "digit" Error
        "The number holds a digit that its radix does not have; only the digits before it count.";
    Displacement "W01" "displacement" Warning
        "An index displacement is a signed byte, -128..127. A value above 127 reaches backwards.";
    Short "Q04" "short" Error
        "An operand is missing. The original leaves its field out of the code, or takes 0.";
    Kept "Q06" "kept" Warning
        "The symbol cannot be assigned; it keeps its first value (M01 or M02 says why).";
    Quote "Q07" "quote" Error
        "A quoted constant is not closed on its line. The original takes the rest of the line for \
         it.";
    NoRegister "Q08" "wrong-register" Error
        "The number is no register's, or no register pair's. The original uses a part of it.";
    Size "Q09" "size" Warning
        "The size of .BLKB or .BLKW takes the location counter past FFFFH, as a negative one does.";
    Heading "Q10" "heading" Warning
        "The text of .TITLE or .SBTTL has more than 78 characters.";
    Empty "Q05" "empty" Warning
        "An empty string assembles to nothing, not even to the final zero of .ASCIZ.";
    NoEnd "W02" "no-end" Warning
        "The original assembler wants .END as the last line of a program.";
    Bracket "W03" "bracket" Warning
        "A bracket in a comment or string is counted like any other and can end a conditional or \
         macro early.";
    Wrap "W04" "wrap" Warning
        "The location counter passed FFFFH and went on at 0.";
    Overwrite "W05" "overwrite" Warning
        "Bytes are assembled twice to the same address; the later ones count.";
    More "W06" "more" Error
        "More is wrong with the line than the two letters show that the original prints in a row. \
        Mend what they mark first.";
    Unanswered "W07" "unanswered" Error
        "The source asks for a value by `NAME =\\`. --answer NAME=VALUE replies, --answer VALUE \
         to the next question.";
    TooFar "W08" "too-far" Warning
        "A relative jump over 130 bytes: the original takes it without a word and assembles an \
        offset of 80H, which jumps back by 126 bytes. Use the absolute jump.";
    LostByte "W09" "lost-byte" Warning
        "The original loses the last byte of an .ASCII, .ASCIZ or .ASCIS whose line goes on with \
        the bracket that closes a block, and so does this assembler. Put the bracket on a line of \
        its own.";
    IndexAsNumber "W11" "index-as-number" Warning
        "An index register without displacement is a number like any other, 4, and 4 is the \
        register H. The byte at an index register is written 0(X).";
    OddPointer "W13" "odd-pointer" Warning
        "LDAX and STAX go with B and D. The original takes H and SP as well and assembles the \
        opcode that results, which is that of LHLD, LDA, SHLD or STA without its address.";
    EarlyValue "W14" "early-value" Warning
        "Symbols are defined by others that are defined only below, or by themselves. Two passes, \
        as the original makes them, then see a value that is not the last one. Move the \
        definitions up.";
    LostLine "W15" "lost-line" Warning
        "A line is no statement of its own: .TITLE or .SBTTL without a text takes the line below \
         it.";
    Surplus "W16" "surplus" Warning
        "A closing bracket has no partner. From the second call of a macro on, the original reads \
         over it without a word; before that it is L01.";
    MacroGap "W12" "macro-gap" Warning
        "Something stands between the head of a macro and the bracket of its text. The original \
         passes over it.";
    Relocation "R01" "relocation" Error
        "A relocatable or external value may only be added to or subtracted from an absolute one, \
        and used as a 16-bit value; the difference of two values in one section is absolute.";
    Range "R02" "range" Error
        "A relative jump reaches from 126 bytes before its own address to 129 bytes after it. Use \
         the absolute jump.";
    Table "T01" "limit" Error
        "A limit of the assembler is reached.";
    Undefined "U01" "undefined" Error
        "The symbol is not defined. Only the first six characters of a name count unless long \
         symbols are on.";
    Index "X01" "index" Error
        "Only X and Y may stand in index parentheses, and a displacement must stand before them: \
         0(X).";
    Intel "Z01" "i8080" Warning
        "The instruction does not exist on the 8080, which .I8080 asked for.";
    User "*01" "user" Error
        "The source itself reports an error by .ERROR.";
    TooMany "W10" "too-many" Error
        "So many errors were found that the rest is left out.";
}

impl Code {
    /// Whether an option can make less of the message than an error: not if the program was not
    /// read to its end, or nothing sensible could be assembled.
    pub fn is_demotable(self) -> bool {
        !matches!(
            self,
            Code::Unterminated
                | Code::MacroLimit
                | Code::File
                | Code::Table
                | Code::TooMany
                | Code::Unanswered
        )
    }

    /// Whether it takes two readings of the text to report this as the original does: it may depend
    /// on what stands further below.
    pub fn needs_two_passes(self) -> bool {
        matches!(
            self,
            Code::AfterCreated
                | Code::Doubled
                | Code::External
                | Code::Internal
                | Code::Kept
                | Code::MacroLimit
                | Code::Phase
                | Code::Redefined
                | Code::Register
                | Code::Table
        )
    }

    /// The letter that the original assembler's listing shows; `None` for a message of our own.
    pub fn letter(self) -> Option<char> {
        self.id().chars().next().filter(|letter| *letter != OURS)
    }
}

/// The letter of messages that the original does not have.
const OURS: char = 'W';

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
