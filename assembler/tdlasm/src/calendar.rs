//! Calendar dates and times in UTC, from seconds since 1970.

/// Seconds per day.
const DAY: u64 = 86_400;

/// Formats a time in UTC, such as `2024-12-31 23:59:59`.
pub fn utc(seconds: u64) -> String {
    let (year, month, day) = civil_date(seconds / DAY);
    let within = seconds % DAY;
    let hour = within / 3600;
    let minute = within / 60 % 60;
    let second = within % 60;
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Returns year, month and day (Gregorian) of a day counted from 1970-01-01.
pub fn civil_date(days: u64) -> (u64, u64, u64) {
    // Years are counted from March, so that the leap day is the last of its year.
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leap_days_and_year_ends_are_right() {
        // From `date -u -d @SECONDS`.
        assert_eq!(civil_date(0), (1970, 1, 1));
        assert_eq!(civil_date(951_782_400 / DAY), (2000, 2, 29));
        assert_eq!(civil_date(1_735_603_200 / DAY), (2024, 12, 31));
        assert_eq!(utc(1_735_689_599), "2024-12-31 23:59:59");
    }
}
