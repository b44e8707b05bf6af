//! The two programmable reload timers: each counts down once in 20 T-states, and is loaded again
//! after 0.

/// T-states of a count.
const COUNT_T_STATES: u64 = 20;
/// The offset of TCR, and its bits for timer 0; those of timer 1 are one higher.
const TCR: usize = 0x10;
const TIF: u8 = 0x40;
const TIE: u8 = 0x10;
const TDE: u8 = 0x01;
/// The bits of TCR that select the output at pin TOUT.
const TOC: u8 = 0x0C;

#[derive(Debug, Clone)]
struct Timer {
    /// The count while it is stopped.
    count: u16,
    reload: u16,
    /// When the count is next 0, while it runs.
    zero_at: Option<u64>,
    has_ended: bool,
    interrupts: bool,
    /// The high byte as it was when the low one was read.
    latch: u8,
    /// Whether TCR was read since the timer ended.
    end_seen: bool,
}

impl Default for Timer {
    fn default() -> Self {
        let (count, reload) = (0xFFFF, 0xFFFF);
        let (has_ended, interrupts, end_seen) = (false, false, false);
        Self { count, reload, zero_at: None, has_ended, interrupts, latch: 0xFF, end_seen }
    }
}

impl Timer {
    fn period(&self) -> u64 {
        COUNT_T_STATES * (u64::from(self.reload) + 1)
    }

    fn advance(&mut self, now: u64) {
        let period = self.period();
        if let Some(zero_at) = self.zero_at.as_mut().filter(|zero_at| **zero_at <= now) {
            *zero_at += ((now - *zero_at) / period + 1) * period;
            self.has_ended = true;
        }
    }

    fn count(&self, now: u64) -> u16 {
        let Some(zero_at) = self.zero_at else { return self.count };
        let left = (zero_at - now).div_ceil(COUNT_T_STATES);
        if left == u64::from(self.reload) + 1 { 0 } else { left as u16 }
    }

    fn set_running(&mut self, runs: bool, now: u64) {
        match (runs, self.zero_at) {
            (true, None) => {
                self.zero_at = Some(now + COUNT_T_STATES * u64::from(self.count).max(1));
            }
            (false, Some(_)) => {
                self.count = self.count(now);
                self.zero_at = None;
            }
            _ => {}
        }
    }

    fn interrupt(&self) -> bool {
        self.has_ended && self.interrupts
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Prt {
    timers: [Timer; 2],
    toc: u8,
}

/// Returns the timer of a register.
fn index(register: usize) -> usize {
    usize::from(register > TCR)
}

impl Prt {
    pub(super) fn advance(&mut self, now: u64) {
        self.timers.iter_mut().for_each(|timer| timer.advance(now));
    }

    pub(super) fn read(&mut self, register: usize, now: u64) -> u8 {
        self.advance(now);
        if register == TCR {
            return self.read_control();
        }
        let timer = &mut self.timers[index(register)];
        let [low, high] = timer.count(now).to_le_bytes();
        let [reload_low, reload_high] = timer.reload.to_le_bytes();
        match register & 3 {
            2 => return reload_low,
            3 => return reload_high,
            _ => {}
        }
        if std::mem::take(&mut timer.end_seen) {
            timer.has_ended = false;
        }
        if register & 1 == 0 {
            timer.latch = high;
            low
        } else {
            timer.latch
        }
    }

    fn read_control(&mut self) -> u8 {
        let mut value = self.toc;
        for (shift, timer) in self.timers.iter_mut().enumerate() {
            timer.end_seen = timer.has_ended;
            for (is_set, bit) in
                [(timer.has_ended, TIF), (timer.interrupts, TIE), (timer.zero_at.is_some(), TDE)]
            {
                value |= if is_set { bit << shift } else { 0 };
            }
        }
        value
    }

    pub(super) fn write(&mut self, register: usize, value: u8, now: u64) {
        self.advance(now);
        if register == TCR {
            self.toc = value & TOC;
            for (shift, timer) in self.timers.iter_mut().enumerate() {
                timer.interrupts = value & TIE << shift != 0;
                timer.set_running(value & TDE << shift != 0, now);
            }
            return;
        }
        let timer = &mut self.timers[index(register)];
        let word = if register & 2 == 0 { &mut timer.count } else { &mut timer.reload };
        let [low, high] = word.to_le_bytes();
        let bytes = if register & 1 == 0 { [value, high] } else { [low, value] };
        *word = u16::from_le_bytes(bytes);
    }

    /// Returns when a timer next requests an interrupt.
    pub(super) fn next_event(&self) -> Option<u64> {
        let waits = |timer: &&Timer| timer.interrupts && !timer.has_ended;
        self.timers.iter().filter(waits).filter_map(|timer| timer.zero_at).min()
    }

    /// Returns the first timer that requests an interrupt.
    pub(super) fn interrupt(&self) -> Option<u8> {
        self.timers.iter().position(Timer::interrupt).map(|timer| timer as u8)
    }
}
