//! Serial devices on which every wait ends.

use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use serialport::{COMPort, FlowControl, SerialPort};

pub use crate::wires::list;

/// The shortest wait that the driver knows.
const LEAST: Duration = Duration::from_millis(1);

/// An open serial device, 8 data bits, no parity, 1 stop bit. The system gives it to one program at
/// a time.
pub struct Device {
    port: COMPort,
}

impl Device {
    /// Opens a device, with the host obeying its RTS.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], [`ErrorKind::ResourceBusy`]; what else the system said.
    pub fn open(name: &str, baud: u32) -> io::Result<Self> {
        let settings = serialport::new(name, baud).flow_control(FlowControl::Hardware);
        let port = settings.timeout(LEAST).dtr_on_open(true).open_native();
        let port = port.map_err(|error| match error.kind() {
            // One that is listed and can't be opened belongs to another program just now.
            serialport::ErrorKind::NoDevice if is_listed(name) => ErrorKind::ResourceBusy.into(),
            serialport::ErrorKind::NoDevice => ErrorKind::NotFound.into(),
            _ => io::Error::from(error),
        })?;
        Ok(Self { port })
    }

    /// Speed, flow control and wires.
    pub(crate) fn settings(&mut self) -> &mut dyn SerialPort {
        &mut self.port
    }

    /// Takes in what has arrived, waiting up to `timeout`; 0 when nothing came.
    ///
    /// # Errors
    /// The device is gone.
    pub fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.set_timeout(timeout)?;
        match self.port.read(buffer) {
            Err(error) if error.kind() == ErrorKind::TimedOut => Ok(0),
            other => other,
        }
    }

    /// Hands over what the device takes within `timeout`; the number of bytes.
    ///
    /// # Errors
    /// The device is gone.
    pub fn write(&mut self, bytes: &[u8], timeout: Duration) -> io::Result<usize> {
        self.set_timeout(timeout)?;
        match self.port.write(bytes) {
            Err(error) if error.kind() == ErrorKind::TimedOut => Ok(0),
            other => other,
        }
    }

    /// Leaves DTR and RTS as they are when the device is closed, which drivers here do of their own
    /// accord or not at all.
    ///
    /// # Errors
    /// None.
    pub fn keep_lines_at_close(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn set_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        let timeout = timeout.max(LEAST);
        if self.port.timeout() != timeout {
            self.port.set_timeout(timeout)?;
        }
        Ok(())
    }
}

fn is_listed(name: &str) -> bool {
    let ports = serialport::available_ports().unwrap_or_default();
    ports.iter().any(|port| port.port_name.eq_ignore_ascii_case(name))
}

/// Whether a name can only be that of a device, and not one that a user has given to a board: it is
/// a path, or COM and a number.
#[must_use]
pub fn is_device_name(name: &str) -> bool {
    let number = name.get(..3).filter(|com| com.eq_ignore_ascii_case("com")).map(|_| &name[3..]);
    let is_com = number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    is_com || name.contains(['/', '\\'])
}

/// Whether a device is one side of a pseudo-terminal: there are none.
#[must_use]
pub fn is_pseudo_terminal(_device: &Path) -> bool {
    false
}
