//! Puts a program into a board's RAM through the resident monitor, proves that it is there, and
//! starts it.

mod resume;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use firmware_wire::{ErrorCode, Identity, MAX_BLOCK, Reply, Request, Role, memory_check};

use crate::narrow::narrow;
use crate::{Link, LinkError, Question};

pub use resume::{Updated, missing, update};

/// The time that the board may take for a request that it answers at once.
const AT_ONCE: Duration = Duration::from_millis(50);
/// The time that a check may take, for each byte: 120 T-states and more at 3.6864 MHz, the slowest
/// of the family. A board that dies over 28 KiB is given up within 10 s.
const CHECK_PER_BYTE: Duration = Duration::from_micros(50);
/// The time that a program may take until it answers after its start.
const START: Duration = Duration::from_millis(500);

/// Error returned by a load.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// Another program than our monitor answers, even after RESET.
    #[error(
        "{0} answers instead of the boot monitor; press reset, or put the monitor into the ROM"
    )]
    NoMonitor(Box<Identity>),
    /// The program does not fit what the monitor takes.
    #[error(
        "the program needs {first:04X}h-{last:04X}h, the board takes {lowest:04X}h-{highest:04X}h",
        lowest = takes.0,
        highest = takes.1
    )]
    DoesNotFit {
        /// First address.
        first: u16,
        /// Last address.
        last: u16,
        /// The addresses that the board takes.
        takes: (u16, u16),
    },
    /// There is nothing to load.
    #[error("the program has no bytes")]
    Empty,
    /// The board's memory holds something else than what was sent.
    #[error("verify failed: the board computes check {there:08X}h, it should be {here:08X}h")]
    Verify {
        /// The check computed here.
        here: u32,
        /// The check that the board computed.
        there: u32,
    },
}

/// Returns the question who is there.
#[must_use]
pub fn identity_question() -> Question {
    Question::new("asking who is there", Request::Identify, AT_ONCE)
}

/// Asks who is there.
///
/// # Errors
/// Nobody answered sensibly.
pub fn identify(link: &mut Link) -> Result<Identity, LinkError> {
    let Question { what, request, work, .. } = identity_question();
    match link.ask(what, &request, work) {
        Ok(Reply::Identity(identity)) => Ok(identity),
        Ok(other) => Err(unexpected(what, &other)),
        // The request has no content that could be wrong. Memory was lost under the program.
        Err(LinkError::Refused { error, .. }) => {
            let why = format!("{error}, which no program in order says: press reset");
            Err(LinkError::Nonsense { what, why })
        }
        Err(error) => Err(error),
    }
}

/// Makes sure that the monitor listens: a running application or debug kernel is asked to
/// go back to it.
///
/// # Errors
/// Nobody answers, or not the monitor.
pub fn reach_monitor(link: &mut Link) -> Result<Identity, LoadError> {
    let mut identity = identify(link)?;
    if identity.role != Role::Monitor {
        link.ask("going back to the monitor", &Request::Reset, START)?;
        link.hear_out("going back to the monitor", START)?;
        identity = identify(link)?;
    }
    match identity.role {
        Role::Monitor => Ok(identity),
        Role::Application | Role::Kernel => Err(LoadError::NoMonitor(Box::new(identity))),
    }
}

/// Uploads all bytes, whatever is there, and has the board compute their check. `progress` hears
/// how many bytes the board has acknowledged.
///
/// # Errors
/// What kept the bytes from being there.
pub fn load(
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

/// The blocks of a range, each of what a request carries at the most.
fn blocks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(MAX_BLOCK).map(move |start| start..end.min(start + MAX_BLOCK))
}

/// Sends blocks of `bytes`; the range was checked.
fn upload(
    link: &mut Link,
    address: u16,
    bytes: &[u8],
    blocks: Vec<Range<usize>>,
    mut progress: impl FnMut(usize),
) -> Result<(), LinkError> {
    let place = |block: &Range<usize>| address.wrapping_add(narrow(block.start));
    let requests = blocks.iter().map(|block| {
        let data = bytes[block.clone()].to_vec();
        Request::Write { address: place(block), data }
    });
    let mut done = 0;
    ask_each(link, "uploading", requests, AT_ONCE, |index, reply| {
        let block = &blocks[index];
        done += block.len();
        progress(done);
        reply == Reply::Written { address: place(block), count: narrow(block.len()) }
    })
}

/// Has the board compute the check of its memory and compares.
///
/// # Errors
/// [`LoadError::Verify`] when it differs.
pub fn verify(link: &mut Link, address: u16, bytes: &[u8]) -> Result<(), LoadError> {
    let length = u16::try_from(bytes.len()).map_err(|_| LoadError::DoesNotFit {
        first: address,
        last: u16::MAX,
        takes: (0, u16::MAX),
    })?;
    let here = memory_check(bytes);
    match check(link, address, length)? {
        there if there == here => Ok(()),
        there => Err(LoadError::Verify { here, there }),
    }
}

/// The check of a stretch of memory, computed by the board.
pub(crate) fn check(link: &mut Link, address: u16, length: u16) -> Result<u32, LinkError> {
    let work = CHECK_PER_BYTE * u32::from(length) + AT_ONCE;
    match link.ask("verifying", &Request::Crc { address, length }, work)? {
        Reply::Crc(crc) => Ok(crc),
        other => Err(unexpected("verifying", &other)),
    }
}

/// Starts a program that speaks the protocol, and returns its identity.
///
/// # Errors
/// The monitor did not start it, or what was started does not answer.
pub fn run(link: &mut Link, address: u16) -> Result<Identity, LoadError> {
    match jump(link, address) {
        // When the reply was lost, the program that was started hears the request again.
        Err(LoadError::Link(LinkError::Refused { error, .. }))
            if error.code == ErrorCode::UnknownType => {}
        other => other?,
    }
    link.hear_out("starting the program", START)?;
    Ok(identify(link)?)
}

/// Starts a program of which nothing more is expected.
///
/// # Errors
/// The monitor did not start it.
pub fn jump(link: &mut Link, address: u16) -> Result<(), LoadError> {
    match link.ask("starting the program", &Request::Run { address }, START)? {
        Reply::Running(at) if at == address => Ok(()),
        other => Err(unexpected("starting the program", &other).into()),
    }
}

/// Asks requests with a single reply each, as many under way as the link's window takes. `accept`
/// hears each reply with the number of its request, from 0, and says whether it makes sense.
pub(crate) fn ask_each(
    link: &mut Link,
    what: &'static str,
    requests: impl Iterator<Item = Request>,
    work: Duration,
    mut accept: impl FnMut(usize, Reply) -> bool,
) -> Result<(), LinkError> {
    let mut requests = requests.enumerate().peekable();
    let mut under_way = BTreeMap::new();
    loop {
        while let Some((index, request)) = requests.next_if(|(_, request)| link.has_room(request)) {
            under_way.insert(link.submit(&Question::new(what, request, work))?, index);
        }
        let Some(answer) = link.next_answer()? else { return Ok(()) };
        let Some(index) = under_way.remove(&answer.ticket) else { continue };
        let reply = answer.replies.map(|mut replies| replies.pop());
        match reply {
            Ok(Some(reply)) if accept(index, reply.clone()) => {}
            other => {
                link.abandon();
                return Err(match other {
                    Ok(reply) => LinkError::Nonsense { what, why: format!("{reply:?}") },
                    Err(error) => error,
                });
            }
        }
    }
}

fn check_range(monitor: &Identity, address: u16, bytes: &[u8]) -> Result<(), LoadError> {
    let last = u16::try_from(bytes.len().checked_sub(1).ok_or(LoadError::Empty)?)
        .ok()
        .and_then(|distance| address.checked_add(distance));
    let (lowest, highest) = monitor.loads;
    match last {
        Some(last) if address >= lowest && last <= highest => Ok(()),
        _ => Err(LoadError::DoesNotFit {
            first: address,
            last: last.unwrap_or(u16::MAX),
            takes: monitor.loads,
        }),
    }
}

fn unexpected(what: &'static str, reply: &Reply) -> LinkError {
    LinkError::Nonsense { what, why: format!("{reply:?}") }
}
