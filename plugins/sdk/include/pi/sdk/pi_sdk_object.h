/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * For plugins in C: reference-counted objects, handle checks, lists and info queries. A plugin's
 * own struct begins with a pi_sdk_object, or with an sdk struct that does. C only: plugins in C++
 * have object.hpp.
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
    /* Called by the last release, before the object's own bytes are freed: frees what the object
     * owns. May be NULL. */
    void (*destroy)(void *object);
} pi_sdk_object;

/* Makes an object of `size` zeroed bytes, which begins with a pi_sdk_object, with one reference.
 * Without memory sets the error text and returns NULL: return PI_ERROR_OUT_OF_HOST_MEMORY then. */
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

/* Makes a part of the instance an object: platforms and root devices, which live as long as the
 * instance. */
static inline void pi_sdk_embed(const pi_host *host, pi_kind kind, pi_sdk_object *object) {
    memset(object, 0, sizeof *object);
    object->header.dispatch = host->dispatch;
    object->header.kind = kind;
    object->host = host;
    atomic_init(&object->references, 1);
}

/* Both accept an object of any kind, or NULL, which they ignore. Retain returns its argument. */
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

/* The host behind an entry's first argument. The loader dispatched by this handle, so it is an
 * object of this plugin, but maybe of the wrong kind. */
static inline const pi_host *pi_sdk_host(const void *handle) {
    return ((const pi_sdk_object *)handle)->host;
}

/* Returns PI_ERROR_INVALID_<KIND> with a text unless the handle is an object of this instance and
 * kind. `name` is the argument's. Check every handle, the first argument too: its kind may be
 * wrong. */
static inline pi_result pi_sdk_check(const pi_host *host, const void *handle, pi_kind kind,
                                     const char *name) {
    const pi_object_header *header = (const pi_object_header *)handle;
    if (!header)
        return pi_sdk_fail(host, pi_sdk_invalid(kind), "%s is NULL", name);
    if (header->dispatch != host->dispatch)
        return pi_sdk_fail(host, pi_sdk_invalid(kind), "%s belongs to another plugin or loader",
                           name);
    if (header->kind != kind)
        return pi_sdk_fail(host, pi_sdk_invalid(kind), "%s is of kind %s; %s is needed", name,
                           pi_sdk_kind_name(header->kind), pi_sdk_kind_name(kind));
    return PI_SUCCESS;
}

/* Checks a pointer argument that must not be NULL. */
static inline pi_result pi_sdk_check_pointer(const pi_host *host, const void *pointer,
                                             const char *name) {
    return pointer ? PI_SUCCESS
                   : pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "%s is NULL", name);
}

/* Returns PI_ERROR_UNSUPPORTED_FEATURE if `flags` has a bit that is not in `known`. */
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

/* Answers (capacity, out_array, out_count) of an entry whose first argument is `handle`, of
 * `kind`. */
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

/* One query that an object answers. Tables end with {0}. */
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

/* Rows, named after the types in the enumerators' comments. */
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

/* Looks `name` up. If the table lacks it, sets *out_found to 0 and writes nothing else. */
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

/* Answers an info query on a checked object from `rows`. A name that they lack gives
 * PI_ERROR_UNSUPPORTED_FEATURE if pi.h lists it for this kind, else
 * PI_ERROR_INVALID_ENUMERATION. */
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
                           "name %u: this object does not answer that query", (unsigned)name);
    return pi_sdk_fail(host, PI_ERROR_INVALID_ENUMERATION,
                       "name %u is not a query of objects of kind %s", (unsigned)name,
                       pi_sdk_kind_name(kind));
}

/* ----- Entries -------------------------------------------------------------------------------- */

/* pi_sdk_<kind>_retain and _release: a pair for each kind, since the slots' types differ. */
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
