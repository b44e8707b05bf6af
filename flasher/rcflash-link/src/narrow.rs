//! Numbers for the narrow fields of requests, checked instead of cut off.

use std::fmt::Display;

/// Converts a number that its caller keeps within the field's range.
///
/// # Panics
/// If it does not fit: a cut-off length or address would write elsewhere.
pub(crate) fn narrow<F: Copy + Display, T: TryFrom<F>>(number: F) -> T {
    T::try_from(number).unwrap_or_else(|_| panic!("{number} does not fit its field"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_fits_its_field() {
        assert_eq!(narrow::<usize, u8>(255), 255);
        assert_eq!(narrow::<u32, u16>(0xFFFF), 0xFFFF);
    }

    #[test]
    #[should_panic(expected = "256 does not fit")]
    fn a_length_past_its_field_is_not_cut_off() {
        let _: u8 = narrow(256_usize);
    }
}
