//! Numbers as assemblers write them.

/// Returns the value of a number: `0x8000`, `$8000`, `#8000`, `8000H` or `32768`. A value of 64 bits,
/// and one of 32 with the highest bit set, is negative.
pub(crate) fn value(text: &str) -> Option<i64> {
    if let Some(digits) = text.strip_prefix('-') {
        return value(digits).map(i64::wrapping_neg);
    }
    let prefixes = ["0x", "0X", "$", "#", "&"];
    if let Some(digits) = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix)) {
        return hexadecimal(digits);
    }
    if let Some(digits) = text.strip_suffix(['H', 'h']) {
        return hexadecimal(digits).filter(|_| digits.starts_with(|c: char| c.is_ascii_hexdigit()));
    }
    decimal(text)
}

/// Returns the value of hexadecimal digits without a mark.
pub(crate) fn hexadecimal(digits: &str) -> Option<i64> {
    // `from_str_radix` allows a sign.
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let value = u64::from_str_radix(digits, 16).ok().filter(|_| is_number)?;
    Some(signed(value))
}

/// Returns the value of decimal digits.
pub(crate) fn decimal(digits: &str) -> Option<i64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// Returns the number of a source line.
pub(crate) fn line_number(digits: &str) -> Option<u32> {
    u32::try_from(decimal(digits)?).ok()
}

/// Returns an address that fits in 16 bits.
pub(crate) fn address(value: i64) -> Option<u16> {
    u16::try_from(value).ok()
}

fn signed(value: u64) -> i64 {
    match u32::try_from(value) {
        Ok(value) => i64::from(value.cast_signed()),
        Err(_) => value.cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_all_notations() {
        for text in ["0x8000", "$8000", "#8000", "8000h", "08000H", "32768", "&8000"] {
            assert_eq!(value(text), Some(0x8000), "{text}");
        }
        assert_eq!((value("FFFFFFFEH"), value("-2")), (Some(-2), Some(-2)));
        assert_eq!(value("0xfffffffffffffffe"), Some(-2));
        assert_eq!(value("#12345"), Some(0x12345));
        for text in ["", "0x", "+5", "8000", "x", "0x+1", "H", "--"] {
            assert_eq!(value(text).is_some(), text == "8000", "{text}");
        }
    }
}
