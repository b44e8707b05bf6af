//! The name of a board in the banner of its boot loader.

/// The start of RomWBW's name for a Z180 board, in the banner of its boot loader, and the longest
/// name.
const ROMWBW_NAME: &[u8] = b"[SCZ180_";
pub(crate) const MAX_NAME_BYTES: usize = 24;

/// Returns the profile of the last Z180 board that RomWBW's banner names in this text.
pub(crate) fn romwbw_profile(received: &[u8]) -> Option<&'static str> {
    let at = received.windows(ROMWBW_NAME.len()).rposition(|bytes| bytes == ROMWBW_NAME)?;
    let name = received[at + ROMWBW_NAME.len()..].split(|byte| *byte == b'_').next()?;
    match name {
        b"sc126" => Some("sc126"),
        b"sc130" => Some("sc130"),
        b"sc131" => Some("sc131"),
        b"sc140" | b"sc503" => Some("sc140"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn romwbws_banner_names_the_board() {
        let banner =
            b"\r\nSmall Computer SC131 [SCZ180_sc131_std] Z8S180-N @ 18.432MHz IO=0xC0\r\n";
        assert_eq!(romwbw_profile(banner), Some("sc131"));
        assert_eq!(romwbw_profile(b"SC126 [SCZ180_sc126_std] Boot Loader"), Some("sc126"));
        assert_eq!(romwbw_profile(b"[SCZ180_sc503_std]"), Some("sc140"));
        assert_eq!(romwbw_profile(b"[SCZ180_sc700_std]"), None);
        assert_eq!(romwbw_profile(b"\r\nRCBus [RCZ80_std] Boot Loader"), None);
    }
}
