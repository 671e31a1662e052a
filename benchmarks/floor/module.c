/* The floor: what handing out the same objects costs with nothing around it.
 *
 * An iterator copies payloads from a mapping in the consumer's thread and builds the same
 * sample object (bytes, a dict of four values, two ids). No checksum, no bounds check, no
 * thread, no error handling of files: it is a yardstick, not a reader. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "store.h"

typedef struct {
    PyObject_HEAD
    Store store;
    Weights weights;
    uint64_t *starts; /* first row of each cache, and the end of all rows */
    Py_ssize_t caches;
    PyTypeObject *sample_type;
    PyObject *flag, *label, *name, *score; /* keys of the metadata */
} Floor;

typedef struct {
    PyObject_HEAD
    Floor *floor;
    uint64_t seed, position, stop;
} Draws;

static PyTypeObject FloorType, DrawsType;

static PyObject *payload_at(const Floor *floor, uint64_t row) {
    const uint64_t *offsets = floor->store.offsets.data;
    return PyBytes_FromStringAndSize((const char *)floor->store.payload.data + offsets[row],
                                     (Py_ssize_t)(offsets[row + 1] - offsets[row]));
}

/* Takes over the reference to value. */
static int put(PyObject *metadata, PyObject *key, PyObject *value) {
    int failed = value == NULL || PyDict_SetItem(metadata, key, value);
    Py_XDECREF(value);
    return failed;
}

static PyObject *metadata_at(const Floor *floor, uint64_t row) {
    const Store *store = &floor->store;
    const uint64_t *ends = store->name_offsets.data;
    PyObject *metadata = PyDict_New();
    if (metadata == NULL) {
        return NULL;
    }
    if (put(metadata, floor->flag, PyBool_FromLong(((const uint8_t *)store->flag.data)[row])) ||
        put(metadata, floor->label, PyLong_FromLongLong(((const int64_t *)store->label.data)[row])) ||
        put(metadata, floor->name,
            PyUnicode_DecodeUTF8((const char *)store->name.data + ends[row],
                                 (Py_ssize_t)(ends[row + 1] - ends[row]), NULL)) ||
        put(metadata, floor->score, PyFloat_FromDouble(((const double *)store->score.data)[row]))) {
        Py_DECREF(metadata);
        return NULL;
    }
    return metadata;
}

static PyObject *sample_at(const Floor *floor, uint64_t row) {
    Py_ssize_t cache = 0;
    while (row >= floor->starts[cache + 1]) {
        cache++;
    }
    PyObject *sample = floor->sample_type->tp_alloc(floor->sample_type, 4);
    if (sample == NULL) {
        return NULL;
    }
    PyTuple_SET_ITEM(sample, 0, payload_at(floor, row));
    PyTuple_SET_ITEM(sample, 1, metadata_at(floor, row));
    PyTuple_SET_ITEM(sample, 2, PyLong_FromSsize_t(cache));
    PyTuple_SET_ITEM(sample, 3, PyLong_FromUnsignedLongLong(row - floor->starts[cache]));
    for (Py_ssize_t item = 0; item < 4; item++) {
        if (PyTuple_GET_ITEM(sample, item) == NULL) {
            Py_DECREF(sample);
            return NULL;
        }
    }
    return sample;
}

static PyObject *draws_next(Draws *draws) {
    if (draws->position == draws->stop) {
        return NULL;
    }
    const Floor *floor = draws->floor;
    return sample_at(floor, draw_row(&floor->weights, floor->store.rows, draws->seed, draws->position++));
}

static void draws_dealloc(Draws *draws) {
    Py_XDECREF(draws->floor);
    PyObject_Free(draws);
}

static PyTypeObject DrawsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "floor.Draws",
    .tp_basicsize = sizeof(Draws),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = (destructor)draws_dealloc,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)draws_next,
};

static PyObject *floor_draws(Floor *floor, PyObject *args) {
    unsigned long long seed, start, count;
    if (!PyArg_ParseTuple(args, "KKK", &seed, &start, &count)) {
        return NULL;
    }
    Draws *draws = PyObject_New(Draws, &DrawsType);
    if (draws != NULL) {
        draws->floor = (Floor *)Py_NewRef((PyObject *)floor);
        draws->seed = seed;
        draws->position = start;
        draws->stop = start + count;
    }
    return (PyObject *)draws;
}

static PyObject *floor_batch(Floor *floor, PyObject *args) {
    unsigned long long seed, start, count;
    if (!PyArg_ParseTuple(args, "KKK", &seed, &start, &count)) {
        return NULL;
    }
    const uint64_t *offsets = floor->store.offsets.data;
    uint64_t total = 0;
    for (uint64_t draw = 0; draw < count; draw++) {
        uint64_t row = draw_row(&floor->weights, floor->store.rows, seed, start + draw);
        total += offsets[row + 1] - offsets[row];
    }
    PyObject *buffer = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)total);
    if (buffer == NULL) {
        return NULL;
    }
    char *out = PyByteArray_AS_STRING(buffer);
    for (uint64_t draw = 0; draw < count; draw++) {
        uint64_t row = draw_row(&floor->weights, floor->store.rows, seed, start + draw);
        uint64_t bytes = offsets[row + 1] - offsets[row];
        memcpy(out, (const char *)floor->store.payload.data + offsets[row], bytes);
        out += bytes;
    }
    return buffer;
}

static PyObject *floor_rows(Floor *floor, PyObject *args) {
    unsigned long long seed, start, count;
    uint64_t sum = 0;
    if (!PyArg_ParseTuple(args, "KKK", &seed, &start, &count)) {
        return NULL;
    }
    for (uint64_t draw = 0; draw < count; draw++) {
        sum += draw_row(&floor->weights, floor->store.rows, seed, start + draw);
    }
    return PyLong_FromUnsignedLongLong(sum);
}

static PyObject *floor_fetch(Floor *floor, PyObject *args) {
    Py_ssize_t cache;
    unsigned long long sample;
    if (!PyArg_ParseTuple(args, "nK", &cache, &sample)) {
        return NULL;
    }
    if (cache < 0 || cache >= floor->caches || sample >= floor->starts[cache + 1] - floor->starts[cache]) {
        PyErr_SetString(PyExc_IndexError, "no such sample");
        return NULL;
    }
    return sample_at(floor, floor->starts[cache] + sample);
}

static PyObject *floor_weigh(Floor *floor, PyObject *values) {
    Py_buffer view;
    if (PyObject_GetBuffer(values, &view, PyBUF_SIMPLE)) {
        return NULL;
    }
    int failed = 0;
    if ((uint64_t)view.len != floor->store.rows * sizeof(double)) {
        PyErr_SetString(PyExc_ValueError, "one float64 for each row is wanted");
        failed = 1;
    } else if (weights_build(&floor->weights, view.buf, floor->store.rows)) {
        PyErr_NoMemory();
        failed = 1;
    }
    PyBuffer_Release(&view);
    if (failed) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *floor_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)keywords;
    const char *directory;
    PyObject *starts, *sample_type;
    if (!PyArg_ParseTuple(args, "sO!O!", &directory, &PyList_Type, &starts, &PyType_Type, &sample_type)) {
        return NULL;
    }
    if (PyList_GET_SIZE(starts) < 2 || !PyType_IsSubtype((PyTypeObject *)sample_type, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "wanted: directory, starts of caches, a tuple type");
        return NULL;
    }
    Floor *floor = (Floor *)type->tp_alloc(type, 0);
    if (floor == NULL) {
        return NULL;
    }
    floor->caches = PyList_GET_SIZE(starts) - 1;
    floor->starts = PyMem_Calloc((size_t)floor->caches + 1, sizeof(uint64_t));
    floor->sample_type = (PyTypeObject *)Py_NewRef(sample_type);
    floor->flag = PyUnicode_InternFromString("flag");
    floor->label = PyUnicode_InternFromString("label");
    floor->name = PyUnicode_InternFromString("name");
    floor->score = PyUnicode_InternFromString("score");
    if (floor->starts == NULL || !floor->flag || !floor->label || !floor->name || !floor->score) {
        PyErr_NoMemory();
        Py_DECREF(floor);
        return NULL;
    }
    for (Py_ssize_t cache = 0; cache <= floor->caches; cache++) {
        floor->starts[cache] = PyLong_AsUnsignedLongLong(PyList_GET_ITEM(starts, cache));
    }
    if (PyErr_Occurred() == NULL && store_open(&floor->store, directory)) {
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, directory);
    }
    if (PyErr_Occurred() == NULL && floor->starts[floor->caches] != floor->store.rows) {
        PyErr_SetString(PyExc_ValueError, "the store holds another number of rows");
    }
    if (PyErr_Occurred() != NULL) {
        Py_DECREF(floor);
        return NULL;
    }
    return (PyObject *)floor;
}

static void floor_dealloc(Floor *floor) {
    store_close(&floor->store);
    weights_free(&floor->weights);
    PyMem_Free(floor->starts);
    Py_XDECREF(floor->sample_type);
    Py_XDECREF(floor->flag);
    Py_XDECREF(floor->label);
    Py_XDECREF(floor->name);
    Py_XDECREF(floor->score);
    Py_TYPE(floor)->tp_free((PyObject *)floor);
}

static PyMethodDef floor_methods[] = {
    {"draws", (PyCFunction)floor_draws, METH_VARARGS, "Iterator of samples: seed, start, count."},
    {"batch", (PyCFunction)floor_batch, METH_VARARGS, "One buffer of payloads: seed, start, count."},
    {"rows", (PyCFunction)floor_rows, METH_VARARGS, "Sum of drawn rows: seed, start, count."},
    {"fetch", (PyCFunction)floor_fetch, METH_VARARGS, "One sample: cache, sample."},
    {"weigh", (PyCFunction)floor_weigh, METH_O, "Draw by these float64 weights from now on."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject FloorType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "floor.Floor",
    .tp_basicsize = sizeof(Floor),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = floor_new,
    .tp_dealloc = (destructor)floor_dealloc,
    .tp_methods = floor_methods,
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "drt_floor", .m_doc = "The floor of the benchmarks.", .m_size = -1,
};

PyMODINIT_FUNC PyInit_drt_floor(void) {
    if (PyType_Ready(&FloorType) || PyType_Ready(&DrawsType)) {
        return NULL;
    }
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && (PyModule_AddObjectRef(made, "Floor", (PyObject *)&FloorType) ||
                         PyModule_AddIntConstant(made, "optimized",
#ifdef __OPTIMIZE__
                                                 1
#else
                                                 0
#endif
                                                 ))) {
        Py_CLEAR(made);
    }
    return made;
}
