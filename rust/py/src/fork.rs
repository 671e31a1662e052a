//! What a forked child has to be told.
//!
//! Owns the registration with `os.register_at_fork`. Must not do the work: pool and storage do. Invariant: in the child nothing is touched that another thread of the
//! parent may have held.

use dataset_rt_pool::fork::note_forked_child;
use dataset_rt_storage::durable::fork::{after_fork_in_child, after_fork_in_parent, before_fork};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::objects::forget_threads;

#[pyfunction]
fn prepare_fork() {
    before_fork();
}

#[pyfunction]
fn parent_forked() {
    after_fork_in_parent();
}

#[pyfunction]
fn child_forked() {
    after_fork_in_child();
    forget_threads();
    note_forked_child();
}

/// Has the interpreter call the hooks around every fork it makes; once per process, as modules are imported once.
pub(crate) fn register(py: Python<'_>) -> PyResult<()> {
    let hooks = PyDict::new(py);
    hooks.set_item("before", wrap_pyfunction!(prepare_fork, py)?)?;
    hooks.set_item("after_in_parent", wrap_pyfunction!(parent_forked, py)?)?;
    hooks.set_item("after_in_child", wrap_pyfunction!(child_forked, py)?)?;
    let os = py.import("os")?;
    // Systems without fork have no such function.
    if let Ok(register) = os.getattr("register_at_fork") {
        register.call((), Some(&hooks))?;
    }
    Ok(())
}
