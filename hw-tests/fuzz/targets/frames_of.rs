//! Messages with the headers of LSP and DAP.

/// Frames each line as a message, so that the mutations meet what is in it.
pub(crate) fn lines(bytes: &[u8]) -> Vec<u8> {
    let bodies = bytes.split(|byte| *byte == b'\n').filter(|body| !body.is_empty());
    let framed =
        |body: &[u8]| [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat();
    bodies.flat_map(framed).collect()
}

/// Checks that the output consists of whole messages.
pub(crate) fn assert_whole(mut output: &[u8]) {
    while !output.is_empty() {
        let end = output.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a header");
        let header = std::str::from_utf8(&output[..end]).expect("a header of text");
        let length = header.strip_prefix("Content-Length: ").expect("a length");
        let length: usize = length.parse().expect("a number");
        let (body, rest) = output[end + 4..].split_at(length);
        assert!(body.starts_with(b"{") && body.ends_with(b"}"), "{}", body.escape_ascii());
        output = rest;
    }
}
