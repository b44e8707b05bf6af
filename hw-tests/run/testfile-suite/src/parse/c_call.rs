//! Reads calls of functions of C.

use board_simulator::routines::Call;

use super::Reader;
use crate::c_function::{CType, Convention, PlacedCall, Signature, parse_c_number, split_call};
use crate::document::{Fields, Item};
use crate::model::Step;

const SIGNATURE: &str = "\"int mul16(int a, int b)\"";

impl Reader<'_> {
    /// Reads what is called: a label or address, or a function of C with its arguments.
    pub(super) fn called(&self, fields: &Fields<'_>) -> (Step, Call) {
        let call = fields.required("call", "\"MUL\"");
        let signature = fields.parsed("signature", SIGNATURE, Signature::parse);
        let convention = fields.get("convention");
        let convention = convention.and_then(|item| self.choice(item, &Convention::WORDS));
        let returns = fields.get("returns");
        let c_call = call.and_then(|item| Some((item, split_call(item.as_text()?)?)));
        let Some((item, (name, arguments))) = c_call else {
            if let Some(item) = fields.get("signature").or(returns) {
                item.report("expected a call with arguments, such as call = \"mul16(300, -7)\"");
            }
            let address = call.map(|item| self.named_address(item, "\"MUL\""));
            let (address, target) = address.unwrap_or_default();
            let step = Step { target, ..Step::default() };
            return (step, Call { address, ..Call::default() });
        };
        let mut step = Step { target: name.to_owned(), ..Step::default() };
        let mut call = Call { address: self.function_address(item, name), ..Call::default() };
        let Some(signature) = signature else {
            if fields.get("signature").is_none() {
                item.report(format!("'signature' is missing: signature = {SIGNATURE}"));
            }
            return (step, call);
        };
        if signature.name != name {
            item.report(format!("the signature is of {}, not of {name}", signature.name));
        }
        let known = self
            .program
            .and_then(|program| signature.convention_in(&program.parameters, program.convention));
        let convention = convention.or(known).unwrap_or(Convention::DEFAULT);
        let kinds = signature.parameters.iter().map(Some).chain(std::iter::repeat(None));
        let values = arguments.iter().zip(kinds);
        let values: Vec<_> =
            values.map(|(text, kind)| self.argument(item, text, kind.copied())).collect();
        let placed = item.checked(signature.place(convention, &values)).unwrap_or_default();
        let PlacedCall { registers, stack, removed } = placed;
        step.registers = registers;
        (call.stack_arguments, call.removed) = (stack, removed);
        if let Some(item) = returns {
            let value = item.integer(i64::from(i32::MIN)..=i64::from(u32::MAX));
            step.expect.result = signature.expected(convention, value);
            let fits = step.expect.result.as_ref().map(|result| result.kind.limits());
            match fits {
                None => item.report(format!("{name} returns nothing")),
                Some((least, most)) if !(least..=most).contains(&value) => {
                    item.report(format!("returns: {value} is not in {least} to {most}"));
                }
                Some(_) => {}
            }
        }
        (step, call)
    }

    fn function_address(&self, item: Item<'_>, name: &str) -> u16 {
        self.evaluate(item, name).unwrap_or(0) as u16
    }

    /// Reads an argument: a number as in C, or an expression with labels.
    fn argument(&self, item: Item<'_>, text: &str, kind: Option<CType>) -> u32 {
        let value = parse_c_number(text).or_else(|| self.evaluate(item, text)).unwrap_or(0);
        if let Some((least, most)) = kind.map(CType::limits)
            && !(least..=most).contains(&value)
        {
            item.report(format!("argument {text} is not in {least} to {most}"));
        }
        value as u32
    }
}
