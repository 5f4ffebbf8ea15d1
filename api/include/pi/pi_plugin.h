/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a plugin and the loader agree on: the layout of objects, the dispatch table, and the one symbol
 * that a plugin exports. Applications do not need this header.
 *
 * A plugin is a shared object. The loader opens it (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) and calls
 * piPluginMain once for each loader object: a plugin keeps everything in the instance that it returns,
 * nothing in statics, so that many loaders can hold it at once.
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

/* The functions of one plugin instance. A plugin fills one with its own functions (designated
 * initialisers; NULL where it has none); the loader makes another, complete with defaults and layers,
 * and that one is stamped into every handle. Slots only ever append. */
typedef struct pi_dispatch {
    uint32_t struct_size; /* sizeof the table that its author was compiled with */
    uint16_t version_major;
    uint16_t version_minor;
#define PI_FUNCTION(name, group, needs, since) PI_SLOT_TYPE(name) name;
#include <pi/pi_functions.def>
} pi_dispatch;

/* The first 16 bytes of every object; frozen. A plugin writes it when it makes the object, and compares
 * both words of every handle argument after the first with its own: a handle of another plugin or of
 * another kind is refused. */
typedef struct pi_object_header {
    const pi_dispatch *dispatch; /* pi_host::dispatch */
    pi_kind kind;
    uint32_t reserved; /* 0; the layers' */
} pi_object_header;

/* A host's answers to a plugin. It lives as long as the instance. All functions are thread-safe. */
typedef struct pi_host {
    uint32_t struct_size;
    uint16_t version_major; /* of the loader */
    uint16_t version_minor;
    const pi_dispatch
        *dispatch; /* to stamp into handles; complete once piPluginMain has returned */
    void *context; /* the loader's */
    /* Sets the calling thread's piGetLastError; the text is copied. */
    void(PI_CALL *set_error)(const struct pi_host *host, pi_result code, const char *message);
    void(PI_CALL *log)(const struct pi_host *host, pi_log_level level, const char *message);
    /* Called with +1 after an object is made and with -1 after it is gone. The instance, its platforms and
     * its root devices live as long as it does and are not counted; sub-devices are. The instance is torn
     * down only when none is left. */
    void(PI_CALL *object_count)(const struct pi_host *host, int64_t change);
    /* The value of an environment variable that the loader lists ("PI_..."), or of the loader's
     * description; NULL when not set. Lives as long as the loader. Plugins read no environment. */
    const char *(PI_CALL *get_option)(const struct pi_host *host, const char *name);
    /* Changes, and tells, how many callbacks of events and host functions the calling thread is inside, those of
     * all plugins: +1 before a plugin calls one, -1 after it, 0 to ask. Above 0, blocking calls answer
     * PI_ERROR_WOULD_BLOCK. Where the loader's struct_size ends before it, a plugin counts its own. */
    int32_t(PI_CALL *callback_depth)(const struct pi_host *host, int32_t change);
} pi_host;

/* What piPluginMain fills in; the loader sets struct_size. */
typedef struct pi_plugin_desc {
    uint32_t struct_size;
    uint16_t version_major; /* PI_VERSION_MAJOR and _MINOR that the plugin was compiled with */
    uint16_t version_minor;
    const char *name;      /* [a-z0-9_]+, unique in a loader; lives as long as the instance */
    const char *version;   /* the plugin's own */
    uint64_t capabilities; /* PI_CAPABILITY_ bits; must agree with the slots */
    const pi_dispatch
        *functions;     /* the plugin's own; read until piPluginMain's caller is done with it */
    pi_plugin instance; /* an object of PI_KIND_PLUGIN */
    /* Called once, when no object is left: no call of the instance is under way. */
    void(PI_CALL *teardown)(pi_plugin instance);
    /* Since 1.1. PI_VERSION_DRAFT that the plugin was compiled with; to be written only where struct_size
     * reaches past it. A loader accepts a draft of its own minor version and number, and no other. */
    uint32_t draft;
    uint32_t reserved; /* 0 */
} pi_plugin_desc;

/* The one exported symbol. It must be quick: vendor libraries are opened when platforms are asked for.
 * Major versions must be equal; the smaller minor version counts, and slots beyond it are not used. Drafts
 * of a minor version (PI_VERSION_DRAFT) must be equal as well.
 * PI_ERROR_UNAVAILABLE (with set_error's text) means that the backend is not on this machine. */
typedef pi_result(PI_CALL *pi_plugin_main)(const pi_host *host, pi_plugin_desc *out_desc);
PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc);

#ifdef __cplusplus
}
#endif

#endif
