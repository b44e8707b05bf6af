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

macro_rules! codes {
    ($($name:ident $id:literal $group:literal $severity:ident $explain:literal;)*) => {
        /// The kinds of diagnostics. The identifiers are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DiagnosticCode {
            $(#[doc = $explain] $name,)*
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

            /// Returns an explanation: what the diagnostic means and how to solve it.
            pub fn explain(self) -> &'static str {
                match self { $(DiagnosticCode::$name => $explain,)* }
            }
        }
    };
}

codes! {
    Expression "A01" "expression" Error
        "An expression is missing, incomplete or followed by something that is not an operator. \
        Operators are + - * / @ & ! ^ < > and the unary # + -; there are no comparison \
        operators.";
    Operand "A02" "operand" Error
        "The operands do not fit the instruction or directive. The language manual lists the \
        forms that each instruction takes.";
    Unterminated "A04" "unterminated" Error
        "A string, bracket or macro body is opened and never closed. Brackets are counted in \
        comments and strings as well, so a bracket in a comment can be the culprit.";
    Continued "A03" "continued" Error
        "A parenthesis is open at the end of the line above. ZASM takes the line end as the \
        closing one, and ignores this line. Close the parenthesis.";
    MacroForm "B01" "macro" Error
        "A macro definition has the form `.DEFINE NAME[A,B]=[text]`.";
    MacroLimit "B02" "macro-limit" Error
        "Macros call themselves endlessly, or their text becomes too large. A recursive macro \
        needs a conditional that ends it.";
    Doubled "D01" "doubled" Warning
        "The symbol is defined twice with different values (see M01 for where); its first value \
        is used here.";
    External "E01" "external" Error
        "A symbol that is declared external cannot be defined in this module. Its area, which \
        .LOC extends, can only be reserved: it cannot contain bytes or exported symbols.";
    File "F01" "file" Error
        "A file cannot be read, includes itself, or is nested too deep. Files are searched in \
        the directory of the file that names them, and then in the directories given by -I.";
    Internal "I01" "internal" Error
        "A local symbol cannot be exported.";
    Stray "L01" "stray" Error
        "A character cannot begin a label, an operator or a comment. A comment begins with a \
        semicolon.";
    AfterCreated "L02" "after-created" Warning
        "Put the parameters with % last. ZASM reports an error for a call that gives every \
        argument if a parameter with a default, or with another %, follows the first %. It \
        expands the call correctly, but emits four zero bytes before it if the default has a \
        lower-case letter.";
    Redefined "M01" "redefined" Error
        "A symbol or macro can be defined only once, except by assignments with a single = \
        sign.";
    Register "M02" "register" Error
        "The names of registers cannot be redefined.";
    Operator "O01" "operator" Error
        "The word is not an instruction, directive or macro.";
    Phase "P01" "phase" Error
        "A symbol has one value in the first pass and another in the second, because a \
        conditional or a size depends on something that is defined only later.";
    Truncated "Q01" "truncated" Warning
        "The value does not fit the field, so only its low bits are used. A byte takes -256..255, \
        a bit number and the operand of RST 0..7.";
    TrailingText "Q02" "extra" Warning
        "There is more on the line than the instruction or directive takes; the rest is ignored.";
    Digit "Q03" "digit" Error
        "The number has a digit that is too large for its radix; only the digits before it \
        count.";
    Displacement "W01" "displacement" Warning
        "An index displacement is a signed byte, -128..127. A value above 127 is a negative \
        displacement.";
    MissingOperand "Q04" "short" Error
        "An operand is missing. ZASM does not write its bytes, or uses 0.";
    AssignmentIgnored "Q06" "kept" Warning
        "The symbol cannot be assigned; it keeps its first value (see M01 or M02 for the \
        reason).";
    Quote "Q07" "quote" Error
        "A quoted constant is not closed on its line. ZASM takes the rest of the line as the \
        constant.";
    NoRegister "Q08" "wrong-register" Error
        "The number is not that of a register or register pair. ZASM uses a part of it.";
    Size "Q09" "size" Warning
        "The size of .BLKB or .BLKW takes the location counter past FFFFH, as a negative one does.";
    ExtraOperand "Q11" "extra-operand" Error
        "The instruction has more operands than it takes; ZASM ignores the rest of the line. Zilog's \
        notation has registers and conditions there that TDL has in the mnemonic: RET Z is RZ.";
    Heading "Q10" "heading" Warning
        "The text of .TITLE or .SBTTL has more than 78 characters.";
    Empty "Q05" "empty" Warning
        "An empty string assembles to nothing, not even to the final zero of .ASCIZ.";
    NoEnd "W02" "no-end" Warning
        "ZASM requires .END as the last line of a program.";
    Bracket "W03" "bracket" Warning
        "A bracket in a comment or string is counted like any other and can end a conditional or \
         macro early.";
    Wrap "W04" "wrap" Warning
        "The location counter passed FFFFH and continued at 0.";
    Overwrite "W05" "overwrite" Warning
        "Bytes are assembled twice to the same address; the later ones count.";
    MoreErrors "W06" "more" Error
        "The line has more errors than the two error flags show that ZASM prints in a row. \
        Correct those first.";
    Unanswered "W07" "unanswered" Error
        "The source reads a value from the console by `NAME =\\`. --answer NAME=VALUE gives the \
        reply, --answer VALUE the reply to the next prompt.";
    TooFar "W08" "too-far" Warning
        "A relative jump over 130 bytes, or back by 254: ZASM accepts it without a message, and \
        assembles the offset 80H or 0, which lead elsewhere. Use the absolute jump.";
    LostByte "W09" "lost-byte" Warning
        "ZASM loses the last byte of an .ASCII, .ASCIZ or .ASCIS if the bracket that closes a \
        block follows on its line, and so does this assembler. Put the bracket on a line of \
        its own.";
    IndexAsNumber "W11" "index-as-number" Warning
        "An index register without displacement is a number like any other, 4, and 4 is the \
        register H. The byte at an index register is written 0(X).";
    OddPointer "W13" "odd-pointer" Warning
        "LDAX and STAX take B and D. ZASM accepts H and SP as well, and assembles the resulting \
        opcode, which is that of LHLD, LDA, SHLD or STA without its address.";
    EarlyValue "W14" "early-value" Warning
        "A symbol depends on symbols that are defined later, or on itself. Two passes, as in \
        ZASM, then use a value that is not the final one. Move the definitions up.";
    LostLine "W15" "lost-line" Warning
        ".TITLE or .SBTTL without a text uses the next line as its text, so that line is not \
        assembled.";
    Surplus "W16" "surplus" Warning
        "A closing bracket is unmatched. From the second macro call on ZASM ignores it \
        without a message; before that it is L01.";
    FileText "W17" "file-text" Warning
        "A source is plain text. Byte order marks and NUL bytes are removed, and bit 7 where a word \
        processor sets it, as WordStar does; CP/M ends a text with 1AH.";
    NumberAsRegister "W18" "number-as-register" Warning
        "Registers are numbers, so that MOV A,5 is MOV A,L and ADD 7 is ADD A. Constants have \
        instructions of their own: MVI, ADI, ACI, SUI, SBI, ANI, XRI, ORI, CPI.";
    RegisterAsNumber "W19" "register-as-number" Warning
        "A register is a number in an expression (B C D E H L M A are 0 to 7), so that MVI A,B \
        loads 0. MOV copies a register, ADD and the like take one.";
    WrongPair "W20" "wrong-pair" Warning
        "Pairs are numbers too: M, SP and PSW are 6, and X and Y are 4 like H. LXI PSW is LXI SP, \
        PUSH SP is PUSH PSW, and DAD X is DAD H.";
    SymbolAsOperator "W21" "symbol-as-operator" Warning
        "A symbol in the place of an instruction assembles its value as a word, and the rest of \
        the line is lost. A label ends with a colon.";
    InstructionAsLabel "W22" "instruction-as-label" Warning
        "An instruction without operands stands alone on its line, but with a colon, which makes \
        it a label.";
    SameSix "W23" "same-six" Warning
        "Two names are equal in the six characters that count, so the assignment changes the value \
        of both.";
    DecimalAddress "W24" "decimal-address" Warning
        "Numbers without H are decimal: .LOC 8000 is 1F40H.";
    Unreachable "W25" "unreachable" Warning
        "Code after an unconditional jump or return never runs unless a label leads to it. Jumps, \
        returns and NOP there are tables or room for patches, and not reported.";
    Unbalanced "W26" "unbalanced-stack" Warning
        "On the straight path to RET there are more PUSH than POP, so that RET takes what was \
        pushed as its address. A path that changes SP, or pushes an address right behind its LXI \
        or before RET, is not reported.";
    UnusedLabel "W27" "unused-label" Warning
        "No statement uses the label. Off unless enabled by -W unused-label or -W all.";
    Zilog "W28" "zilog" Error
        "The source has Zilog's mnemonics. `tdlasm asm --zilog FILE` assembles it, and `tdlasm \
        convert --to tdl FILE` converts it.";
    Z180Trap "W29" "z180-trap" Warning
        "A Z180 does not run this instruction of the Z80: it jumps to 0 (TRAP). Reported with \
        --cpu z180. Bytes written by .BYTE are not examined.";
    ZilogJump "W30" "zilog-jump" Warning
        "JP and CP are Zilog's jump and comparison. Here they jump and call if the sign is plus: \
        JMP is the jump, CMP and CPI compare. Reported where no instruction before sets the sign, \
        and where the operand is a small constant.";
    Complement "W31" "complement" Warning
        "The sign # before a number is no mark of a constant: it inverts all bits, so that #5 is \
        FFFAH.";
    TextForm "W32" "text-form" Warning
        "A text ends at the next character like its first one, whatever that is, and another may \
        follow. Commas do not separate texts, a doubled quote is no quote, and a backslash is \
        itself. Bytes have brackets: `.ASCII \"A\"[13]\"B\"`.";
    Parentheses "W33" "parentheses" Warning
        "Parentheses around a whole operand have no effect: the mnemonic says whether it is a \
        value or the address of one. LXI H,(A) is LXI H,A; LHLD A loads from A.";
    ShiftSign "W34" "shift-sign" Warning
        "The signs < and > shift, and bind tighter than + - * /. Conditions compare with zero: \
        .IFG A-B is true if A is greater than B.";
    OpenBlock "W35" "open-block" Warning
        "The program ends within a block of a conditional: its closing bracket is missing.";
    AfterEnd "W36" "after-end" Warning
        "Nothing after .END is assembled.";
    MacroGap "W12" "macro-gap" Warning
        "There is text between the head of a macro and the bracket of its body. ZASM ignores \
        it.";
    Relocation "R01" "relocation" Error
        "A relocatable or external value may only be added to or subtracted from an absolute one, \
        and used as a 16-bit value; the difference of two values in one section is absolute.";
    Range "R02" "range" Error
        "A relative jump reaches from 126 bytes before its own address to 129 bytes after it. Use \
         the absolute jump.";
    SourcesTooLarge "T01" "limit" Error
        "The sources are larger than 4 GB together.";
    Undefined "U01" "undefined" Error
        "The symbol is not defined. Only the first six characters of a name are significant \
        unless long symbols are on.";
    Index "X01" "index" Error
        "Only X and Y are valid in index parentheses, and a displacement must precede them: \
        0(X).";
    Intel "Z01" "i8080" Warning
        "The instruction does not exist on the 8080, which .I8080 selects.";
    User "*01" "user" Error
        "The source itself reports an error by .ERROR.";
    TooMany "W10" "too-many" Error
        "There are more errors, which are left out.";
}

impl DiagnosticCode {
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
