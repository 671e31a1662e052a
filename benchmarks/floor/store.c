#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_file(Mapped *mapped, const char *directory, const char *name) {
    char path[4096];
    struct stat facts;
    int descriptor, failed;

    mapped->data = NULL;
    mapped->bytes = 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return -1;
    }
    failed = fstat(descriptor, &facts);
    if (!failed && facts.st_size > 0) {
        void *data = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
        if (data == MAP_FAILED) {
            failed = -1;
        } else {
            mapped->data = data;
            mapped->bytes = (size_t)facts.st_size;
        }
    }
    close(descriptor);
    return failed;
}

int store_open(Store *store, const char *directory) {
    memset(store, 0, sizeof *store);
    if (map_file(&store->payload, directory, "payload.bin") ||
        map_file(&store->offsets, directory, "offsets.bin") ||
        map_file(&store->flag, directory, "flag.bin") ||
        map_file(&store->label, directory, "label.bin") ||
        map_file(&store->score, directory, "score.bin") ||
        map_file(&store->name, directory, "name.bin") ||
        map_file(&store->name_offsets, directory, "name_offsets.bin")) {
        int error = errno;
        store_close(store);
        errno = error;
        return -1;
    }
    store->rows = store->offsets.bytes / 8 - 1;
    return 0;
}

static void unmap(Mapped *mapped) {
    if (mapped->data != NULL) {
        munmap((void *)mapped->data, mapped->bytes);
        mapped->data = NULL;
    }
}

void store_close(Store *store) {
    unmap(&store->payload);
    unmap(&store->offsets);
    unmap(&store->flag);
    unmap(&store->label);
    unmap(&store->score);
    unmap(&store->name);
    unmap(&store->name_offsets);
    store->rows = 0;
}

void weights_free(Weights *weights) {
    free(weights->sums);
    free(weights->guide);
    memset(weights, 0, sizeof *weights);
}

int weights_build(Weights *weights, const double *values, uint64_t rows) {
    double total = 0.0, scale;
    uint64_t sum = 0, buckets, bucket = 0;
    int bits = 0;

    weights_free(weights);
    for (uint64_t row = 0; row < rows; row++) {
        total += values[row];
    }
    scale = 4611686018427387904.0 / total; /* 2^62 */
    weights->sums = malloc(rows * sizeof *weights->sums);
    if (weights->sums == NULL) {
        return -1;
    }
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t unit = (uint64_t)(values[row] * scale);
        sum += unit ? unit : 1;
        weights->sums[row] = sum;
    }
    while ((rows >> (bits + 1)) != 0) {
        bits++; /* as many buckets as rows, rounded down to a power of two */
    }
    weights->shift = 0;
    while ((sum >> weights->shift) >> bits != 0) {
        weights->shift++;
    }
    buckets = (sum >> weights->shift) + 1;
    weights->guide = malloc(buckets * sizeof *weights->guide);
    if (weights->guide == NULL) {
        weights_free(weights);
        return -1;
    }
    for (uint64_t row = 0; row < rows; row++) {
        for (; bucket < buckets && (bucket << weights->shift) < weights->sums[row]; bucket++) {
            weights->guide[bucket] = (uint32_t)row;
        }
    }
    for (; bucket < buckets; bucket++) {
        weights->guide[bucket] = (uint32_t)(rows - 1);
    }
    weights->rows = rows;
    return 0;
}
