//! Expressions, such as the conditions of breakpoints: `E == 3 && [M3] == 41H`.

use super::registers::register;
use board_simulator::Registers;
use firmware::code::CodeMap;

/// A condition, or any expression.
///
/// Numbers are decimal, or hexadecimal as `1FH` or `0x1F`. Names are registers (`A`, `HL`, `B'`),
/// flags (`FZ`) or labels, which stand for their addresses; `[x]` is the byte at an address, `{x}`
/// the word. Operators, the weakest first: `||`, `&&`, one of `== != < <= > >=`, and `+ - &`; all
/// numbers have sixteen bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    root: Node,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Number(u16),
    Register(String),
    Byte(Box<Node>),
    Word(Box<Node>),
    Both(&'static str, Box<Node>, Box<Node>),
}

/// Error returned for a text that is no expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("can't read the expression at '{0}'; it is like: E == 3 && [M3] == 41H")]
pub struct ConditionError(String);

/// The depth to which brackets may be nested.
const MAX_NESTING: u32 = 32;
/// The operators, the weakest first; a longer one comes before its own beginning.
const LEVELS: [&[&str]; 4] =
    [&["||"], &["&&"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-", "&"]];

impl Condition {
    /// Reads an expression; labels are looked up at once.
    ///
    /// # Errors
    /// Returns `ConditionError` for a text that is none, or that has an unknown name in it.
    pub fn parse(text: &str, code: &CodeMap) -> Result<Self, ConditionError> {
        let mut parser = Parser { rest: text.trim(), code, depth: 0 };
        let root = parser.level(0).ok_or_else(|| ConditionError(parser.rest.to_owned()))?;
        if parser.rest.is_empty() {
            Ok(Self { root })
        } else {
            Err(ConditionError(parser.rest.to_owned()))
        }
    }

    /// The value; as a condition, 0 does not hold.
    pub fn value(&self, registers: &Registers, read: &dyn Fn(u16) -> u8) -> u16 {
        self.root.value(registers, read)
    }
}

impl Node {
    fn value(&self, registers: &Registers, read: &dyn Fn(u16) -> u8) -> u16 {
        match self {
            Self::Number(number) => *number,
            Self::Register(name) => register(registers, name).unwrap_or(0),
            Self::Byte(address) => read(address.value(registers, read)).into(),
            Self::Word(address) => {
                let at = address.value(registers, read);
                u16::from_le_bytes([read(at), read(at.wrapping_add(1))])
            }
            Self::Both(operator, left, right) => {
                let a = left.value(registers, read);
                let b = right.value(registers, read);
                match *operator {
                    "||" => u16::from(a != 0 || b != 0),
                    "&&" => u16::from(a != 0 && b != 0),
                    "==" => u16::from(a == b),
                    "!=" => u16::from(a != b),
                    "<=" => u16::from(a <= b),
                    ">=" => u16::from(a >= b),
                    "<" => u16::from(a < b),
                    ">" => u16::from(a > b),
                    "+" => a.wrapping_add(b),
                    "-" => a.wrapping_sub(b),
                    _ => a & b,
                }
            }
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
    code: &'t CodeMap,
    depth: u32,
}

impl Parser<'_> {
    fn level(&mut self, level: usize) -> Option<Node> {
        let Some(operators) = LEVELS.get(level) else { return self.term() };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.is_next(operator)) {
            self.skip(operator.len());
            let right = self.level(level + 1)?;
            left = Node::Both(operator, Box::new(left), Box::new(right));
        }
        Some(left)
    }

    /// Whether an operator comes next; the first half of `&&` is none.
    fn is_next(&self, operator: &str) -> bool {
        self.rest.starts_with(operator) && !(operator == "&" && self.rest.starts_with("&&"))
    }

    fn term(&mut self) -> Option<Node> {
        let brackets = [("[", "]"), ("{", "}"), ("(", ")")];
        if let Some((open, close)) = brackets.iter().find(|(open, _)| self.rest.starts_with(open)) {
            self.skip(1);
            // The depth is bounded, since a person's text decides how deep this recursion goes.
            self.depth += 1;
            let inner = (self.depth < MAX_NESTING).then(|| self.level(0)).flatten()?;
            self.depth -= 1;
            self.rest.starts_with(close).then(|| self.skip(1))?;
            return Some(match *open {
                "[" => Node::Byte(Box::new(inner)),
                "{" => Node::Word(Box::new(inner)),
                _ => inner,
            });
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || ".$%'".contains(c);
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let node = word(&self.rest[..end], self.code)?;
        self.skip(end);
        Some(node)
    }

    fn skip(&mut self, count: usize) {
        self.rest = self.rest[count..].trim_start();
    }
}

fn word(word: &str, code: &CodeMap) -> Option<Node> {
    if register(&Registers::default(), word).is_some() {
        return Some(Node::Register(word.to_owned()));
    }
    parse_number(word).or_else(|| code.symbol(word)).map(Node::Number)
}

/// A number: decimal, or hexadecimal as `1FH` or `0x1F`.
#[must_use]
pub fn parse_number(text: &str) -> Option<u16> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_suffix(['H', 'h']));
    match hex {
        Some(digits)
            if digits.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with("0x") =>
        {
            u16::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => text.parse().ok(),
    }
}
