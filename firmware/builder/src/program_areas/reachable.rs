//! The code of a program without source lines: what its instructions reach.

use std::ops::Range;

use tdlasm::image::Image;
use tdlasm::isa::{Decoded, Slot, decode};

/// Instructions after which the next one is not executed.
const ENDS: [&str; 8] = ["JMP", "JMPR", "RET", "RETI", "RETN", "PCHL", "PCIX", "PCIY"];

/// Returns the memory of the instructions that follow from those at `entries`, up to jumps to computed
/// addresses. What is not reached may be data.
pub(super) fn reachable(image: &Image, entries: impl IntoIterator<Item = u16>) -> Vec<Range<u32>> {
    let mut is_code = vec![false; 0x1_0000];
    let mut starts: Vec<u16> = entries.into_iter().collect();
    let mut seen = vec![false; 0x1_0000];
    while let Some(start) = starts.pop() {
        let mut next = Some(start);
        while let Some(at) = next.take_if(|at| !seen[usize::from(*at)]) {
            seen[usize::from(at)] = true;
            let bytes: Vec<u8> =
                (0..4).map_while(|offset| image.byte(at.checked_add(offset)?)).collect();
            let Some(decoded) = decode(&bytes) else { break };
            let length = decoded.length as u16;
            for offset in 0..length {
                is_code[usize::from(at.wrapping_add(offset))] = true;
            }
            let after = at.wrapping_add(length);
            starts.extend(target(&decoded, at));
            next = (!ENDS.contains(&decoded.form.mnemonic)).then_some(after);
        }
    }
    ranges(&is_code)
}

/// Returns where an instruction jumps to, or what it calls.
fn target(decoded: &Decoded, address: u16) -> Option<u16> {
    let restart = || (decoded.form.slots[0] == Slot::Restart).then(|| 8 * decoded.value);
    decoded.target(address).or_else(restart)
}

fn ranges(is_code: &[bool]) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for at in (0..).zip(is_code).filter(|(_, is_code)| **is_code).map(|(at, _)| at) {
        match ranges.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::image::ImageRun;

    #[test]
    fn code_is_what_jumps_and_calls_reach() {
        // 8000: CALL 8006; JR NZ,8000; 8005: RET; 8006: LD HL,(800BH); RET Z; JP (HL); 800BH: 18 FE.
        let bytes =
            [0xCD, 0x06, 0x80, 0x20, 0xFB, 0xC9, 0x2A, 0x0C, 0x80, 0xC8, 0xE9, 0x00, 0x18, 0xFE];
        let image = Image::new([ImageRun { address: 0x8000, bytes: bytes.to_vec() }]);
        let found = |entry: u16| {
            let ranges = reachable(&image, [entry]);
            ranges.iter().map(|range| (range.start, range.end)).collect::<Vec<_>>()
        };
        assert_eq!(found(0x8000), [(0x8000, 0x800B)]);
        assert_eq!(found(0x8006), [(0x8006, 0x800B)]);
        assert_eq!(found(0x9000), [], "no bytes");
    }
}
