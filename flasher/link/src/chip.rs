//! Requests about the flash chip that both the writer (`flash`) and the reader (`inspect`) need.

use std::time::Duration;

use firmware_wire::{FlashReply, FlashRequest, Reply, Request};

use crate::narrow::narrow;
use crate::{Link, LinkError};

/// Bytes of a sector.
pub const SECTOR: usize = 0x1000;
/// The same as a distance of addresses.
pub(crate) const SECTOR_SPAN: u32 = 0x1000;
/// The longest time for a request that the board answers at once, a block to program among them.
pub(crate) const AT_ONCE: Duration = Duration::from_millis(100);
/// The longest time for a check, for each byte: 120 T-states at 3.6864 MHz.
pub(crate) const CHECK_PER_BYTE: Duration = Duration::from_micros(35);

/// The CRC-32 of a stretch within a page, computed by the board.
pub(crate) fn check(link: &mut Link, address: u32, length: usize) -> Result<u32, LinkError> {
    let request = FlashRequest::Crc { address, length: narrow(length) };
    let what = "comparing flash";
    match ask(link, what, request, AT_ONCE + CHECK_PER_BYTE * narrow(length))? {
        FlashReply::Crc(crc) => Ok(crc),
        other => Err(nonsense(what, &other)),
    }
}

/// Asks a request about flash.
pub(crate) fn ask(
    link: &mut Link,
    what: &'static str,
    request: FlashRequest,
    work: Duration,
) -> Result<FlashReply, LinkError> {
    match link.ask(what, &Request::Flash(request), work)? {
        Reply::Flash(reply) => Ok(reply),
        other => Err(LinkError::Nonsense { what, why: format!("{other:?}") }),
    }
}

/// The error for a reply that is none to the request.
pub(crate) fn nonsense(what: &'static str, reply: &FlashReply) -> LinkError {
    LinkError::Nonsense { what, why: format!("{reply:?}") }
}
