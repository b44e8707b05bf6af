//! A port in memory, whose other end is a test.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{ByteCounts, Capabilities, ControlLine, Transport};

/// What a test sees and sets of a port.
#[derive(Default)]
pub(crate) struct PortState {
    /// Bytes of the board that were not read yet.
    pub(crate) from_board: VecDeque<u8>,
    /// All bytes that the port accepted.
    pub(crate) written: Vec<u8>,
    /// The number of bytes that the port accepts before it blocks; `None` is any number.
    pub(crate) room: Option<usize>,
    /// The calls that change a setting.
    pub(crate) calls: Vec<String>,
    /// Makes reads fail.
    pub(crate) is_unplugged: bool,
    /// Makes writes fail.
    pub(crate) is_read_only: bool,
}

/// The port. Its clones share their state.
#[derive(Clone, Default)]
pub(crate) struct TestPort(Arc<Mutex<PortState>>);

impl TestPort {
    pub(crate) fn with<T>(&self, access: impl FnOnce(&mut PortState) -> T) -> T {
        access(&mut self.0.lock().expect("no panic"))
    }

    /// Waits until the state is as expected.
    pub(crate) fn wait_for(&self, is_expected: impl Fn(&PortState) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.with(|state| is_expected(state)) {
            assert!(Instant::now() < deadline, "{:?}", self.with(|state| state.written.len()));
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn call(&self, call: String) -> io::Result<()> {
        self.with(|state| state.calls.push(call));
        Ok(())
    }
}

impl Transport for TestPort {
    fn name(&self) -> &str {
        "test port"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { flow_control: true, control_lines: true }
    }

    fn byte_counts(&self) -> Option<ByteCounts> {
        Some(self.with(|state| ByteCounts { sent: state.written.len() as u64, received: 7 }))
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let count = self.with(|state| {
            if state.is_unplugged {
                return Err(io::ErrorKind::BrokenPipe);
            }
            let count = buffer.len().min(state.from_board.len());
            buffer
                .iter_mut()
                .zip(state.from_board.drain(..count))
                .for_each(|(to, from)| *to = from);
            Ok(count)
        })?;
        if count == 0 {
            std::thread::sleep(timeout);
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.with(|state| {
            if state.is_read_only {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let count = state.room.map_or(bytes.len(), |room| room.min(bytes.len()));
            state.written.extend(&bytes[..count]);
            state.room = state.room.map(|room| room - count);
            if count < bytes.len() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
        })
    }

    fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        self.call(format!("{line:?} {on}"))
    }

    fn set_flow_control(&mut self, enabled: bool) -> io::Result<bool> {
        self.call(format!("flow control {enabled}")).map(|()| true)
    }

    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        if baud == 300 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.call(format!("baud {baud}"))
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.call("discard".to_owned())
    }
}
