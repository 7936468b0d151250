//! ISO 8601 timestamps as JavaScript's `Date.parse` reads them, to milliseconds since 1970 in UTC.
//!
//! All forms of the ECMAScript date-time string format, with a fraction of any length. Three choices: a date-time without a zone is taken
//! as UTC (JavaScript takes the machine's zone, but an index must not depend on where it was built); a day that its month lacks rolls
//! over, as in V8 (`2026-02-30` is 2 March); what else `Date.parse` may guess at is no timestamp here.

/// ECMAScript times reach this many milliseconds to both sides of 1970.
const MAX_MILLISECONDS: i64 = 8_640_000_000_000_000;

const DAY: i64 = 86_400_000;
const HOUR: i64 = 3_600_000;
const MINUTE: i64 = 60_000;
const SECOND: i64 = 1_000;

/// The time that `text` states, in milliseconds.
pub(super) fn parse(text: &str) -> Option<i64> {
    let mut rest = Rest(text.as_bytes());
    let year = year(&mut rest)?;
    let (month, day) = if rest.accept(b"-") {
        let month = rest.digits(2)?;
        (month, if rest.accept(b"-") { rest.digits(2)? } else { 1 })
    } else {
        (1, 1)
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let time_of_day = if rest.accept(b"Tt") { time_with_zone(&mut rest)? } else { 0 };
    let milliseconds = (days_to_month(year, month) + day - 1) * DAY + time_of_day;
    (rest.0.is_empty() && milliseconds.abs() <= MAX_MILLISECONDS).then_some(milliseconds)
}

/// `YYYY`, or a sign and six digits; there is no year minus zero.
fn year(rest: &mut Rest<'_>) -> Option<i64> {
    if rest.accept(b"+") {
        return rest.digits(6);
    }
    if rest.accept(b"-") {
        return rest.digits(6).filter(|year| *year != 0).map(|year| -year);
    }
    rest.digits(4)
}

/// `hh:mm`, `hh:mm:ss` or `hh:mm:ss.fff`, then `Z`, `+hh:mm`, `-hh:mm` or nothing: milliseconds from the start of the day in UTC.
fn time_with_zone(rest: &mut Rest<'_>) -> Option<i64> {
    let (hour, minute) = hour_and_minute(rest)?;
    let (mut second, mut millisecond) = (0, 0);
    if rest.accept(b":") {
        second = rest.digits(2)?;
        if rest.accept(b".") {
            millisecond = rest.fraction()?;
        }
    }
    let time = hour * HOUR + minute * MINUTE + second * SECOND + millisecond;
    if minute > 59 || second > 59 || time > DAY {
        return None;
    }
    if rest.accept(b"Zz") {
        return Some(time);
    }
    let sign = if rest.accept(b"+") {
        1
    } else if rest.accept(b"-") {
        -1
    } else {
        return Some(time);
    };
    let (hour, minute) = hour_and_minute(rest)?;
    (hour <= 23 && minute <= 59).then_some(time - sign * (hour * HOUR + minute * MINUTE))
}

fn hour_and_minute(rest: &mut Rest<'_>) -> Option<(i64, i64)> {
    let hour = rest.digits(2)?;
    if !rest.accept(b":") {
        return None;
    }
    Some((hour, rest.digits(2)?))
}

/// Days from 1970-01-01 to the first of a month in the proleptic Gregorian calendar. Counting years from March puts the leap day last.
fn days_to_month(year: i64, month: i64) -> i64 {
    let (year, months_since_march) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days_since_march = (153 * months_since_march + 2) / 5;
    365 * year + leap_days + days_since_march - 719_468
}

/// What is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Reads one of the bytes `any`, if it comes next.
    fn accept(&mut self, any: &[u8]) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if any.contains(first) => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// Reads exactly `count` digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let mut value = 0;
        for _ in 0..count {
            value = value * 10 + self.digit()?;
        }
        Some(value)
    }

    /// Reads one digit or more as the fraction of a second, in whole milliseconds.
    fn fraction(&mut self) -> Option<i64> {
        let mut value = self.digit()? * 100;
        let mut unit = 10;
        while let Some(digit) = self.digit() {
            value += digit * unit;
            unit /= 10;
        }
        Some(value)
    }

    fn digit(&mut self) -> Option<i64> {
        let (first, rest) = self.0.split_first()?;
        let digit = first.is_ascii_digit().then(|| i64::from(first - b'0'))?;
        self.0 = rest;
        Some(digit)
    }
}

#[cfg(test)]
mod tests {
    use super::{DAY, days_to_month, parse};

    /// Text and `Date.parse` of it in Node 20 with `TZ=UTC`; where V8 guesses beyond ISO 8601, `None`.
    const TIMES: &[(&str, Option<i64>)] = &[
        ("2026", Some(1_767_225_600_000)),
        ("2026-07", Some(1_782_864_000_000)),
        ("2026-07-10", Some(1_783_641_600_000)),
        ("2026T08:00Z", Some(1_767_254_400_000)),
        ("2026-07T08:00Z", Some(1_782_892_800_000)),
        ("2026-07-10T08:00", Some(1_783_670_400_000)),
        ("2026-07-10T08:00Z", Some(1_783_670_400_000)),
        ("2026-07-10T08:00:00", Some(1_783_670_400_000)),
        ("2026-07-10T08:00:00Z", Some(1_783_670_400_000)),
        ("2026-07-10t08:00:00z", Some(1_783_670_400_000)),
        ("2026-07-10T08:00:00.1Z", Some(1_783_670_400_100)),
        ("2026-07-10T08:00:00.5", Some(1_783_670_400_500)),
        ("2026-07-10T08:00:00.123456789Z", Some(1_783_670_400_123)),
        ("2026-07-10T08:00:00.9999999999999999999999Z", Some(1_783_670_400_999)),
        ("2026-07-10T08:00:00.12345678901234567890+01:00", Some(1_783_666_800_123)),
        ("2026-07-10T08:00:00+02:00", Some(1_783_663_200_000)),
        ("2026-07-10T08:00:00-02:30", Some(1_783_679_400_000)),
        ("2026-07-10T08:00:00-00:00", Some(1_783_670_400_000)),
        ("2026-07-10T08:00:00+23:59", Some(1_783_584_060_000)),
        ("2026-07-10T24:00Z", Some(1_783_728_000_000)),
        ("2026-07-10T24:00:00Z", Some(1_783_728_000_000)),
        ("2026-07-10T24:00:00.000Z", Some(1_783_728_000_000)),
        ("2024-02-29", Some(1_709_164_800_000)),
        ("2026-02-29", Some(1_772_323_200_000)),
        ("2026-02-30", Some(1_772_409_600_000)),
        ("2026-02-31", Some(1_772_496_000_000)),
        ("2026-04-31", Some(1_777_593_600_000)),
        ("1900-02-29", Some(-2_203_891_200_000)),
        ("+002026-07-10", Some(1_783_641_600_000)),
        ("-002026-07-10", Some(-126_085_161_600_000)),
        ("-000001-01-01", Some(-62_198_755_200_000)),
        ("+000000-01-01", Some(-62_167_219_200_000)),
        ("0000-01-01", Some(-62_167_219_200_000)),
        ("0001-01-01T00:00:00Z", Some(-62_135_596_800_000)),
        ("0099-01-01", Some(-59_042_995_200_000)),
        ("9999-12-31T23:59:59.999Z", Some(253_402_300_799_999)),
        ("1969-12-31T23:59:59.999Z", Some(-1)),
        ("1969-12-31T23:59:59.9999Z", Some(-1)),
        ("+275760-09-13", Some(8_640_000_000_000_000)),
        ("-271821-04-20", Some(-8_640_000_000_000_000)),
        ("+275760-09-13T00:00:00.001Z", None),
        ("-271821-04-19T23:59:59.999Z", None),
        ("-000000-01-01", None),
        ("2026-07-10T24:00:01Z", None),
        ("2026-07-10T24:01Z", None),
        ("2026-07-10T24:00:00.001Z", None),
        ("2026-07-10T25:00Z", None),
        ("2026-07-10T23:60Z", None),
        ("2026-07-10T23:59:60Z", None),
        ("2026-02-32", None),
        ("2026-13-01", None),
        ("2026-00-01", None),
        ("2026-01-00", None),
        ("2026-07-10T08:00:00.Z", None),
        ("2026-07-10T08:00:00,5Z", None),
        ("2026-07-10T08:00.5Z", None),
        ("2026-07-10T", None),
        ("2026-07-10T08Z", None),
        ("2026-07-10T8:00Z", None),
        ("2026-07-10T08:00:0Z", None),
        ("2026-07-10T08:00:00 Z", None),
        ("2026-07-10T08:00:00ZZ", None),
        ("2026-07-10T08:00:00+", None),
        ("2026-07-10T08:00:00+02", None),
        ("2026-07-10T08:00:00+24:00", None),
        ("2026-07-10T08:00:00+12:60", None),
        ("2026-07-10T08:00:00+99:99", None),
        ("2026-07-10T08:00:00\u{2212}02:00", None),
        ("2026--07", None),
        ("20260710", None),
        ("T08:00Z", None),
        ("1783670400000", None),
        ("NaN", None),
        ("abc", None),
        ("", None),
        // V8 guesses here.
        (" 2026-07-10", None),
        ("2026-07-10 08:00:00", None),
        ("2026-07-10T08:00:00+0200", None),
        ("2026-7-1", None),
        ("Fri, 10 Jul 2026 08:00:00 GMT", None),
    ];

    #[test]
    fn timestamps_are_read_as_javascript_reads_them() {
        for &(text, expected) in TIMES {
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }

    /// Oracle: counting day by day from one end of ECMAScript's range to the other.
    #[test]
    fn every_month_begins_where_counting_days_puts_it() {
        let is_leap = |year: i64| year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
        let mut days = days_to_month(-271_821, 1);
        for year in -271_821..=275_760 {
            let february = if is_leap(year) { 29 } else { 28 };
            for (month, length) in (1..).zip([31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
                assert_eq!(days_to_month(year, month), days, "{year}-{month}");
                days += length;
            }
        }
        assert_eq!(days_to_month(1970, 1), 0);
        assert_eq!(parse("1970-01-02"), Some(DAY));
    }
}
