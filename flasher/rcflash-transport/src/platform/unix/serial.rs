//! Serial devices; every call that waits has a timeout.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    ControlModes, OptionalActions, ioctl_tiocnxcl, isatty, tcgetattr, tcsetattr,
};
use serialport::{FlowControl, SerialPort, TTYPort};

/// An open serial device, 8 data bits, no parity, 1 stop bit.
///
/// `serialport` opens, locks and configures the device. Bytes go through a second descriptor, which
/// never blocks: `serialport`'s write would wait forever for a stalled device. Methods return the
/// driver's error, as of a disconnected device.
pub struct Device {
    file: File,
    settings: TTYPort,
}

impl Device {
    /// Opens a device, with RTS/CTS flow control.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidInput`] if `name` is not a serial device,
    /// [`ErrorKind::ResourceBusy`] if another program uses it, or the system's error.
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
        // A pseudo-terminal's exclusive mode outlives a program that is killed, because the other
        // side keeps the terminal open. The lock that `serialport` holds does not.
        if is_pseudo_terminal(Path::new(name)) {
            ioctl_tiocnxcl(&file)?;
        }
        Ok(Self { file, settings })
    }

    /// Access to baud rate, flow control and control lines.
    pub(crate) fn settings(&mut self) -> &mut dyn SerialPort {
        &mut self.settings
    }

    /// Reads received bytes, waiting up to `timeout`; returns 0 if none arrived.
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

    /// Writes the bytes that the device accepts within `timeout`; returns their number.
    pub fn write(&mut self, bytes: &[u8], timeout: Duration) -> io::Result<usize> {
        if !self.wait(PollFlags::OUT, timeout)? {
            return Ok(0);
        }
        match self.file.write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
            other => other,
        }
    }

    /// Keeps DTR and RTS unchanged when the device is closed.
    pub fn keep_lines_at_close(&mut self) -> io::Result<()> {
        let mut modes = tcgetattr(&self.file)?;
        modes.control_modes &= !ControlModes::HUPCL;
        Ok(tcsetattr(&self.file, OptionalActions::Now, &modes)?)
    }

    /// Waits until the device is ready; returns `false` on a timeout.
    fn wait(&self, events: PollFlags, timeout: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.file, events)], Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns `true` if `name` is a device and not a user's name for a board: it contains a `/`.
pub fn is_device_name(name: &str) -> bool {
    name.contains('/')
}

/// Returns `true` if a device is the slave side of a pseudo-terminal.
pub fn is_pseudo_terminal(device: &Path) -> bool {
    let real = device.canonicalize().unwrap_or_else(|_| device.to_owned());
    real.starts_with("/dev/pts")
}
