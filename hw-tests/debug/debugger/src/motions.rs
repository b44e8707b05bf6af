//! The motions and their names in the front ends that name them by texts.

use super::exec::ExecCommand;

/// What a motion needs to become a command.
#[derive(Debug, Clone, Copy)]
pub enum MotionKind {
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

/// A motion, with its name in each front end; an empty name if it has none there.
#[derive(Debug, Clone, Copy)]
pub struct Motion {
    kind: MotionKind,
    /// The command, whose letter is the key in a terminal.
    command: &'static str,
    /// The request of the Debug Adapter Protocol, with the unit of its step if it has one.
    dap: &'static str,
    /// The word in messages of the page.
    page: &'static str,
}

const fn motion(
    kind: MotionKind,
    command: &'static str,
    dap: &'static str,
    page: &'static str,
) -> Motion {
    Motion { kind, command, dap, page }
}

/// All motions.
const MOTIONS: [Motion; 13] = {
    use ExecCommand as Exec;
    use MotionKind::{Repeatable, Single, ToByte, ToInstruction, ToStep};
    [
        motion(Repeatable(Exec::Step), "step", "stepIn instruction", "step"),
        motion(Repeatable(Exec::StepOver), "over", "next instruction", "over"),
        motion(Repeatable(Exec::StepLine), "next", "next line", "line"),
        motion(Repeatable(Exec::StepLineInto), "into", "stepIn line", "lineInto"),
        motion(Single(Exec::StepOut), "out", "stepOut", "out"),
        motion(Single(Exec::Continue), "run", "continue", "go"),
        motion(ToInstruction(Exec::RunTo), "to", "", "to"),
        motion(Repeatable(Exec::ReverseStep), "back", "stepBack instruction", "back"),
        motion(Repeatable(Exec::ReverseStepLine), "rnext", "stepBack line", "backLine"),
        motion(Single(Exec::ReverseContinue), "rrun", "reverseContinue", "backGo"),
        motion(ToInstruction(Exec::ReverseTo), "rto", "", "backTo"),
        motion(ToByte(Exec::ReverseToChange), "lastchange", "", "backToChange"),
        motion(ToStep(Exec::GoToStep), "", "", "toStep"),
    ]
};

impl Motion {
    fn find(is_wanted: impl Fn(&Self) -> bool) -> Option<MotionKind> {
        MOTIONS.iter().find(|motion| is_wanted(motion)).map(|motion| motion.kind)
    }

    /// Returns the motion of a command of the command language.
    pub fn by_command(name: &str) -> Option<MotionKind> {
        Self::find(|motion| !name.is_empty() && motion.command == name)
    }

    /// Returns the motion of a request of the Debug Adapter Protocol, in steps of instructions or
    /// of lines.
    pub fn by_dap(request: &str, by_instruction: bool) -> Option<MotionKind> {
        let step = format!("{request} {}", if by_instruction { "instruction" } else { "line" });
        Self::find(|motion| !request.is_empty() && [request, &step].contains(&motion.dap))
    }

    /// Returns the motion of a word in a message of the page.
    pub fn by_page(word: &str) -> Option<MotionKind> {
        Self::find(|motion| motion.page == word)
    }
}

impl MotionKind {
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
