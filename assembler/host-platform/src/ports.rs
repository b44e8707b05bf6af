//! Serial ports that the system lists.

/// A serial port that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The name to open it by.
    pub name: String,
    /// Its attachment to the computer.
    pub attachment: Attachment,
}

/// The attachment of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attachment {
    /// A USB adapter.
    Usb(Adapter),
    /// A card.
    Pci,
    /// A device without wires.
    Bluetooth,
    /// Anything else, or what the system does not say.
    Unknown,
}

/// A USB adapter, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// Vendor and product as numbers.
    pub id: (u16, u16),
    /// Its name.
    pub product: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
}
