//! MAME's RC2014 machines: an emulation that nobody here wrote, with our monitor in the ROM socket
//! and the serial port on a local TCP port.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use firmware::profile::Profile;
use rcflash_transport::Transport;
use rcflash_transport::network::TcpLine;
use rcflash_transport::time::{Duration, Instant};
use tempfile::TempDir;

use super::{Board, BoardError};

/// The time that MAME may take until its serial port is connected: it loads 350 MB first.
const START: Duration = Duration::from_secs(60);
/// The time that a machine may take until its first byte.
const BOOT: Duration = Duration::from_secs(5);
/// The time to wait between two looks at whether it is.
const LOOK: Duration = Duration::from_millis(20);
/// Emulated seconds after which MAME ends, should nobody be there to end it.
const SECONDS: &str = "100000";
/// Debian's folder for games, which is not in everybody's PATH.
const GAMES: &str = "/usr/games/mame";

/// A machine of MAME.
struct Machine {
    /// MAME's name for it.
    name: &'static str,
    /// The profile of the same board.
    profile: &'static str,
    /// The slot of its serial port.
    slot: &'static str,
    /// Folder in which MAME looks for the ROM.
    roms: &'static [&'static str],
    /// Bytes in the ROM chip, and in the part of it that is seen after reset.
    chip: (usize, usize),
}

/// ROM modules of the boards with jumpers.
const JUMPERED: &[&str] = &["rc2014_micro/r0000009.bin", "rc2014_switchable_rom/r0000009.bin"];
/// The module with 512 KiB.
const BANKED: &[&str] = &["rc2014_rom_ram_512k/rcz80_std_3_0_1.rom"];

/// Those that are boards of ours. The first one for a profile is taken where none is named.
const MACHINES: [Machine; 4] = [
    Machine {
        name: "rc2014mini",
        profile: "rc2014-classic",
        slot: "-board:mini:rs232",
        roms: JUMPERED,
        chip: (0x1_0000, 0x2000),
    },
    Machine {
        name: "rc2014",
        profile: "rc2014-classic",
        slot: "-bus:5:serial:rs232",
        roms: JUMPERED,
        chip: (0x1_0000, 0x2000),
    },
    Machine {
        name: "rc2014cl2",
        profile: "rc2014-classic",
        slot: "-bus:5:serial:rs232",
        roms: JUMPERED,
        chip: (0x1_0000, 0x2000),
    },
    Machine {
        name: "rc2014zedp",
        profile: "rc2014-zed",
        slot: "-bus:4:sio:rs232a",
        roms: BANKED,
        chip: (0x8_0000, 0x8_0000),
    },
];

/// A machine in a process of its own. Dropping it ends the process.
pub struct MameBoard {
    name: String,
    program: PathBuf,
    machine: &'static Machine,
    folder: TempDir,
    process: Option<Child>,
}

impl MameBoard {
    /// Prepares the machine for a profile, or the one named, with these bytes in its ROM.
    /// [`Board::open`] starts it.
    ///
    /// # Errors
    /// MAME is not installed, or has no such machine.
    pub fn new(profile: &Profile, machine: Option<&str>, rom: &[u8]) -> Result<Self, BoardError> {
        let machine = find(profile, machine)?;
        let program = program().ok_or(BoardError::NoMame)?;
        let version = Command::new(&program).arg("-version").output().map_err(failed)?;
        let version = String::from_utf8_lossy(&version.stdout);
        let version = version.split_whitespace().next().unwrap_or("?").to_owned();
        let folder = tempfile::tempdir().map_err(failed)?;
        fill_sockets(folder.path(), machine, rom).map_err(failed)?;
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
            .args(["-seconds_to_run", SECONDS, self.machine.slot, "null_modem"])
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
    fn connection(&mut self, listener: &TcpListener) -> io::Result<TcpStream> {
        let deadline = Instant::now() + START;
        loop {
            match listener.accept() {
                Ok((stream, _)) => return Ok(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            let ended = self.process.as_mut().map(Child::try_wait).transpose()?.flatten();
            if let Some(status) = ended {
                return Err(io::Error::other(format!(
                    "it ended ({status}): {}",
                    self.last_words()
                )));
            }
            if Instant::now() >= deadline {
                let seconds = START.as_secs();
                let said = self.last_words();
                return Err(io::Error::other(format!("no connection within {seconds} s: {said}")));
            }
            rcflash_transport::time::sleep(LOOK);
        }
    }

    /// The last line that MAME has printed.
    fn last_words(&self) -> String {
        let log = fs::read(self.folder.path().join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        log.lines().last().unwrap_or("it said nothing").to_owned()
    }

    fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // Either may fail because it has ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Board for MameBoard {
    fn name(&self) -> &str {
        &self.name
    }

    /// Powers the machine up, anew if it runs.
    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        self.stop();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        self.start(port).map_err(failed)?;
        let stream = self.connection(&listener).map_err(failed)?;
        hear_first_byte(&stream).map_err(failed)?;
        Ok(Box::new(TcpLine::new(self.name.clone(), stream).map_err(failed)?))
    }

    /// It shares the computer with everybody, and has been seen at a third of its speed.
    fn slowness(&self) -> u32 {
        10
    }
}

impl Drop for MameBoard {
    fn drop(&mut self) {
        self.stop();
    }
}

fn failed(error: io::Error) -> BoardError {
    BoardError::Mame(error)
}

/// Gives the machine the time to come up: what is sent before is lost. A silent one is left to the
/// first request.
fn hear_first_byte(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(BOOT))?;
    match stream.peek(&mut [0]) {
        Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

fn find(profile: &Profile, name: Option<&str>) -> Result<&'static Machine, BoardError> {
    let is_meant = |machine: &&Machine| {
        machine.profile == profile.name && name.is_none_or(|name| machine.name == name)
    };
    MACHINES.iter().find(is_meant).ok_or_else(|| {
        let known = MACHINES.iter().map(|known| format!("{} for {}", known.name, known.profile));
        let known = known.collect::<Vec<_>>().join(", ");
        BoardError::NoMachine(name.unwrap_or("any").to_owned(), profile.name.clone(), known)
    })
}

/// Returns the path of MAME, if it is installed.
#[must_use]
pub fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).map(|folder| folder.join("mame"));
    places.chain([PathBuf::from(GAMES)]).find(|place| place.is_file())
}

/// Writes the ROM chip as MAME wants it: over and over in each part that a jumper may choose.
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
