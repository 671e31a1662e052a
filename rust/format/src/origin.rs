//! `origin.json`: when and by what a cache was written. Outside manifest and digest.
//!
//! Owns that file and the one form of time in it. Must not read a clock: the time is given. Invariant: two
//! caches that differ in origin alone have equal content digests. Format text: `FORMAT.md`, "origin.json".

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::json::{check_json, decode_json};
use crate::manifest::{ZERO_DIGITS, check_checksum, encode_sealed};

/// A second of UTC, between the years 1970 and 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    unix_seconds: u64,
}

/// 9999-12-31T23:59:59Z
const MAX_UNIX_SECONDS: u64 = 253_402_300_799;
const DAY_SECONDS: u64 = 86_400;

impl Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z; later than the year 9999 counts as its last second.
    pub const fn from_unix_seconds(unix_seconds: u64) -> Self {
        let unix_seconds = if unix_seconds > MAX_UNIX_SECONDS {
            MAX_UNIX_SECONDS
        } else {
            unix_seconds
        };
        Self { unix_seconds }
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub const fn unix_seconds(self) -> u64 {
        self.unix_seconds
    }

    /// Reads `YYYY-MM-DDTHH:MM:SSZ`; `None` for any other text or a date that does not exist.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |from: usize, to: usize| -> Option<u64> {
            let digits = text.get(from..to)?;
            digits
                .bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| digits.parse().ok())?
        };
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if year < 1970 || !(1..=12).contains(&month) || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let days = days_before(year, month) + day.checked_sub(1)?;
        let stamp = Self {
            unix_seconds: days * DAY_SECONDS + hour * 3600 + minute * 60 + second,
        };
        // Writing it again settles separators, length and the day of the month.
        (stamp.to_string() == text).then_some(stamp)
    }
}

/// Days from 1970-01-01 to the first of a month.
fn days_before(year: u64, month: u64) -> u64 {
    // Years that start in March put the leap day at the end.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let before_month = (153 * month + 2) / 5;
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    365 * year + year / 4 - year / 100 + year / 400 + before_month - 719_468
}

/// Writes `YYYY-MM-DDTHH:MM:SSZ`, RFC 3339 in UTC.
impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.unix_seconds / DAY_SECONDS;
        let rest = self.unix_seconds % DAY_SECONDS;
        let mut year = 1970 + days / 366;
        while days_before(year + 1, 1) <= days {
            year += 1;
        }
        let mut month = 1;
        while month < 12 && days_before(year, month + 1) <= days {
            month += 1;
        }
        let day = days - days_before(year, month) + 1;
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        write!(
            out,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
        )
    }
}

/// When and by what a cache was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// When the cache was finished.
    pub created_at: Timestamp,
    /// Version of the package that wrote it.
    pub writer_version: String,
}

#[derive(Serialize)]
struct OriginOut<'a> {
    created_at: String,
    writer_version: &'a str,
    checksum: &'a str,
}

#[derive(Deserialize)]
struct OriginIn {
    created_at: String,
    writer_version: String,
}

/// The bytes of `origin.json`.
///
/// # Errors
///
/// [`FormatError::Encode`] where JSON can't hold the text, which does not happen.
pub fn encode_origin(origin: &Origin) -> Result<Vec<u8>, FormatError> {
    let text = OriginOut {
        created_at: origin.created_at.to_string(),
        writer_version: &origin.writer_version,
        checksum: ZERO_DIGITS,
    };
    encode_sealed(&text, "origin.json")
}

/// Reads `origin.json`.
///
/// # Errors
///
/// A located finding of kind `Corrupt`.
pub fn decode_origin(text: &[u8]) -> Result<Origin, FormatError> {
    check_json(CacheFile::Origin, text)?;
    check_checksum(CacheFile::Origin, text)?;
    let parts: OriginIn = decode_json(CacheFile::Origin, text)?;
    let Some(created_at) = Timestamp::parse(&parts.created_at) else {
        return Err(FormatError::InvalidText {
            site: Site::new(CacheFile::Origin, Region::Json, 0),
            field: "created_at",
            expected: "YYYY-MM-DDTHH:MM:SSZ".to_owned(),
            found: parts.created_at.chars().take(120).collect(),
        });
    };
    Ok(Origin {
        created_at,
        writer_version: parts.writer_version,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn timestamps_of_known_seconds_have_their_date() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_767_323_045, "2026-01-02T03:04:05Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            let stamp = Timestamp::from_unix_seconds(seconds);
            assert_eq!(stamp.to_string(), text);
            assert_eq!(Timestamp::parse(text), Some(stamp));
        }
        assert_eq!(
            Timestamp::from_unix_seconds(u64::MAX).unix_seconds(),
            253_402_300_799
        );
    }

    #[test]
    fn timestamps_of_every_hundredth_day_come_back() {
        let mut seconds = 0;
        while seconds < MAX_UNIX_SECONDS {
            let stamp = Timestamp::from_unix_seconds(seconds);
            assert_eq!(Timestamp::parse(&stamp.to_string()), Some(stamp));
            seconds += 97 * DAY_SECONDS + 12_345;
        }
    }

    #[test]
    fn timestamps_of_another_form_are_refused() {
        for text in [
            "2023-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-02T24:00:00Z",
            "2026-01-02T03:60:05Z",
            "2026-01-02T03:04:60Z",
            "2026-01-02t03:04:05z",
            "2026-01-02T03:04:05",
            "2026-01-02T03:04:05.5Z",
            "2026-01-02 03:04:05Z",
            "1969-12-31T23:59:59Z",
            "+026-01-02T03:04:05Z",
            "2026-01-02T03:04:05Zx",
            "\u{e9}026-01-02T03:04:05Z",
            "",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn origin_with_any_changed_byte_is_refused() {
        let origin = Origin {
            created_at: Timestamp::from_unix_seconds(1_767_323_045),
            writer_version: "0.1.0 \"ü\"".to_owned(),
        };
        let text = encode_origin(&origin).unwrap();
        assert_eq!(decode_origin(&text).unwrap(), origin);
        for at in 0..text.len() {
            let mut damaged = text.clone();
            damaged[at] ^= 4;
            let refused = decode_origin(&damaged).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Corrupt, "byte {at}");
        }
    }
}
