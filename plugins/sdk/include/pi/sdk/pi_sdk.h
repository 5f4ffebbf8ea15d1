/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C half of the sdk for plugin authors: object headers, handle checks, sized descriptors, info
 * queries and error texts. Everything is static inline: a plugin needs only this header and
 * pi_plugin.h. The C++ half (the .hpp files of this folder) is built on it.
 */
#ifndef PI_SDK_PI_SDK_H
#define PI_SDK_PI_SDK_H

#include <pi/pi_plugin.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the thread's error text, printf-like, and returns `code`: `return pi_sdk_fail(host, ...);`.
 * Longer texts are cut at 1023 bytes. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline pi_result
pi_sdk_fail(const pi_host *host, pi_result code, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    host->set_error(host, code, text);
    return code;
}

/* Writes the header version that the plugin was compiled with to the fields that the loader's
 * *out_desc has. */
static inline void pi_sdk_state_version(pi_plugin_desc *out_desc) {
    out_desc->version_major = PI_VERSION_MAJOR;
    out_desc->version_minor = PI_VERSION_MINOR;
    if (out_desc->struct_size >= offsetof(pi_plugin_desc, draft) + sizeof out_desc->draft)
        out_desc->draft = PI_VERSION_DRAFT;
}

/* Writes the header of a new object and counts the object. */
static inline void pi_sdk_object_begin(pi_object_header *header, const pi_host *host,
                                       pi_kind kind) {
    header->dispatch = host->dispatch;
    header->kind = kind;
    header->reserved = 0;
    host->object_count(host, 1);
}

/* Uncounts a destroyed object; call it last. The instance itself is not counted: neither call is
 * for it. */
static inline void pi_sdk_object_end(const pi_host *host) {
    host->object_count(host, -1);
}

/* Nonzero if the handle is an object of this instance and of this kind. */
static inline int pi_sdk_is(const void *handle, const pi_host *host, pi_kind kind) {
    const pi_object_header *header = (const pi_object_header *)handle;
    return header && header->dispatch == host->dispatch && header->kind == kind;
}

/* The PI_ERROR_INVALID_ code of a kind. */
static inline pi_result pi_sdk_invalid(pi_kind kind) {
    static const pi_result codes[] = {
        PI_ERROR_INVALID_VALUE,    PI_ERROR_INVALID_LOADER,     PI_ERROR_INVALID_PLUGIN,
        PI_ERROR_INVALID_PLATFORM, PI_ERROR_INVALID_DEVICE,     PI_ERROR_INVALID_CONTEXT,
        PI_ERROR_INVALID_QUEUE,    PI_ERROR_INVALID_MEM_OBJECT, PI_ERROR_INVALID_EVENT,
        PI_ERROR_INVALID_PROGRAM,  PI_ERROR_INVALID_KERNEL,     PI_ERROR_INVALID_SAMPLER,
        PI_ERROR_INVALID_USM_POOL};
    return codes[kind < sizeof codes / sizeof codes[0] ? kind : 0];
}

/* The enumerator's name. */
static inline const char *pi_sdk_kind_name(pi_kind kind) {
    static const char *const names[] = {"unknown",          "PI_KIND_LOADER", "PI_KIND_PLUGIN",
                                        "PI_KIND_PLATFORM", "PI_KIND_DEVICE", "PI_KIND_CONTEXT",
                                        "PI_KIND_QUEUE",    "PI_KIND_MEM",    "PI_KIND_EVENT",
                                        "PI_KIND_PROGRAM",  "PI_KIND_KERNEL", "PI_KIND_SAMPLER",
                                        "PI_KIND_USM_POOL"};
    return kind < sizeof names / sizeof names[0] ? names[kind] : names[0];
}

/* Whether `types` of piDevicesGet includes devices of this type. */
static inline int pi_sdk_asks_for(pi_device_type types, pi_device_type type) {
    return !types || (types & type);
}

/* Whether pi.h lists this query for objects of this kind. If it does, an object without an answer
 * returns PI_ERROR_UNSUPPORTED_FEATURE; all other names are PI_ERROR_INVALID_ENUMERATION. */
static inline int pi_sdk_info_exists(pi_kind kind, uint32_t name) {
    static const struct {
        pi_kind kind;
        uint32_t first, last;
    } ranges[] = {
        {PI_KIND_PLUGIN, 1, PI_PLUGIN_INFO_CAPABILITIES},
        {PI_KIND_PLATFORM, 1, PI_PLATFORM_INFO_BACKEND},
        {PI_KIND_DEVICE, 1, PI_DEVICE_INFO_REFERENCE_COUNT},
        {PI_KIND_DEVICE, PI_DEVICE_INFO_UUID, PI_DEVICE_INFO_NUMA_NODE},
        {PI_KIND_DEVICE, PI_DEVICE_INFO_COMPUTE_UNITS, PI_DEVICE_INFO_SUB_GROUP_SIZES},
        {PI_KIND_DEVICE, PI_DEVICE_INFO_BUFFER_OFFSET_MODE, PI_DEVICE_INFO_MAX_SUB_DEVICES},
        {PI_KIND_CONTEXT, 1, PI_CONTEXT_INFO_REFERENCE_COUNT},
        {PI_KIND_QUEUE, 1, PI_QUEUE_INFO_REFERENCE_COUNT},
        {PI_KIND_MEM, 1, PI_MEM_INFO_REFERENCE_COUNT},
        {PI_KIND_EVENT, 1, PI_EVENT_INFO_REFERENCE_COUNT},
        {PI_KIND_PROGRAM, 1, PI_PROGRAM_INFO_REFERENCE_COUNT},
        {PI_KIND_KERNEL, 1, PI_KERNEL_INFO_REFERENCE_COUNT},
        {PI_KIND_SAMPLER, 1, PI_SAMPLER_INFO_REFERENCE_COUNT},
        {PI_KIND_USM_POOL, 1, PI_USM_POOL_INFO_REFERENCE_COUNT},
    };
    size_t i;
    for (i = 0; i < sizeof ranges / sizeof ranges[0]; ++i)
        if (ranges[i].kind == kind && name >= ranges[i].first && name <= ranges[i].last)
            return 1;
    return 0;
}

/* Answers an info query with the `bytes` bytes at `data`, checking value, size and out_size. */
static inline pi_result pi_sdk_write_info(const pi_host *host, const void *data, uint64_t bytes,
                                          uint64_t size, void *value, uint64_t *out_size) {
    if (!value && !out_size)
        return pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER,
                           "value and out_size are both NULL: nothing to answer into");
    if (value && size < bytes)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "size is %llu, this query needs %llu bytes",
                           (unsigned long long)size, (unsigned long long)bytes);
    if (value && bytes)
        memcpy(value, data, (size_t)bytes);
    if (out_size)
        *out_size = bytes;
    return PI_SUCCESS;
}

/* Checks that every descriptor chained behind `header` has the type `chained` (0: none is known) or
 * may be ignored. */
static inline pi_result pi_sdk_check_chain(const pi_host *host, const pi_struct_header *header,
                                           pi_struct_type chained) {
    const pi_struct_header *link;
    for (link = (const pi_struct_header *)header->next; link;
         link = (const pi_struct_header *)link->next)
        if (link->type != chained && !(link->type & PI_TYPE_MAY_IGNORE_BIT))
            return pi_sdk_fail(
                host, PI_ERROR_UNSUPPORTED_FEATURE,
                "desc (type %u) chains a descriptor of type %u that is not known here",
                (unsigned)header->type, (unsigned)link->type);
    return PI_SUCCESS;
}

/* Copies an input descriptor into the struct that this plugin was compiled with: a shorter one is
 * extended by zeros; a longer one is accepted if the unknown tail is zero. Checks struct_size and
 * type, and that every chained descriptor has the type `chained` (0: none is known) or may be
 * ignored. */
static inline pi_result pi_sdk_read_desc(const pi_host *host, const void *desc, pi_struct_type type,
                                         pi_struct_type chained, void *out, size_t size) {
    const pi_struct_header *header = (const pi_struct_header *)desc;
    pi_result result;
    uint32_t i;
    if (!header)
        return pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "desc is NULL");
    if (header->struct_size < sizeof *header || header->type != type)
        return pi_sdk_fail(host, PI_ERROR_INVALID_DESCRIPTOR,
                           "desc has struct_size %u and type %u; type %u and sizeof the struct "
                           "(%zu here) would be right",
                           (unsigned)header->struct_size, (unsigned)header->type, (unsigned)type,
                           size);
    for (i = (uint32_t)size; i < header->struct_size; ++i)
        if (((const unsigned char *)desc)[i])
            return pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE,
                               "desc (type %u) asks at byte %u for something newer than this "
                               "plugin, which knows %zu bytes",
                               (unsigned)type, (unsigned)i, size);
    result = pi_sdk_check_chain(host, header, chained);
    if (result)
        return result;
    memset(out, 0, size);
    memcpy(out, desc, header->struct_size < size ? header->struct_size : size);
    return PI_SUCCESS;
}

/* Writes an output struct. `known` is the whole struct as this plugin was compiled with it. Copies
 * the smaller of both sizes and zeroes the caller's bytes beyond it; struct_size, type and next
 * keep the caller's values. */
static inline pi_result pi_sdk_write_struct(const pi_host *host, const void *known, size_t size,
                                            pi_struct_type type, void *out) {
    pi_struct_header *header = (pi_struct_header *)out;
    pi_result result;
    size_t common;
    if (!header)
        return pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "the output struct is NULL");
    if (header->struct_size < sizeof *header || header->type != type)
        return pi_sdk_fail(host, PI_ERROR_INVALID_DESCRIPTOR,
                           "the output struct has struct_size %u and type %u; set type %u and "
                           "sizeof the struct before the call",
                           (unsigned)header->struct_size, (unsigned)header->type, (unsigned)type);
    result = pi_sdk_check_chain(host, header, PI_TYPE_NONE);
    if (result)
        return result;
    common = header->struct_size < size ? header->struct_size : size;
    memcpy(header + 1, (const pi_struct_header *)known + 1, common - sizeof *header);
    memset((char *)out + common, 0, header->struct_size - common);
    return PI_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
