//! Opens and lists serial ports.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::platform::files::is_character_device;
use crate::platform::ports::{self, Attachment};
use crate::platform::serial::Device;
pub use crate::platform::serial::is_pseudo_terminal;
use crate::platform::time::{Duration, Instant};

use crate::lock::{LockError, LockHolder, PortLock};
pub use crate::port_users::PortUser;
use crate::{ByteCounts, Capabilities, ControlLine, Transport, port_users};

/// The folder with persistent names of serial devices.
const BY_ID_FOLDER: &str = "/dev/serial/by-id";

/// An open serial port, 8 data bits, no parity, 1 stop bit.
pub struct Port {
    name: String,
    device: Device,
    capabilities: Capabilities,
    byte_counts: ByteCounts,
    /// The last field, so that the lock is released after the device is closed.
    lock: PortLock,
}

/// Error returned when a port can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no port of this name.
    #[error("port {0} not found; `rcflash ports` lists the available ports")]
    NotFound(String),
    /// The user lacks permission.
    #[error(
        "no permission to open {0}; join the group that owns it (often `dialout`) and log in again"
    )]
    PermissionDenied(String),
    /// Another program uses the port.
    #[error("{0} is in use by {who}; close that first", who = describe_user(.1.as_ref()))]
    Busy(String, Option<PortUser>),
    /// A program of this project uses the port, or the lock could not be created.
    #[error("{0}: {1}{lock_hint}", lock_hint = lock_hint(.1))]
    Locked(String, LockError),
    /// The path is not a serial port.
    #[error("{0} is not a serial port")]
    NotSerial(String),
    /// The address is invalid: the name and what is wrong.
    #[error(
        "invalid port address '{0}': {1}; examples: tcp://host:3000, rfc2217://host:2217, \
         ws://host:80/board"
    )]
    InvalidAddress(String, &'static str),
    /// The connection failed.
    #[error("can't connect to {0}: {1}; is the server running, and may this computer reach it?")]
    Unreachable(String, io::Error),
    /// The server refused the client: the address and the server's message.
    #[error("{0}: refused by the server: {1}")]
    Refused(String, String),
    /// Any other error.
    #[error("can't open {0}: {1}")]
    Other(String, io::Error),
}

impl OpenError {
    /// Returns `true` if somebody else has the port, who may release it.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Busy(..) | Self::Locked(_, LockError::Held { .. }) => true,
            Self::Refused(_, message) => message.contains("in use"),
            Self::Other(_, error) => error.kind() == ErrorKind::ResourceBusy,
            _ => false,
        }
    }
}

fn describe_user(user: Option<&PortUser>) -> String {
    user.map_or_else(|| "another program".to_owned(), ToString::to_string)
}

fn lock_hint(error: &LockError) -> &'static str {
    match error {
        LockError::Held { .. } => "; wait until that ends",
        LockError::Failed(..) => "; set XDG_RUNTIME_DIR to a folder of your own",
    }
}

impl Port {
    /// Opens a serial port with hardware flow control. Opening a port sets its control lines, so a
    /// port that another program uses is not opened.
    ///
    /// # Errors
    /// Returns [`OpenError`], whose message includes a hint.
    pub fn open(name: &str, baud: u32) -> Result<Self, OpenError> {
        let path = Path::new(name);
        let is_device = is_character_device(path).map_err(|error| Self::open_error(name, error))?;
        if !is_device || port_users::is_not_terminal(path) {
            return Err(OpenError::NotSerial(name.to_owned()));
        }
        // Programs without a lock file are found by their open files. A pseudo-terminal is always
        // open at its other end.
        let opened = || if is_pseudo_terminal(path) { None } else { port_users::opened_by(path) };
        if let Some(user) = port_users::locked_by(path).or_else(opened) {
            return Err(OpenError::Busy(name.to_owned(), Some(user)));
        }
        let lock =
            PortLock::acquire(path).map_err(|error| OpenError::Locked(name.to_owned(), error))?;
        let mut device = Device::open(name, baud).map_err(|error| Self::open_error(name, error))?;
        let actual = device.baud();
        actual
            .and_then(|actual| check_baud(actual, baud))
            .map_err(|error| OpenError::Other(name.to_owned(), error))?;
        let has_lines = device.has_control_lines();
        let capabilities = Capabilities { flow_control: has_lines, control_lines: has_lines };
        let byte_counts = ByteCounts::default();
        Ok(Self { name: name.to_owned(), device, capabilities, byte_counts, lock })
    }

    fn busy(name: &str) -> OpenError {
        OpenError::Busy(name.to_owned(), port_users::opened_by(Path::new(name)))
    }

    fn open_error(name: &str, error: io::Error) -> OpenError {
        let name = name.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => OpenError::NotFound(name),
            io::ErrorKind::PermissionDenied => OpenError::PermissionDenied(name),
            io::ErrorKind::ResourceBusy => Self::busy(&name),
            io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => OpenError::NotSerial(name),
            _ => OpenError::Other(name, error),
        }
    }
}

impl Transport for Port {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn byte_counts(&self) -> Option<ByteCounts> {
        Some(self.byte_counts)
    }

    fn previous_holder(&self) -> Option<&LockHolder> {
        self.lock.previous_holder()
    }

    fn keep_lines_at_close(&mut self) -> io::Result<()> {
        self.device.keep_lines_at_close()
    }

    fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        match line {
            _ if !self.capabilities.control_lines => Err(io::ErrorKind::Unsupported.into()),
            ControlLine::Dtr => self.device.set_dtr(on),
            ControlLine::Rts => self.device.set_rts(on),
            ControlLine::Break => self.device.set_break(on),
        }
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let count = self.device.read(buffer, timeout)?;
        self.byte_counts.received += count as u64;
        Ok(count)
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let count = self.device.write(bytes, left)?;
            self.byte_counts.sent += count as u64;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        self.device.set_hardware_flow_control(obey)
    }

    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        self.device.set_baud(baud)?;
        check_baud(self.device.baud()?, baud)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.device.discard_unsent()
    }
}

/// The tolerated deviation of a divider's speed from the requested one, in parts of a thousand: at
/// 3 % the last bit of a character is sampled at its edge.
const MAX_BAUD_ERROR_PER_MILLE: u32 = 30;

/// Compares the speed that a device has set with the requested one.
///
/// # Errors
/// Returns [`io::ErrorKind::InvalidInput`] if they differ by more than 3 %, which would corrupt
/// characters.
pub fn check_baud(actual: u32, requested: u32) -> io::Result<()> {
    is_baud_within_tolerance(actual, requested).then_some(()).ok_or_else(|| {
        let problem = format!(
            "the device set {actual} baud instead of {requested}; choose a speed that it supports"
        );
        io::Error::new(io::ErrorKind::InvalidInput, problem)
    })
}

fn is_baud_within_tolerance(actual: u32, requested: u32) -> bool {
    u64::from(actual.abs_diff(requested)) * 1000
        <= u64::from(requested) * u64::from(MAX_BAUD_ERROR_PER_MILLE)
}

/// A serial port of this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortInfo {
    /// The path to open.
    pub path: String,
    /// How it is attached: `usb`, `pci`, `bluetooth`, `built in`, or `absent` without a chip.
    pub kind: &'static str,
    /// USB vendor id and product id.
    pub usb: Option<(u16, u16)>,
    /// The product name that the adapter reports.
    pub product: Option<String>,
    /// The serial number of the adapter.
    pub serial: Option<String>,
    /// Its persistent name under `/dev/serial/by-id`.
    pub by_id: Option<String>,
}

impl PortInfo {
    /// A device or address of which only the name is known.
    pub fn from_path(path: &str) -> Self {
        let path = path.to_owned();
        Self { path, kind: "unknown", usb: None, product: None, serial: None, by_id: None }
    }
}

/// Lists the serial ports without opening any.
///
/// # Errors
/// Returns the error of the system.
pub fn list() -> io::Result<Vec<PortInfo>> {
    let mut ports: Vec<PortInfo> = ports::list_ports()?.into_iter().map(port_info).collect();
    ports.sort_by_key(|port| (rank(port), port.path.clone()));
    let names = links_by_target(Path::new(BY_ID_FOLDER));
    for port in &mut ports {
        port.by_id =
            Path::new(&port.path).canonicalize().ok().and_then(|at| names.get(&at).cloned());
    }
    Ok(ports)
}

fn links_by_target(folder: &Path) -> BTreeMap<PathBuf, String> {
    let links = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let target = |link: PathBuf| Some((link.canonicalize().ok()?, link.to_str()?.to_owned()));
    links.filter_map(target).collect()
}

/// Returns the sort order: USB adapters first, 16550s without a chip last.
fn rank(port: &PortInfo) -> u8 {
    match port.kind {
        "usb" => 0,
        "absent" => 3,
        "built in" => 2,
        _ => 1,
    }
}

/// Returns `true` if a built-in port has no chip: Linux's type 0, `PORT_UNKNOWN`.
fn is_absent(path: &str) -> bool {
    let name = Path::new(path).file_name().unwrap_or_default();
    let kind = Path::new("/sys/class/tty").join(name).join("type");
    std::fs::read_to_string(kind).is_ok_and(|kind| kind.trim() == "0")
}

/// Replaces control characters in text that a device reports.
fn without_control_chars(text: String) -> String {
    text.replace(char::is_control, " ").trim().to_owned()
}

fn port_info(port: ports::PortInfo) -> PortInfo {
    let path = port.name;
    let with_kind =
        |path, kind| PortInfo { path, kind, usb: None, product: None, serial: None, by_id: None };
    match port.attachment {
        Attachment::Usb(usb) => PortInfo {
            usb: Some(usb.id),
            product: usb.product.map(self::without_control_chars),
            serial: usb.serial.map(self::without_control_chars),
            ..with_kind(path, "usb")
        },
        Attachment::Pci => with_kind(path, "pci"),
        Attachment::Bluetooth => with_kind(path, "bluetooth"),
        Attachment::Unknown if is_absent(&path) => with_kind(path, "absent"),
        Attachment::Unknown => with_kind(path, "built in"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_come_first_and_absent_chips_last() {
        let port = |kind| PortInfo {
            path: "/dev/x".to_owned(),
            kind,
            usb: None,
            product: None,
            serial: None,
            by_id: None,
        };
        let mut kinds = ["absent", "built in", "pci", "usb"].map(port);
        kinds.sort_by_key(rank);
        assert_eq!(kinds.map(|port| port.kind), ["usb", "pci", "built in", "absent"]);
        assert_eq!(without_control_chars("FT\u{7}DI\n".to_owned()), "FT DI");
    }

    #[test]
    fn a_usb_port_has_the_texts_of_its_adapter() {
        let adapter = ports::UsbAdapter {
            id: (0x0403, 0x6001),
            product: Some("FT232R\n".to_owned()),
            serial: Some("A5\u{1b}01".to_owned()),
        };
        let path = "/dev/ttyUSB0".to_owned();
        let port = ports::PortInfo { name: path.clone(), attachment: Attachment::Usb(adapter) };
        let expected = PortInfo {
            path,
            kind: "usb",
            usb: Some((0x0403, 0x6001)),
            product: Some("FT232R".to_owned()),
            serial: Some("A5 01".to_owned()),
            by_id: None,
        };
        assert_eq!(port_info(port), expected);
    }

    #[test]
    fn a_speed_is_near_within_what_a_uart_bears() {
        assert!(
            is_baud_within_tolerance(115_200, 115_200)
                && is_baud_within_tolerance(115_384, 115_200)
        );
        assert!(
            !is_baud_within_tolerance(9600, 115_200) && !is_baud_within_tolerance(111_000, 115_200)
        );
    }

    #[test]
    fn an_error_of_opening_names_its_cause() {
        use io::ErrorKind::{InvalidInput, IsADirectory, PermissionDenied, ResourceBusy};
        let of = |kind: io::ErrorKind| Port::open_error("/dev/none", kind.into());
        assert!(matches!(of(PermissionDenied), OpenError::PermissionDenied(_)));
        assert!(matches!(of(ResourceBusy), OpenError::Busy(_, None)));
        assert!([IsADirectory, InvalidInput].map(of).iter().all(is_not_serial));
    }

    fn is_not_serial(error: &OpenError) -> bool {
        matches!(error, OpenError::NotSerial(_))
    }

    #[test]
    fn links_are_found_by_what_they_lead_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let device = folder.path().join("ttyUSB0");
        std::fs::write(&device, "").expect("a file");
        let by_id = folder.path().join("by-id");
        std::fs::create_dir(&by_id).expect("a folder");
        let link = by_id.join("usb-Maker_Adapter_0001-if00-port0");
        std::os::unix::fs::symlink("../ttyUSB0", &link).expect("a link");
        std::os::unix::fs::symlink("../gone", by_id.join("usb-gone")).expect("a link");
        let names = links_by_target(&by_id);
        let device = device.canonicalize().expect("it is there");
        assert_eq!(names.get(&device).map(String::as_str), link.to_str());
        assert_eq!(names.len(), 1);
        assert!(links_by_target(&folder.path().join("none")).is_empty());
    }
}
