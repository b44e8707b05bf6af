//! Data, macros and conditions of generated programs.

use super::Program;
use super::expression::Expression;

impl Program {
    pub(super) fn number_word(&mut self) -> (String, u16) {
        let value = Expression::random(&mut self.random, 3);
        (value.text, value.value)
    }

    pub(super) fn data(&mut self) {
        let mut texts = Vec::new();
        let mut bytes = Vec::new();
        let words = self.random.below(2) == 0;
        for _ in 0..=self.random.below(5) {
            let (text, value) = if words {
                self.address(bytes.len())
            } else {
                let byte = Expression::byte(&mut self.random);
                (byte.text, byte.value)
            };
            texts.push(text);
            bytes.extend(&value.to_le_bytes()[..if words { 2 } else { 1 }]);
        }
        let name = if words { ".WORD" } else { ".BYTE" };
        self.code(&format!(" {name} {}", texts.join(",")), &bytes);
    }

    /// Texts between delimiters of all kinds, and bytes in brackets.
    pub(super) fn text(&mut self) {
        let words = ["Sum", "TWO; THREE", "a,b", " ", "(X)", "0'CLOCK"];
        let mut texts = Vec::new();
        let mut bytes = Vec::new();
        for _ in 0..=self.random.below(3) {
            let text = self.random.pick(&words);
            let delimiter = self.random.pick(&["\"", "/", "!"]);
            texts.push(format!("{delimiter}{text}{delimiter}"));
            bytes.extend(text.as_bytes());
            let code = self.random.below(256) as u8;
            texts.push(format!("[{}]", Expression::written(&mut self.random, code.into()).text));
            bytes.push(code);
        }
        let name = self.random.pick(&[".ASCII", ".ASCIZ", ".ASCIS"]);
        match name {
            ".ASCIZ" => bytes.push(0),
            ".ASCIS" => *bytes.last_mut().expect("a byte at least") |= 0x80,
            _ => {}
        }
        let between = self.random.pick(&["", " "]);
        self.code(&format!(" {name} {}", texts.join(between)), &bytes);
    }

    pub(super) fn macro_call(&mut self) {
        let value = Expression::byte(&mut self.random);
        let text = value.text;
        let byte = value.value as u8;
        // An argument that begins with a parenthesis ends at the closing one.
        let whole = if text.starts_with('(') { format!("({text})") } else { text.clone() };
        match self.random.below(5) {
            0 => self.code(&format!(" PAIR {whole}"), &[byte, 7]),
            1 => self.code(&format!(" PAIR [{whole},^B101]"), &[byte, 5]),
            2 => self.code(&format!(" PAIR \\({text}),^B101"), &[byte, 5]),
            3 => self.code(&format!(" HOP {whole}"), &[0x18, 2, byte, 0, 0]),
            _ => {
                let depth = self.random.below(6) as u8;
                let bytes: Vec<u8> = (0..=depth).rev().collect();
                self.code(&format!(" DOWN {depth}"), &bytes);
            }
        }
    }

    /// A conditional with both branches; the false one has no bytes, and neither has anything
    /// nested in it.
    pub(super) fn conditional(&mut self, depth: usize, skipped: bool) {
        let value = Expression::random(&mut self.random, 2);
        let signed = value.value as i16;
        let (name, holds) = self.random.pick(&[
            ("E", signed == 0),
            ("N", signed != 0),
            ("G", signed > 0),
            ("GE", signed >= 0),
            ("L", signed < 0),
            ("LE", signed <= 0),
        ]);
        self.line(&format!(" .IF{name} {},[", value.text));
        self.branch(depth, skipped || !holds);
        let between = self.random.pick(&["][", "] [", "]\t ["]);
        self.line(between);
        self.branch(depth, skipped || holds);
        self.line("]");
    }

    fn branch(&mut self, depth: usize, skipped: bool) {
        if depth < 3 && self.random.below(3) == 0 {
            self.conditional(depth + 1, skipped);
        }
        match skipped {
            true => self.line(" NO SUCH OPERATION, NOR [BRACKETS]"),
            false if self.is_full() => self.line("; FULL"),
            false => self.register_operation(),
        }
    }

    /// Adds rare statements: another radix, reserved space, a higher address.
    pub(super) fn rarity(&mut self) {
        let value = self.random.below(256) as u8;
        match self.random.below(4) {
            0 => {
                self.line(" .RADIX 16");
                self.code(&format!(" .BYTE 0{value:X},10,10."), &[value, 16, 10]);
                self.line(" .RADIX 10");
            }
            1 => {
                let space = self.random.below(9);
                self.code(&format!(" .BLKB {space}"), &vec![0; space]);
            }
            2 => {
                let space = self.random.below(9);
                self.code(&format!(" .LOC .+{space}"), &vec![0; space]);
            }
            _ => self.code(
                &format!(" .WORD LDIR,'{}Z'", value % 10),
                &[0xED, 0xB0, 0x5A, 0x30 + value % 10],
            ),
        }
    }
}
