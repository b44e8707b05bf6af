//! Expressions, such as the conditions of breakpoints: `E == 3 && [M3] == 41H`.

use super::registers::register_value;
use board_simulator::Registers;
use firmware::code_map::CodeMap;

/// An expression over registers and memory; as a condition, it holds if its value is not 0.
///
/// Numbers are decimal, or hexadecimal as `1FH` or `0x1F`. Names are registers (`A`, `HL`, `B'`),
/// flags (`FZ`) or labels, whose value is their address; `[x]` is the byte at an address, `{x}` the
/// word. Operators by ascending precedence: `||`, `&&`, one of `== != < <= > >=`, and `+ - &`.
/// All values have 16 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    root: Node,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Number(u16),
    Register(String),
    Byte(Box<Node>),
    Word(Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
}

/// Error returned for an invalid expression; holds the text from the error on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid expression at '{0}': expected one such as E == 3 && [M3] == 41H")]
pub struct ExpressionError(String);

/// Maximum nesting of brackets.
const MAX_NESTING: u32 = 32;
/// The operators by ascending precedence; `<=` comes before its prefix `<`.
const OPERATORS_BY_PRECEDENCE: [&[&str]; 4] =
    [&["||"], &["&&"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-", "&"]];

impl Expression {
    /// Parses an expression; labels are resolved now.
    ///
    /// # Errors
    /// Returns `ExpressionError` if the syntax is invalid or a name unknown.
    pub fn parse(text: &str, code: &CodeMap) -> Result<Self, ExpressionError> {
        let mut parser = Parser { rest: text.trim(), code, depth: 0 };
        let root = parser.level(0).ok_or_else(|| ExpressionError(parser.rest.to_owned()))?;
        if parser.rest.is_empty() {
            Ok(Self { root })
        } else {
            Err(ExpressionError(parser.rest.to_owned()))
        }
    }

    /// Evaluates the expression.
    pub fn value(&self, registers: &Registers, read: &dyn Fn(u16) -> u8) -> u16 {
        self.root.value(registers, read)
    }
}

impl Node {
    fn value(&self, registers: &Registers, read: &dyn Fn(u16) -> u8) -> u16 {
        match self {
            Self::Number(number) => *number,
            Self::Register(name) => register_value(registers, name).unwrap_or(0),
            Self::Byte(address) => read(address.value(registers, read)).into(),
            Self::Word(address) => {
                let at = address.value(registers, read);
                u16::from_le_bytes([read(at), read(at.wrapping_add(1))])
            }
            Self::Binary(operator, left, right) => {
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
        let Some(operators) = OPERATORS_BY_PRECEDENCE.get(level) else { return self.term() };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.is_next(operator)) {
            self.skip(operator.len());
            let right = self.level(level + 1)?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
        }
        Some(left)
    }

    /// Returns `true` if the operator comes next; the first half of `&&` is not `&`.
    fn is_next(&self, operator: &str) -> bool {
        self.rest.starts_with(operator) && !(operator == "&" && self.rest.starts_with("&&"))
    }

    fn term(&mut self) -> Option<Node> {
        let brackets = [("[", "]"), ("{", "}"), ("(", ")")];
        if let Some((open, close)) = brackets.iter().find(|(open, _)| self.rest.starts_with(open)) {
            self.skip(1);
            // Bounded, because the input decides the depth of this recursion.
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
    if register_value(&Registers::default(), word).is_some() {
        return Some(Node::Register(word.to_owned()));
    }
    parse_number(word).or_else(|| code.symbol(word)).map(Node::Number)
}

/// Parses a number: decimal, or hexadecimal as `1FH` or `0x1F`.
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
