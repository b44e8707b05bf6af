//! The motions and their names in the front ends that name them by texts.

use super::exec::ExecCommand;

/// A motion, by what it needs to become a command.
#[derive(Debug, Clone, Copy)]
pub enum Motion {
    /// Nothing; the command can be repeated.
    Repeatable(ExecCommand),
    /// Nothing.
    Single(ExecCommand),
    /// The address of an instruction.
    ToInstruction(fn(u16) -> ExecCommand),
    /// The address of a byte.
    ToByte(fn(u16) -> ExecCommand),
    /// The number of a step.
    ToStep(fn(u64) -> ExecCommand),
}

/// The names of a motion, empty where it has none: the command, whose letter is the key in a
/// terminal; the request of the Debug Adapter Protocol, with the unit of its step if it has one;
/// and the word in messages of the page.
type Names = [&'static str; 3];

/// All motions.
const MOTIONS: [(Motion, Names); 13] = {
    use ExecCommand as Exec;
    use Motion::{Repeatable, Single, ToByte, ToInstruction, ToStep};
    [
        (Repeatable(Exec::Step), ["step", "stepIn instruction", "step"]),
        (Repeatable(Exec::StepOver), ["over", "next instruction", "over"]),
        (Repeatable(Exec::StepLine), ["next", "next line", "line"]),
        (Repeatable(Exec::StepLineInto), ["into", "stepIn line", "lineInto"]),
        (Single(Exec::StepOut), ["out", "stepOut", "out"]),
        (Single(Exec::Continue), ["run", "continue", "go"]),
        (ToInstruction(Exec::RunTo), ["to", "", "to"]),
        (Repeatable(Exec::ReverseStep), ["back", "stepBack instruction", "back"]),
        (Repeatable(Exec::ReverseStepLine), ["rnext", "stepBack line", "backLine"]),
        (Single(Exec::ReverseContinue), ["rrun", "reverseContinue", "backGo"]),
        (ToInstruction(Exec::ReverseTo), ["rto", "", "backTo"]),
        (ToByte(Exec::ReverseToChange), ["lastchange", "", "backToChange"]),
        (ToStep(Exec::GoToStep), ["", "", "toStep"]),
    ]
};

impl Motion {
    fn find(is_wanted: impl Fn(&Names) -> bool) -> Option<Self> {
        MOTIONS.iter().find(|(_, names)| is_wanted(names)).map(|(motion, _)| *motion)
    }

    /// Returns the motion of a command of the command language.
    pub fn by_command(name: &str) -> Option<Self> {
        Self::find(|[command, ..]| !name.is_empty() && *command == name)
    }

    /// Returns the motion of a request of the Debug Adapter Protocol, in steps of instructions or
    /// of lines.
    pub fn by_dap(request: &str, by_instruction: bool) -> Option<Self> {
        let step = format!("{request} {}", if by_instruction { "instruction" } else { "line" });
        Self::find(|[_, dap, _]| !request.is_empty() && [request, &step].contains(dap))
    }

    /// Returns the motion of a word in a message of the page.
    pub fn by_page(word: &str) -> Option<Self> {
        Self::find(|[.., page]| *page == word)
    }
    /// Returns the command of a motion that needs nothing.
    pub fn plain(self) -> Option<ExecCommand> {
        self.with(None, None)
    }

    /// Returns the command with an address or the number of a step, if it is given where needed.
    pub fn with(self, address: Option<u16>, step: Option<u64>) -> Option<ExecCommand> {
        match self {
            Self::Repeatable(command) | Self::Single(command) => Some(command),
            Self::ToInstruction(make) | Self::ToByte(make) => address.map(make),
            Self::ToStep(make) => step.map(make),
        }
    }
}
