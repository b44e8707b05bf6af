//! Times on command lines.
//!
//! ```
//! use std::time::Duration;
//!
//! use cli_support::time::parse_time;
//!
//! assert_eq!(parse_time("90s"), Ok(Duration::from_secs(90)));
//! assert_eq!(parse_time("0.5s"), parse_time("500ms"));
//! assert!(parse_time("90").is_err());
//! ```

use std::ops::RangeInclusive;
use std::time::Duration;

/// The units, with their length in milliseconds, the longest first.
const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
/// The longest time. It is far below what can be added to the system's clock.
const MAX: Duration = Duration::from_secs(100_000 * 86_400);

/// Parses a time: a number with the unit `ms`, `s`, `m`, `h` or `d`, as in `90s`, `0.5s` or `30m`.
///
/// # Errors
/// Returns a message if the number or its unit is missing, or the time is longer than 100,000 days.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let expected = "expected a number with its unit, ms, s, m, h or d, as in 90s";
    let Some((number, unit)) = UNITS.iter().find_map(|(unit, length)| {
        let number = text.strip_suffix(unit)?;
        Some((number, length)).filter(|_| is_number(number))
    }) else {
        let hint = if is_number(text) { format!("; for seconds, {text}s") } else { String::new() };
        return Err(format!("invalid time '{text}': {expected}{hint}"));
    };
    let seconds = number.parse::<f64>().map(|number| number * *unit as f64 / 1000.0);
    let time = seconds.ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| *time <= MAX)
        .ok_or_else(|| format!("invalid time '{text}': expected at most 100000d"))
}

/// Returns a parser of times within these limits.
pub fn time_within(
    limits: RangeInclusive<Duration>,
) -> impl Fn(&str) -> Result<Duration, String> + Clone {
    move |text| match parse_time(text)? {
        time if limits.contains(&time) => Ok(time),
        _ => {
            let [least, most] = [limits.start(), limits.end()].map(|limit| display(*limit));
            Err(format!("invalid time '{text}': expected from {least} to {most}"))
        }
    }
}

/// Returns `true` for decimal digits with at most one point.
fn is_number(text: &str) -> bool {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_decimal && text.parse::<f64>().is_ok()
}

/// Returns a time as it can be typed, in whole numbers of the longest unit.
fn display(time: Duration) -> String {
    let milliseconds = time.as_millis();
    let unit =
        UNITS.into_iter().find(|(_, length)| milliseconds.is_multiple_of(u128::from(*length)));
    let (unit, length) = unit.unwrap_or(("ms", 1));
    format!("{}{unit}", milliseconds / u128::from(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_with_its_unit() {
        let times = [
            ("90s", 90_000),
            ("30m", 1_800_000),
            ("8h", 28_800_000),
            ("1d", 86_400_000),
            ("500ms", 500),
            ("0.2s", 200),
            ("0s", 0),
        ];
        for (text, milliseconds) in times {
            assert_eq!(parse_time(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        let wrong = ["", "s", "x", "8x", "-1s", "1e3s", "infs", "NaNs", "1 s", "1.2.3s", ".s"];
        for text in wrong {
            let error = parse_time(text).expect_err(text);
            assert!(
                error.contains("ms, s, m, h or d") && !error.contains("for seconds"),
                "{error}"
            );
        }
        for text in ["100001d", &format!("{}s", "9".repeat(400))] {
            assert!(parse_time(text).is_err_and(|error| error.contains("at most")), "{text}");
        }
    }

    #[test]
    fn a_number_without_unit_is_refused_with_a_hint() {
        for text in ["60", "0.5", "0"] {
            let error = parse_time(text).expect_err(text);
            assert!(error.ends_with(&format!("; for seconds, {text}s")), "{error}");
        }
    }

    #[test]
    fn limits_are_named_as_they_are_typed() {
        let parse = time_within(Duration::from_millis(500)..=Duration::from_secs(3600));
        assert_eq!(parse("60m"), Ok(Duration::from_secs(3600)));
        for text in ["0s", "61m"] {
            let message = format!("invalid time '{text}': expected from 500ms to 1h");
            assert_eq!(parse(text), Err(message));
        }
    }
}
