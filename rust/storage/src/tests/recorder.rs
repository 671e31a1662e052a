//! A seam that writes down every call, and lets chosen ones fail.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::durable::{Disk, Event, Faults, Operation, Step};

/// One line of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A call is about to be made.
    Before(Call),
    /// A call has succeeded.
    After(Call),
    /// A step was reached.
    Step(Step),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub operation: Operation,
    pub path: PathBuf,
    pub target: Option<PathBuf>,
    /// What a synced file held.
    pub bytes: Option<Vec<u8>>,
}

impl Call {
    fn of(event: Event<'_>, bytes: Option<Vec<u8>>) -> Self {
        Self {
            operation: event.operation,
            path: event.path.to_owned(),
            target: event.target.map(Path::to_owned),
            bytes,
        }
    }
}

type Rule = dyn Fn(usize, &Event<'_>) -> Option<i32> + Send + Sync;

/// Records calls; `rule` says which fail, by number and event, and with which errno.
pub struct Recorder {
    entries: Mutex<Vec<Entry>>,
    calls: Mutex<usize>,
    rule: Box<Rule>,
}

impl Recorder {
    pub fn failing(
        rule: impl Fn(usize, &Event<'_>) -> Option<i32> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            entries: Mutex::default(),
            calls: Mutex::default(),
            rule: Box::new(rule),
        })
    }

    pub fn new() -> Arc<Self> {
        Self::failing(|_, _| None)
    }

    pub fn disk(self: &Arc<Self>) -> Disk {
        Disk::with_faults(Arc::clone(self) as Arc<dyn Faults>)
    }

    pub fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap().clone()
    }

    /// Number of calls announced so far.
    pub fn calls(&self) -> usize {
        *self.calls.lock().unwrap()
    }

    /// The operations of one kind, in the order in which they succeeded, as path names.
    pub fn succeeded(&self, operation: Operation) -> Vec<PathBuf> {
        let entries = self.entries.lock().unwrap();
        let calls = entries.iter().filter_map(|entry| match entry {
            Entry::After(call) if call.operation == operation => Some(call.path.clone()),
            _ => None,
        });
        calls.collect()
    }

    pub fn steps(&self) -> Vec<Step> {
        let entries = self.entries.lock().unwrap();
        let steps = entries.iter().filter_map(|entry| match entry {
            Entry::Step(step) => Some(*step),
            _ => None,
        });
        steps.collect()
    }
}

impl Faults for Recorder {
    fn before(&self, event: Event<'_>) -> io::Result<()> {
        let number = {
            let mut calls = self.calls.lock().unwrap();
            *calls += 1;
            *calls - 1
        };
        self.entries
            .lock()
            .unwrap()
            .push(Entry::Before(Call::of(event, None)));
        match (self.rule)(number, &event) {
            Some(errno) => Err(io::Error::from_raw_os_error(errno)),
            None => Ok(()),
        }
    }

    fn after(&self, event: Event<'_>) {
        let bytes = match event.operation {
            Operation::SyncFile => Some(fs::read(event.path).unwrap()),
            _ => None,
        };
        self.entries
            .lock()
            .unwrap()
            .push(Entry::After(Call::of(event, bytes)));
    }

    fn at_step(&self, step: Step) {
        self.entries.lock().unwrap().push(Entry::Step(step));
    }
}
