//! Simulated boards for the board profiles of `firmware`.

use firmware::profile::{self, BoardProfile};

use crate::{BoardSpec, ChipKind, MemoryMap, SstModel, UartModel, Z180Revision};

/// Returns the specification of the simulated board for a profile.
pub fn board_spec(profile: &BoardProfile) -> BoardSpec {
    BoardSpec {
        clock_hz: profile.clock_hz,
        uart_clock_hz: profile.uart.clock_hz,
        baud: profile.uart.baud,
        uart: match profile.uart.kind {
            profile::UartKind::Acia => UartModel::Acia,
            profile::UartKind::Sio => UartModel::Sio,
            profile::UartKind::Asci => UartModel::Asci(Z180Revision::N),
            profile::UartKind::Ns550 => UartModel::Ns550,
        },
        memory: match profile.banks {
            Some(_) => MemoryMap::Banked,
            None if profile.uart.kind == profile::UartKind::Asci => MemoryMap::Mmu,
            None => MemoryMap::Plain { rom: profile.rom.addresses(), ram: profile.ram.addresses() },
        },
        chip: match profile.chip.kind {
            profile::ChipKind::Eprom27c512 => ChipKind::Eprom,
            profile::ChipKind::Sst39sf040 => ChipKind::Sst(SstModel::Sf040),
        },
        writable: profile.chip.writable,
        ctc: false,
        dtr_resets: false,
        seed: 1,
        host_obeys_rts: true,
        stuck: None,
    }
}
