/* The floor's files, mapped: nothing is checked, nothing is cached, nothing is shared. */
#ifndef FLOOR_STORE_H
#define FLOOR_STORE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const void *data;
    size_t bytes;
} Mapped;

/* One file per column; samples of all caches stand back to back. Offsets have rows + 1 entries. */
typedef struct {
    Mapped payload, offsets, flag, label, score, name, name_offsets;
    uint64_t rows;
} Store;

/* Returns 0, or -1 with errno set and nothing left mapped. */
int store_open(Store *store, const char *directory);
void store_close(Store *store);

/* Rows drawn by weight: inclusive sums scaled to 2^62 and a guide table over their high bits. */
typedef struct {
    uint64_t *sums;
    uint32_t *guide;
    uint64_t rows;
    int shift;
} Weights;

/* Returns 0, or -1 if memory is short. Replaces what was there. */
int weights_build(Weights *weights, const double *values, uint64_t rows);
void weights_free(Weights *weights);

/* The finalizer of SplitMix64: a position in, 64 scattered bits out. */
static inline uint64_t scatter(uint64_t value) {
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

static inline uint64_t scaled(uint64_t word, uint64_t range) {
    return (uint64_t)(((unsigned __int128)word * range) >> 64);
}

/* The row at a position of the stream with this seed. */
static inline uint64_t draw_row(const Weights *weights, uint64_t rows, uint64_t seed, uint64_t position) {
    uint64_t word = scatter(seed ^ scatter(position));
    if (weights->sums == NULL) {
        return scaled(word, rows);
    }
    uint64_t target = scaled(word, weights->sums[rows - 1]);
    uint64_t row = weights->guide[target >> weights->shift];
    while (weights->sums[row] <= target) {
        row++;
    }
    return row;
}

#endif
