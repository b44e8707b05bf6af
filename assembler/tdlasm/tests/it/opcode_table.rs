//! The table of all instructions, `data/opcodes.tsv`, and values for its placeholders.

const TABLE: &str = include_str!("../data/opcodes.tsv");

/// Values for the table's placeholders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values {
    /// For `n`.
    pub(crate) byte: u8,
    /// For `nn`.
    pub(crate) word: u16,
    /// For `d`.
    pub(crate) displacement: i8,
    /// For `e`: from the end of the jump to its target.
    pub(crate) distance: i8,
}

/// A value in the middle of each range, and both ends.
pub(crate) const VALUES: [Values; 3] = [
    Values { byte: 5, word: 0x1234, displacement: 3, distance: 0x10 },
    Values { byte: 0xFF, word: 0xFFFE, displacement: -128, distance: -128 },
    Values { byte: 0x80, word: 0x80, displacement: 127, distance: 127 },
];

/// The columns of each row, in the table's order: mnemonic, operands, bytes, Zilog's spelling,
/// length, processor.
pub(crate) fn rows() -> Vec<Vec<&'static str>> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    let rows: Vec<_> = rows.map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 704);
    rows
}

/// The row as source, with the placeholders of its operands replaced.
pub(crate) fn source(row: &[&str], values: Values) -> String {
    let parts = row[1].split(',').map(|part| match part {
        "n" => values.byte.to_string(),
        "nn" => values.word.to_string(),
        "e" => format!(".+{}", i16::from(values.distance) + 2).replace("+-", "-"),
        _ => part.replace("d(", &format!("{}(", values.displacement)),
    });
    format!(" {} {}", row[0], parts.collect::<Vec<_>>().join(","))
}
