//! Writing the sources of one call: rows of one source after another, completed caches in one window.
//!
//! Owns which source is asked for rows, and what becomes of each. Must not know files, or which cache is reused. Invariant: results stand in source order, one per
//! source, whatever happened to the others; what is to be raised ends the call, and what is not published then is removed.

use std::collections::VecDeque;
use std::time::Instant;

use dataset_rt_storage::{Endings, StorageError, WriteReport};
use pyo3::prelude::*;

use crate::convert::bytes::PayloadBytes;
use crate::convert::config::WriterSettings;
use crate::error::CoreError;
use crate::profile::{Profile, Stages};
use crate::progress::Progress;
use crate::results::message_of;
use crate::source::SourceName;
use crate::write::{Failure, RowsIn, Signals, SourceProfile, WriteCall, Written};

/// One source's name and what became of it.
pub(crate) type Outcome = (String, Result<Written, PyErr>);

/// What is known of one source of the call.
struct SourceState {
    name: String,
    profile: SourceProfile,
    word: &'static str,
    result: Option<Result<Written, PyErr>>,
}

/// The sources of one call, as far as they have come.
pub(crate) struct ManyWrites<'a> {
    call: WriteCall<'a>,
    reuse: bool,
    progress: Progress,
    started: Instant,
    sources: Vec<SourceState>,
    /// Numbers of the sources that are being completed, oldest first.
    ending: VecDeque<usize>,
    endings: Endings<PayloadBytes>,
}

impl<'a> ManyWrites<'a> {
    pub(crate) fn new(call: WriteCall<'a>, reuse: bool, progress: Progress) -> Self {
        let endings = Endings::new(call.pool, call.options);
        Self {
            call,
            reuse,
            progress,
            started: Instant::now(),
            sources: Vec::new(),
            ending: VecDeque::new(),
            endings,
        }
    }

    /// Writes or finds the cache of each source.
    ///
    /// # Errors
    /// What is to be raised; the profile is written all the same.
    pub(crate) fn write(
        mut self,
        py: Python<'_>,
        sources: &[Bound<'_, PyAny>],
        names: Vec<SourceName>,
        settings: &WriterSettings,
    ) -> Result<Vec<Outcome>, CoreError> {
        let raised = self.write_all(py, sources, names).err();
        if raised.is_some() {
            self.stop(py);
        }
        self.progress.finish();
        if let Some(path) = &settings.profile_path {
            let written = self.profile(raised.is_some()).write(path);
            if raised.is_none() {
                written?;
            }
        }
        match raised {
            Some(error) => Err(error.into()),
            None => Ok(self
                .sources
                .into_iter()
                .filter_map(SourceState::outcome)
                .collect()),
        }
    }

    fn write_all(
        &mut self,
        py: Python<'_>,
        sources: &[Bound<'_, PyAny>],
        names: Vec<SourceName>,
    ) -> PyResult<()> {
        for (number, (source, name)) in sources.iter().zip(names).enumerate() {
            let (name, refused) = match name {
                Ok(name) => (name, None),
                Err((label, error)) => (label, Some(error)),
            };
            self.progress.begin_source(&name);
            self.sources.push(SourceState::begun(name));
            match refused {
                Some(error) => self.end(py, number, Err(Failure::of(py, error)))?,
                None => self.write_source(py, number, source, number + 1 == sources.len())?,
            }
            self.take_ready(py)?;
        }
        while !self.ending.is_empty() {
            self.take_oldest(py)?;
        }
        Ok(())
    }

    fn write_source(
        &mut self,
        py: Python<'_>,
        number: usize,
        source: &Bound<'_, PyAny>,
        is_last: bool,
    ) -> PyResult<()> {
        let Some(state) = self.sources.get_mut(number) else {
            return Ok(());
        };
        let rows = self.call.take_rows(
            source,
            &state.name,
            &self.endings,
            &mut self.progress,
            &mut state.profile,
        );
        let (writer, signals) = match rows {
            Ok(RowsIn::All { writer, signals }) => (writer, signals),
            Ok(RowsIn::Found(found)) => return self.end(py, number, Ok(Written::Found(found))),
            Err(failure) => return self.end(py, number, Err(failure)),
        };
        if is_last || !self.endings.is_possible() {
            self.take_ready(py)?;
            let written = py
                .detach(|| writer.finish())
                .map(Written::Built)
                .map_err(|error| signals.failure(py, error));
            return self.end(py, number, written);
        }
        if self.endings.is_full() {
            self.take_oldest(py)?;
        }
        let endings = &mut self.endings;
        match py.detach(|| endings.push(*writer)) {
            Ok(()) => self.ending.push_back(number),
            Err(error) => self.end(py, number, Err(signals.failure(py, error)))?,
        }
        Ok(())
    }

    fn take_ready(&mut self, py: Python<'_>) -> PyResult<()> {
        while let Some(outcome) = self.endings.take_ready() {
            self.end_oldest(py, outcome)?;
        }
        Ok(())
    }

    /// Waits for the cache that has been completed longest.
    fn take_oldest(&mut self, py: Python<'_>) -> PyResult<()> {
        let signals = Signals::default();
        let check = signals.check();
        let endings = &mut self.endings;
        match py.detach(|| endings.take(&check)) {
            Ok(Some(outcome)) => self.end_oldest(py, outcome),
            Ok(None) => Err(CoreError::internal("a cache was lost while it was completed").into()),
            Err(error) => match signals.failure(py, error) {
                Failure::Value(error) | Failure::Raise(error) => Err(error),
            },
        }
    }

    fn end_oldest(
        &mut self,
        py: Python<'_>,
        outcome: Result<WriteReport, StorageError>,
    ) -> PyResult<()> {
        let Some(number) = self.ending.pop_front() else {
            return Ok(());
        };
        let written = outcome
            .map(Written::Built)
            .map_err(|error| Failure::of(py, CoreError::from(error).into_pyerr()));
        self.end(py, number, written)
    }

    /// Notes what became of a source and shows it; an error is one to be raised.
    fn end(
        &mut self,
        py: Python<'_>,
        number: usize,
        outcome: Result<Written, Failure>,
    ) -> PyResult<()> {
        let outcome = outcome.and_then(|written| accept(py, written, self.reuse));
        let Some(state) = self.sources.get_mut(number) else {
            return Ok(());
        };
        state.word = word_of(&outcome);
        let counters = &state.profile.counters;
        let told = match &outcome {
            Err(Failure::Value(error)) => {
                format!("{}: {}", state.word, message_of(error.value(py))?)
            }
            _ => state.word.to_owned(),
        };
        let shown = self.progress.end_source(
            py,
            &state.name,
            &told,
            counters.samples(),
            counters.payload_bytes(),
        );
        match outcome {
            Ok(written) => state.result = Some(Ok(written)),
            Err(Failure::Value(error)) => state.result = Some(Err(error)),
            Err(Failure::Raise(error)) => return Err(error),
        }
        shown
    }

    /// Gives up what is not published.
    fn stop(&mut self, py: Python<'_>) {
        let stopped = Endings::new(self.call.pool, self.call.options);
        let endings = std::mem::replace(&mut self.endings, stopped);
        py.detach(|| drop(endings));
    }

    fn profile(&self, is_interrupted: bool) -> Profile {
        let word = if is_interrupted {
            "interrupted"
        } else {
            "finished"
        };
        let mut profile = Profile::new(word, self.started.elapsed());
        for state in &self.sources {
            profile.add(state.name.clone(), state.word, Stages::of(&state.profile));
        }
        profile
    }
}

impl SourceState {
    fn begun(name: String) -> Self {
        Self {
            name,
            profile: SourceProfile::default(),
            word: "interrupted",
            result: None,
        }
    }

    fn outcome(self) -> Option<Outcome> {
        Some((self.name, self.result?))
    }
}

/// Turns a finished cache into an error where it is not to be reused.
pub(crate) fn accept(py: Python<'_>, written: Written, reuse: bool) -> Result<Written, Failure> {
    match written {
        Written::Found(found) if !reuse => {
            let path = found.path;
            let error = CoreError::from(StorageError::AlreadyFinished { path });
            Err(Failure::of(py, error.into_pyerr()))
        }
        written => Ok(written),
    }
}

fn word_of(outcome: &Result<Written, Failure>) -> &'static str {
    match outcome {
        Ok(Written::Built(_)) => "built",
        Ok(Written::Found(_)) => "reused",
        Err(Failure::Value(_)) => "failed",
        Err(Failure::Raise(_)) => "interrupted",
    }
}
