/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The contract between a plugin and the loader: the layout of objects, the dispatch table, and the
 * one symbol that a plugin exports. Applications do not need this header.
 *
 * A plugin is a shared object. The loader opens it (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) and
 * calls piPluginMain once for each loader object. A plugin keeps all its state in the instance that
 * it returns, none in static variables, so that several loaders can use it at the same time.
 */
#ifndef PI_PI_PLUGIN_H
#define PI_PI_PLUGIN_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#define PI_SLOT_TYPE(function) decltype(&::function)
#else
#define PI_SLOT_TYPE(function) __typeof__(&(function))
#endif

/* The functions of one plugin instance. A plugin fills one table with its own functions (designated
 * initialisers; NULL for those that it does not have). The loader builds another one, complete with
 * defaults and layers; every handle points to that one. New slots are only ever appended. */
typedef struct pi_dispatch {
    uint32_t struct_size; /* sizeof the table that the plugin or loader was compiled with */
    uint16_t version_major;
    uint16_t version_minor;
#define PI_FUNCTION(name, group, needs, since) PI_SLOT_TYPE(name) name;
#include <pi/pi_functions.def>
} pi_dispatch;

/* The first 16 bytes of every object; frozen. A plugin writes them when it creates the object. It
 * compares both words of every handle argument after the first with its own, and refuses a handle
 * of another plugin or another kind. */
typedef struct pi_object_header {
    const pi_dispatch *dispatch; /* pi_host::dispatch */
    pi_kind kind;
    uint32_t reserved; /* 0; reserved for the layers */
} pi_object_header;

/* The loader's functions for a plugin. It lives as long as the instance. All functions are
 * thread-safe. */
typedef struct pi_host {
    uint32_t struct_size;
    uint16_t version_major; /* of the loader */
    uint16_t version_minor;
    /* For the handles that the plugin creates; complete once piPluginMain has returned. */
    const pi_dispatch *dispatch;
    void *context; /* the loader's */
    /* Sets the calling thread's piGetLastError; the text is copied. */
    void(PI_CALL *set_error)(const struct pi_host *host, pi_result code, const char *message);
    void(PI_CALL *log)(const struct pi_host *host, pi_log_level level, const char *message);
    /* Call with +1 after an object is created, and with -1 after it is destroyed. Do not count the
     * instance, its platforms and its root devices, which live as long as the instance; do count
     * sub-devices. The instance is torn down only when no object is left. */
    void(PI_CALL *object_count)(const struct pi_host *host, int64_t change);
    /* The value of an environment variable in the loader's list ("PI_..."), of one that begins with
     * the plugin's name in capitals ("PI_ACME_..."), or of an option of the loader's descriptor;
     * NULL if not set. It lives as long as the loader. Plugins do not read the environment
     * themselves. */
    const char *(PI_CALL *get_option)(const struct pi_host *host, const char *name);
    /* Changes and returns the number of callbacks (of events and host functions, of all plugins)
     * that the calling thread is inside: +1 before a plugin calls one, -1 after it, 0 to query. If
     * it is above 0, blocking calls return PI_ERROR_WOULD_BLOCK. If the loader's struct_size ends
     * before this member, a plugin counts its own callbacks. */
    int32_t(PI_CALL *callback_depth)(const struct pi_host *host, int32_t change);
} pi_host;

/* Filled in by piPluginMain; the loader sets struct_size. */
typedef struct pi_plugin_desc {
    uint32_t struct_size;
    uint16_t version_major; /* PI_VERSION_MAJOR and _MINOR that the plugin was compiled with */
    uint16_t version_minor;
    const char *name;      /* [a-z0-9_]+, unique in a loader; lives as long as the instance */
    const char *version;   /* the plugin's own */
    uint64_t capabilities; /* PI_CAPABILITY_ bits; must agree with the slots */
    /* The plugin's own table; the loader reads it until the caller of piPluginMain has finished. */
    const pi_dispatch *functions;
    pi_plugin instance; /* an object of PI_KIND_PLUGIN */
    /* Called once, when no object is left and no call of the instance is running, on the thread
     * that releases the loader: it may join the plugin's threads. */
    void(PI_CALL *teardown)(pi_plugin instance);
    /* Since 1.1. PI_VERSION_DRAFT that the plugin was compiled with; write it only if struct_size
     * reaches past it. A loader accepts a plugin of a draft only if both have the same minor
     * version and the same draft. */
    uint32_t draft;
    uint32_t reserved; /* must be 0 */
} pi_plugin_desc;

/* The one exported symbol. It must be quick: a plugin opens the vendor's libraries only when its
 * platforms are listed. Major versions must be equal. The smaller minor version applies: later
 * slots are not used. Drafts of a minor version (PI_VERSION_DRAFT) must be equal as well.
 * PI_ERROR_UNAVAILABLE, with the text of set_error: the backend is not on this machine. */
typedef pi_result(PI_CALL *pi_plugin_main)(const pi_host *host, pi_plugin_desc *out_desc);
PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc);

#ifdef __cplusplus
}
#endif

#endif
