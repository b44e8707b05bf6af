//! A source as statements of neither dialect, and the reasons why some are not converted.

use std::borrow::Cow;
use std::ops::Range;

use tdlasm::isa::{Form, Prefix, Register};
use tdlasm::syntax::Cursor;

use super::expr::Node;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unconverted {
    /// Offset in the text.
    pub(super) at: usize,
    pub(super) message: Cow<'static, str>,
}

impl Unconverted {
    pub(super) fn new(at: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self { at, message: message.into() }
    }

    /// Returns `Err` with this reason.
    pub(super) fn fail<T>(at: usize, message: impl Into<Cow<'static, str>>) -> ConvertResult<T> {
        Err(Self::new(at, message))
    }
}

pub(super) type ConvertResult<T> = Result<T, Unconverted>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand<'t> {
    Register(Register),
    /// The byte at an index register plus a displacement; the prefix selects the register.
    Index(Prefix, Node<'t>),
    Value(Node<'t>),
}

/// An operand or list element and the blanks before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spaced<'t, T> {
    pub(super) blanks: &'t [u8],
    pub(super) item: T,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item<'t> {
    Text(Cow<'t, [u8]>),
    Value(Node<'t>),
}

impl Item<'_> {
    pub(super) fn has_current_address(&self) -> bool {
        matches!(self, Item::Value(node) if node.has_current_address())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Body<'t> {
    Nothing,
    Instruction(&'static Form, Vec<Spaced<'t, Operand<'t>>>),
    /// The name's value, final or until the next assignment. The name and its colon end at `end`.
    Assign {
        symbol: Label<'t>,
        fixed: bool,
        value: Node<'t>,
    },
    Bytes(Vec<Spaced<'t, Item<'t>>>),
    Words(Vec<Spaced<'t, Node<'t>>>),
    /// Reserves a number of units of 1 or 2 bytes.
    Reserve(u8, Node<'t>),
    Origin(Node<'t>),
    Insert(&'t [u8]),
    External(Vec<Spaced<'t, &'t [u8]>>),
    Global(Vec<Spaced<'t, &'t [u8]>>),
    End(Option<Node<'t>>),
    /// Becomes a comment: other converted statements have its effect.
    CommentOut,
    /// Is copied unchanged.
    LeftAsIs(Unconverted),
    /// Is in the target dialect already, marked by a period: see [`crate::mnemonics::is_marked`].
    AlreadyTarget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label<'t> {
    pub(super) name: &'t [u8],
    pub(super) at: usize,
    /// Just past the colon.
    pub(super) end: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement<'t> {
    /// From the start of the line up to, not with, the end of its last line.
    pub(super) span: Range<usize>,
    pub(super) labels: Vec<Label<'t>>,
    /// The mnemonic, directive or assignment operator; empty if there is none.
    pub(super) operator: Range<usize>,
    /// The end of the operands, before blanks and the comment.
    pub(super) end: usize,
    pub(super) body: Body<'t>,
    /// The radix of numbers without a radix letter in TDL, if it is known.
    pub(super) radix: Option<u8>,
    /// The name of the macro that a statement copied unchanged defines.
    pub(super) defines: Option<&'t [u8]>,
}

impl<'t> Body<'t> {
    /// The effect of a statement that ends here; with more text on its line it is copied unchanged.
    pub(super) fn checked(read: ConvertResult<Self>, cursor: &Cursor<'_>) -> Self {
        let mut behind = cursor.clone();
        behind.skip_blanks();
        let more = "unexpected text at the end of the statement";
        match read {
            Ok(body) if behind.at_statement_end() => body,
            Ok(_) => Body::LeftAsIs(Unconverted::new(behind.offset() as usize, more)),
            Err(reason) => Body::LeftAsIs(reason),
        }
    }

    /// Calls `visit` with every expression of the statement.
    pub(super) fn expressions(&self, mut visit: impl FnMut(&Node<'t>)) {
        match self {
            Body::Instruction(_, operands) => operands.iter().for_each(|one| match &one.item {
                Operand::Index(_, node) | Operand::Value(node) => visit(node),
                Operand::Register(_) => {}
            }),
            Body::Bytes(items) => items.iter().for_each(|one| match &one.item {
                Item::Value(node) => visit(node),
                Item::Text(_) => {}
            }),
            Body::Words(nodes) => nodes.iter().for_each(|node| visit(&node.item)),
            Body::Assign { value: node, .. } | Body::Reserve(_, node) | Body::Origin(node) => {
                visit(node);
            }
            Body::End(Some(node)) => visit(node),
            _ => {}
        }
    }
}
