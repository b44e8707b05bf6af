//! Parses the notation of the records: host actions and replies.

/// Minimum length of a complete row of a dump.
const ROW: usize = 70;

/// A RET at the start of each program whose bytes are not recorded.
const RETURNS: &[u8] = b":01800000C9B6\r:01820000C9B4\r:01830000C9B3\r:01840000C9B2\r\
:01860000C9B0\r:00000001FF\r";

/// An action of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// The host sent these bytes.
    Send(Vec<u8>),
    /// The reset button was pressed, or power switched on.
    Reset,
    /// A board just switched on, whose banner is not recorded.
    Fresh,
}

/// The reply to an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The parts between cuts, in order; one part if nothing was cut.
    pub(crate) parts: Vec<Vec<u8>>,
    /// The total number of bytes, if recorded.
    pub(crate) bytes: Option<usize>,
}

/// An action and its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) act: Act,
    /// The text of the action in the record.
    pub(crate) text: String,
    pub(crate) remark: String,
    pub(crate) reply: Reply,
}

/// Parses the section whose heading begins with `heading`.
pub(crate) fn steps(file: &str, heading: &str) -> Vec<Step> {
    let path = format!("{}/tests/data/dialogues/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let section = text
        .split("\n## ")
        .skip(1)
        .find(|section| section.starts_with(heading))
        .unwrap_or_else(|| panic!("{file} has no section {heading}"));
    let lines = section.lines().skip_while(|line| !line.starts_with("```")).skip(1);
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with("```")).collect();
    let mut steps = Vec::new();
    let mut act = None;
    for (at, line) in lines.iter().enumerate() {
        let (first, rest) = line.split_at(line.len().min(2));
        match first {
            "> " => {
                let (text, remark) = split_remark(rest);
                let mut bytes = sent(text, heading);
                if lines.get(at + 2).is_some_and(|next| next.starts_with("# 21 CRs: an answer")) {
                    bytes = vec![b'\r'; 21];
                }
                act = Some((Act::Send(bytes), text.trim_matches('"').to_owned(), remark));
            }
            "< " => {
                if let Some((act, text, remark)) = act.take() {
                    steps.push(Step { act, text, remark, reply: reply(rest) });
                }
            }
            "# " if is_reset(rest) => act = Some((Act::Reset, rest.to_owned(), String::new())),
            "# " if rest == "--- Memory top?" || rest.starts_with("MAME: ") => {
                steps.push(silent(Act::Fresh, rest))
            }
            "# " => {
                if let Some(count) = returns(rest) {
                    steps.push(silent(Act::Send(vec![b'\r'; count]), rest));
                }
            }
            _ => {}
        }
    }
    steps
}

/// A step without a reply.
fn silent(act: Act, text: &str) -> Step {
    let reply = Reply { parts: vec![Vec::new()], bytes: None };
    Step { act, text: text.to_owned(), remark: String::new(), reply }
}

fn is_reset(remark: &str) -> bool {
    remark == "power on"
        || remark.starts_with("reset button")
        || remark.starts_with("(no reset button")
}

/// Parses a remark for carriage returns that were sent one by one without a reply.
fn returns(remark: &str) -> Option<usize> {
    let (count, rest) = remark.split_once(" CRs")?;
    (!rest.starts_with(": an answer")).then_some(())?;
    count.parse().ok()
}

fn split_remark(text: &str) -> (&str, String) {
    text.split_once("    # ")
        .map_or((text, String::new()), |(text, remark)| (text, remark.to_owned()))
}

/// The bytes of an act: texts, perhaps repeated, or a description of them.
fn sent(text: &str, heading: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let piece;
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted_end(quoted);
            piece = unescape(&quoted[..end]);
            rest = quoted[end + 1..].trim_start();
        } else if let Some(after) = rest.strip_prefix("BS") {
            piece = vec![8];
            rest = after.trim_start();
        } else if let Some((count, after)) = rest.split_once(" blanks") {
            piece = vec![b' '; count.trim().parse().expect("a number")];
            rest = after.trim_start();
        } else {
            return described(text, heading);
        }
        let times = rest.split_once(" times").and_then(|(count, after)| {
            let count = count.trim().parse::<usize>().ok()?;
            rest = after.trim_start();
            Some(count)
        });
        bytes.extend(piece.repeat(times.unwrap_or(1)));
    }
    bytes
}

fn quoted_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return at,
            _ => escaped = false,
        }
    }
    panic!("no end of the text: {text}")
}

/// Blocks of XMODEM, files of records, and the like, as the records describe them.
fn described(text: &str, heading: &str) -> Vec<u8> {
    // In the records with a program it prints HELLO; in the other one a block is filled with its
    // number.
    let runs = !heading.starts_with("CP/M and XM");
    let hello = b"\x0e\x09\x11\x09\x01\xcd\x05\x00\xc9HELLO\r\n$";
    let block = |number: u8, size: usize| {
        let is_program = number == 1 && runs;
        let mut data = if is_program { hello.to_vec() } else { vec![number] };
        data.resize(size, if is_program { 0x1A } else { number });
        let mut block = vec![if size == 128 { 1 } else { 2 }, number, !number];
        block.extend(&data);
        (block, data)
    };
    let with_crc = |number, size| {
        let (mut block, data) = block(number, size);
        block.extend(crc(&data).to_be_bytes());
        block
    };
    match text {
        "block 1 with a bad check" => {
            let mut block = with_crc(1, 128);
            *block.last_mut().expect("it has a check") ^= 1;
            block
        }
        "block 1 with a sum" => {
            let (mut block, data) = block(1, 128);
            block.push(data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
            block
        }
        "63 bytes of block 1" => with_crc(1, 128)[..63].to_vec(),
        "STX block 1" => with_crc(1, 1024),
        "block 5 out of turn" => with_crc(5, 128),
        "block 2" => with_crc(2, 128),
        _ if text.starts_with("block 1") => with_crc(1, 128),
        "DD 24 C9 at 8100" => b":03810000DD24C9B2\r:00000001FF\r".to_vec(),
        _ if text.contains(" as hex") => RETURNS.to_vec(),
        _ if text.contains(" bytes as ") || text.ends_with(" records") => records(text),
        _ => Vec::new(),
    }
}

/// A file of Intel HEX, by the number of bytes or records in the text.
fn records(text: &str) -> Vec<u8> {
    let number = |word: &str| word.replace(',', "").parse::<usize>().ok();
    let bytes = match text.split_once(" bytes as ") {
        Some((bytes, _)) => number(bytes).expect("a number"),
        None => (number(text.split(' ').next().expect("a word")).expect("a number") - 1) * 16,
    };
    let mut file = String::new();
    for at in (0..bytes).step_by(16) {
        let address = 0x9000 + at;
        let sum = (16 + (address >> 8) + (address & 0xFF) + 16 * 0x44) as u8;
        file += &format!(":10{address:04X}00{}{:02X}\r", "44".repeat(16), sum.wrapping_neg());
    }
    (file + ":00000001FF\r").into_bytes()
}

fn crc(data: &[u8]) -> u16 {
    data.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 }
        })
    })
}

/// A reply: its text in pieces between cuts, `[...`.
fn reply(text: &str) -> Reply {
    let Some(start) = text.find('"') else {
        return Reply { parts: vec![Vec::new()], bytes: None };
    };
    let quoted = text[start + 1..].trim_end().trim_end_matches('"');
    let bytes = quoted.split_once("[... ").and_then(|(_, cut)| {
        let (count, _) = cut.split_once(" bytes in all")?;
        count.parse().ok()
    });
    let mut parts = Vec::new();
    let mut rest = quoted;
    while let Some((before, after)) = rest.split_once("[..") {
        let rows = after.contains("rows");
        // A row that was cut in its middle shows nothing certain.
        let whole = match before.rfind("\\r\\n") {
            Some(_) if rows => {
                let lines: Vec<&str> = before.split("\\r\\n").collect();
                let whole = |line: &&&str| line.len() >= ROW || !line.contains(':');
                let (_, complete) = lines.split_last().unwrap_or((&"", &[]));
                complete.iter().take_while(whole).map(|line| format!("{line}\\r\\n")).collect()
            }
            _ => before.to_owned(),
        };
        let is_repeated = after.starts_with(". the same");
        let cut = if bytes.is_some() || is_repeated { " " } else { "\0" };
        parts.push(unescape(whole.trim_end_matches(cut)));
        rest = after.split_once(']').map_or("", |(_, after)| after);
        // A cut in the middle of an escape leaves its digits.
        if before.trim_end().ends_with("\\x") {
            rest = rest.trim_start().trim_start_matches(|c: char| c.is_ascii_hexdigit());
        }
    }
    parts.push(unescape(if bytes.is_some() { rest.trim_start() } else { rest }));
    Reply { parts, bytes }
}

/// C escapes; an escape that a cut has broken is left out.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let Some((kind, after)) = rest.split_first() else { break };
        rest = after;
        match kind {
            b'r' => bytes.push(b'\r'),
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'x' => {
                let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
                else {
                    break;
                };
                bytes.push(byte);
                rest = &rest[2..];
            }
            other => bytes.push(*other),
        }
    }
    bytes
}
