//! The assemblers for Zilog's mnemonics that `.ci/install/debs` installs.

use std::path::Path;
use std::process::Command;

use tdlasm::image::parse_intel_hex;
use tdlasm_tools::convert::Target;

/// An assembler for Zilog's mnemonics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Gnu,
    Pasmo,
    Z80asm,
    /// SDCC's.
    Sdasz80,
}

impl Peer {
    pub(crate) const ALL: [Peer; 4] = [Peer::Gnu, Peer::Pasmo, Peer::Z80asm, Peer::Sdasz80];
    /// Those that take what is written without `--for`.
    pub(crate) const COMMON: [Peer; 3] = [Peer::Gnu, Peer::Pasmo, Peer::Z80asm];

    /// Returns the commands from a source to its bytes.
    fn commands(self) -> &'static [&'static [&'static str]] {
        match self {
            Peer::Gnu => &[
                &["z80-unknown-coff-as", "-march=z80+full", "-o", "a.o", "a.asm"],
                &[
                    "z80-unknown-coff-ld",
                    "-e",
                    "0",
                    "-Ttext",
                    "0",
                    "--oformat",
                    "binary",
                    "-o",
                    "a.bin",
                    "a.o",
                ],
            ],
            Peer::Pasmo => &[&["pasmo", "a.asm", "a.bin"]],
            Peer::Z80asm => &[&["z80asm", "-o", "a.bin", "a.asm"]],
            Peer::Sdasz80 => {
                &[&["sdasz80", "-o", "a.rel", "a.asm"], &["sdldz80", "-i", "a.ihx", "a.rel"]]
            }
        }
    }

    /// The bytes of a source that begins at `origin`, or the error messages.
    pub(crate) fn try_assemble(self, text: &[u8], origin: u16) -> Result<Vec<u8>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.asm"), text).expect("to write the source");
        for command in self.commands() {
            run(command, folder.path())?;
        }
        if self == Peer::Sdasz80 {
            let text = std::fs::read_to_string(folder.path().join("a.ihx")).expect("the output");
            let image = parse_intel_hex(&text).expect("Intel HEX").0;
            let first = image.bounds().map_or(origin, |(first, _)| first);
            let before = usize::from(first.saturating_sub(origin));
            return Ok([vec![0; before], image.flat(0)].concat());
        }
        let bytes = std::fs::read(folder.path().join("a.bin")).expect("the output");
        // GNU's sections begin at 0.
        let skipped = if self == Peer::Gnu { usize::from(origin) } else { 0 };
        Ok(bytes.get(skipped..).unwrap_or_default().to_vec())
    }

    pub(crate) fn target(self) -> Target {
        match self {
            Peer::Gnu => Target::Gas,
            Peer::Pasmo => Target::Pasmo,
            Peer::Z80asm => Target::Z80asm,
            Peer::Sdasz80 => Target::Sdasz80,
        }
    }
}

/// A program; GNU's may be those that `.ci/install/binutils-z80-elf` builds.
fn tool(name: &str) -> Command {
    let built = std::env::var_os("Z80_ELF_BIN").filter(|bin| !bin.is_empty());
    match (name.strip_prefix("z80-unknown-coff-"), built) {
        (Some(gnu), Some(folder)) => Command::new(Path::new(&folder).join(gnu)),
        _ => Command::new(name),
    }
}

fn run(command: &[&str], folder: &Path) -> Result<(), String> {
    let output = tool(command[0]).args(&command[1..]).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", command[0]));
    let printed = [output.stdout, output.stderr].concat();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&printed).into_owned()),
    }
}
