/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Help for plugin authors, the C half: object headers, handle checks, sized descriptors, info answers
 * and error texts. Everything is static inline; a plugin needs nothing but this header and pi_plugin.h.
 * The C++ half (the .hpp files beside) stands on it.
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

/* Sets the thread's error text, printf-like, and returns the code: `return pi_sdk_fail(host, ...);`. Texts
 * are cut at 1023 bytes. */
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

/* Writes the header of a new object and counts it. */
static inline void pi_sdk_object_begin(pi_object_header *header, const pi_host *host,
                                       pi_kind kind) {
    header->dispatch = host->dispatch;
    header->kind = kind;
    header->reserved = 0;
    host->object_count(host, 1);
}

/* The object is gone (call it last). The instance itself is neither begun nor ended: it is not counted. */
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

/* The answer of a Get...Info function: `bytes` bytes at `data`. */
static inline pi_result pi_sdk_write_info(const pi_host *host, const void *data, uint64_t bytes,
                                          uint64_t size, void *value, uint64_t *out_size) {
    if (!value && !out_size)
        return pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER,
                           "value and out_size are both NULL: nothing to answer into");
    if (value && size < bytes)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE,
                           "size is %llu, this information needs %llu bytes",
                           (unsigned long long)size, (unsigned long long)bytes);
    if (value && bytes)
        memcpy(value, data, (size_t)bytes);
    if (out_size)
        *out_size = bytes;
    return PI_SUCCESS;
}

/* Copies an input descriptor into the struct that this plugin was compiled with: shorter ones are
 * extended by zeros, longer ones accepted if the unknown tail is zero. Checks struct_size and type, and
 * that every chained descriptor is of `chained` (0 = none is known) or may be ignored. */
static inline pi_result pi_sdk_read_desc(const pi_host *host, const void *desc, pi_struct_type type,
                                         pi_struct_type chained, void *out, size_t size) {
    const pi_struct_header *header = (const pi_struct_header *)desc;
    const pi_struct_header *link;
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
    for (link = (const pi_struct_header *)header->next; link;
         link = (const pi_struct_header *)link->next)
        if (link->type != chained && !(link->type & PI_TYPE_MAY_IGNORE_BIT))
            return pi_sdk_fail(
                host, PI_ERROR_UNSUPPORTED_FEATURE,
                "desc (type %u) chains a descriptor of type %u that is not known here",
                (unsigned)type, (unsigned)link->type);
    memset(out, 0, size);
    memcpy(out, desc, header->struct_size < size ? header->struct_size : size);
    return PI_SUCCESS;
}

/* Writes an output struct: the smaller of both sizes, zeros beyond what this plugin knows; struct_size,
 * type and next stay the caller's. `known` is the whole struct as compiled here. */
static inline pi_result pi_sdk_write_struct(const pi_host *host, const void *known, size_t size,
                                            pi_struct_type type, void *out) {
    pi_struct_header *header = (pi_struct_header *)out;
    size_t common;
    if (!header)
        return pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "the output struct is NULL");
    if (header->struct_size < sizeof *header || header->type != type)
        return pi_sdk_fail(host, PI_ERROR_INVALID_DESCRIPTOR,
                           "the output struct has struct_size %u and type %u; set type %u and "
                           "sizeof the struct before the call",
                           (unsigned)header->struct_size, (unsigned)header->type, (unsigned)type);
    common = header->struct_size < size ? header->struct_size : size;
    memcpy(header + 1, (const pi_struct_header *)known + 1, common - sizeof *header);
    memset((char *)out + common, 0, header->struct_size - common);
    return PI_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
