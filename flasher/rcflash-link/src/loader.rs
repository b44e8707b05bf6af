//! Uploads a program to a board's RAM through the resident monitor, verifies it, and starts it.

mod resume;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use firmware_wire::{ErrorCode, Identity, MAX_BLOCK, Reply, Request, Role, memory_checksum};

use crate::error::IDENTIFYING;
use crate::narrow::narrow;
use crate::{Link, LinkError, RequestSpec};

pub use resume::{UploadSummary, missing_ranges, upload_missing};

/// The processing time of a request without a checksum or a start.
const REPLY_TIMEOUT: Duration = Duration::from_millis(50);
/// The processing time of a checksum per byte: at least 120 T-states at 3.6864 MHz, the slowest
/// clock of the family. A board that fails during 28 KiB is given up within 10 s.
const CRC_TIME_PER_BYTE: Duration = Duration::from_micros(50);
/// The time until a program replies after its start.
const START_TIMEOUT: Duration = Duration::from_millis(500);

/// Error returned by a load.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A program other than this project's monitor replies, even after RESET.
    #[error(
        "{0} replies instead of the boot monitor; press reset, or put the monitor into the ROM"
    )]
    NoMonitor(Box<Identity>),
    /// The program lies outside the memory that the monitor writes.
    #[error(
        "the program needs {first:04X}h-{last:04X}h, the board takes {lowest:04X}h-{highest:04X}h",
        lowest = accepts.0,
        highest = accepts.1
    )]
    DoesNotFit {
        /// The program's first address.
        first: u16,
        /// The program's last address.
        last: u16,
        /// The first and last address that the board accepts.
        accepts: (u16, u16),
    },
    /// The program has no bytes.
    #[error("the program has no bytes")]
    Empty,
    /// The program that was started led back to the monitor.
    #[error(
        "the program (build {expected:08X}) did not start: RUN led back to {found}; send it again \
         with --force, and if that does not help, try `hw-tests doctor`"
    )]
    NotStarted {
        /// The build id of the program that was started.
        expected: u32,
        /// The monitor that replies.
        found: Box<Identity>,
    },
    /// Another program than the one that was started replies.
    #[error(
        "{found} replies instead of the program that was started (build {expected:08X}); press \
         reset, and send it again with --force"
    )]
    OtherBuild {
        /// The build id of the program that was started.
        expected: u32,
        /// The program that replies.
        found: Box<Identity>,
    },
    /// The board's memory differs from what was sent.
    #[error(
        "verify failed: the board computes checksum {actual:08X}h, it should be {expected:08X}h"
    )]
    Verify {
        /// The checksum computed by the host.
        expected: u32,
        /// The checksum computed by the board.
        actual: u32,
    },
}

/// Returns an IDENT request.
pub fn identify_request() -> RequestSpec {
    RequestSpec::new(IDENTIFYING, Request::Identify, REPLY_TIMEOUT)
}

/// Returns the identity of the running program.
///
/// # Errors
/// Returns [`LinkError`] if no program replies to IDENT, or the reply is not an identity.
pub fn identify(link: &mut Link) -> Result<Identity, LinkError> {
    let RequestSpec { operation, request, processing_time, .. } = identify_request();
    match link.request(operation, &request, processing_time) {
        Ok(Reply::Identity(identity)) => Ok(identity),
        Ok(other) => Err(unexpected(operation, &other)),
        // IDENT has no payload that could be wrong, so the program's memory was overwritten.
        Err(LinkError::Refused { error, .. }) => {
            let cause = format!(
                "IDENT was rejected ({error}); the program's memory may be corrupted: press reset"
            );
            Err(LinkError::UnexpectedReply { operation, cause })
        }
        Err(error) => Err(error),
    }
}

/// Returns the monitor's identity. If an application or the debug kernel is running, resets it to
/// the monitor first.
///
/// # Errors
/// Returns [`LoadError::Link`] if no program replies, or [`LoadError::NoMonitor`] if one other than
/// the monitor still replies after the reset.
pub fn enter_monitor(link: &mut Link) -> Result<Identity, LoadError> {
    let mut identity = identify(link)?;
    if identity.role != Role::Monitor {
        link.request("resetting to the monitor", &Request::Reset, START_TIMEOUT)?;
        link.drain_banner("resetting to the monitor", START_TIMEOUT)?;
        identity = identify(link)?;
    }
    match identity.role {
        Role::Monitor => Ok(identity),
        Role::Application | Role::Caller | Role::Kernel => {
            Err(LoadError::NoMonitor(Box::new(identity)))
        }
    }
}

/// Uploads all bytes, whatever memory contains, and has the board compute their checksum.
/// `progress` receives the number of bytes acknowledged.
///
/// # Errors
/// Returns [`LoadError`] if the range is not loadable, the link fails, or the checksum differs.
pub fn upload_all(
    link: &mut Link,
    monitor: &Identity,
    address: u16,
    bytes: &[u8],
    progress: impl FnMut(usize),
) -> Result<(), LoadError> {
    check_range(monitor, address, bytes)?;
    link.set_window(monitor.window);
    upload(link, address, bytes, blocks(0..bytes.len()).collect(), progress)?;
    verify(link, address, bytes)
}

/// Splits a range into blocks of at most [`MAX_BLOCK`] bytes.
fn blocks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(MAX_BLOCK).map(move |start| start..end.min(start + MAX_BLOCK))
}

/// Sends blocks of `bytes`. The caller has checked the range.
fn upload(
    link: &mut Link,
    address: u16,
    bytes: &[u8],
    blocks: Vec<Range<usize>>,
    mut progress: impl FnMut(usize),
) -> Result<(), LinkError> {
    let address_of = |block: &Range<usize>| address.wrapping_add(narrow(block.start));
    let requests = blocks.iter().map(|block| {
        let data = bytes[block.clone()].to_vec();
        Request::Write { address: address_of(block), data }
    });
    let mut done = 0;
    pipeline(link, "uploading", requests, REPLY_TIMEOUT, |index, reply| {
        let block = &blocks[index];
        done += block.len();
        progress(done);
        reply == Reply::Written { address: address_of(block), count: narrow(block.len()) }
    })
}

/// Verifies memory by the checksum that the board computes.
///
/// # Errors
/// Returns [`LoadError::Verify`] if the checksum differs, [`LoadError::Empty`] if there is nothing
/// to verify, [`LoadError::DoesNotFit`] for more than FFFFh bytes, or [`LoadError::Link`].
pub fn verify(link: &mut Link, address: u16, bytes: &[u8]) -> Result<(), LoadError> {
    if bytes.is_empty() {
        return Err(LoadError::Empty); // a checksum of no bytes is not a request of the protocol
    }
    let length = u16::try_from(bytes.len()).map_err(|_| LoadError::DoesNotFit {
        first: address,
        last: u16::MAX,
        accepts: (0, u16::MAX),
    })?;
    let expected = memory_checksum(bytes);
    match request_memory_checksum(link, address, length)? {
        actual if actual == expected => Ok(()),
        actual => Err(LoadError::Verify { expected, actual }),
    }
}

/// Has the board compute the checksum of a range of memory.
pub(crate) fn request_memory_checksum(
    link: &mut Link,
    address: u16,
    length: u16,
) -> Result<u32, LinkError> {
    let processing_time = CRC_TIME_PER_BYTE * u32::from(length) + REPLY_TIMEOUT;
    match link.request("verifying", &Request::Crc { address, length }, processing_time)? {
        Reply::Crc(crc) => Ok(crc),
        other => Err(unexpected("verifying", &other)),
    }
}

/// Starts a program that speaks the protocol, and checks that it replies with its build id.
///
/// # Errors
/// Returns [`LoadError::NotStarted`] if the monitor replies instead, [`LoadError::OtherBuild`] if
/// another program does, or [`LoadError::Link`] if nothing replies or RUN is refused.
pub fn run_build(link: &mut Link, address: u16, build_id: u32) -> Result<Identity, LoadError> {
    check_build(run(link, address)?, build_id)
}

/// Returns the identity of a program that was just started, if it has this build id.
///
/// # Errors
/// Returns [`LoadError::NotStarted`] or [`LoadError::OtherBuild`] if it has another one.
pub fn check_build(running: Identity, build_id: u32) -> Result<Identity, LoadError> {
    let expected = build_id;
    let found = Box::new(running);
    match found.role {
        Role::Monitor => Err(LoadError::NotStarted { expected, found }),
        _ if found.build_id != expected => Err(LoadError::OtherBuild { expected, found }),
        _ => Ok(*found),
    }
}

/// Starts a program that speaks the protocol, and returns the identity of whatever replies then.
///
/// # Errors
/// Returns [`LoadError::Link`] if the monitor does not start it, or the program does not reply.
pub fn run(link: &mut Link, address: u16) -> Result<Identity, LoadError> {
    match jump(link, address) {
        // The reply was lost, and the program that was started received the retry.
        Err(LoadError::Link(LinkError::Refused { error, .. }))
            if error.code == ErrorCode::UnknownType => {}
        other => other?,
    }
    link.drain_banner("starting the program", START_TIMEOUT)?;
    Ok(identify(link)?)
}

/// Starts a program without waiting for its identity.
///
/// # Errors
/// Returns [`LoadError::Link`] if the monitor does not start it.
pub fn jump(link: &mut Link, address: u16) -> Result<(), LoadError> {
    match link.request("starting the program", &Request::Run { address }, START_TIMEOUT)? {
        Reply::Running(at) if at == address => Ok(()),
        other => Err(unexpected("starting the program", &other).into()),
    }
}

/// Pipelines requests with one reply each; `accept` returns whether a reply is valid.
pub(crate) fn pipeline(
    link: &mut Link,
    operation: &'static str,
    requests: impl Iterator<Item = Request>,
    processing_time: Duration,
    mut accept: impl FnMut(usize, Reply) -> bool,
) -> Result<(), LinkError> {
    let mut requests = requests.enumerate().peekable();
    let mut in_flight = BTreeMap::new();
    loop {
        while let Some((index, request)) = requests.next_if(|(_, request)| link.has_room(request)) {
            in_flight.insert(
                link.submit(&RequestSpec::new(operation, request, processing_time))?,
                index,
            );
        }
        let Some(completion) = link.next_completion()? else { return Ok(()) };
        let Some(index) = in_flight.remove(&completion.id) else { continue };
        let reply = completion.replies.map(|mut replies| replies.pop());
        match reply {
            Ok(Some(reply)) if accept(index, reply.clone()) => {}
            other => {
                link.cancel_all();
                return Err(match other {
                    Ok(reply) => {
                        LinkError::UnexpectedReply { operation, cause: format!("{reply:?}") }
                    }
                    Err(error) => error,
                });
            }
        }
    }
}

fn check_range(monitor: &Identity, address: u16, bytes: &[u8]) -> Result<(), LoadError> {
    let last = u16::try_from(bytes.len().checked_sub(1).ok_or(LoadError::Empty)?)
        .ok()
        .and_then(|offset| address.checked_add(offset));
    let (lowest, highest) = monitor.load_range;
    match last {
        Some(last) if address >= lowest && last <= highest => Ok(()),
        _ => Err(LoadError::DoesNotFit {
            first: address,
            last: last.unwrap_or(u16::MAX),
            accepts: monitor.load_range,
        }),
    }
}

fn unexpected(operation: &'static str, reply: &Reply) -> LinkError {
    LinkError::UnexpectedReply { operation, cause: format!("{reply:?}") }
}
