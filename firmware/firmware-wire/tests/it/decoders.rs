//! All decoders on any bytes: none panics, and what decodes is within the protocol's ranges and
//! encodes to the same bytes again. The encoder is written from docs/PROTOCOL.md.

use firmware_wire::{
    Decoder, DecoderEvent, FlashReply, Frame, Identity, MessageError, PointsReply, Reply, Role,
    StopReason, StoppedState, kind,
};
use proptest::prelude::*;

/// Types of replies, and the longest payload worth generating for each.
const REPLIES: [(u8, usize); 31] = [
    (0x81, 20),
    (0x82, 1),
    (0x83, 5),
    (0x84, 11),
    (0x90, 4),
    (0x91, 5),
    (0x92, 240),
    (0x93, 3),
    (0x94, 6),
    (0x95, 3),
    (0x96, 5),
    (0x97, 5),
    (0x98, 1),
    (0x99, 240),
    (0x9A, 1),
    (0xA0, 3),
    (0xA1, 40),
    (0xA2, 30),
    (0xA3, 30),
    (0xA4, 10),
    (0xA5, 30),
    (0xA6, 33),
    (0xA7, 240),
    (0xA8, 7),
    (0xB0, 30),
    (0xB1, 1),
    (0xB2, 1),
    (0xFD, 30),
    (0xFE, 3),
    (0xFF, 5),
    (0x7F, 3),
];

/// Payloads of a type that are often valid: small numbers are likelier than others.
fn payloads() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let byte = || prop_oneof![4 => 0..4_u8, 1 => Just(0xFF), 1 => Just(b'M'), 2 => any::<u8>()];
    prop::sample::select(REPLIES.to_vec()).prop_flat_map(move |(kind, longest)| {
        prop::collection::vec(byte(), 0..=longest).prop_map(move |payload| (kind, payload))
    })
}

fn identity_payload(identity: &Identity) -> Vec<u8> {
    let (role, first) = match identity.role {
        Role::Monitor => (b'M', identity.load_range.0),
        Role::Kernel => (b'K', identity.load_range.0),
        Role::Caller => (b'C', identity.load_range.0),
        Role::Application => (b'A', identity.extended_capabilities),
    };
    let mut bytes = vec![role, 1];
    bytes.extend(identity.build_id.to_le_bytes());
    bytes.extend(identity.window.to_le_bytes());
    bytes.extend(first.to_le_bytes());
    bytes.extend(identity.load_range.1.to_le_bytes());
    bytes.push(identity.capabilities);
    bytes.extend(identity.name.bytes());
    bytes
}

fn flash_payload(reply: &FlashReply) -> Vec<u8> {
    match reply {
        FlashReply::Chip(chip) => {
            let [low, high] = chip.sectors().to_le_bytes();
            vec![low, high, chip.protected_sectors() as u8]
        }
        FlashReply::Erased(sector) => sector.to_le_bytes().to_vec(),
        FlashReply::Programmed { address, count } => {
            [&address.to_le_bytes()[..3], &[*count]].concat()
        }
        FlashReply::Crc(crc) => crc.to_le_bytes().to_vec(),
        FlashReply::Memory { address, data } => [&address.to_le_bytes()[..3], data].concat(),
        FlashReply::Verified | FlashReply::Booting => Vec::new(),
    }
}

fn points_payload(points: &PointsReply) -> Vec<u8> {
    let PointsReply { lost, prizes, danger, article, original, status } = points;
    [&[*lost][..], prizes, &[*danger], article, original, &[*status]].concat()
}

fn state_payload(state: &StoppedState) -> Vec<u8> {
    let reason = match state.reason {
        StopReason::Started => 0,
        StopReason::Restart => 1,
        StopReason::Unknown(code) => code,
    };
    let mut bytes = vec![state.stop_number, reason];
    bytes.extend(state.registers.iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend([state.i, state.r, u8::from(state.interrupts_enabled)]);
    bytes
}

/// Encodes the payload of a reply.
fn payload(reply: &Reply) -> Vec<u8> {
    match reply {
        Reply::Identity(identity) => identity_payload(identity),
        Reply::Resetting | Reply::RegistersSet | Reply::Resumed => Vec::new(),
        Reply::IdleCount(number) | Reply::Crc(number) => number.to_le_bytes().to_vec(),
        Reply::Status(status) => {
            let lost = [status.lost, status.ring_full, status.interrupts_off, status.stack_free];
            [&[status.crc], &lost[..]].concat().iter().flat_map(|word| word.to_le_bytes()).collect()
        }
        Reply::Written { address, count } => [&address.to_le_bytes()[..], &[*count]].concat(),
        Reply::Memory { address, data } => [&address.to_le_bytes()[..], data].concat(),
        Reply::Running(address) | Reply::ProgramCounter(address) => address.to_le_bytes().to_vec(),
        Reply::Flash(reply) => flash_payload(reply),
        Reply::Residue { residue, status } => vec![*residue, *status],
        Reply::Squares { part, records } => {
            let record = |one: &firmware_wire::SquareRecord| {
                [&[one.square, one.piece, one.status, one.residue][..], &one.array].concat()
            };
            let records: Vec<_> = records.iter().map(record).collect();
            [&[*part, records.len() as u8][..], &records.concat()].concat()
        }
        Reply::PositionEnd(end) => {
            let mut bytes = vec![end.parts, end.squares, end.status];
            bytes.extend(end.royals);
            bytes.push(end.pins.len() as u8);
            bytes.extend(end.pins.iter().flat_map(|pin| [pin.square, pin.step as u8]));
            bytes.extend(end.points.iter().flat_map(points_payload));
            bytes
        }
        Reply::Checks(checks) => checks.iter().flat_map(|crc| crc.to_le_bytes()).collect(),
        Reply::Exhaust(tally) => {
            let mut bytes = tally.count.to_le_bytes().to_vec();
            bytes.extend(tally.crc.to_le_bytes());
            bytes.push(tally.status);
            bytes.extend(tally.histogram.iter().flat_map(|count| count.to_le_bytes()));
            bytes
        }
        Reply::Points(points) => points_payload(points),
        Reply::Trace { residue, status, steps } => {
            let step = |one: &firmware_wire::StepRecord| {
                [one.action, one.stake, one.attacker, one.defender, one.residue]
            };
            [&[*residue, *status][..], &steps.iter().flat_map(step).collect::<Vec<_>>()].concat()
        }
        Reply::Called { number, results } => [&[*number][..], results].concat(),
        Reply::Counted(reply) => {
            [&reply.crc.to_le_bytes()[..], &[reply.status.0, reply.stack_used]].concat()
        }
        Reply::State(state) | Reply::Stopped(state) => state_payload(state),
        Reply::Error(error) => {
            let [low, high] = error.detail.to_le_bytes();
            vec![error.code.code(), error.request, low, high]
        }
    }
}

/// Returns the payload as the decoder keeps it: characters that a terminal would obey are question
/// marks, a flag is 0 or 1, and the codes of a chip are for its name only.
fn canonical(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    match kind {
        0x81 => {
            for byte in &mut bytes[13..] {
                *byte = if (b' '..=b'~').contains(byte) { *byte } else { b'?' };
            }
        }
        0x94 => drop(bytes.drain(..2)),
        0xB0 | 0xFD => bytes[28] = u8::from(bytes[28] != 0),
        _ => {}
    }
    bytes
}

/// Returns `true` if every field that the firmware fills in is within the protocol's range.
fn is_in_range(reply: &Reply) -> bool {
    match reply {
        Reply::Identity(identity) => {
            let (first, last) = identity.load_range;
            identity.window >= 248 && first <= last && !identity.name.contains(char::is_control)
        }
        Reply::Written { count, .. } => (1..=236).contains(count),
        Reply::Memory { data, .. } => (1..=236).contains(&data.len()),
        Reply::Flash(FlashReply::Chip(chip)) => {
            (1..=4096).contains(&chip.sectors())
                && (1..=chip.sectors()).contains(&chip.protected_sectors())
                && chip.last_address() < 1 << 24
        }
        Reply::Flash(FlashReply::Erased(sector)) => *sector < 4096,
        Reply::Flash(FlashReply::Programmed { address, count }) => {
            let last = address + u32::from(*count) - 1;
            (1..=236).contains(count) && address >> 12 == last >> 12
        }
        Reply::Flash(FlashReply::Memory { address, data }) => {
            let last = address + data.len() as u32 - 1;
            (1..=236).contains(&data.len()) && address >> 14 == last >> 14
        }
        Reply::Squares { records, .. } => (1..=13).contains(&records.len()),
        Reply::Checks(checks) => (1..=7).contains(&checks.len()),
        _ => true,
    }
}

fn check(kind: u8, bytes: &[u8]) -> Result<(), TestCaseError> {
    match Reply::parse(kind, bytes) {
        Ok(reply) => {
            prop_assert!(is_in_range(&reply), "{reply:?}");
            prop_assert_eq!(payload(&reply), canonical(kind, bytes));
        }
        Err(MessageError::Kind(of) | MessageError::Length(of, _) | MessageError::Field(of, _)) => {
            prop_assert_eq!(of, kind, "an error names the type of its reply");
        }
        Err(MessageError::Version(_) | MessageError::Role(_)) => {
            prop_assert_eq!(kind, 0x81);
        }
    }
    Ok(())
}

#[test]
fn the_table_names_each_type_of_reply() {
    let is_known = |kind| !matches!(Reply::parse(kind, &[0; 241]), Err(MessageError::Kind(_)));
    for kind in 0..=u8::MAX {
        let is_listed = kind != 0x7F && REPLIES.iter().any(|(listed, _)| *listed == kind);
        assert_eq!(is_known(kind), is_listed, "{kind:02X}");
    }
    assert_eq!(kind::PC_REPORT + 0x80, 0xFE);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn what_decodes_is_in_range_and_encodes_again((kind, payload) in payloads()) {
        check(kind, &payload)?;
    }

    #[test]
    fn so_it_is_with_any_bytes(kind in any::<u8>(), payload in prop::collection::vec(any::<u8>(), 0..=240)) {
        check(kind, &payload)?;
    }

    #[test]
    fn identities_of_all_kinds(
        role in prop::sample::select(vec![b'M', b'A', b'K', b'C', 0, b'm']),
        version in prop_oneof![9 => Just(1), 1 => any::<u8>()],
        fixed in prop::array::uniform10(prop_oneof![any::<u8>(), 0..2_u8]),
        name in prop::collection::vec(any::<u8>(), 0..=227),
    ) {
        let payload = [&[role, version][..], &fixed, &[1], &name].concat();
        check(0x81, &payload)?;
        if version != 1 {
            prop_assert_eq!(Reply::parse(0x81, &payload), Err(MessageError::Version(version)));
        }
    }

    #[test]
    fn chips_of_all_sizes(sectors in prop_oneof![0..300_u16, 4090..4100_u16, any::<u16>()], protected in any::<u8>()) {
        let [low, high] = sectors.to_le_bytes();
        let payload = [0xBF, 0xB7, low, high, protected];
        check(0x94, &payload)?;
        let is_valid = (1..=4096).contains(&sectors) && (1..=sectors).contains(&protected.into());
        prop_assert_eq!(Reply::parse(0x94, &payload).is_ok(), is_valid);
    }

    #[test]
    fn what_decodes_as_a_frame_is_one(bytes in prop::collection::vec(prop_oneof![1..8_u8, any::<u8>()], 0..=250)) {
        if let Ok(frame) = Frame::decode(&bytes) {
            let line = frame.encode();
            prop_assert_eq!(Frame::decode(&line[1..line.len() - 1]), Ok(frame));
        }
        let mut decoder = Decoder::default();
        for byte in bytes.iter().chain(&[0]) {
            if let Some(DecoderEvent::Frame(frame)) = decoder.push(*byte) {
                prop_assert!(frame.payload.len() <= 240);
            }
        }
        prop_assert!(decoder.noise().count() <= 256 + 247);
    }
}
