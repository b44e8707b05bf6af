//! Speed, flow control and wires of serial devices, and their list, by `serialport`.

use std::io;

use serialport::{ClearBuffer, FlowControl, SerialPortInfo, SerialPortType};

use crate::ports::{Adapter, Attachment, Listed};
use crate::serial::Device;

impl Device {
    /// The speed that the device has.
    ///
    /// # Errors
    /// The device refused.
    pub fn baud(&mut self) -> io::Result<u32> {
        Ok(self.settings().baud_rate()?)
    }

    /// Goes on at another speed.
    ///
    /// # Errors
    /// The device refused.
    pub fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        Ok(self.settings().set_baud_rate(baud)?)
    }

    /// Whether the device has wires besides those for data. Reading a line changes none; a
    /// pseudo-terminal has none to read.
    pub fn has_wires(&mut self) -> bool {
        self.settings().read_clear_to_send().is_ok()
    }

    /// Sets DTR.
    ///
    /// # Errors
    /// The device refused.
    pub fn set_dtr(&mut self, on: bool) -> io::Result<()> {
        Ok(self.settings().write_data_terminal_ready(on)?)
    }

    /// Sets RTS.
    ///
    /// # Errors
    /// The device refused.
    pub fn set_rts(&mut self, on: bool) -> io::Result<()> {
        Ok(self.settings().write_request_to_send(on)?)
    }

    /// Holds the data line low, or lets it go.
    ///
    /// # Errors
    /// The device refused.
    pub fn set_break(&mut self, on: bool) -> io::Result<()> {
        Ok(if on { self.settings().set_break() } else { self.settings().clear_break() }?)
    }

    /// Has the host stop sending while the other side does not allow it by RTS, or not; whether it
    /// did before.
    ///
    /// # Errors
    /// The device refused.
    pub fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
        let before = self.settings().flow_control()?;
        let flow = if obey { FlowControl::Hardware } else { FlowControl::None };
        self.settings().set_flow_control(flow)?;
        Ok(before == FlowControl::Hardware)
    }

    /// Forgets what was written and has not gone out yet.
    ///
    /// # Errors
    /// The device refused.
    pub fn discard_unsent(&mut self) -> io::Result<()> {
        Ok(self.settings().clear(ClearBuffer::Output)?)
    }
}

/// Lists the serial ports without opening any.
///
/// # Errors
/// The system did not answer.
pub fn list() -> io::Result<Vec<Listed>> {
    // What other drivers report of themselves is not in our hands, nor how the list is made of it.
    let ports = std::panic::catch_unwind(serialport::available_ports)
        .map_err(|_| io::Error::other("the list of the system can't be read"))??;
    Ok(ports.into_iter().map(listed).collect())
}

fn listed(port: SerialPortInfo) -> Listed {
    let attachment = match port.port_type {
        SerialPortType::UsbPort(usb) => Attachment::Usb(Adapter {
            id: (usb.vid, usb.pid),
            product: usb.product,
            serial: usb.serial_number,
        }),
        SerialPortType::PciPort => Attachment::Pci,
        SerialPortType::BluetoothPort => Attachment::Bluetooth,
        SerialPortType::Unknown => Attachment::Unknown,
    };
    Listed { name: port.port_name, attachment }
}
