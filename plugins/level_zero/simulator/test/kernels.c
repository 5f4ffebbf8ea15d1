/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A native library for the tests of the simulated Level Zero driver. */
#include <pi/pi_native_kernel.h>

#include <string.h>

PI_EXPORT uint32_t counter[4] = {1, 2, 3, 4};
PI_EXPORT uint32_t specialization_7 = 70;
PI_EXPORT uint8_t specialization_8 = 8;
PI_EXPORT uint32_t (*compute_area)(uint32_t, uint32_t);

PI_EXPORT uint32_t area(uint32_t width, uint32_t height);
uint32_t area(uint32_t width, uint32_t height) {
    return width * height;
}

/* data[i] = i + value */
static void PI_CALL count_up(const pi_native_group *group, void *const *arguments) {
    uint32_t *data = (uint32_t *)arguments[0];
    uint32_t value;
    uint64_t i;
    memcpy(&value, arguments[1], sizeof value);
    for (i = group->begin[0]; i < group->end[0]; ++i)
        data[i] = (uint32_t)i + value;
}

/* out[group] = the first byte of its local memory, which is then overwritten. */
static void PI_CALL look_at_local(const pi_native_group *group, void *const *arguments) {
    uint8_t *out = (uint8_t *)arguments[0];
    uint8_t *local = (uint8_t *)arguments[1];
    out[group->group_id[0]] = local[0];
    local[0] = 0;
}

/* out = {counter[0]++, specialization_7, specialization_8, compute_area(3, 4) or 0} */
static void PI_CALL read_state(const pi_native_group *group, void *const *arguments) {
    uint32_t *out = (uint32_t *)arguments[0];
    (void)group;
    out[0] = counter[0]++;
    out[1] = specialization_7;
    out[2] = specialization_8;
    out[3] = compute_area ? compute_area(3, 4) : 0;
}

/* Each work-group waits for all others: only a cooperative launch completes. */
static void PI_CALL meet(const pi_native_group *group, void *const *arguments) {
    uint32_t *arrived = (uint32_t *)arguments[0];
    __atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < group->group_count[0]) {
    }
}

/* *out = the number at the address that the memory contains. */
static void PI_CALL follow(const pi_native_group *group, void *const *arguments) {
    uint32_t *const *memory = (uint32_t *const *)arguments[0];
    (void)group;
    *(uint32_t *)arguments[1] = *memory[0];
}

/* What a kernel receives for an image and a sampler: {type, order, channel type, width, height,
 * depth, first byte, normalized, addressing, filter}. */
static void PI_CALL describe_image(const pi_native_group *group, void *const *arguments) {
    const pi_native_image *image = (const pi_native_image *)arguments[0];
    const pi_native_sampler *sampler = (const pi_native_sampler *)arguments[1];
    uint32_t *out = (uint32_t *)arguments[2];
    int i;
    (void)group;
    out[0] = image->image_type;
    out[1] = image->channel_order;
    out[2] = image->channel_type;
    for (i = 0; i < 3; ++i)
        out[3 + i] = (uint32_t)image->extent[i];
    out[6] = *(const uint8_t *)image->data;
    out[7] = sampler->normalized_coordinates;
    out[8] = sampler->addressing;
    out[9] = sampler->filter;
}

const pi_native_program *PI_CALL piNativeProgram(void) {
    static const pi_native_kernel kernels[] = {
        {"count_up", count_up, 2, 0},     {"look_at_local", look_at_local, 2, 0},
        {"read_state", read_state, 1, 0}, {"meet", meet, 1, 0},
        {"follow", follow, 2, 0},         {"describe_image", describe_image, 3, 0}};
    static const pi_native_program program = {sizeof program, 6, kernels};
    return &program;
}
