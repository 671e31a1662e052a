//! A claimed window as a short text.
//!
//! Owns that text: (snapshot, start, stop) and which part. Must not open anything. Invariant: reading what was written gives the same window.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use dataset_rt_sampler::{Partition, STATE_VERSION, StreamKey, StreamState, Tail, Window};

use crate::error::ReaderError;

/// Numbers before the path.
const NUMBERS: usize = 7;

/// What the text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WindowText {
    start: u64,
    end: u64,
    epoch_length: u64,
    skipped: u64,
    part: (u64, u64, u64),
    /// Path of the snapshot's handle.
    pub(crate) handle: PathBuf,
}

impl WindowText {
    pub(crate) fn of(window: &Window, partition: Partition, handle: &Path) -> Self {
        let tail = match partition.tail() {
            Tail::Uneven => 0,
            Tail::Drop => 1,
            Tail::Pad => 2,
        };
        Self {
            start: window.start(),
            end: window.end(),
            epoch_length: window.epoch_length(),
            skipped: window.skipped(),
            part: (partition.index(), partition.count(), tail),
            handle: handle.to_owned(),
        }
    }

    /// The window over a snapshot with this key.
    pub(crate) fn window(&self, key: &StreamKey) -> Result<Window, ReaderError> {
        let state = StreamState {
            version: STATE_VERSION,
            key: *key,
            epoch_length: self.epoch_length,
            position: self.start,
            window_end: self.end,
            skipped: self.skipped,
        };
        Ok(state.window(key)?)
    }

    /// The part of it.
    pub(crate) fn partition(&self) -> Result<Partition, ReaderError> {
        let (index, count, tail) = self.part;
        let tail = match tail {
            0 => Tail::Uneven,
            1 => Tail::Drop,
            2 => Tail::Pad,
            _ => return Err(refused(&tail.to_string())),
        };
        Ok(Partition::new(index, count, tail)?)
    }
}

impl fmt::Display for WindowText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            start,
            end,
            epoch_length,
            skipped,
            part: (index, count, tail),
            handle,
        } = self;
        write!(
            out,
            "{start} {end} {epoch_length} {skipped} {index} {count} {tail} {}",
            handle.display()
        )
    }
}

impl FromStr for WindowText {
    type Err = ReaderError;

    fn from_str(text: &str) -> Result<Self, ReaderError> {
        let mut words = text.splitn(NUMBERS + 1, ' ');
        let mut number = || {
            words
                .next()
                .and_then(|word| word.parse().ok())
                .ok_or_else(|| refused(text))
        };
        let (start, end, epoch_length, skipped) = (number()?, number()?, number()?, number()?);
        let part = (number()?, number()?, number()?);
        match words.next() {
            Some(handle) if !handle.is_empty() => Ok(Self {
                start,
                end,
                epoch_length,
                skipped,
                part,
                handle: PathBuf::from(handle),
            }),
            _ => Err(refused(text)),
        }
    }
}

fn refused(found: &str) -> ReaderError {
    ReaderError::InvalidOption {
        option: "handle",
        found: format!("{:?}", found.chars().take(120).collect::<String>()),
        expected: "a text that Window.share returned",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_read_is_the_one_written_for_any_tail_and_path() {
        for (number, tail) in [Tail::Uneven, Tail::Drop, Tail::Pad]
            .into_iter()
            .enumerate()
        {
            let partition = Partition::new(1, 3, tail).unwrap();
            let window = Window::new(number as u64, 10).unwrap();
            let text = WindowText::of(&window, partition, Path::new("/tmp/a b c/snapshot.json"));
            let read: WindowText = text.to_string().parse().unwrap();
            assert_eq!(read, text);
            assert_eq!(read.partition().unwrap(), partition);
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "1 2 3",
            "1 2 3 4 0 1 0 ",
            "1 2 3 4 0 1 x /p",
            "a b c d e f g h",
        ] {
            assert!(text.parse::<WindowText>().is_err(), "{text}");
        }
        let fourth_tail: WindowText = "0 4 4 0 0 1 3 /p".parse().unwrap();
        assert!(fourth_tail.partition().is_err());
    }
}
