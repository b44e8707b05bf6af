//! Serial ports: opening a named one, and listing what there is.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use host_platform::files::is_character_device;
use host_platform::ports::{Attachment, Listed};
pub use host_platform::serial::is_pseudo_terminal;
use host_platform::serial::{self, Device};
use host_platform::time::{Duration, Instant};

use crate::busy;
pub use crate::busy::User;
use crate::lock::{Holder, LockError, PortLock};
use crate::{Capabilities, ControlLine, Passed, Transport};

/// The folder in which the system keeps names of serial devices that do not change.
const BY_ID: &str = "/dev/serial/by-id";

/// An open serial port, 8 data bits, no parity, 1 stop bit.
pub struct Port {
    name: String,
    device: Device,
    capabilities: Capabilities,
    passed: Passed,
    /// The last field, so that it is let go when all else is closed.
    lock: PortLock,
}

/// Error returned when a port can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is none of this name.
    #[error("there is no port {0}; `rcflash ports` lists those there are")]
    Missing(String),
    /// The user may not open it.
    #[error(
        "no permission to open {0}; join the group that owns it (often `dialout`) and log in again"
    )]
    Permission(String),
    /// Another program has it.
    #[error("{0} is in use by {who}; close that first", who = user(.1.as_ref()))]
    Busy(String, Option<User>),
    /// A program of this project has it, or no lock could be kept.
    #[error("{0}: {1}{advice}", advice = advice(.1))]
    Locked(String, LockError),
    /// It is no serial port.
    #[error("{0} is not a serial port")]
    NotSerial(String),
    /// It is no address of a port on a network: the name and its fault.
    #[error(
        "{0} is no address of a port: {1}, as in tcp://host:3000, rfc2217://host:2217 or \
         ws://host:80/board"
    )]
    Address(String, &'static str),
    /// Nobody was reached at its address.
    #[error("can't connect to {0}: {1}; is the server running, and may this computer reach it?")]
    Unreachable(String, io::Error),
    /// The server does not give it: the name and the server's words.
    #[error("{0}: the server says: {1}")]
    Refused(String, String),
    /// Anything else.
    #[error("can't open {0}: {1}")]
    Other(String, io::Error),
}

fn user(user: Option<&User>) -> String {
    user.map_or_else(|| "another program".to_owned(), ToString::to_string)
}

fn advice(error: &LockError) -> &'static str {
    match error {
        LockError::Held { .. } => "; wait until that ends",
        LockError::Failed(..) => "; set XDG_RUNTIME_DIR to a folder of your own",
    }
}

impl Port {
    /// Opens the port that the user named, with the host obeying the board's RTS. To open a port
    /// sets its wires, so that is not done while another program is known to use it.
    ///
    /// # Errors
    /// [`OpenError`], whose message says what to try.
    pub fn open(name: &str, baud: u32) -> Result<Self, OpenError> {
        let path = Path::new(name);
        let is_device = is_character_device(path).map_err(|error| Self::explain(name, error))?;
        if !is_device || busy::is_no_terminal(path) {
            return Err(OpenError::NotSerial(name.to_owned()));
        }
        // A program without a lock of its own is found by what it has open. A pseudo-terminal is
        // always open at its other side.
        let opened = || if is_pseudo_terminal(path) { None } else { busy::has_open(path) };
        if let Some(user) = busy::has_locked(path).or_else(opened) {
            return Err(OpenError::Busy(name.to_owned(), Some(user)));
        }
        let lock =
            PortLock::take(path).map_err(|error| OpenError::Locked(name.to_owned(), error))?;
        let mut device = Device::open(name, baud).map_err(|error| Self::explain(name, error))?;
        let took = device.baud();
        took.and_then(|took| check_speed(took, baud))
            .map_err(|error| OpenError::Other(name.to_owned(), error))?;
        let has_lines = device.has_wires();
        let capabilities = Capabilities { flow_control: has_lines, control_lines: has_lines };
        let passed = Passed::default();
        Ok(Self { name: name.to_owned(), device, capabilities, passed, lock })
    }

    fn busy(name: &str) -> OpenError {
        OpenError::Busy(name.to_owned(), busy::has_open(Path::new(name)))
    }

    fn explain(name: &str, error: io::Error) -> OpenError {
        let name = name.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => OpenError::Missing(name),
            io::ErrorKind::PermissionDenied => OpenError::Permission(name),
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

    fn passed(&self) -> Option<Passed> {
        Some(self.passed)
    }

    fn left_by(&self) -> Option<&Holder> {
        self.lock.left_by()
    }

    fn keep_lines_at_close(&mut self) -> io::Result<()> {
        self.device.keep_lines_at_close()
    }

    fn set_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        match line {
            _ if !self.capabilities.control_lines => Err(io::ErrorKind::Unsupported.into()),
            ControlLine::Dtr => self.device.set_dtr(on),
            ControlLine::Rts => self.device.set_rts(on),
            ControlLine::Break => self.device.set_break(on),
        }
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let count = self.device.read(buffer, timeout)?;
        self.passed.heard += count as u64;
        Ok(count)
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let count = self.device.write(bytes, left)?;
            self.passed.sent += count as u64;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
        self.device.obey_rts(obey)
    }

    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        self.device.set_baud(baud)?;
        check_speed(self.device.baud()?, baud)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.device.discard_unsent()
    }
}

/// The difference between the speed that was asked for and the one that a divider gives, in parts
/// of a thousand: at 3 % the last bit of a character is sampled at its edge.
const TOLERATED: u32 = 30;

/// Compares the speed that a device took with the one that it was given.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if they differ so much that characters are damaged.
pub fn check_speed(took: u32, asked: u32) -> io::Result<()> {
    speed_is_near(took, asked).then_some(()).ok_or_else(|| {
        let problem =
            format!("the device took {took} baud instead of {asked}; choose a speed that it has");
        io::Error::new(io::ErrorKind::InvalidInput, problem)
    })
}

fn speed_is_near(took: u32, asked: u32) -> bool {
    u64::from(took.abs_diff(asked)) * 1000 <= u64::from(asked) * u64::from(TOLERATED)
}

/// A port that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortInfo {
    /// The path to open.
    pub path: String,
    /// Its attachment in a word: `usb`, `pci`, `bluetooth`, `built in`, or `absent` for a
    /// chip that is not there.
    pub kind: &'static str,
    /// USB vendor and product.
    pub usb: Option<(u16, u16)>,
    /// The adapter's name for itself.
    pub product: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// A name that stays the same whatever is plugged in first.
    pub by_id: Option<String>,
}

/// Lists the serial ports without opening any.
///
/// # Errors
/// The system would not tell.
pub fn list() -> io::Result<Vec<PortInfo>> {
    let mut ports: Vec<PortInfo> = serial::list()?.into_iter().map(describe).collect();
    ports.sort_by_key(|port| (rank(port), port.path.clone()));
    let names = stable_names(Path::new(BY_ID));
    for port in &mut ports {
        port.by_id =
            Path::new(&port.path).canonicalize().ok().and_then(|at| names.get(&at).cloned());
    }
    Ok(ports)
}

/// The links of a folder, by what they lead to.
fn stable_names(folder: &Path) -> BTreeMap<PathBuf, String> {
    let links = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let target = |link: PathBuf| Some((link.canonicalize().ok()?, link.to_str()?.to_owned()));
    links.filter_map(target).collect()
}

/// USB adapters first, and last the 16550s that a computer could have but has not.
fn rank(port: &PortInfo) -> u8 {
    match port.kind {
        "usb" => 0,
        "absent" => 3,
        "built in" => 2,
        _ => 1,
    }
}

/// Whether the driver of a built-in port has found no chip: its type is 0, `PORT_UNKNOWN` of
/// Linux's serial drivers.
fn is_absent(path: &str) -> bool {
    let name = Path::new(path).file_name().unwrap_or_default();
    let kind = Path::new("/sys/class/tty").join(name).join("type");
    std::fs::read_to_string(kind).is_ok_and(|kind| kind.trim() == "0")
}

/// Text that a device reports of itself, without control characters.
fn plain(text: String) -> String {
    text.replace(char::is_control, " ").trim().to_owned()
}

fn describe(port: Listed) -> PortInfo {
    let path = port.name;
    let plain =
        |path, kind| PortInfo { path, kind, usb: None, product: None, serial: None, by_id: None };
    match port.attachment {
        Attachment::Usb(usb) => PortInfo {
            usb: Some(usb.id),
            product: usb.product.map(self::plain),
            serial: usb.serial.map(self::plain),
            ..plain(path, "usb")
        },
        Attachment::Pci => plain(path, "pci"),
        Attachment::Bluetooth => plain(path, "bluetooth"),
        Attachment::Unknown if is_absent(&path) => plain(path, "absent"),
        Attachment::Unknown => plain(path, "built in"),
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
        assert_eq!(plain("FT\u{7}DI\n".to_owned()), "FT DI");
    }

    #[test]
    fn a_speed_is_near_within_what_a_uart_bears() {
        assert!(speed_is_near(115_200, 115_200) && speed_is_near(115_384, 115_200));
        assert!(!speed_is_near(9600, 115_200) && !speed_is_near(111_000, 115_200));
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
        let names = stable_names(&by_id);
        let device = device.canonicalize().expect("it is there");
        assert_eq!(names.get(&device).map(String::as_str), link.to_str());
        assert_eq!(names.len(), 1);
        assert!(stable_names(&folder.path().join("none")).is_empty());
    }
}
