//! The toolchain in the hands of JavaScript.

use js_sys::{Array, Function, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::{Message, Toolchain};

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

    /// Posts that the toolchain is there; `serial` says whether serial ports can be waited for.
    pub fn start(&self, serial: bool) {
        let post = &self.post;
        Toolchain::start(serial, &mut |message| send(post, &message));
    }

    /// Takes a request.
    pub fn take(&mut self, request: &str) {
        let post = &self.post;
        self.toolchain.take(request, &mut |message| send(post, &message));
    }

    /// Lets runs go on for a slice; whether any has more to do.
    pub fn advance(&mut self) -> bool {
        let post = &self.post;
        self.toolchain.advance(&mut |message| send(post, &message))
    }
}

fn send(post: &Function, message: &Message) {
    let bytes: Array =
        message.bytes.iter().map(|bytes| Uint8Array::from(bytes.as_slice())).collect();
    // The page's function does not throw, and nobody is left to tell if it does.
    let _ = post.call2(&JsValue::NULL, &JsValue::from_str(&message.json), &bytes);
}
