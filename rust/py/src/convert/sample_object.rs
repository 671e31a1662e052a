//! Instances of `CachedSample`, allocated by the class itself and filled in place.
//!
//! Owns how a named tuple comes to be without the two tuples and the call that `tuple.__new__` wants: they took twice the time. Must not know what the fields mean.
//! Invariant: an instance leaves with all of its fields set.
#![expect(
    unsafe_code,
    reason = "allocating a subclass of tuple has no safe form; the argument stands at the blocks"
)]

use std::mem::transmute;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

/// Fields of a sample.
const FIELDS: usize = 4;

/// A subclass of tuple, and how it allocates.
pub(crate) struct SampleClass {
    class: Py<PyType>,
    allocate: ffi::allocfunc,
}

impl SampleClass {
    /// Takes the class.
    ///
    /// # Errors
    /// `TypeError` where it is no subclass of tuple made by a `class` statement.
    pub(crate) fn new(class: Bound<'_, PyType>) -> PyResult<Self> {
        let refused = || PyTypeError::new_err("samples have to be a named tuple");
        if !class.is_subclass_of::<PyTuple>()? || class.is(class.py().get_type::<PyTuple>()) {
            return Err(refused());
        }
        // SAFETY: the pointer is that of a type object, which `class` keeps alive; the slot is looked up, not called.
        let slot = unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_alloc) };
        if slot.is_null() {
            return Err(refused());
        }
        // SAFETY: CPython documents the value of this slot, which is not null, as a function of this type.
        let allocate = unsafe { transmute::<*mut std::ffi::c_void, ffi::allocfunc>(slot) };
        Ok(Self {
            class: class.unbind(),
            allocate,
        })
    }

    /// An instance with these fields.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline]
    pub(crate) fn instance<'py>(
        &self,
        py: Python<'py>,
        fields: [Bound<'py, PyAny>; FIELDS],
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = self.class.bind(py).as_type_ptr();
        // SAFETY: `allocate` is the allocator of `class`, which is alive, and the GIL is held. What it returns is a new
        // reference to a tuple of four empty items, or null with an exception set.
        let instance = unsafe { Bound::from_owned_ptr_or_err(py, (self.allocate)(class, 4))? };
        for (place, field) in (0..).zip(fields) {
            // SAFETY: the instance is a tuple with that many items that nobody else refers to, for no Python code ran since
            // it was made. The reference to the field is given away, whatever the outcome.
            let outcome =
                unsafe { ffi::PyTuple_SetItem(instance.as_ptr(), place, field.into_ptr()) };
            if outcome != 0 {
                return Err(PyErr::fetch(py));
            }
        }
        Ok(instance)
    }
}
