//! Files that describe a program to debuggers: those of `tdlasm link --symbols`, SDCC's `.noi`,
//! sjasmplus' `.sld` and z88dk's `.map`.
//!
//! Other tools write other formats with the same extensions: NoICE files of asl are `.noi` too. So
//! every line has to be one of its format, and none is skipped because it is unknown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cli_support::text::Escape;
use tdlasm::image::Image;
use tdlasm::link::{LinkedLine, SymbolLineError, parse_symbol_file};
use tdlasm::module::Place;

/// Error returned for a file that is not of the format that its extension names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}:{}: {line}: give the file of `tdlasm link --symbols`, SDCC's .noi, sjasmplus' .sld or \
     z88dk's .map, or write 8003 START for each symbol",
    path.escaped(),
    line.line
)]
pub struct SymbolFileError {
    /// The file.
    pub path: PathBuf,
    /// The first line that is not of the format.
    pub line: SymbolLineError,
}

/// What such a file describes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SymbolFile {
    /// The symbols.
    pub symbols: Vec<(u16, String)>,
    /// The file and the line of the code at an address.
    starts: BTreeMap<u16, (String, u32)>,
}

/// What is known of a `.map` or `.noi` before its last line.
#[derive(Default)]
struct Partial {
    /// The lines of assembler modules in a `.noi`.
    assembler_lines: Vec<(u16, String, u32)>,
    /// The lines of labels in a `.map`.
    labels: BTreeMap<u16, (String, u32)>,
}

/// Adds a line of a format; `None` if it is not of that format.
type AddLine = fn(&mut SymbolFile, &str, &mut Partial) -> Option<()>;

impl SymbolFile {
    /// Parses a file in the format of its extension; without one of those above, lines are `VALUE
    /// NAME`. Source files are looked for in the folder of the file.
    ///
    /// # Errors
    /// Returns [`SymbolFileError`] for the first line that is not of the format.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SymbolFileError> {
        let wrong = |line| SymbolFileError { path: path.to_owned(), line };
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        let (add, expected): (AddLine, _) = match ending.to_str() {
            Some("noi") => (Self::add_noi_line, "of SDCC's .noi, as DEF _main 0x8003"),
            Some("sld") => (Self::add_sld_line, "of sjasmplus' .sld, as a.asm|5||0|2|32771|T|"),
            Some("map") => {
                (Self::add_map_line, "of z88dk's .map, as main = $8003 ; addr, public, ...")
            }
            _ => {
                let symbols = parse_symbol_file(text).map_err(wrong)?;
                return Ok(Self { symbols, ..Self::default() });
            }
        };
        let mut info = Self::default();
        let mut partial = Partial::default();
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            add(&mut info, text.trim(), &mut partial).ok_or_else(|| {
                wrong(SymbolLineError { line, text: text.trim().to_owned(), expected })
            })?;
        }
        info.finish(partial, path.parent().unwrap_or(Path::new("")));
        Ok(info)
    }

    fn finish(&mut self, partial: Partial, folder: &Path) {
        self.add_assembler_lines(partial.assembler_lines);
        if self.starts.is_empty() {
            self.starts = partial.labels;
        }
        let in_folder = |name: &str| match folder.join(name) {
            path if path.is_file() => path.display().to_string(),
            _ => name.to_owned(),
        };
        for (file, _) in self.starts.values_mut() {
            // SDCC names an assembler module without its extension.
            let source = format!("{file}.s");
            let has_extension = Path::new(&file).extension().is_some();
            let is_source = !has_extension && folder.join(&source).is_file();
            *file = match has_extension {
                true => in_folder(file),
                false if is_source => in_folder(&source),
                false => in_folder(&format!("{file}.asm")),
            };
        }
    }

    /// `DEF NAME 0x8003`; `C$main.c$5$...` is the code of a line of C, `A$start$5` that of a line
    /// of an assembler module.
    fn add_noi_line(&mut self, line: &str, partial: &mut Partial) -> Option<()> {
        if line.starts_with("LOAD ") {
            return Some(()); // the program's file
        }
        let (name, value) = line.strip_prefix("DEF ")?.trim().rsplit_once(char::is_whitespace)?;
        // Values of areas beyond 16 bits are no addresses.
        let value = hexadecimal(value.strip_prefix("0x")?)?;
        let Ok(value) = u16::try_from(value) else { return Some(()) };
        let parts: Vec<&str> = name.split('$').collect();
        match parts[..] {
            ["C", file, line, ..] => {
                let line = line.parse().ok()?;
                let known = self.starts.entry(value).or_insert_with(|| (file.to_owned(), line));
                known.1 = known.1.max(line);
            }
            ["A", module, line] => {
                partial.assembler_lines.push((value, module.to_owned(), line.parse().ok()?));
            }
            // Sizes and starts of areas; labels of C are there again, with an underscore.
            [name] if !name.starts_with(".__") && !name.starts_with("l__") => {
                self.symbols.push((value, name.to_owned()));
            }
            _ => {}
        }
        Some(())
    }

    /// `main = $8000 ; addr, public, , hello, code, hello.asm:5` (z88dk, "Map file"): a symbol, and
    /// its line, which is a line of the program if its name is `__ASM_LINE_...` or `__C_LINE_...`.
    /// Without such lines, as without `-debug`, those of labels have to do.
    fn add_map_line(&mut self, line: &str, partial: &mut Partial) -> Option<()> {
        let (symbol, description) = line.split_once(';')?;
        let (name, value) = symbol.split_once('=')?;
        let (name, value) = (name.trim(), value.trim().strip_prefix('$')?);
        let value = u16::try_from(hexadecimal(value)?).ok()?;
        let fields: Vec<&str> = description.splitn(6, ',').map(str::trim).collect();
        let [kind @ ("addr" | "const"), _, _, _, _, place] = fields[..] else { return None };
        if kind == "const" {
            return Some(()); // not an address
        }
        let Some((file, number)) = place.rsplit_once(':') else { return Some(()) };
        // The file of a line of C is followed by its scope.
        let file = file.split("::").next()?.to_owned();
        let is_line = ["__ASM_LINE_", "__C_LINE_"].iter().any(|one| name.starts_with(one));
        let lines = if is_line { &mut self.starts } else { &mut partial.labels };
        lines.entry(value).or_insert((file, number.parse().ok()?));
        if !is_line {
            self.symbols.push((value, name.to_owned()));
        }
        Some(())
    }

    /// Adds the lines of assembler modules that are no output of the compiler.
    fn add_assembler_lines(&mut self, lines: Vec<(u16, String, u32)>) {
        let is_compiled = |module: &str| {
            lines.iter().any(|(at, name, _)| name == module && self.starts.contains_key(at))
        };
        let own: Vec<_> = lines.iter().filter(|(_, name, _)| !is_compiled(name)).cloned().collect();
        self.starts.extend(own.into_iter().map(|(at, name, line)| (at, (name, line))));
    }

    /// `source|line|definition|line|page|value|type|data` (sjasmplus, "Source Level Debugging
    /// data"): `T` is an instruction, `L` a label: `module,main,local,...`.
    fn add_sld_line(&mut self, line: &str, _: &mut Partial) -> Option<()> {
        let fields: Vec<&str> = line.split('|').collect();
        if let ["", "SLD.data.version", _] | [_, "", _, ..] = fields[..] {
            return Some(()); // the first line, or a comment
        }
        let [file, at, _, _, _, value, kind, data] = fields[..] else { return None };
        if !matches!(kind, "T" | "L") {
            return Some(());
        }
        let value = value.parse().ok()?;
        if kind == "T" {
            // The line may be followed by columns.
            let line = at.split(':').next()?.parse().ok()?;
            self.starts.insert(value, (file.to_owned(), line));
            return Some(());
        }
        let parts = data.split(',').take(3).filter(|part| !part.is_empty());
        let name = parts.collect::<Vec<_>>().join(".");
        self.symbols.push((value, name));
        Some(())
    }

    /// Returns the lines in ascending order of addresses. A line reaches to the next one, or to
    /// where the program has no bytes.
    pub fn lines(&self, image: &Image) -> Vec<LinkedLine> {
        let ends = self.starts.keys().skip(1).map(|at| u32::from(*at)).chain([0x1_0000]);
        let line = |((address, (file, line)), end): ((&u16, &(String, u32)), u32)| {
            let first = u32::from(*address);
            let run =
                image.runs().iter().find(|run| (run.address.into()..run.end()).contains(&first))?;
            Some(LinkedLine {
                address: *address,
                size: end.min(run.end()) - first,
                module: 0,
                place: Place { file: Arc::from(file.as_str()), line: *line },
                is_code: true,
            })
        };
        self.starts.iter().zip(ends).filter_map(line).collect()
    }
}

/// Returns the value of digits alone: `from_str_radix` allows a sign.
fn hexadecimal(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first lines of files that these tools wrote on 2026-11-28 for the same routine MUL8: asl
    /// 1.42, wlalink 5.24a, GNU ld and nm 2.40, sdld of SDCC 4.2.0, z88dk-z80asm e4a6d098e8,
    /// sjasmplus 1.23.1, rasm 3.2.7, pasmo 0.5.3.
    const OF_OTHER_TOOLS: [(&str, &str); 15] = [
        ("asl.noi", "CASE 1\nDEFINE MUL8 0x8000\n"),
        ("wla.noi", "; no$ symbols generated by WLALINK\n01:8000 MUL8\n"),
        ("wla.sld", "; CSpect/SjASMPlus-style labels generated by WLALINK\nMUL8 = $8000\n"),
        ("asl.map", "Segment CODE\nFile mul.asm\n"),
        ("gnu.map", "\nMemory Configuration\n"),
        ("sdld.map", "ASxxxx Linker V03.00 + NoICE + sdld,  page 1.\nHexadecimal  [32-Bits]\n"),
        ("z88dk.def", "DEFC MUL16                           = $800E\n"),
        (
            "z88dk.sym",
            "MUL16                           = $000E ; addr, public, , , code, mul.asm:22\n",
        ),
        ("sjasmplus.sym", "MUL16: EQU 0x0000800E\n"),
        ("gnu.nm", "         U _start\n00008000 T MUL8\n"),
        ("sdas.def", "DEF .__.ABS. 0x0\nDEF l__CODE 0x4D\n"),
        ("rasm.sym", "MUL8 #8000 B0 L\n"),
        ("rasm.winape.sym", "MUL8 #8000\n"),
        ("rasm.zx.sym", "260:8000 MUL8\n"),
        ("pasmo.sym", "00000000\tEQU 08006H\n"),
    ];

    #[test]
    fn files_of_other_tools_are_refused_with_the_line() {
        for (name, text) in OF_OTHER_TOOLS {
            let error = SymbolFile::parse(Path::new(name), text).expect_err(name);
            let first = text.lines().find(|line| error.line.text == line.trim());
            assert!(first.is_some() && error.to_string().starts_with(name), "{error}");
            assert!(error.to_string().contains("give the file of `tdlasm link --symbols`"));
        }
    }

    /// From the files of SDCC 4.2.0, sjasmplus 1.23.1 and z88dk-z80asm (2026-08) for such programs.
    #[test]
    fn files_of_known_formats_are_read_whole() {
        let noi = "DEF .__.ABS. 0x0\nDEF l__CODE 0x52\nDEF A$mul$7 0x8000\nDEF MUL8 0x8000\n\
                   LOAD mul.ihx\n";
        let sld = "|SLD.data.version|1\n||K|KEYWORDS|WPMEM,LOGPOINT,ASSERTION\n\
                   mul.asm|2||0|-1|-1|Z|pages.size:65536,pages.count:32,slots.count:1,slots.adr:0\n\
                   mul.asm|7||0|2|32768|L|,MUL8,\nmul.asm|7||0|2|32768|T|\n";
        let map = "MUL8      = $8000 ; addr, public, , mul, code, mul.asm:7\n\
                   __code_size = $0052 ; const, public, def, , ,\n";
        let image = Image::new([tdlasm::image::ImageRun { address: 0x8000, bytes: vec![0xC9] }]);
        for (name, text) in [("a.noi", noi), ("a.sld", sld), ("a.map", map)] {
            let file = SymbolFile::parse(Path::new(name), text).expect(name);
            assert_eq!(file.symbols, [(0x8000, "MUL8".to_owned())], "{name}");
            let lines = file.lines(&image);
            assert_eq!((lines.len(), lines[0].place.line), (1, 7), "{name}");
            for (number, damaged) in (1..).zip(text.lines()) {
                let text = text.replace(damaged, &format!("x{damaged}"));
                let result = SymbolFile::parse(Path::new(name), &text);
                // A name may begin with x, and so may a comment of an .sld.
                let is_read = name == "a.map" || (name == "a.sld" && number > 1);
                assert_eq!(result.is_ok(), is_read, "{name}:{number}");
            }
        }
    }
}
