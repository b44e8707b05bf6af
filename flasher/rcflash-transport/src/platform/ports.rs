//! The serial ports that the system lists.

use std::io;

#[cfg(any(unix, windows))]
use serialport::{SerialPortInfo, SerialPortType};

/// A serial port of this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortInfo {
    /// The name with which it is opened.
    pub name: String,
    /// How it is attached to the computer.
    pub attachment: Attachment,
}

/// How a serial port is attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attachment {
    /// A USB adapter.
    Usb(UsbAdapter),
    /// A PCI card.
    Pci,
    /// A Bluetooth device.
    Bluetooth,
    /// Anything else, or unknown to the system.
    Unknown,
}

/// The descriptor of a USB adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsbAdapter {
    /// Vendor and product id.
    pub id: (u16, u16),
    /// The product name.
    pub product: Option<String>,
    /// The serial number.
    pub serial: Option<String>,
}

/// Lists the serial ports without opening any.
///
/// # Errors
/// Returns the system's error.
#[cfg(any(unix, windows))]
pub fn list_ports() -> io::Result<Vec<PortInfo>> {
    // `serialport` may panic on unusual descriptions of other drivers.
    let ports = std::panic::catch_unwind(serialport::available_ports)
        .map_err(|_| io::Error::other("the system's list of serial ports can't be read"))??;
    Ok(ports.into_iter().map(port_info).collect())
}

#[cfg(any(unix, windows))]
fn port_info(port: SerialPortInfo) -> PortInfo {
    let attachment = match port.port_type {
        SerialPortType::UsbPort(usb) => Attachment::Usb(UsbAdapter {
            id: (usb.vid, usb.pid),
            product: usb.product,
            serial: usb.serial_number,
        }),
        SerialPortType::PciPort => Attachment::Pci,
        SerialPortType::BluetoothPort => Attachment::Bluetooth,
        SerialPortType::Unknown => Attachment::Unknown,
    };
    PortInfo { name: port.port_name, attachment }
}

/// Lists the serial ports: a web page has no list of them.
#[cfg(not(any(unix, windows)))]
pub fn list_ports() -> io::Result<Vec<PortInfo>> {
    Ok(Vec::new())
}
