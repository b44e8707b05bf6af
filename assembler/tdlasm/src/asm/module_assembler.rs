//! The module that is being assembled: its symbols, its code, and the expressions that join them.

use super::code_state::CodeState;
use super::context::Context;
use super::lints::Flow;
use super::module_scope::ModuleScope;
use super::options::Options;
use super::pass::Pass;
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::source::Span;
use crate::syntax::expr::Expr;

pub(super) struct ModuleAssembler<'a> {
    pub(super) context: Context<'a>,
    pub(super) symbols: ModuleScope,
    pub(super) code: CodeState,
    /// The operands of the statement; the buffers are reused for each statement.
    pub(super) operands: [Expr; 2],
    /// The radix of numbers without suffix.
    pub(super) radix: u8,
    /// Whether a parenthesis of the statement is open at the end of its line.
    pub(super) line_continues: bool,
    pub(super) flow: Flow,
}

impl<'a> ModuleAssembler<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        let mut symbols = ModuleScope::new(options.long_symbols);
        symbols.predefine(&options.defines);
        Self {
            context: Context::new(options),
            symbols,
            code: CodeState::new(options.absolute_prog),
            operands: Default::default(),
            radix: 10,
            line_continues: false,
            flow: Flow::default(),
        }
    }

    /// Keeps the symbols and macros of the first pass, and clears everything else.
    pub(super) fn begin_second_pass(&mut self) {
        self.context.begin_second_pass();
        self.symbols.begin_second_pass();
        self.code = CodeState::new(self.context.options.absolute_prog);
        self.radix = 10;
        self.line_continues = false;
        self.flow.restart();
    }

    pub(super) fn error(&mut self, code: DiagnosticCode, span: Span, message: impl Into<String>) {
        self.context.error(code, span, message);
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.context.report(diagnostic);
    }

    pub(super) fn begin_next(&mut self) {
        let options = self.context.options;
        self.code = CodeState::new(options.absolute_prog);
        self.radix = 10;
        self.flow.restart();
        self.symbols.begin_module(self.context.pass == Pass::Second, &options.defines);
    }
}
