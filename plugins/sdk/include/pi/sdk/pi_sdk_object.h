/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Help for plugins in C: objects with reference counts, checks of handles, lists and info answers. A plugin's
 * own struct begins with a pi_sdk_object (or with one of the sdk's objects, which do). C only: plugins in
 * C++ have object.hpp.
 */
#ifndef PI_SDK_PI_SDK_OBJECT_H
#define PI_SDK_PI_SDK_OBJECT_H

#ifdef __cplusplus
#error "this is for plugins in C; plugins in C++ include <pi/sdk/object.hpp>"
#endif

#include <pi/sdk/pi_sdk.h>

#include <stdatomic.h>
#include <stdlib.h>

/* ----- Objects -------------------------------------------------------------------------------- */

typedef struct pi_sdk_object {
    pi_object_header header;
    const pi_host *host;
    _Atomic uint32_t references;
    uint32_t counted; /* 0: lives as long as the instance; retain and release change nothing */
    /* Called by the last release: gives back what the object holds. NULL: nothing. The object's own
     * bytes are freed after it. */
    void (*destroy)(void *object);
} pi_sdk_object;

/* A new object: `size` zeroed bytes that begin with a pi_sdk_object, with one reference. NULL, and the
 * error text set, when there is no memory: answer PI_ERROR_OUT_OF_HOST_MEMORY then. */
static inline void *pi_sdk_new(const pi_host *host, pi_kind kind, size_t size,
                               void (*destroy)(void *object)) {
    pi_sdk_object *object = (pi_sdk_object *)calloc(1, size);
    if (!object) {
        pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for an object of %zu bytes",
                    size);
        return NULL;
    }
    pi_sdk_object_begin(&object->header, host, kind);
    object->host = host;
    atomic_init(&object->references, 1);
    object->counted = 1;
    object->destroy = destroy;
    return object;
}

/* Makes an object of a part of the instance: platforms and root devices, which live as long as it does. */
static inline void pi_sdk_embed(const pi_host *host, pi_kind kind, pi_sdk_object *object) {
    memset(object, 0, sizeof *object);
    object->header.dispatch = host->dispatch;
    object->header.kind = kind;
    object->host = host;
    atomic_init(&object->references, 1);
}

/* Both take an object of any kind, and retain gives it back. NULL is left alone. */
static inline void *pi_sdk_retain(void *handle) {
    pi_sdk_object *object = (pi_sdk_object *)handle;
    if (object && object->counted)
        atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
    return handle;
}
static inline void pi_sdk_release(void *handle) {
    pi_sdk_object *object = (pi_sdk_object *)handle;
    const pi_host *host;
    if (!object || !object->counted ||
        atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) != 1)
        return;
    host = object->host;
    if (object->destroy)
        object->destroy(object);
    free(object);
    pi_sdk_object_end(host);
}

/* ----- Checks --------------------------------------------------------------------------------- */

/* The host of the object behind an entry's first argument: the loader has dispatched by it, so it is an
 * object of this plugin, though maybe of a wrong kind. */
static inline const pi_host *pi_sdk_host(const void *handle) {
    return ((const pi_sdk_object *)handle)->host;
}

/* PI_ERROR_INVALID_<KIND> with a text unless the handle is of this instance and kind. `name` is the
 * argument's. Every handle is checked, also the first one for its kind. */
static inline pi_result pi_sdk_check(const pi_host *host, const void *handle, pi_kind kind,
                                     const char *name) {
    const pi_object_header *header = (const pi_object_header *)handle;
    if (!header)
        return pi_sdk_fail(host, pi_sdk_invalid(kind), "%s is NULL", name);
    if (header->dispatch != host->dispatch)
        return pi_sdk_fail(host, pi_sdk_invalid(kind), "%s belongs to another plugin or loader",
                           name);
    if (header->kind != kind)
        return pi_sdk_fail(host, pi_sdk_invalid(kind), "%s is an object of kind %u, not %u", name,
                           (unsigned)header->kind, (unsigned)kind);
    return PI_SUCCESS;
}

/* A pointer argument that may not be NULL. */
static inline pi_result pi_sdk_check_pointer(const pi_host *host, const void *pointer,
                                             const char *name) {
    return pointer ? PI_SUCCESS
                   : pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "%s is NULL", name);
}

/* PI_ERROR_UNSUPPORTED_FEATURE if `flags` has a bit that is not in `known`. */
static inline pi_result pi_sdk_check_flags(const pi_host *host, uint64_t flags, uint64_t known) {
    return flags & ~known ? pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE,
                                        "flags is 0x%llx; only the bits 0x%llx are known here",
                                        (unsigned long long)flags, (unsigned long long)known)
                          : PI_SUCCESS;
}

static inline pi_result pi_sdk_check_reserved(const pi_host *host, uint64_t reserved) {
    return reserved ? pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE,
                                  "reserved is %llu; it must be 0", (unsigned long long)reserved)
                    : PI_SUCCESS;
}

/* ----- Answers -------------------------------------------------------------------------------- */

/* The (capacity, out_array, out_count) idiom of an entry whose first argument is `handle`, of `kind`. */
static inline pi_result pi_sdk_write_list(const void *handle, pi_kind kind, const void *items,
                                          size_t item_size, uint32_t count, uint32_t capacity,
                                          void *out_items, uint32_t *out_count) {
    const pi_host *host = pi_sdk_host(handle);
    const pi_result result = pi_sdk_check(host, handle, kind, "the first argument");
    if (result)
        return result;
    if (!out_items && !out_count)
        return pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER,
                           "the output array and out_count are both NULL: nothing to answer into");
    if (out_items && count && capacity)
        memcpy(out_items, items, (capacity < count ? capacity : count) * item_size);
    if (out_count)
        *out_count = count;
    return PI_SUCCESS;
}

/* One information of an object. Tables end with {0}. */
typedef struct pi_sdk_info {
    uint32_t name; /* the enumerator */
    union {
        uint32_t u32;
        uint64_t u64;
        const void *pointer;
    } value;
    const void *data; /* NULL: it is value */
    uint64_t bytes;
} pi_sdk_info;

/* The rows, after the types in the enumerators' comments. */
static inline pi_sdk_info pi_sdk_u32(uint32_t name, uint32_t value) {
    return (pi_sdk_info){name, {.u32 = value}, NULL, sizeof value};
}
static inline pi_sdk_info pi_sdk_u64(uint32_t name, uint64_t value) {
    return (pi_sdk_info){name, {.u64 = value}, NULL, sizeof value};
}
static inline pi_sdk_info pi_sdk_handle(uint32_t name, const void *value) {
    return (pi_sdk_info){name, {.pointer = value}, NULL, sizeof value};
}
static inline pi_sdk_info pi_sdk_text(uint32_t name, const char *text) {
    return (pi_sdk_info){name, {0}, text, strlen(text) + 1};
}
static inline pi_sdk_info pi_sdk_bytes(uint32_t name, const void *data, uint64_t bytes) {
    return (pi_sdk_info){name, {0}, data, bytes};
}

/* Looks `name` up; nothing is answered and *out_found is 0 when the table does not have it. */
static inline pi_result pi_sdk_find_info(const pi_host *host, const pi_sdk_info *rows,
                                         uint32_t name, uint64_t size, void *value,
                                         uint64_t *out_size, int *out_found) {
    for (; rows->name; ++rows)
        if (rows->name == name) {
            *out_found = 1;
            return pi_sdk_write_info(host, rows->data ? rows->data : &rows->value, rows->bytes,
                                     size, value, out_size);
        }
    *out_found = 0;
    return PI_SUCCESS;
}

/* A Get...Info entry of a checked object: the table's row, else PI_ERROR_UNSUPPORTED_FEATURE for a name that
 * the object cannot answer, or PI_ERROR_INVALID_ENUMERATION for one that is not in the list. */
static inline pi_result pi_sdk_answer(const void *object, const pi_sdk_info *rows, uint32_t name,
                                      uint64_t size, void *value, uint64_t *out_size) {
    const pi_host *host = pi_sdk_host(object);
    const pi_kind kind = ((const pi_object_header *)object)->kind;
    int found;
    const pi_result result = pi_sdk_find_info(host, rows, name, size, value, out_size, &found);
    if (found)
        return result;
    if (pi_sdk_info_exists(kind, name))
        return pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE,
                           "name %u: this object does not have that information", (unsigned)name);
    return pi_sdk_fail(host, PI_ERROR_INVALID_ENUMERATION,
                       "name %u is no information of objects of kind %u", (unsigned)name,
                       (unsigned)kind);
}

/* ----- Entries -------------------------------------------------------------------------------- */

/* pi_sdk_<kind>_retain and _release, one pair a kind, because each slot has a type of its own. */
#define PI_SDK_COUNTED(object, kind)                                                               \
    static inline pi_result PI_CALL pi_sdk_##object##_retain(pi_##object handle) {                 \
        const pi_result result = pi_sdk_check(pi_sdk_host(handle), handle, kind, #object);         \
        if (!result)                                                                               \
            pi_sdk_retain(handle);                                                                 \
        return result;                                                                             \
    }                                                                                              \
    static inline pi_result PI_CALL pi_sdk_##object##_release(pi_##object handle) {                \
        const pi_result result = pi_sdk_check(pi_sdk_host(handle), handle, kind, #object);         \
        if (!result)                                                                               \
            pi_sdk_release(handle);                                                                \
        return result;                                                                             \
    }
PI_SDK_COUNTED(device, PI_KIND_DEVICE)
PI_SDK_COUNTED(context, PI_KIND_CONTEXT)
PI_SDK_COUNTED(queue, PI_KIND_QUEUE)
PI_SDK_COUNTED(mem, PI_KIND_MEM)
PI_SDK_COUNTED(program, PI_KIND_PROGRAM)
PI_SDK_COUNTED(kernel, PI_KIND_KERNEL)
PI_SDK_COUNTED(sampler, PI_KIND_SAMPLER)
PI_SDK_COUNTED(usm_pool, PI_KIND_USM_POOL)
#undef PI_SDK_COUNTED

#endif
