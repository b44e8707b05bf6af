//! A simulated board with a stock monitor.

use std::time::Duration;

use hil_harness::board::{Board, BoardError, ResetFn};
use monitor_standins::{
    Basic, Cpm, MonitorLine, MonitorModel, MonitorOptions, Romwbw, Scm, ScmRelease,
};
use rcflash_monitors::{ResidentMonitor, StockMonitor};
use rcflash_transport::Transport;

/// Makes a stand-in for a monitor.
pub(super) type MakeMonitor = fn() -> Box<dyn MonitorModel>;

/// Returns what makes the stand-in for a monitor on a Z80 or a Z180; `None` if there is none.
pub(super) fn maker(monitor: &ResidentMonitor, is_z180: bool) -> Option<MakeMonitor> {
    Some(match (monitor, is_z180) {
        (ResidentMonitor::Memory(StockMonitor::Scm), false) => || Box::<Scm>::default(),
        (ResidentMonitor::Memory(StockMonitor::Scm), true) => {
            || Box::new(Scm::new(ScmRelease::S6V13))
        }
        (ResidentMonitor::Memory(StockMonitor::Romwbw), false) => || Box::<Romwbw>::default(),
        (ResidentMonitor::Memory(StockMonitor::Romwbw), true) => {
            || Box::new(Romwbw::default().on_z180())
        }
        (ResidentMonitor::Memory(StockMonitor::Basic), false) => || Box::<Basic>::default(),
        (ResidentMonitor::Cpm, false) => || Box::<Cpm>::default(),
        _ => return None,
    })
}

/// A stock monitor on a line whose time passes only while the host waits.
pub(super) struct StandInBoard(MonitorLine);

impl StandInBoard {
    pub(super) fn new(monitor: Box<dyn MonitorModel>) -> Self {
        Self(MonitorLine::new(monitor, MonitorOptions::default()))
    }
}

impl Board for StandInBoard {
    fn name(&self) -> &str {
        "simulated stock monitor"
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        Ok(Box::new(self.0.clone()))
    }

    fn reset_fn(&self) -> Option<ResetFn> {
        let line = self.0.clone();
        Some(Box::new(move || line.reset()))
    }

    fn sleep(&mut self, time: Duration) {
        self.0.sleep(time);
    }
}
