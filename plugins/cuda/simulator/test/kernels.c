/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A native library for the simulated driver's tests. */
#include <pi/pi_native_kernel.h>

#include <string.h>
#include <threads.h>

PI_EXPORT uint32_t counter[4] = {1, 2, 3, 4};

/* data[i] = i + value */
static void PI_CALL count_up(const pi_native_group *group, void *const *arguments) {
    uint32_t *data = (uint32_t *)arguments[0];
    uint32_t value;
    uint64_t i;
    memcpy(&value, arguments[1], sizeof value);
    for (i = group->begin[0]; i < group->end[0]; ++i)
        data[i] = (uint32_t)i + value;
}

/* to[i] = from[i] */
static void PI_CALL copy_words(const pi_native_group *group, void *const *arguments) {
    uint32_t *to = (uint32_t *)arguments[0];
    const uint32_t *from = (const uint32_t *)arguments[1];
    uint64_t i;
    for (i = group->begin[0]; i < group->end[0]; ++i)
        to[i] = from[i];
}

/* out[group] = the first byte of its shared memory, which is then overwritten. */
static void PI_CALL look_at_shared(const pi_native_group *group, void *const *arguments) {
    uint8_t *out = (uint8_t *)arguments[0];
    uint8_t *shared = (uint8_t *)arguments[1];
    out[group->group_id[0]] = shared[0];
    shared[0] = 0;
}

/* Fills `size` bytes of its shared memory with group + 1; out[group] = their sum. */
static void PI_CALL fill_shared(const pi_native_group *group, void *const *arguments) {
    uint32_t *out = (uint32_t *)arguments[0];
    uint8_t *shared = (uint8_t *)arguments[2];
    uint32_t size, i, sum = 0;
    memcpy(&size, arguments[1], sizeof size);
    memset(shared, (int)group->group_id[0] + 1, size);
    for (i = 0; i < size; ++i)
        sum += shared[i];
    out[group->group_id[0]] = sum;
}

/* out[i] = where parameter i is in shared memory. */
static void PI_CALL measure_shared(const pi_native_group *group, void *const *arguments) {
    uint32_t *out = (uint32_t *)arguments[0];
    int i;
    (void)group;
    for (i = 0; i < 3; ++i)
        out[i] = (uint32_t)((const char *)arguments[1 + i] - (const char *)arguments[4]);
}

/* out[i] = counter[i]++ */
static void PI_CALL read_counter(const pi_native_group *group, void *const *arguments) {
    uint32_t *out = (uint32_t *)arguments[0];
    uint64_t i;
    for (i = group->begin[0]; i < group->end[0]; ++i)
        out[i] = counter[i % 4]++;
}

/* Each work-group waits for all others: only a cooperative launch completes. */
static void PI_CALL meet(const pi_native_group *group, void *const *arguments) {
    uint32_t *arrived = (uint32_t *)arguments[0];
    __atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < group->group_count[0]) {
    }
}

/* Returns when the word is not 0. */
static void PI_CALL hold(const pi_native_group *group, void *const *arguments) {
    const uint32_t *go = (const uint32_t *)arguments[0];
    (void)group;
    while (!__atomic_load_n(go, __ATOMIC_SEQ_CST))
        thrd_yield();
}

/* Sets the word to 1. */
static void PI_CALL set_word(const pi_native_group *group, void *const *arguments) {
    (void)group;
    __atomic_store_n((uint32_t *)arguments[0], 1, __ATOMIC_SEQ_CST);
}

/* What a kernel receives for an image, and the first byte of its first pixel: {type, order,
 * channel type, width, height, depth, byte, and of a sampler normalized, addressing, filter; 99
 * without one}. */
static void PI_CALL describe_image(const pi_native_group *group, void *const *arguments) {
    const pi_native_image *image = (const pi_native_image *)arguments[0];
    const pi_native_sampler *sampler = image->sampler;
    uint32_t *out = (uint32_t *)arguments[1];
    int i;
    (void)group;
    out[0] = image->image_type;
    out[1] = image->channel_order;
    out[2] = image->channel_type;
    for (i = 0; i < 3; ++i)
        out[3 + i] = (uint32_t)image->extent[i];
    out[6] = *(const uint8_t *)image->data;
    out[7] = sampler ? sampler->normalized_coordinates : 99;
    out[8] = sampler ? sampler->addressing : 99;
    out[9] = sampler ? sampler->filter : 99;
}

const pi_native_program *PI_CALL piNativeProgram(void) {
    static const pi_native_kernel kernels[] = {{"count_up", count_up, 2, 0},
                                               {"copy_words", copy_words, 2, 0},
                                               {"look_at_shared", look_at_shared, 2, 0},
                                               {"fill_shared", fill_shared, 3, 0},
                                               {"measure_shared", measure_shared, 5, 0},
                                               {"read_counter", read_counter, 1, 0},
                                               {"meet", meet, 1, 0},
                                               {"hold", hold, 1, 0},
                                               {"set_word", set_word, 1, 0},
                                               {"describe_image", describe_image, 2, 0}};
    static const pi_native_program program = {sizeof program, 10, kernels};
    return &program;
}
