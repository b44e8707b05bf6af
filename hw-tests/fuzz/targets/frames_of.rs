//! Messages with the headers of LSP and DAP.

/// Frames each line as a message, so that the mutations meet what is in it.
pub(crate) fn lines(bytes: &[u8]) -> Vec<u8> {
    let bodies = bytes.split(|byte| *byte == b'\n').filter(|body| !body.is_empty());
    let framed =
        |body: &[u8]| [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat();
    bodies.flat_map(framed).collect()
}
