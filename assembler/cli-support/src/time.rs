//! Times on the command line.

use std::time::Duration;

/// Parses a number with a unit: seconds, minutes, hours or days.
///
/// # Errors
/// Returns a message with the expected form.
///
/// # Examples
/// ```
/// use cli_support::time::parse_time;
/// assert_eq!(parse_time("2m").unwrap().as_secs(), 120);
/// assert!(parse_time("2").is_err());
/// ```
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let units = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400)];
    let found = units.iter().find_map(|(unit, seconds)| {
        text.strip_suffix(*unit)?.parse::<u64>().ok()?.checked_mul(*seconds)
    });
    found.map(Duration::from_secs).ok_or_else(|| {
        format!("invalid duration '{text}': expected a number and s, m, h or d, as in 30m")
    })
}
