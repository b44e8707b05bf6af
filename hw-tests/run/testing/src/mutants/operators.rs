//! Mutation operators: small changes of Z80 source text.

use std::collections::HashMap;
use std::fmt;

/// A mutation operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MutationOperator {
    /// Inverts the condition of a jump, call or return.
    Condition,
    /// Adds or subtracts one from a constant, an address or a bit number.
    Constant,
    /// Replaces a register, or swaps the operands of a MOV.
    Register,
    /// Replaces an operation by its opposite, such as subtraction by addition.
    Operation,
    /// Deletes an instruction.
    Missing,
}

impl MutationOperator {
    /// All operators.
    pub const ALL: [Self; 5] =
        [Self::Condition, Self::Constant, Self::Register, Self::Operation, Self::Missing];
}

impl fmt::Display for MutationOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Condition => "conditions inverted",
            Self::Constant => "constants off by one",
            Self::Register => "registers exchanged",
            Self::Operation => "operations reversed",
            Self::Missing => "instructions deleted",
        })
    }
}

/// A source file with one statement changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// The file.
    pub file: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// The operator.
    pub kind: MutationOperator,
    /// The original statement.
    pub original: String,
    /// The statement in its place; empty if it is deleted.
    pub replacement: String,
    /// The number among equal changes of the file, from 1.
    pub number: usize,
}

impl fmt::Display for Mutant {
    /// Writes the change without its line number, so that names are stable if other lines change.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, original, replacement, number, .. } = self;
        let replacement = if replacement.is_empty() { "nothing" } else { replacement };
        write!(f, "{file}: {original} -> {replacement}")?;
        if *number > 1 { write!(f, " ({number})") } else { Ok(()) }
    }
}

/// Returns all mutants of a file.
pub fn mutants_in(file: &'static str, text: &str) -> Vec<Mutant> {
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    let mut all = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(statement) = Statement::of(line) else { continue };
        for (kind, to) in statement.changes() {
            let from = statement.text.to_owned();
            let number = seen.entry((from.clone(), to.clone())).or_default();
            *number += 1;
            all.push(Mutant {
                file,
                line: index + 1,
                kind,
                original: from,
                replacement: to,
                number: *number,
            });
        }
    }
    all
}

/// Returns the text of the file with the mutation applied.
pub fn apply_mutant(mutant: &Mutant, text: &str) -> String {
    let mut changed = String::with_capacity(text.len() + 8);
    for (index, line) in text.lines().enumerate() {
        match Statement::of(line) {
            Some(statement) if index + 1 == mutant.line => {
                changed.push_str(&line[..statement.start]);
                changed.push_str(&mutant.replacement);
            }
            _ => changed.push_str(line),
        }
        changed.push('\n');
    }
    changed
}

/// An instruction, a macro call, a definition or a line of data, without label and comment.
#[derive(Debug, Clone, Copy)]
struct Statement<'a> {
    /// The column at which it starts.
    start: usize,
    text: &'a str,
    operator: &'a str,
    operands: &'a str,
}

impl<'a> Statement<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let code = line.split(';').next().unwrap_or_default().trim_end();
        let labels = code.rfind(':').map_or(0, |colon| colon + 1);
        let text = code[labels..].trim_start();
        let start = code.len() - text.len();
        let (operator, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let operands = operands.trim_start();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '.';
        if text.is_empty() || !operator.chars().all(is_name) || code.contains(['[', ']']) {
            return None;
        }
        let is_directive = operator.starts_with('.') && !DATA.contains(&operator);
        (!is_directive).then_some(Self { start, text, operator, operands })
    }

    fn changes(&self) -> Vec<(MutationOperator, String)> {
        let mut changes = Vec::new();
        let mut add = |kind, to| changes.push((kind, to));
        if let Some(value) = self.operands.strip_prefix("==") {
            for step in STEPS {
                add(
                    MutationOperator::Constant,
                    format!("{} == {}{step}", self.operator, value.trim()),
                );
            }
            return changes;
        }
        for (table, kind) in
            [(OPPOSITES, MutationOperator::Operation), (CONDITIONS, MutationOperator::Condition)]
        {
            let other = partner(table, self.operator);
            if let Some(other) = other.filter(|_| !self.only_sets_flags()) {
                add(kind, self.with_operator(other));
            }
        }
        self.operand_changes(&mut add);
        if !DATA.contains(&self.operator) {
            add(MutationOperator::Missing, String::new());
        }
        changes
    }

    fn operand_changes(&self, add: &mut impl FnMut(MutationOperator, String)) {
        let operands: Vec<_> = self.operands.split(',').collect();
        if self.operator == "MOV" && operands.len() == 2 && operands[0] != operands[1] {
            add(MutationOperator::Register, format!("MOV {},{}", operands[1], operands[0]));
        }
        for (index, operand) in operands.iter().enumerate() {
            let mut replace = |kind, other: String| {
                let with = |(at, old): (usize, &&str)| match at == index {
                    true => other.clone(),
                    false => (*old).to_owned(),
                };
                let all: Vec<_> = operands.iter().enumerate().map(with).collect();
                add(kind, format!("{} {}", self.operator, all.join(",")));
            };
            let table = if PAIRED.contains(&self.operator) { PAIRS } else { REGISTERS };
            if let Some(other) = partner(table, operand) {
                replace(MutationOperator::Register, other.to_owned());
            } else if let Some(index) = operand.find("(X)").or(operand.find("(Y)")) {
                let (offset, register) = operand.split_at(index);
                for step in STEPS {
                    replace(MutationOperator::Constant, format!("{offset}{step}{register}"));
                }
            } else if CONSTANT.contains(&self.operator) || DATA.contains(&self.operator) {
                for step in STEPS {
                    replace(MutationOperator::Constant, format!("{operand}{step}"));
                }
            }
        }
    }

    /// Returns `true` for `ORA A` and `ANA A`, which are equivalent: both only set flags.
    fn only_sets_flags(&self) -> bool {
        matches!(self.operator, "ORA" | "ANA") && self.operands == "A"
    }

    fn with_operator(&self, other: &str) -> String {
        format!("{other} {}", self.operands).trim_end().to_owned()
    }
}

/// The changes applied to a constant.
const STEPS: [&str; 2] = ["+1", "-1"];
/// Directives that define data.
const DATA: &[&str] = &[".BYTE", ".WORD"];
/// Instructions one of whose operands is a constant, an address or the number of a bit.
const CONSTANT: &[&str] = &[
    "ACI", "ADI", "ANI", "BIT", "CPI", "LDA", "LHLD", "LIXD", "LXI", "MVI", "ORI", "RES", "SBI",
    "SET", "SHLD", "STA", "SUI", "XRI",
];
/// Instructions whose registers are pairs.
const PAIRED: &[&str] =
    &["DAD", "DADX", "DCX", "DSBC", "INX", "LDAX", "LXI", "POP", "PUSH", "STAX"];

type Partners = &'static [(&'static str, &'static str)];

/// Each word is replaced by its partners.
const REGISTERS: Partners = &[("B", "C"), ("D", "E"), ("H", "L"), ("A", "B"), ("M", "A")];
const PAIRS: Partners = &[("B", "D"), ("H", "D"), ("X", "Y"), ("PSW", "B")];
const CONDITIONS: Partners = &[
    ("JZ", "JNZ"),
    ("JC", "JNC"),
    ("JP", "JM"),
    ("JPO", "JPE"),
    ("JRZ", "JRNZ"),
    ("JRC", "JRNC"),
    ("CZ", "CNZ"),
    ("CC", "CNC"),
    ("RZ", "RNZ"),
    ("RC", "RNC"),
    ("RP", "RM"),
];
const OPPOSITES: Partners = &[
    ("ADD", "SUB"),
    ("ADI", "SUI"),
    ("ANA", "ORA"),
    ("ANI", "ORI"),
    ("INR", "DCR"),
    ("INX", "DCX"),
    ("RES", "SET"),
    ("RLC", "RRC"),
    ("LDA", "STA"),
    ("LHLD", "SHLD"),
    ("LDAX", "STAX"),
    ("RLD", "RRD"),
    ("STC", "CMC"),
    ("POP", "PUSH"),
];

fn partner(table: Partners, word: &str) -> Option<&'static str> {
    table.iter().find_map(|&(one, other)| match word {
        _ if word == one => Some(other),
        _ if word == other => Some(one),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Vec<String> {
        mutants_in("a.asm", line).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_operator_is_applied() {
        assert_eq!(
            names("..X:    JRZ ..Y ; why"),
            ["a.asm: JRZ ..Y -> JRNZ ..Y", "a.asm: JRZ ..Y -> nothing"]
        );
        assert_eq!(
            names("MOV A,M"),
            ["MOV M,A", "MOV B,M", "MOV A,A", "nothing"]
                .map(|to| format!("a.asm: MOV A,M -> {to}"))
        );
        assert_eq!(
            names("MVI L,O.BACT"),
            ["MVI H,O.BACT", "MVI L,O.BACT+1", "MVI L,O.BACT-1", "nothing"]
                .map(|to| format!("a.asm: MVI L,O.BACT -> {to}"))
        );
        assert_eq!(
            names("MOV 0(X),A"),
            ["MOV A,0(X)", "MOV 0+1(X),A", "MOV 0-1(X),A", "MOV 0(X),B", "nothing"]
                .map(|to| format!("a.asm: MOV 0(X),A -> {to}"))
        );
        assert_eq!(
            names("PAWN == 1"),
            ["a.asm: PAWN == 1 -> PAWN == 1+1", "a.asm: PAWN == 1 -> PAWN == 1-1"]
        );
        assert_eq!(
            names(".BYTE 7"),
            ["a.asm: .BYTE 7 -> .BYTE 7+1", "a.asm: .BYTE 7 -> .BYTE 7-1"]
        );
    }

    #[test]
    fn lines_without_code_are_not_mutated() {
        for line in ["", "; MOV A,B", "X:", "        .END", "        .DEFINE F[A]=[", "]]"] {
            assert_eq!(names(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn equal_changes_are_numbered_and_applied_to_their_own_line() {
        let text = "A: RET\nB: RET ; twice\n";
        let all = mutants_in("a.asm", text);
        assert_eq!(all[1].to_string(), "a.asm: RET -> nothing (2)");
        assert_eq!(apply_mutant(&all[1], text), "A: RET\nB: \n");
    }
}
