//! Any bytes from whoever answers in place of a stock monitor: each dialogue ends.
#![no_main]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use rcflash_monitors::{FlowChoice, Note, Order, Stage, Stock, Talk, Watch, deliver, probe};
use tdlasm::image::{Image, Run};

mod babbler;

struct Nobody;

impl Watch for Nobody {
    fn progress(&mut self, _stage: Stage, _done: usize, _of: usize) {}
    fn note(&mut self, _note: Note) {}
}

fn talk(heard: &[u8]) -> Talk {
    let line = babbler::Babbler { heard: heard.iter().copied().collect(), now: Instant::now() };
    Talk::new(Box::new(line), 115_200, Arc::new(AtomicBool::new(false)))
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, heard)) = bytes.split_first() else { return };
    let stock = match first % 4 {
        0 => Stock::Scm,
        1 => Stock::Romwbw,
        2 => Stock::Basic,
        _ => {
            let _ = probe(&mut talk(heard), &[9600]);
            return;
        }
    };
    let image = Image::new([Run { address: 0x9000, bytes: vec![0x5A; 40] }]);
    let flow = FlowChoice::Auto;
    let order = Order { image: &image, entry: None, verify: true, pace: None, flow };
    let _ = deliver(stock, &mut talk(heard), &order, &mut Nobody);
});
