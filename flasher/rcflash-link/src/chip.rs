//! Requests about the flash chip that both the writer (`flash`) and the reader (`inspect`) need.

use std::time::Duration;

use firmware_wire::{FLASH_SECTOR_BYTES, FlashReply, FlashRequest, Reply, Request};

use crate::narrow::narrow;
use crate::{Link, LinkError};

/// The size of a sector in bytes.
pub const SECTOR: usize = 0x1000;
pub(crate) const SECTOR_SPAN: u32 = FLASH_SECTOR_BYTES;
/// The processing time of a request without an erasure, which includes programming a block.
pub(crate) const REPLY_TIMEOUT: Duration = Duration::from_millis(100);
/// The processing time of a CRC per byte: 120 T-states at 3.6864 MHz.
pub(crate) const CRC_TIME_PER_BYTE: Duration = Duration::from_micros(35);

/// Has the board compute the CRC-32 of a range within a page.
pub(crate) fn flash_crc(link: &mut Link, address: u32, length: usize) -> Result<u32, LinkError> {
    let request = FlashRequest::Crc { address, length: narrow(length) };
    let operation = "comparing flash";
    match flash_request(
        link,
        operation,
        request,
        REPLY_TIMEOUT + CRC_TIME_PER_BYTE * narrow(length),
    )? {
        FlashReply::Crc(crc) => Ok(crc),
        other => Err(unexpected_flash_reply(operation, &other)),
    }
}

/// Sends a request about flash and waits for its reply.
pub(crate) fn flash_request(
    link: &mut Link,
    operation: &'static str,
    request: FlashRequest,
    processing_time: Duration,
) -> Result<FlashReply, LinkError> {
    match link.request(operation, &Request::Flash(request), processing_time)? {
        Reply::Flash(reply) => Ok(reply),
        other => Err(LinkError::UnexpectedReply { operation, cause: format!("{other:?}") }),
    }
}

/// Returns the error for a reply that does not fit the request.
pub(crate) fn unexpected_flash_reply(operation: &'static str, reply: &FlashReply) -> LinkError {
    LinkError::UnexpectedReply { operation, cause: format!("{reply:?}") }
}
