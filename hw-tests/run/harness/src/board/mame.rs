//! MAME's RC2014 machines, with our monitor in the ROM socket and the serial port on a local TCP
//! port. An emulation independent of this project's.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use firmware::profile::BoardProfile;
use rcflash_transport::Transport;
use rcflash_transport::network::TcpTransport;
use rcflash_transport::time::{Duration, Instant};
use tempfile::TempDir;

use super::{Board, BoardError};

/// How long MAME may take to connect its serial port; it loads 350 MB first.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a machine may take to send its first byte.
const BOOT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often to check whether MAME has connected.
const CONNECT_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Emulated seconds after which MAME exits if this program did not stop it.
const MAX_EMULATED_SECONDS: &str = "100000";
/// Debian's path of MAME; its folder is often not in `PATH`.
const DEBIAN_PATH: &str = "/usr/games/mame";

/// A machine of MAME.
struct Machine {
    /// MAME's name for it.
    name: &'static str,
    /// The profile of the same board.
    profile: &'static str,
    /// The slot of its serial port.
    slot: &'static str,
    /// The files in which MAME looks for the ROM.
    roms: &'static [&'static str],
    /// Bytes of the ROM chip, and of the part of it that is mapped after reset.
    chip: (usize, usize),
}

const MINI: Machine = Machine {
    name: "rc2014mini",
    profile: "rc2014-classic",
    slot: "-board:mini:rs232",
    roms: &["rc2014_micro/r0000009.bin", "rc2014_switchable_rom/r0000009.bin"],
    chip: (0x1_0000, 0x2000),
};

/// The machines that match a profile. The first one for a profile is the default.
const MACHINES: [Machine; 4] = [
    MINI,
    Machine { name: "rc2014", slot: "-bus:5:serial:rs232", ..MINI },
    Machine { name: "rc2014cl2", slot: "-bus:5:serial:rs232", ..MINI },
    Machine {
        name: "rc2014zedp",
        profile: "rc2014-zed",
        slot: "-bus:4:sio:rs232a",
        roms: &["rc2014_rom_ram_512k/rcz80_std_3_0_1.rom"],
        chip: (0x8_0000, 0x8_0000),
    },
];

/// A MAME machine in its own process. Dropping it ends the process.
pub struct MameBoard {
    name: String,
    program: PathBuf,
    machine: &'static Machine,
    folder: TempDir,
    process: Option<Child>,
}

impl MameBoard {
    /// Prepares the named machine, or the default one of the profile, with `rom` in its ROM
    /// socket. [`Board::open`] starts it.
    ///
    /// # Errors
    /// Returns [`BoardError::MameNotInstalled`] or [`BoardError::UnknownMachine`].
    pub fn new(
        profile: &BoardProfile,
        machine: Option<&str>,
        rom: &[u8],
    ) -> Result<Self, BoardError> {
        let machine = find(profile, machine)?;
        let program = find_mame().ok_or(BoardError::MameNotInstalled)?;
        let version = Command::new(&program).arg("-version").output().map_err(BoardError::Mame)?;
        let version = String::from_utf8_lossy(&version.stdout);
        let version = version.split_whitespace().next().unwrap_or("?").to_owned();
        let folder = tempfile::tempdir().map_err(BoardError::Mame)?;
        fill_sockets(folder.path(), machine, rom).map_err(BoardError::Mame)?;
        let name = format!("MAME {version}, {}", machine.name);
        Ok(Self { name, program, machine, folder, process: None })
    }

    fn start(&mut self, port: u16) -> io::Result<()> {
        let home = self.folder.path();
        let log = fs::File::create(home.join("log"))?;
        let process = Command::new(&self.program)
            .args([self.machine.name, "-rompath", "roms", "-noreadconfig"])
            .args(["-cfg_directory", "cfg", "-nvram_directory", "nvram"])
            .args(["-video", "none", "-sound", "none", "-skip_gameinfo", "-nothrottle"])
            .args(["-seconds_to_run", MAX_EMULATED_SECONDS, self.machine.slot, "null_modem"])
            .args(["-bitb", &format!("socket.127.0.0.1:{port}")])
            .envs([("SDL_VIDEODRIVER", "dummy"), ("SDL_AUDIODRIVER", "dummy")])
            .env("HOME", home)
            .current_dir(home)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        self.process = Some(process);
        Ok(())
    }

    /// Waits until the machine connects its serial port.
    fn wait_for_connection(&mut self, listener: &TcpListener) -> io::Result<TcpStream> {
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            // Without a connection, or if one is gone already, the next poll tries again.
            if let Ok((stream, _)) = listener.accept() {
                return Ok(stream);
            }
            let ended = self.process.as_mut().map(Child::try_wait).transpose()?.flatten();
            let problem = match ended {
                Some(status) => format!("it ended ({status})"),
                None if Instant::now() >= deadline => {
                    format!("no connection within {} s", START_TIMEOUT.as_secs())
                }
                None => {
                    rcflash_transport::time::sleep(CONNECT_POLL_INTERVAL);
                    continue;
                }
            };
            return Err(io::Error::other(format!("{problem}: {}", self.last_output_line())));
        }
    }

    /// Returns the last line that MAME has printed.
    fn last_output_line(&self) -> String {
        let log = fs::read(self.folder.path().join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        log.lines().last().unwrap_or("it printed nothing").to_owned()
    }

    fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // Either call fails if the process has already exited.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Board for MameBoard {
    fn name(&self) -> &str {
        &self.name
    }

    /// Starts the machine, or restarts it if it is running.
    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        self.stop();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(BoardError::Mame)?;
        listener.set_nonblocking(true).map_err(BoardError::Mame)?;
        let port = listener.local_addr().map_err(BoardError::Mame)?.port();
        self.start(port).map_err(BoardError::Mame)?;
        let stream = self.wait_for_connection(&listener).map_err(BoardError::Mame)?;
        wait_for_first_byte(&stream).map_err(BoardError::Mame)?;
        Ok(Box::new(TcpTransport::new(self.name.clone(), stream).map_err(BoardError::Mame)?))
    }

    /// MAME shares the computer with other programs and may run at a third of its speed.
    fn slowdown_factor(&self) -> u32 {
        10
    }
}

impl Drop for MameBoard {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Waits until the machine has started, since bytes sent earlier are lost. If it sends nothing in
/// time, the first request will report the error.
fn wait_for_first_byte(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(BOOT_TIMEOUT))?;
    match stream.peek(&mut [0]) {
        Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

fn find(profile: &BoardProfile, name: Option<&str>) -> Result<&'static Machine, BoardError> {
    let is_meant = |machine: &&Machine| {
        machine.profile == profile.name && name.is_none_or(|name| machine.name == name)
    };
    MACHINES.iter().find(is_meant).ok_or_else(|| {
        let known = MACHINES.iter().map(|known| format!("{} for {}", known.name, known.profile));
        let known = known.collect::<Vec<_>>().join(", ");
        BoardError::UnknownMachine(name.unwrap_or("any").to_owned(), profile.name.clone(), known)
    })
}

/// Returns the path of MAME if it is installed.
pub fn find_mame() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).map(|folder| folder.join("mame"));
    places.chain([PathBuf::from(DEBIAN_PATH)]).find(|place| place.is_file())
}

/// Writes the ROM file that MAME expects: a copy in each bank that jumpers can select.
fn fill_sockets(folder: &Path, machine: &Machine, rom: &[u8]) -> io::Result<()> {
    let (chip, page) = machine.chip;
    let mut image = rom[..rom.len().min(page)].to_vec();
    image.resize(page, 0xFF);
    let image = image.repeat(chip / page);
    for name in machine.roms {
        let file = folder.join("roms").join(name);
        fs::create_dir_all(file.parent().unwrap_or(folder))?;
        fs::write(file, &image)?;
    }
    Ok(())
}
