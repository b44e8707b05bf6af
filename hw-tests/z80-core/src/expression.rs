//! Expressions over registers and memory, such as `E == 3 && [M3] == 41H`, for conditions of
//! breakpoints and of tests.

/// An expression; as a condition, it holds if its value is not 0.
///
/// Numbers are decimal, or hexadecimal as `1FH` or `0x1F`. Names are given by the caller. `[x]` is
/// the byte at an address, `{x}` the word, `!x` is 1 if `x` is 0. Operators by ascending
/// precedence: `||`, `&&`, one of `== != < <= > >=`, `+ - & | ^`, and `* / %`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    root: Node,
}

/// What a name in an expression stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// A number, such as the address of a label.
    Constant(u16),
    /// A value that [`Values::value`] returns, such as that of a register.
    Variable,
}

/// The values over which an expression is evaluated.
pub trait Values {
    /// Returns the value of a name that was parsed as [`Name::Variable`].
    fn value(&self, name: &str) -> i64;
    /// Returns the byte at an address.
    fn byte(&self, address: u16) -> u8;
    /// Limits the result of an operation to the width of arithmetic; by default it is exact, and
    /// saturates beyond 64 bits.
    fn limit(&self, value: i64) -> i64 {
        value
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Number(u32),
    Variable(String),
    Byte(Box<Node>),
    Word(Box<Node>),
    Not(Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
}

/// Error returned for an invalid expression; holds the text from the error on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError(pub String);

impl std::fmt::Display for ExpressionError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(rest) = self;
        write!(
            formatter,
            "invalid expression at '{rest}': expected one such as E == 3 && [M3] == 41H"
        )
    }
}

impl std::error::Error for ExpressionError {}

const MAX_NESTING: u32 = 32;
type Operators = &'static [&'static str];
/// The operators by ascending precedence; `<=` comes before its prefix `<`.
const OPERATORS_BY_PRECEDENCE: [Operators; 5] = [
    &["||"],
    &["&&"],
    &["==", "!=", "<=", ">=", "<", ">"],
    &["+", "-", "&", "|", "^"],
    &["*", "/", "%"],
];

impl Expression {
    /// Parses an expression with numbers up to `most`. `name` returns what a name stands for, or
    /// `None` if it is unknown.
    ///
    /// # Errors
    /// Returns `ExpressionError` if the syntax is invalid, a name unknown or a number too large.
    pub fn parse(
        text: &str,
        most: u32,
        name: &dyn Fn(&str) -> Option<Name>,
    ) -> Result<Self, ExpressionError> {
        let mut parser = Parser { rest: text.trim(), most, name, depth: 0 };
        let root = parser.level(0).ok_or_else(|| ExpressionError(parser.rest.to_owned()))?;
        if parser.rest.is_empty() {
            Ok(Self { root })
        } else {
            Err(ExpressionError(parser.rest.to_owned()))
        }
    }

    /// Evaluates the expression. A division by 0 yields 0.
    pub fn value(&self, values: &dyn Values) -> i64 {
        self.root.value(values)
    }

    /// Returns the variables in the order of the text.
    pub fn variables(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.visit(&mut |node| {
            if let Node::Variable(name) = node
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        });
        names
    }

    /// Returns `true` if the value depends on memory.
    pub fn reads_memory(&self) -> bool {
        let mut reads = false;
        self.root.visit(&mut |node| reads |= matches!(node, Node::Byte(_) | Node::Word(_)));
        reads
    }
}

impl Node {
    fn visit<'n>(&'n self, look: &mut dyn FnMut(&'n Self)) {
        look(self);
        match self {
            Self::Number(_) | Self::Variable(_) => {}
            Self::Byte(inner) | Self::Word(inner) | Self::Not(inner) => inner.visit(look),
            Self::Binary(_, left, right) => {
                left.visit(look);
                right.visit(look);
            }
        }
    }

    fn value(&self, values: &dyn Values) -> i64 {
        match self {
            Self::Number(number) => (*number).into(),
            Self::Variable(name) => values.value(name),
            Self::Byte(address) => values.byte(address.value(values) as u16).into(),
            Self::Word(address) => {
                let at = address.value(values) as u16;
                u16::from_le_bytes([values.byte(at), values.byte(at.wrapping_add(1))]).into()
            }
            Self::Not(inner) => (inner.value(values) == 0).into(),
            Self::Binary(operator, left, right) => {
                values.limit(binary(operator, left.value(values), right.value(values)))
            }
        }
    }
}

fn binary(operator: &str, a: i64, b: i64) -> i64 {
    match operator {
        "||" => (a != 0 || b != 0).into(),
        "&&" => (a != 0 && b != 0).into(),
        "==" => (a == b).into(),
        "!=" => (a != b).into(),
        "<=" => (a <= b).into(),
        ">=" => (a >= b).into(),
        "<" => (a < b).into(),
        ">" => (a > b).into(),
        "+" => a.saturating_add(b),
        "-" => a.saturating_sub(b),
        "*" => a.saturating_mul(b),
        "/" => a.checked_div(b).unwrap_or(0),
        "%" => a.checked_rem(b).unwrap_or(0),
        "|" => a | b,
        "^" => a ^ b,
        _ => a & b,
    }
}

struct Parser<'t> {
    rest: &'t str,
    most: u32,
    name: &'t dyn Fn(&str) -> Option<Name>,
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

    /// Returns `true` if the operator comes next; the first half of `&&` or `||` does not count.
    fn is_next(&self, operator: &str) -> bool {
        let is_half = |double: &str| operator.len() == 1 && self.rest.starts_with(double);
        self.rest.starts_with(operator) && !is_half("&&") && !is_half("||")
    }

    fn term(&mut self) -> Option<Node> {
        if self.rest.starts_with('!') {
            self.skip(1);
            return Some(Node::Not(Box::new(self.nested(Self::term)?)));
        }
        let brackets = [("[", "]"), ("{", "}"), ("(", ")")];
        if let Some((open, close)) = brackets.iter().find(|(open, _)| self.rest.starts_with(open)) {
            self.skip(1);
            let inner = self.nested(|parser| parser.level(0))?;
            self.rest.starts_with(close).then(|| self.skip(1))?;
            return Some(match *open {
                "[" => Node::Byte(Box::new(inner)),
                "{" => Node::Word(Box::new(inner)),
                _ => inner,
            });
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || ".$%'".contains(c);
        // `%` is a letter of symbols, and an operator only after a space.
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let node = self.word(&self.rest[..end])?;
        self.skip(end);
        Some(node)
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Option<Node>) -> Option<Node> {
        self.depth += 1;
        let inner = (self.depth < MAX_NESTING).then(|| parse(self)).flatten()?;
        self.depth -= 1;
        Some(inner)
    }

    fn word(&self, word: &str) -> Option<Node> {
        match (self.name)(word) {
            Some(Name::Variable) => Some(Node::Variable(word.to_owned())),
            Some(Name::Constant(value)) => Some(Node::Number(value.into())),
            None => parse_wide(word).filter(|value| *value <= self.most).map(Node::Number),
        }
    }

    fn skip(&mut self, count: usize) {
        self.rest = self.rest[count..].trim_start();
    }
}

/// Parses a number of 16 bits: decimal, or hexadecimal as `1FH` or `0x1F`.
pub fn parse_number(text: &str) -> Option<u16> {
    parse_wide(text).and_then(|value| value.try_into().ok())
}

fn parse_wide(text: &str) -> Option<u32> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_suffix(['H', 'h']));
    match hex {
        Some(digits)
            if digits.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with("0x") =>
        {
            u32::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Five;

    impl Values for Five {
        fn value(&self, _: &str) -> i64 {
            5
        }
        fn byte(&self, address: u16) -> u8 {
            address as u8
        }
    }

    fn value(text: &str) -> Option<i64> {
        let name = |name: &str| match name {
            "A" => Some(Name::Variable),
            "LABEL" => Some(Name::Constant(0x1234)),
            _ => None,
        };
        Expression::parse(text, 0xF_FFFF, &name).ok().map(|expression| expression.value(&Five))
    }

    #[test]
    fn operators_bind_as_documented() {
        for (text, expected) in [
            ("2 + A * 3", 17),
            ("65535 * 65535", 65535 * 65535),
            ("0 - A", -5),
            ("A == 5 && A != 4 || 0", 1),
            ("!(A < 5) & !0", 1),
            ("[LABEL]", 0x34),
            ("{0x34}", 0x3534),
            ("7 % 4 | 8 ^ 1", 10),
            ("7 / 0", 0),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn variables_and_memory_are_listed() {
        let name = |name: &str| matches!(name, "A" | "B").then_some(Name::Variable);
        let parse = |text| Expression::parse(text, 0xFF, &name).expect("it is valid");
        let memory = parse("B == [A] + B");
        assert_eq!((memory.variables(), memory.reads_memory()), (vec!["B", "A"], true));
        assert!(!parse("!A").reads_memory());
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        let deep = format!("{}1", "(".repeat(40));
        let nots = format!("{}1", "!".repeat(100_000));
        for text in ["", "A ==", "B", "A & & 1", "(A", "0FFFFFFH", &deep, &nots] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
