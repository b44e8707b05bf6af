//! Serial devices on which every wait ends.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{ControlModes, OptionalActions, isatty, tcgetattr, tcsetattr};
use serialport::{FlowControl, SerialPort, TTYPort};

pub use crate::wires::list;

/// An open serial device, 8 data bits, no parity, 1 stop bit.
///
/// `serialport` opens, locks and sets up the device. Bytes go through a descriptor of our own that
/// never blocks: `serialport`'s write waits for a stalled device without end.
pub struct Device {
    file: File,
    settings: TTYPort,
}

impl Device {
    /// Opens a device, with the host obeying its RTS.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], [`ErrorKind::PermissionDenied`], [`ErrorKind::ResourceBusy`];
    /// [`ErrorKind::InvalidInput`] for what is no serial device; what else the system said.
    pub fn open(name: &str, baud: u32) -> io::Result<Self> {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let flags = i32::from_ne_bytes(flags.bits().to_ne_bytes());
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(name)?;
        if !isatty(&file) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let settings = serialport::new(name, baud)
            .flow_control(FlowControl::Hardware)
            .open_native()
            .map_err(|error| match error.kind() {
                serialport::ErrorKind::NoDevice => ErrorKind::ResourceBusy.into(),
                _ => io::Error::from(error),
            })?;
        Ok(Self { file, settings })
    }

    /// Speed, flow control and wires.
    pub(crate) fn settings(&mut self) -> &mut dyn SerialPort {
        &mut self.settings
    }

    /// Takes in what has arrived, waiting up to `timeout`; 0 when nothing came.
    ///
    /// # Errors
    /// The device is gone.
    pub fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if !self.wait(PollFlags::IN, timeout)? {
            return Ok(0);
        }
        match self.file.read(buffer) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
            other => other,
        }
    }

    /// Hands over what the device takes within `timeout`; the number of bytes.
    ///
    /// # Errors
    /// The device is gone.
    pub fn write(&mut self, bytes: &[u8], timeout: Duration) -> io::Result<usize> {
        if !self.wait(PollFlags::OUT, timeout)? {
            return Ok(0);
        }
        match self.file.write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
            other => other,
        }
    }

    /// Leaves DTR and RTS as they are when the device is closed.
    ///
    /// # Errors
    /// The device refused.
    pub fn keep_lines_at_close(&mut self) -> io::Result<()> {
        let mut modes = tcgetattr(&self.file)?;
        modes.control_modes &= !ControlModes::HUPCL;
        Ok(tcsetattr(&self.file, OptionalActions::Now, &modes)?)
    }

    /// Waits until the device is ready; `false` when the time is over.
    fn wait(&self, what: PollFlags, timeout: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.file, what)], Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether a name can only be that of a device, and not one that a user has given to a board: it is
/// a path.
#[must_use]
pub fn is_device_name(name: &str) -> bool {
    name.contains('/')
}

/// Whether a device is one side of a pseudo-terminal, whose other side is always open.
#[must_use]
pub fn is_pseudo_terminal(device: &Path) -> bool {
    let real = device.canonicalize().unwrap_or_else(|_| device.to_owned());
    real.starts_with("/dev/pts")
}
