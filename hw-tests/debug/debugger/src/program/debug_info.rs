//! Symbols and lines in files that linkers and assemblers write beside Intel HEX: `VALUE NAME`
//! lines, SDCC's `.noi`, sjasmplus' `.sld` and z88dk's `.map`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tdlasm::image::Image;
use tdlasm::link::LinkedLine;
use tdlasm::module::Place;

/// What such a file describes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DebugInfo {
    pub(super) symbols: Vec<(u16, String)>,
    /// The file and the line of the code at an address.
    starts: BTreeMap<u16, (String, u32)>,
}

impl DebugInfo {
    /// Parses a file by its extension; returns the number of the first invalid line.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, usize> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        let mut info = Self::default();
        let mut assembler_lines = Vec::new();
        let mut map_labels = BTreeMap::new();
        for (number, line) in (1usize..).zip(text.lines()) {
            let line = line.trim();
            match ending.to_str() {
                Some("noi") => info.add_noi_line(line, &mut assembler_lines),
                Some("sld") => info.add_sld_line(line),
                Some("map") => {
                    info.add_map_line(line, &mut map_labels);
                    Some(())
                }
                _ => info.add_symbol(line.split(';').next().unwrap_or_default().trim()),
            }
            .ok_or(number)?;
        }
        info.add_assembler_lines(assembler_lines);
        if info.starts.is_empty() {
            info.starts = map_labels;
        }
        let in_folder = |name: &str| match folder.join(name) {
            path if path.is_file() => path.display().to_string(),
            _ => name.to_owned(),
        };
        for (file, _) in info.starts.values_mut() {
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
        Ok(info)
    }

    /// `8003 START`, with a hexadecimal value.
    fn add_symbol(&mut self, line: &str) -> Option<()> {
        if line.is_empty() {
            return Some(());
        }
        let (value, name) = line.split_once(char::is_whitespace)?;
        let value = u16::from_str_radix(value.trim_end_matches(['H', 'h']), 16).ok()?;
        self.symbols.push((value, name.trim().to_owned()));
        Some(())
    }

    /// `DEF NAME 0x8003`; `C$main.c$5$...` is the code of a line of C, `A$start$5` that of a line
    /// of an assembler module.
    fn add_noi_line(
        &mut self,
        line: &str,
        assembler_lines: &mut Vec<(u16, String, u32)>,
    ) -> Option<()> {
        let Some(rest) = line.strip_prefix("DEF ") else { return Some(()) };
        let (name, value) = rest.trim().rsplit_once(char::is_whitespace)?;
        // Values of areas beyond 16 bits are no addresses.
        let value = u32::from_str_radix(value.strip_prefix("0x")?, 16).ok()?;
        let Ok(value) = u16::try_from(value) else { return Some(()) };
        let parts: Vec<&str> = name.split('$').collect();
        match parts[..] {
            ["C", file, line, ..] => {
                let line = line.parse().ok()?;
                let known = self.starts.entry(value).or_insert_with(|| (file.to_owned(), line));
                known.1 = known.1.max(line);
            }
            ["A", module, line] => {
                assembler_lines.push((value, module.to_owned(), line.parse().ok()?));
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
    /// Without such lines, as without `-debug`, those of `labels` have to do. Lines of other
    /// linkers' maps are ignored.
    fn add_map_line(
        &mut self,
        line: &str,
        labels: &mut BTreeMap<u16, (String, u32)>,
    ) -> Option<()> {
        let (symbol, description) = line.split_once(';')?;
        let (name, value) = symbol.split_once('=')?;
        let (name, value) = (name.trim(), value.trim().strip_prefix('$')?);
        let value = u16::from_str_radix(value, 16).ok()?;
        let fields: Vec<&str> = description.split(',').map(str::trim).collect();
        let (kind, place) = (fields.first()?, fields.last()?);
        let (file, number) = place.rsplit_once(':')?;
        // The file of a line of C is followed by its scope.
        let file = file.split("::").next()?.to_owned();
        let is_line = ["__ASM_LINE_", "__C_LINE_"].iter().any(|one| name.starts_with(one));
        if let Ok(number) = number.parse::<u32>()
            && *kind == "addr"
        {
            let lines = if is_line { &mut self.starts } else { labels };
            lines.entry(value).or_insert((file, number));
        }
        if !is_line && *kind == "addr" {
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
    fn add_sld_line(&mut self, line: &str) -> Option<()> {
        let fields: Vec<&str> = line.split('|').collect();
        let [file, at, _, _, _, value, kind, data] = fields[..] else { return Some(()) };
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
    pub(super) fn lines(&self, image: &Image) -> Vec<LinkedLine> {
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
