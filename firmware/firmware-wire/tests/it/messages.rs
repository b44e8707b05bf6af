//! Messages name what is at fault: code, address, byte.

use firmware_wire::{
    CallRefusal, CallStatus, ChipIdentity, Decoder, DecoderEvent, ErrorCode, ErrorReply, Frame,
    FrameError, Reply,
};

/// The codes of docs/PROTOCOL.md, and what the message of a request of type 23h, or of a call, with
/// the detail 8123h must name.
const CODES: [(u8, ErrorCode, &[&str]); 12] = [
    (1, ErrorCode::UnknownType, &["unknown", "23h"]),
    (2, ErrorCode::BadLength, &["length", "23h", "33059 bytes"]),
    (3, ErrorCode::Address, &["8123h", "outside the range"]),
    (4, ErrorCode::ReadBack, &["8123h", "reads back differently"]),
    (5, ErrorCode::BadArgument, &["byte 33059", "23h"]),
    (6, ErrorCode::CorruptedFrame, &["corrupted"]),
    (7, ErrorCode::Overrun, &["lost a byte"]),
    (8, ErrorCode::Chip, &["8123h", "flash chip"]),
    (9, ErrorCode::Protected, &["sector 33059", "boot"]),
    (10, ErrorCode::Timeout, &["sector 33059", "not erased"]),
    (11, ErrorCode::Verify, &["8123h", "CRC mismatch"]),
    (99, ErrorCode::Unknown(99), &["code 99", "8123h"]),
];

#[test]
fn error_replies_have_the_codes_of_the_protocol_and_name_their_detail() {
    for (number, code, words) in CODES {
        assert_eq!(code.code(), number);
        let reply = ErrorReply { code, request: 0x23, detail: 0x8123 };
        assert_eq!(Reply::parse(0xFF, &[number, 0x23, 0x23, 0x81]), Ok(Reply::Error(reply)));
        let message = reply.to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}

#[test]
fn refused_calls_name_their_address() {
    let message = |code| CallRefusal { code, detail: 0x8123 }.to_string();
    for (code, words) in [
        (ErrorCode::Address, "8123h is not for programs"),
        (ErrorCode::ReadBack, "8123h reads back differently"),
        (ErrorCode::BadArgument, "malformed"),
        (ErrorCode::BadLength, "do not fit a frame"),
        (ErrorCode::Chip, "error code 8 (detail 8123h)"),
    ] {
        assert!(message(code).contains(words), "{}", message(code));
    }
}

#[test]
fn programs_chips_frames_and_statuses_are_shown_by_their_numbers() {
    let payload = [&b"C\x01\x78\x56\x34\x12\xFA\0\0\x80\xFF\xEF\x01"[..], b"caller"].concat();
    let Ok(Reply::Identity(identity)) = Reply::parse(0x81, &payload) else { panic!() };
    assert_eq!(identity.to_string(), "caller, build 12345678");
    for (device, sectors, text) in [
        (0xB5, 32, "SST39SF010A, identity BFh B5h, 128 KiB"),
        (0xB6, 64, "SST39SF020A, identity BFh B6h, 256 KiB"),
        (0xB7, 128, "SST39SF040, identity BFh B7h, 512 KiB"),
        (0x01, 4, "a flash chip, identity BFh 01h, 16 KiB"),
    ] {
        let chip = ChipIdentity::new(0xBF, device, sectors, 1).expect("it is a chip");
        assert_eq!(chip.to_string(), text);
    }
    let frame = Frame::new(7, 0x12, vec![0xAB]).expect("it fits");
    assert_eq!(format!("{frame:?}"), "#7 12h [AB]");
    assert_eq!(format!("{:?}", CallStatus(0x1F)), "CallStatus(1Fh)");
    assert_eq!(CallStatus(0x1F).faults(), 0x0F, "interrupts are no fault of the routine");
}

#[test]
fn a_decoder_keeps_noise_until_it_is_cleared_and_limits_a_frame() {
    let mut decoder = Decoder::default();
    for byte in *b"banner\0rest" {
        decoder.push(byte);
    }
    assert_eq!(decoder.noise().collect::<Vec<_>>(), b"bannerrest");
    decoder.clear();
    assert_eq!(decoder.noise().count(), 0);
    // One byte more than the longest frame has between its delimiters.
    let too_long = std::iter::repeat_n(0x55, 247).chain([0]);
    let events: Vec<_> = too_long.filter_map(|byte| decoder.push(byte)).collect();
    assert_eq!(events, [DecoderEvent::Invalid(FrameError::TooLong)]);
    let mut frame = Frame::new(1, 0x10, vec![1, 2]).expect("it fits");
    frame.payload[1] = 7;
    let line = frame.encode();
    assert_eq!(Frame::decode(&line[1..line.len() - 1]), Ok(frame), "a changed payload is sent");
}
