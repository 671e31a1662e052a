//! Progress of a write: a bar on a terminal, plain lines elsewhere, lines to a callback in notebooks.
//!
//! Owns what is shown and how often. Must not slow the write or fail it: what can't be shown is dropped. Invariant: nothing at all is written when progress is
//! off, and a pipe never receives control characters.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{
    HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle,
};
use pyo3::prelude::*;

/// Least time between two drawings of a bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);

/// Least time between two lines where lines can't be overwritten.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

enum Screen {
    Off,
    Bar(ProgressBar),
    Lines,
    Callback(Py<PyAny>),
}

/// Shows how far a write of one or more sources has come.
pub(crate) struct Progress {
    screen: Screen,
    sources: usize,
    sources_done: usize,
    started: Instant,
    source: String,
    source_started: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Progress of a write of `sources` sources.
    pub(crate) fn new(is_on: bool, callback: Option<Py<PyAny>>, sources: usize) -> Self {
        let screen = match callback {
            _ if !is_on => Screen::Off,
            Some(callback) => Screen::Callback(callback),
            None if std::io::stderr().is_terminal() => Screen::Bar(spinner()),
            None => Screen::Lines,
        };
        let now = Instant::now();
        Self {
            screen,
            sources,
            sources_done: 0,
            started: now,
            source: String::new(),
            source_started: now,
            shown: None,
        }
    }

    /// Says that a source begins.
    pub(crate) fn begin_source(&mut self, name: &str) {
        name.clone_into(&mut self.source);
        self.source_started = Instant::now();
        self.shown = None;
    }

    /// Says how many samples and payload bytes of the source are committed; shows it if it is time to.
    pub(crate) fn committed(&mut self, py: Python<'_>, samples: u64, bytes: u64) {
        let interval = match self.screen {
            Screen::Off => return,
            Screen::Lines => LINE_INTERVAL,
            Screen::Bar(_) | Screen::Callback(_) => BAR_INTERVAL,
        };
        let since = self.shown.unwrap_or(self.source_started);
        if since.elapsed() >= interval {
            self.show(py, &self.rates(samples, bytes), false);
            self.shown = Some(Instant::now());
        }
    }

    /// Says that a source ended, with the outcome in one or two words.
    pub(crate) fn end_source(&mut self, py: Python<'_>, outcome: &str, samples: u64, bytes: u64) {
        self.sources_done += 1;
        if !matches!(self.screen, Screen::Off) {
            let text = if samples == 0 {
                format!("{}: {outcome}", self.source)
            } else {
                format!("{} ({outcome})", self.rates(samples, bytes))
            };
            self.show(py, &format!("{text}{}", self.overall()), true);
        }
    }

    /// Clears the bar.
    pub(crate) fn finish(&self) {
        if let Screen::Bar(bar) = &self.screen {
            bar.finish_and_clear();
        }
    }

    fn rates(&self, samples: u64, bytes: u64) -> String {
        let seconds = self.source_started.elapsed().as_secs_f64().max(1e-9);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let (samples_per_second, megabytes_per_second) =
            (samples as f64 / seconds, bytes as f64 / seconds / 1e6);
        format!(
            "{}: {} samples, {}, {samples_per_second:.0} samples/s, {megabytes_per_second:.1} MB/s",
            self.source,
            HumanCount(samples),
            HumanBytes(bytes),
        )
    }

    /// How many sources are done and, after the first one, when the rest will be.
    fn overall(&self) -> String {
        if self.sources < 2 {
            return String::new();
        }
        let done = u32::try_from(self.sources_done).unwrap_or(u32::MAX).max(1);
        let left =
            u32::try_from(self.sources.saturating_sub(self.sources_done)).unwrap_or(u32::MAX);
        let eta = self.started.elapsed() / done * left;
        let eta = if left == 0 {
            String::new()
        } else {
            format!(", ETA {}", HumanDuration(eta))
        };
        format!("; {}/{} sources{eta}", self.sources_done, self.sources)
    }

    fn show(&self, py: Python<'_>, text: &str, is_last: bool) {
        match &self.screen {
            Screen::Off => {}
            Screen::Bar(bar) if is_last => bar.suspend(|| write_line(text)),
            Screen::Bar(bar) => {
                bar.set_message(format!("{text}{}", self.overall()));
                bar.tick();
            }
            Screen::Lines => write_line(text),
            Screen::Callback(callback) => {
                // A notebook that can't show a line is no reason to fail a write.
                let _not_shown = callback.call1(py, (text,));
            }
        }
    }
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

fn write_line(text: &str) {
    // Standard error may be closed; progress is then lost and nothing else.
    let _not_shown = writeln!(std::io::stderr(), "{text}");
}
