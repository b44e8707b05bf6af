//! A simulated board in this process.

use rcflash_transport::Transport;
use rcflash_transport::time::Duration;

use super::{Board, BoardError, InProcessBoard, Instrumentation, ResetFn};

impl Board for InProcessBoard {
    fn name(&self) -> &str {
        Transport::name(self)
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        Ok(Box::new(self.line()))
    }

    fn reset_fn(&self) -> Option<ResetFn> {
        Some(self.reset_button())
    }

    fn sleep(&mut self, time: Duration) {
        self.run_for(time);
    }

    fn instrumentation(&self) -> Option<&dyn Instrumentation> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use board_simulator::Probe;
    use firmware::ProgramKind;
    use firmware::build::build;
    use firmware::profile::BoardProfile;
    use rcflash_link::Link;
    use rcflash_link::loader::identify;
    use rcflash_transport::ControlLine;

    use super::*;

    #[test]
    fn opening_the_line_ends_a_break_left_on() {
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let monitor = build(&profile, ProgramKind::Monitor).expect("it is built");
        let mut board = InProcessBoard::new(&profile, &monitor.bytes, Probe::default());
        let mut line = board.open().expect("it is there");
        line.set_control_line(ControlLine::Break, true).expect("it can");
        line.set_flow_control(false).expect("it can");
        drop(line);
        let line = board.open().expect("it is there");
        assert!(!board.state().board.line_mut().ignores_rts);
        identify(&mut Link::new(line, profile.uart.baud)).expect("it answers");
    }
}
