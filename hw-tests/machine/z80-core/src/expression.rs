//! Expressions over registers and memory, such as `E == 3 && [M3] == 41H`, for conditions of
//! breakpoints and of tests.

/// An expression; as a condition, it holds if its value is not 0.
///
/// Numbers are decimal, or hexadecimal as `1FH` or `0x1F`, or characters as `'A'`. Names are given
/// by the caller. `[x]` or `x.b` is the byte at an address, `{x}` or `x.w` the word, `sb(x)` and
/// `sw(x)` are the low byte and word of x as signed numbers, `!x` is 1 if `x` is 0. Operators by
/// ascending precedence: `||`, `&&`, one of `== != < <= > >=`, `+ - & | ^`, `* / % << >>`, and the
/// signs `- ~ !`.
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
    SignedByte(Box<Node>),
    SignedWord(Box<Node>),
    Sign(char, Box<Node>),
    /// A value, and operators of one precedence with their right values, applied from the left. A
    /// list, since a chain may have any length.
    Chain(Box<Node>, Vec<(&'static str, Node)>),
}

/// Error returned for an invalid expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpressionError {
    /// A value is missing before this text, which is empty at the end.
    NoValue(String),
    /// This text follows a complete expression.
    Trailing(String),
    /// A name that stands for nothing.
    UnknownName(String),
    /// A name that may stand for several things: the whole message, which callers give that know
    /// the names.
    AmbiguousName(String),
    /// A number, and the number of bits that it may have.
    TooLarge(String, u32),
    /// This bracket is missing before the text, which is empty at the end.
    Unclosed(char, String),
    /// Brackets, signs and suffixes are nested too deeply.
    TooDeep,
}

impl std::fmt::Display for ExpressionError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let before = |rest: &str| match rest {
            "" => "at the end".to_owned(),
            rest => format!("before '{}'", rest.escape_debug()),
        };
        match self {
            Self::NoValue(rest) => write!(formatter, "missing value {}", before(rest)),
            Self::Trailing(rest) => {
                write!(formatter, "unexpected '{}' after the expression", rest.escape_debug())
            }
            Self::UnknownName(name) => write!(formatter, "unknown name '{}'", name.escape_debug()),
            Self::AmbiguousName(message) => formatter.write_str(message),
            Self::TooLarge(number, bits) => write!(formatter, "{number} has more than {bits} bits"),
            Self::Unclosed(bracket, rest) => {
                write!(formatter, "missing {bracket} {}", before(rest))
            }
            Self::TooDeep => write!(formatter, "brackets nested deeper than {MAX_NESTING}"),
        }
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
    &["*", "/", "%", "<<", ">>"],
];

impl Expression {
    /// Parses an expression with numbers up to `most`. `name` returns what a name stands for, or
    /// `None` if it is unknown.
    ///
    /// # Errors
    /// Returns `ExpressionError`, which names the fault.
    pub fn parse(
        text: &str,
        most: u32,
        name: &dyn Fn(&str) -> Option<Name>,
    ) -> Result<Self, ExpressionError> {
        let text = text.trim();
        let mut parser = Parser { rest: text, most, name, depth: 0 };
        let parsed = parser.level(0).and_then(|root| match parser.rest {
            "" => Ok(Self { root }),
            rest => Err(ExpressionError::Trailing(rest.to_owned())),
        });
        // A label of another tool may contain what is an operator here.
        parsed.or_else(|error| match name(text) {
            Some(Name::Constant(value)) => Ok(Self { root: Node::Number(value.into()) }),
            _ => Err(error),
        })
    }

    /// Returns the address of an expression `[x]` or `{x}`, and its width in bytes.
    pub fn memory_operand(&self) -> Option<(Self, u16)> {
        let (address, width) = match &self.root {
            Node::Byte(address) => (address, 1),
            Node::Word(address) => (address, 2),
            _ => return None,
        };
        Some((Self { root: (**address).clone() }, width))
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

    /// Returns the operands `[x]` and `{x}`, the outer ones first.
    pub fn memory_operands(&self) -> Vec<Self> {
        let mut operands = Vec::new();
        self.root.visit(&mut |node| {
            if matches!(node, Node::Byte(_) | Node::Word(_)) {
                operands.push(Self { root: node.clone() });
            }
        });
        operands
    }

    /// Returns `true` if the value depends on memory.
    pub fn reads_memory(&self) -> bool {
        !self.memory_operands().is_empty()
    }
}

impl Node {
    fn visit<'n>(&'n self, look: &mut dyn FnMut(&'n Self)) {
        look(self);
        match self {
            Self::Number(_) | Self::Variable(_) => {}
            Self::Byte(inner) | Self::Word(inner) | Self::Sign(_, inner) => inner.visit(look),
            Self::SignedByte(inner) | Self::SignedWord(inner) => inner.visit(look),
            Self::Chain(first, rest) => {
                first.visit(look);
                rest.iter().for_each(|(_, right)| right.visit(look));
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
            Self::SignedByte(inner) => (inner.value(values) as i8).into(),
            Self::SignedWord(inner) => (inner.value(values) as i16).into(),
            Self::Sign('-', inner) => values.limit(inner.value(values).saturating_neg()),
            Self::Sign('~', inner) => values.limit(!inner.value(values)),
            Self::Sign(_, inner) => (inner.value(values) == 0).into(),
            Self::Chain(first, rest) => {
                rest.iter().fold(first.value(values), |left, (operator, right)| {
                    values.limit(binary(operator, left, right.value(values)))
                })
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
        "<<" => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0),
        ">>" => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(0),
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

type Parsed = Result<Node, ExpressionError>;

impl Parser<'_> {
    fn level(&mut self, level: usize) -> Parsed {
        let Some(operators) = OPERATORS_BY_PRECEDENCE.get(level) else { return self.term() };
        let first = self.level(level + 1)?;
        let mut rest = Vec::new();
        while let Some(operator) = operators.iter().find(|operator| self.is_next(operator)) {
            self.skip(operator.len());
            rest.push((*operator, self.level(level + 1)?));
        }
        Ok(if rest.is_empty() { first } else { Node::Chain(Box::new(first), rest) })
    }

    /// Returns `true` if the operator comes next; the first half of a double one does not count.
    fn is_next(&self, operator: &str) -> bool {
        let is_double = ["&&", "||", "<<", ">>"].iter().any(|two| self.rest.starts_with(two));
        self.rest.starts_with(operator) && !(operator.len() == 1 && is_double)
    }

    fn term(&mut self) -> Parsed {
        if let Some(sign) = self.rest.chars().next().filter(|sign| "-~!".contains(*sign)) {
            self.skip(1);
            return Ok(Node::Sign(sign, Box::new(self.nested(Self::term)?)));
        }
        let mut node = self.operand()?;
        for depth in self.depth.. {
            let Some(is_word) = memory_suffix(self.rest) else { break };
            if depth >= MAX_NESTING {
                return Err(ExpressionError::TooDeep);
            }
            self.skip(2);
            node = memory(node, is_word);
        }
        Ok(node)
    }

    /// Parses brackets, a character, a number or a name.
    fn operand(&mut self) -> Parsed {
        let brackets = [('[', ']'), ('{', '}'), ('(', ')')];
        if let Some((open, close)) = brackets.iter().find(|(open, _)| self.rest.starts_with(*open))
        {
            self.skip(1);
            let inner = self.nested(|parser| parser.level(0))?;
            if !self.rest.starts_with(*close) {
                return Err(ExpressionError::Unclosed(*close, self.rest.to_owned()));
            }
            self.skip(1);
            return Ok(if *open == '(' { inner } else { memory(inner, *open == '{') });
        }
        if let Some((character, rest)) = character_literal(self.rest) {
            let value = self.number(&format!("'{character}'"), u32::from(character).into())?;
            self.rest = rest.trim_start();
            return Ok(value);
        }
        let is_word = |c: char| c.is_alphanumeric() || ".$%'_@?".contains(c);
        // `%` is a letter of symbols, and an operator only after a space.
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        let signed = match word.to_ascii_lowercase().as_str() {
            "sb" => Some(Node::SignedByte as fn(Box<Node>) -> Node),
            "sw" => Some(Node::SignedWord as fn(Box<Node>) -> Node),
            _ => None,
        };
        if let Some(signed) = signed.filter(|_| self.rest[end..].starts_with('(')) {
            self.skip(end);
            return Ok(signed(Box::new(self.nested(Self::operand)?)));
        }
        let node = self.word(word, self.depth)?;
        self.skip(end);
        Ok(node)
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        self.depth += 1;
        if self.depth >= MAX_NESTING {
            return Err(ExpressionError::TooDeep);
        }
        let inner = parse(self)?;
        self.depth -= 1;
        Ok(inner)
    }

    fn word(&self, word: &str, depth: u32) -> Parsed {
        if depth >= MAX_NESTING {
            return Err(ExpressionError::TooDeep);
        }
        if word.is_empty() {
            return Err(ExpressionError::NoValue(self.rest.to_owned()));
        }
        match (self.name)(word) {
            Some(Name::Variable) => return Ok(Node::Variable(word.to_owned())),
            Some(Name::Constant(value)) => return Ok(Node::Number(value.into())),
            None => {}
        }
        // A symbol may contain dots, so a suffix counts only if the whole is not a name.
        if let Some((base, suffix)) =
            word.len().checked_sub(2).and_then(|at| word.split_at_checked(at))
            && let Some(is_word) = memory_suffix(suffix)
        {
            return Ok(memory(self.word(base, depth + 1)?, is_word));
        }
        let value = parse_wide(word).or_else(|| parse_printed(word));
        self.number(word, value.ok_or_else(|| ExpressionError::UnknownName(word.to_owned()))?)
    }

    /// Returns the node of a number, which `text` spells.
    fn number(&self, text: &str, value: u64) -> Parsed {
        match u32::try_from(value).ok().filter(|value| *value <= self.most) {
            Some(value) => Ok(Node::Number(value)),
            None => {
                let bits = u32::BITS - self.most.leading_zeros();
                Err(ExpressionError::TooLarge(text.to_owned(), bits))
            }
        }
    }

    fn skip(&mut self, count: usize) {
        self.rest = self.rest[count..].trim_start();
    }
}

/// Returns the character of a literal such as `'A'` at the start of a text, and what follows it.
fn character_literal(text: &str) -> Option<(char, &str)> {
    let mut rest = text.strip_prefix('\'')?.chars();
    let character = rest.next()?;
    Some((character, rest.as_str().strip_prefix('\'')?))
}

/// Returns whether a suffix that comes next means a word: `.w` does, `.b` does not.
fn memory_suffix(text: &str) -> Option<bool> {
    let rest = text.strip_prefix('.')?;
    let continues = rest.chars().nth(1).is_some_and(|next| next.is_ascii_alphanumeric());
    match rest.chars().next() {
        Some('w' | 'W') if !continues => Some(true),
        Some('b' | 'B') if !continues => Some(false),
        _ => None,
    }
}

fn memory(address: Node, is_word: bool) -> Node {
    let address = Box::new(address);
    if is_word { Node::Word(address) } else { Node::Byte(address) }
}

/// Parses a number of 16 bits: decimal, hexadecimal as `1FH` or `0x1F`, or one as messages print it,
/// which may begin with a letter: two or four capital digits and `H`, such as `C3H` or `F123h`.
/// Where names are known, a name that is spelled like the last form has priority.
pub fn parse_number(text: &str) -> Option<u16> {
    parse_wide(text).or_else(|| parse_printed(text)).and_then(|value| value.try_into().ok())
}

/// Returns `true` for a number that no name can be spelled like: it begins with a digit.
pub fn is_number(text: &str) -> bool {
    parse_wide(text).is_some()
}

/// Parses an address of a command line, as [`parse_number`].
///
/// # Errors
/// Returns a message that shows the text.
pub fn parse_address(text: &str) -> Result<u16, String> {
    let wrong = || format!("invalid address '{text}': expected one such as 8000H");
    parse_number(text).ok_or_else(wrong)
}

fn parse_printed(text: &str) -> Option<u64> {
    let digits = text.strip_suffix(['H', 'h']).filter(|digits| matches!(digits.len(), 2 | 4))?;
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
    digits.bytes().all(is_digit).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

fn parse_wide(text: &str) -> Option<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_suffix(['H', 'h']));
    match hex {
        Some(digits)
            if digits.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with("0x") =>
        {
            digits
                .bytes()
                .all(|digit| digit.is_ascii_hexdigit())
                .then(|| u64::from_str_radix(digits, 16).unwrap_or(u64::MAX))
        }
        Some(_) => None,
        None => {
            let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
            is_number.then(|| text.parse().unwrap_or(u64::MAX))
        }
    }
}
