//! Progress of a write: a bar on a terminal, plain lines elsewhere, lines to a callback in notebooks.
//!
//! Owns what is shown and how often. Must not slow the write or fail it: what can't be shown is dropped. Invariant: nothing at all is written when progress is
//! off, and a pipe never receives control characters.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{
    HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle,
};
use pyo3::prelude::*;

use crate::report::{Report, unless_signal};

/// Least time between two drawings of a bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);

/// Least time between two lines where lines can't be overwritten.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

enum Screen {
    Off,
    Bar(ProgressBar),
    Lines,
    Callback(Py<PyAny>),
    /// Another process shows it.
    Elsewhere(Arc<Report>),
}

/// A source that is being written.
struct ActiveSource {
    name: String,
    started: Instant,
    samples: u64,
    bytes: u64,
}

/// Shows how far a write of one or more sources has come; several may be active at once.
pub(crate) struct Progress {
    screen: Screen,
    sources: usize,
    sources_done: usize,
    started: Instant,
    active: Vec<ActiveSource>,
    shown: Instant,
}

impl Progress {
    /// Progress of a write of `sources` sources.
    pub(crate) fn new(is_on: bool, callback: Option<Py<PyAny>>, sources: usize) -> Self {
        Self::on(
            match callback {
                _ if !is_on => Screen::Off,
                Some(callback) => Screen::Callback(callback),
                None if std::io::stderr().is_terminal() => Screen::Bar(bar(sources)),
                None => Screen::Lines,
            },
            sources,
        )
    }

    /// Progress that is told to a watcher in place of being shown.
    pub(crate) fn watched(report: Report) -> Self {
        Self::on(Screen::Elsewhere(Arc::new(report)), 1)
    }

    fn on(screen: Screen, sources: usize) -> Self {
        let now = Instant::now();
        Self {
            screen,
            sources,
            sources_done: 0,
            started: now,
            active: Vec::new(),
            shown: now,
        }
    }

    /// The watcher, if there is one: it wants to hear of every row.
    pub(crate) fn report(&self) -> Option<Arc<Report>> {
        match &self.screen {
            Screen::Elsewhere(report) => Some(Arc::clone(report)),
            _ => None,
        }
    }

    /// Says that a source begins.
    pub(crate) fn begin_source(&mut self, name: &str) {
        self.shown = Instant::now();
        self.active.push(ActiveSource {
            name: name.to_owned(),
            started: self.shown,
            samples: 0,
            bytes: 0,
        });
    }

    /// Says how many samples and payload bytes of a source are committed; shows it if it is time to.
    ///
    /// # Errors
    /// A signal that arrived while a callback showed it; likewise below.
    pub(crate) fn committed(
        &mut self,
        py: Python<'_>,
        name: &str,
        samples: u64,
        bytes: u64,
    ) -> PyResult<()> {
        let interval = match &self.screen {
            Screen::Off => return Ok(()),
            Screen::Elsewhere(report) => return report.tell(py, samples, bytes, false),
            Screen::Lines => LINE_INTERVAL,
            Screen::Bar(_) | Screen::Callback(_) => BAR_INTERVAL,
        };
        if let Some(source) = self.active.iter_mut().find(|source| source.name == name) {
            (source.samples, source.bytes) = (samples, bytes);
        }
        if self.shown.elapsed() >= interval {
            self.shown = Instant::now();
            self.show(py, &rates(&self.active), false)?;
        }
        Ok(())
    }

    /// Says that a source ended, with the outcome in a word and, of a failure, why; the first line of it is shown.
    pub(crate) fn end_source(
        &mut self,
        py: Python<'_>,
        name: &str,
        outcome: &str,
        samples: u64,
        bytes: u64,
    ) -> PyResult<()> {
        self.sources_done += 1;
        if let Screen::Bar(bar) = &self.screen {
            bar.set_position(self.sources_done as u64);
        }
        let Some(place) = self.active.iter().position(|source| source.name == name) else {
            return Ok(());
        };
        let outcome = outcome.lines().next().unwrap_or_default();
        let mut source = self.active.remove(place);
        (source.samples, source.bytes) = (samples, bytes);
        let text = if samples == 0 {
            format!("{name}: {outcome}")
        } else {
            format!("{} ({outcome})", rates(&[source]))
        };
        match &self.screen {
            Screen::Off => Ok(()),
            Screen::Elsewhere(report) => report.tell(py, samples, bytes, true),
            _ => self.show(py, &format!("{text}{}", self.overall()), true),
        }
    }

    /// Clears the bar.
    pub(crate) fn finish(&self) {
        if let Screen::Bar(bar) = &self.screen {
            bar.finish_and_clear();
        }
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
        let eta = Duration::from_secs(eta.as_secs().max(1));
        let eta = if left == 0 {
            String::new()
        } else {
            format!(", ETA {}", HumanDuration(eta))
        };
        format!("; {}/{} sources{eta}", self.sources_done, self.sources)
    }

    fn show(&self, py: Python<'_>, text: &str, is_last: bool) -> PyResult<()> {
        match &self.screen {
            Screen::Off | Screen::Elsewhere(_) => {}
            Screen::Bar(bar) if is_last => bar.suspend(|| write_line(text)),
            Screen::Bar(bar) => {
                bar.set_message(format!("{text}{}", self.overall()));
                bar.tick();
            }
            Screen::Lines => write_line(text),
            // A notebook that can't show a line is no reason to fail a write.
            Screen::Callback(callback) => {
                let shown = callback.call1(py, (text, self.sources_done, self.sources));
                return unless_signal(py, shown);
            }
        }
        Ok(())
    }
}

/// Names, counts and rates of sources, added up.
fn rates(sources: &[ActiveSource]) -> String {
    let mut names = Vec::with_capacity(sources.len());
    let (mut samples, mut bytes) = (0, 0);
    let (mut samples_per_second, mut megabytes_per_second) = (0.0, 0.0);
    for source in sources {
        names.push(source.name.as_str());
        samples += source.samples;
        bytes += source.bytes;
        let seconds = source.started.elapsed().as_secs_f64().max(1e-9);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        {
            samples_per_second += source.samples as f64 / seconds;
            megabytes_per_second += source.bytes as f64 / seconds / 1e6;
        }
    }
    format!(
        "{}: {} samples, {}, {samples_per_second:.0} samples/s, {megabytes_per_second:.1} MB/s",
        names.join(", "),
        HumanCount(samples),
        HumanBytes(bytes),
    )
}

/// A bar over sources; how many rows one source has is not known.
fn bar(sources: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(sources as u64), ProgressDrawTarget::stderr());
    let template = match sources {
        0 | 1 => "{spinner} {wide_msg}",
        _ => "{spinner} [{bar:20}] {wide_msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

fn write_line(text: &str) {
    // Standard error may be closed; progress is then lost and nothing else.
    let _not_shown = writeln!(std::io::stderr(), "{text}");
}
