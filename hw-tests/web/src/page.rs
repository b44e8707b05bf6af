//! The JavaScript interface of the toolchain.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use js_sys::{Array, Function, SharedArrayBuffer, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::serial::Port;
use crate::{Message, Toolchain, line};

/// The toolchain of one worker.
#[wasm_bindgen]
pub struct Worker {
    toolchain: Toolchain,
    post: Function,
}

#[wasm_bindgen]
impl Worker {
    /// Messages go to `post(json, bytes)`.
    #[wasm_bindgen(constructor)]
    pub fn new(post: Function) -> Self {
        Self { toolchain: Toolchain::default(), post }
    }

    /// Posts that the toolchain is ready, and whether blocking reads of ports are possible.
    pub fn start(&self, serial: bool) {
        let post = &self.post;
        Toolchain::start(serial, &mut |message| send(post, &message));
    }

    /// Attaches the memory that the page shares for its serial port.
    pub fn attach(&mut self, memory: &SharedArrayBuffer, name: String) {
        let stop = Arc::new(AtomicBool::new(false));
        line::attach(memory, Arc::clone(&stop));
        let opened = name.clone();
        let open = Arc::new(move |baud| line::open(&opened, baud));
        self.toolchain.attach(Port::new(name, open, stop));
    }

    /// Handles a request.
    pub fn take(&mut self, request: &str) {
        let post = &self.post;
        self.toolchain.take(request, &mut |message| send(post, &message));
    }

    /// Advances jobs by a slice. Returns the milliseconds until the next slice, or less than
    /// 0 if none does before the next request.
    pub fn advance(&mut self) -> f64 {
        let post = &self.post;
        let next = self.toolchain.advance(&mut |message| send(post, &message));
        next.map_or(-1.0, |time| time.as_secs_f64() * 1000.0)
    }
}

fn send(post: &Function, message: &Message) {
    let bytes: Array =
        message.bytes.iter().map(|bytes| Uint8Array::from(bytes.as_slice())).collect();
    // The page's function does not throw, and there is no one to report to if it does.
    let _ = post.call2(&JsValue::NULL, &JsValue::from_str(&message.json), &bytes);
}
