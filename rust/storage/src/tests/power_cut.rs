//! A power cut after any call, on a model of the disk.
//!
//! The model keeps what a careless file system may keep: of a file the bytes of its last sync, of a directory the names
//! of its last sync. Calls that were made and not synced may have reached the disk or not, whatever their order: a rename
//! in the base directory is tried both ways, and so are the removals of what a removed directory held.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::recorder::{Call, Entry, Recorder};
use super::{assert_holds, open, rebuild, small, write};
use crate::durable::{Disk, Operation};

/// A directory's or a file's durable state.
#[derive(Clone, Debug)]
enum Node {
    Dir {
        live: BTreeMap<String, usize>,
        durable: BTreeMap<String, usize>,
    },
    File {
        durable: Vec<u8>,
    },
}

/// The disk: nodes by number, as inodes are. Node 0 is the base directory.
#[derive(Clone, Debug)]
struct Model {
    base: PathBuf,
    nodes: Vec<Node>,
    removed: BTreeSet<usize>,
}

/// Which calls reached the disk although nothing made them.
#[derive(Clone, Copy)]
struct Luck {
    names: bool,
    removals: bool,
}

fn empty_dir() -> Node {
    Node::Dir {
        live: BTreeMap::new(),
        durable: BTreeMap::new(),
    }
}

impl Model {
    fn new(base: &Path) -> Self {
        Self {
            base: base.to_owned(),
            nodes: vec![empty_dir()],
            removed: BTreeSet::new(),
        }
    }

    fn find(&self, path: &Path) -> Option<usize> {
        let mut at = 0;
        for part in path.strip_prefix(&self.base).ok()? {
            let Node::Dir { live, .. } = &self.nodes[at] else {
                return None;
            };
            at = *live.get(part.to_str()?)?;
        }
        Some(at)
    }

    fn live_names(&mut self, path: &Path) -> Option<(&mut BTreeMap<String, usize>, String)> {
        let parent = self.find(path.parent()?)?;
        let name = path.file_name()?.to_str()?.to_owned();
        match &mut self.nodes[parent] {
            Node::Dir { live, .. } => Some((live, name)),
            Node::File { .. } => None,
        }
    }

    fn names_in(&self, path: &Path) -> usize {
        match self.find(path).map(|node| &self.nodes[node]) {
            Some(Node::Dir { live, .. }) => live.len(),
            _ => 0,
        }
    }

    fn link(&mut self, path: &Path, node: usize) {
        if let Some((live, name)) = self.live_names(path) {
            live.insert(name, node);
        }
    }

    fn unlink(&mut self, path: &Path) -> Option<usize> {
        let (live, name) = self.live_names(path)?;
        live.remove(&name)
    }

    fn make(&mut self, path: &Path, node: Node) {
        if self.find(path).is_none() {
            self.nodes.push(node);
            self.link(path, self.nodes.len() - 1);
        }
    }

    /// Applies a call that succeeded.
    fn apply(&mut self, call: &Call) {
        let path = &call.path;
        match call.operation {
            Operation::CreateDir => self.make(path, empty_dir()),
            Operation::Create => self.make(
                path,
                Node::File {
                    durable: Vec::new(),
                },
            ),
            Operation::SyncFile => {
                if let Some(node) = self.find(path) {
                    self.nodes[node] = Node::File {
                        durable: call.bytes.clone().unwrap(),
                    };
                }
            }
            Operation::SyncDir => {
                if let Some(node) = self.find(path)
                    && let Node::Dir { live, durable } = &mut self.nodes[node]
                {
                    durable.clone_from(live);
                }
            }
            Operation::Rename => {
                let node = self.unlink(path).unwrap();
                self.link(call.target.as_ref().unwrap(), node);
            }
            Operation::Exchange => {
                let target = call.target.as_ref().unwrap();
                let (from, to) = (self.unlink(path).unwrap(), self.unlink(target).unwrap());
                self.link(path, to);
                self.link(target, from);
            }
            Operation::RemoveFile | Operation::RemoveDir => {
                // The folder of temporaries is asked to go only if nothing is in it.
                if path.ends_with("tmp") && self.names_in(path) > 0 {
                    return;
                }
                let node = self.unlink(path);
                self.removed.extend(node);
            }
            _ => {}
        }
    }

    /// Writes the durable state of a node to a real path.
    fn restore(&self, node: usize, to: &Path, luck: Luck) {
        match &self.nodes[node] {
            Node::File { durable } => fs::write(to, durable).unwrap(),
            Node::Dir { live, durable } => {
                fs::create_dir_all(to).unwrap();
                let names = match luck.names {
                    true if node == 0 => live,
                    _ => durable,
                };
                let is_emptied = luck.removals && self.removed.contains(&node);
                for (name, node) in names.iter().filter(|_| !is_emptied) {
                    self.restore(*node, &to.join(name), luck);
                }
            }
        }
    }
}

/// Cuts the power after each call and says which row counts were found under the name, in order and without repeats.
fn states(base: &Path, entries: &[Entry], mut model: Model) -> Vec<Option<u64>> {
    let mut found: Vec<Option<u64>> = Vec::new();
    for entry in entries {
        let Entry::After(call) = entry else { continue };
        model.apply(call);
        for (names, removals) in [(false, false), (true, false), (false, true), (true, true)] {
            let image = tempfile::tempdir().unwrap();
            model.restore(0, image.path(), Luck { names, removals });
            let path = image.path().join("a");
            let rows = path.exists().then(|| {
                let cache = open(&path);
                assert_holds(&cache, cache.sample_count());
                cache.sample_count()
            });
            if !found.contains(&rows) {
                found.push(rows);
            }
        }
    }
    assert!(base.join("a").exists());
    found
}

#[test]
fn build_cut_after_any_call_is_absent_or_whole() {
    let base = tempfile::tempdir().unwrap();
    let recorder = Recorder::new();
    write(&recorder.disk(), base.path(), "a", &small(), 1, 20).unwrap();
    let found = states(base.path(), &recorder.entries(), Model::new(base.path()));
    assert_eq!(found, [None, Some(20)]);
}

#[test]
fn rebuild_cut_after_any_call_is_old_or_new_and_whole() {
    let base = tempfile::tempdir().unwrap();
    let first = Recorder::new();
    write(&first.disk(), base.path(), "a", &small(), 1, 7).unwrap();
    let mut model = Model::new(base.path());
    for entry in first.entries() {
        if let Entry::After(call) = entry {
            model.apply(&call);
        }
    }
    let recorder = Recorder::new();
    rebuild(&recorder.disk(), base.path(), "a", 20).unwrap();
    let found = states(base.path(), &recorder.entries(), model);
    assert_eq!(found, [Some(7), Some(20)]);
}

#[test]
fn rebuild_without_exchange_cut_after_any_call_is_old_absent_or_new_and_whole() {
    let base = tempfile::tempdir().unwrap();
    write(&Disk::new(), base.path(), "a", &small(), 1, 7).unwrap();
    let mut model = Model::new(base.path());
    // The old cache is durable; its bytes are taken from the disk.
    copy_durably(&mut model, &base.path().join("a"));
    let recorder =
        Recorder::failing(|_, event| (event.operation == Operation::Exchange).then_some(22));
    rebuild(&recorder.disk(), base.path(), "a", 20).unwrap();
    let found = states(base.path(), &recorder.entries(), model);
    assert_eq!(found, [Some(7), None, Some(20)]);
}

/// Enters a finished directory into the model, durable in every part.
fn copy_durably(model: &mut Model, path: &Path) {
    let call = |operation, bytes| Call {
        operation,
        path: path.to_owned(),
        target: None,
        bytes,
    };
    if path.is_dir() {
        model.apply(&call(Operation::CreateDir, None));
        for entry in fs::read_dir(path).unwrap() {
            copy_durably(model, &entry.unwrap().path());
        }
        model.apply(&call(Operation::SyncDir, None));
    } else {
        model.apply(&call(Operation::Create, None));
        model.apply(&call(Operation::SyncFile, Some(fs::read(path).unwrap())));
    }
    let parent = path.parent().unwrap().to_owned();
    model.apply(&Call {
        operation: Operation::SyncDir,
        path: parent,
        target: None,
        bytes: None,
    });
}
