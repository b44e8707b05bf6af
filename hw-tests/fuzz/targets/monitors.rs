//! Any bytes in place of the replies of a stock monitor: each session ends.
#![no_main]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use rcflash_monitors::{
    FlowControlMode, LoadEvent, LoadObserver, LoadRequest, LoadStage, MonitorSession, StockMonitor,
    load_hex, probe,
};
use tdlasm::image::{Image, ImageRun};

mod noisy_peer;

struct NoObserver;

impl LoadObserver for NoObserver {
    fn on_progress(&mut self, _stage: LoadStage, _done: usize, _total: usize) {}
    fn on_event(&mut self, _event: LoadEvent) {}
}

fn session(received: &[u8]) -> MonitorSession {
    let line =
        noisy_peer::NoisyPeer { heard: received.iter().copied().collect(), now: Instant::now() };
    MonitorSession::new(Box::new(line), 115_200, Arc::new(AtomicBool::new(false)))
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, received)) = bytes.split_first() else { return };
    let stock = match first % 4 {
        0 => StockMonitor::Scm,
        1 => StockMonitor::Romwbw,
        2 => StockMonitor::Basic,
        _ => {
            let _ = probe(&mut session(received), &[9600]);
            return;
        }
    };
    let image = Image::new([ImageRun { address: 0x9000, bytes: vec![0x5A; 40] }]);
    let flow_control = FlowControlMode::Auto;
    let request =
        LoadRequest { image: &image, entry: None, verify: true, pace: None, flow_control, uses_scratch: false };
    let _ = load_hex(&stock, &mut session(received), &request, &mut NoObserver);
});
