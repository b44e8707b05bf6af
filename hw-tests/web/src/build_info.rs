//! Versions, and the images that the page's programs consist of.

use crc::{CRC_32_ISO_HDLC, Crc};
use firmware::ProgramKind;
use firmware::build::build_with;
use firmware::evaluator::{Behaviour, Evaluator};
use serde::Serialize;

use crate::board;
use crate::error::PageError;

/// The check of a file: zlib's CRC-32.
const FILE_CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
/// The evaluators in the order of their years.
pub(crate) const BEHAVIOURS: [Behaviour; 3] =
    [Behaviour::Original, Behaviour::Corrected, Behaviour::Fast];

#[derive(Debug, Serialize)]
pub(crate) struct BuildInfo {
    version: &'static str,
    commit: &'static str,
    board: String,
    images: Vec<ImageInfo>,
}

#[derive(Debug, Serialize)]
struct ImageInfo {
    behaviour: String,
    address: u16,
    size: usize,
    build: String,
    crc32: String,
}

impl BuildInfo {
    pub(crate) fn find() -> Result<Self, PageError> {
        let profile = board::profile(None)?;
        let image = |behaviour| -> Result<ImageInfo, PageError> {
            let evaluator = Evaluator { behaviour, own: None };
            let built = build_with(&profile, ProgramKind::Application, &evaluator)?;
            Ok(ImageInfo {
                behaviour: behaviour.to_string(),
                address: built.address,
                size: built.bytes.len(),
                build: format!("{:08X}", built.build),
                crc32: crc32(&built.bytes),
            })
        };
        let images = BEHAVIOURS.into_iter().map(image).collect::<Result<_, _>>()?;
        let (version, commit) = version();
        Ok(Self { version, commit, board: profile.name, images })
    }
}

/// The version, and the commit that the module was built from.
pub(crate) fn version() -> (&'static str, &'static str) {
    let stated = env!("PROGRAM_VERSION").split_once(" (");
    let commit = stated.map_or("unknown", |(_, commit)| commit.trim_end_matches(')'));
    (env!("CARGO_PKG_VERSION"), commit)
}

/// The CRC-32 of bytes in eight digits.
pub(crate) fn crc32(bytes: &[u8]) -> String {
    format!("{:08X}", FILE_CRC.checksum(bytes))
}
