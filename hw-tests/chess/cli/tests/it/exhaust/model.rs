//! A second, simpler model: exchange and minimax over lists of values, and the spaces as nested
//! loops.

use std::ops::Range;

/// The article's rule for a piece worth `stake`; both lists in the order of capture.
pub(crate) fn exchange(mut stake: i32, attackers: &[u8], defenders: &[u8]) -> i32 {
    let mut sides = [attackers, defenders].map(|values| values.iter().map(|v| i32::from(*v)));
    let mut mover = 0;
    let mut residue = 0;
    let Some(mut attacker) = sides[0].next() else { return 0 };
    loop {
        let mut defender = sides[1 - mover].next();
        if attacker > stake {
            while let Some(answer) = defender {
                if answer < attacker {
                    return residue;
                }
                match sides[mover].next() {
                    Some(next) => attacker = next,
                    None => return residue,
                }
                defender = sides[1 - mover].next();
            }
        }
        residue += if mover == 0 { stake } else { -stake };
        let Some(answer) = defender else { return residue };
        (stake, attacker, mover) = (attacker, answer, 1 - mover);
    }
}

/// Returns the minimax value, in which either side may stop at any time: the gains of a swap list,
/// folded from its end.
pub(crate) fn minimax(stake: i32, attackers: &[u8], defenders: &[u8]) -> i32 {
    let mut gains = Vec::new();
    let mut at_stake = stake;
    let mut sides = [attackers.iter(), defenders.iter()];
    while let Some(capturer) = sides[gains.len() % 2].next() {
        gains.push(at_stake);
        at_stake = i32::from(*capturer);
    }
    gains.iter().rev().fold(0, |answer, gain| (gain - answer).max(0))
}

/// The values of each section of a space, in order: pawns, knights, king, queens, behind the queen,
/// bishops, rooks.
pub(crate) fn sections(most_bishops: usize, most_queens: usize) -> Vec<Vec<u8>> {
    let mut sections = Vec::new();
    for digits in 0..3 * 3 * 2 * 3 * 4 * 3 * 3_usize {
        let mut rest = digits;
        let mut digit = |base: usize| (rest % base, rest /= base).0;
        let rooks = digit(3);
        let bishops = digit(3);
        let behind = digit(4);
        let queens = digit(3);
        let kings = digit(2);
        let knights = digit(3);
        let pawns = digit(3);
        let behind: &[u8] = [&[][..], &[3], &[5], &[5, 5]][behind];
        let count = |value| behind.iter().filter(|one| **one == value).count();
        let fits = bishops + count(3) <= most_bishops
            && rooks + count(5) <= 2
            && queens <= most_queens
            && (behind.is_empty() || queens == 1);
        if fits {
            let own = [(1, pawns), (3, knights), (3, bishops), (5, rooks), (9, queens)];
            let own = own.iter().flat_map(|&(value, count)| vec![value; count]);
            sections.push(own.chain(behind.to_vec()).chain(vec![10; kings]).collect());
        }
    }
    sections
}

/// The outcome of some arrays.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) crc: u32,
    pub(crate) histogram: [u64; 11],
    /// Numbers of residues above and below minimax.
    pub(crate) off_minimax: (u32, u32),
}

/// Evaluates the arrays of a range.
pub(crate) fn fold(sections: &[Vec<u8>], range: Range<u32>) -> Folded {
    let mut residues = Vec::new();
    let mut histogram = [0; 11];
    let mut off_minimax = (0, 0);
    for number in range {
        let pair = number as usize / 6;
        let piece = number as usize % 6;
        let [attackers, defenders] =
            [pair / sections.len(), pair % sections.len()].map(|number| &sections[number]);
        let stake = [1, 3, 3, 5, 9, 10][piece];
        let residue = exchange(stake, attackers, defenders);
        let best = minimax(stake, attackers, defenders);
        off_minimax.0 += u32::from(residue > best);
        off_minimax.1 += u32::from(residue < best);
        histogram[residue as usize] += 1;
        residues.push(residue as u8);
    }
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&residues);
    Folded { crc, histogram, off_minimax }
}
