/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The loader: an object that finds, opens and checks plugins. Applications link libpi_loader and begin
 * here; everything else is pi/pi.h.
 *
 *     pi_loader loader;
 *     piLoaderCreate(NULL, &loader);
 *     pi_plugin plugins[8];
 *     uint32_t count;
 *     piPluginsGet(loader, 8, plugins, &count);
 *
 * Several loaders may live in one process, each with instances of its own of the plugins that it
 * holds; their handles do not mix.
 *
 * After fork() every call of the child on an inherited loader or handle is PI_ERROR_INVALID_OPERATION at
 * once, releases included: the objects' threads stayed in the parent, and their memory is the child's to
 * its end. The child may make loaders of its own. A plugin whose vendor's driver does not survive a fork
 * (cuda, level_zero, opencl) is PI_ERROR_UNAVAILABLE there if the parent had opened the driver; host and
 * sim work. Both texts say "forked". A child of vfork() or clone() calls nothing of PI.
 */
#ifndef PI_PI_LOADER_H
#define PI_PI_LOADER_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Control characters in a message, but for line breaks and tabs, are written as "\x1b". */
typedef void(PI_CALL *pi_log_callback)(pi_log_level level, const char *message, void *user_data);

/* One option by name, as the environment would set it ("PI_OPENCL_PLATFORMS"): it wins over the
 * environment. */
typedef struct pi_loader_option {
    const char *name;
    const char *value;
} pi_loader_option;

enum {
    PI_LOADER_IGNORE_ENVIRONMENT = 1 << 0, /* read no variable at all (as in a set-uid process) */
    PI_LOADER_NO_DEFAULT_SEARCH = 1 << 1   /* only the plugins and directories named here */
};

/* Everything may be left zero. All strings and arrays are copied. */
typedef struct pi_loader_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_LOADER_DESC */
    const void *next;
    uint64_t flags;
    /* Plugin files by path, or plugins by name ("opencl"), to load before any that are found. */
    const char *const *plugins;
    /* Directories to search for files named libpi_plugin_*.so. */
    const char *const *directories;
    /* Layers, outermost first ("validate", "leak-origin", "race", "trace", "record",
     * "fault"). */
    const char *const *layers;
    const pi_loader_option *options;
    uint32_t plugin_count;
    uint32_t directory_count;
    uint32_t layer_count;
    uint32_t option_count;
    /* Where log lines go, and from which level; NULL: standard error. Called from any thread. */
    pi_log_callback log;
    void *log_user_data;
    pi_log_level log_level; /* 0 = that of the variable PI_LOG, else warnings */
    /* How long releasing the last reference waits for objects that commands in flight still hold, in
     * milliseconds; 0 = 1000. What is left then is parked: see piLoaderRelease. */
    uint32_t teardown_timeout;
    /* How long a plugin may keep a call of the loader waiting (to be opened, to list its platforms and
     * devices, to be torn down) before a warning names the plugin, its file and the function, in
     * milliseconds; 0 = 5000. It comes again whenever that time has doubled. */
    uint32_t stall_warning_delay;
    uint32_t reserved; /* 0 */
} pi_loader_desc;

/* desc NULL: all defaults. Plugins are searched in this order, and the first of a name wins: the
 * description's plugins and directories, PI_PLUGINS, PI_PLUGIN_PATH, the manifests in
 * <prefix>/local/share/pi/plugins.d (of /usr: what was installed to /usr/local) and in
 * <prefix>/share/pi/plugins.d, the folder of libpi_loader itself. Before a second one of a name is
 * dropped, the first is asked for its platforms: if it cannot list them, the second is used instead.
 * A bad plugin never stops the others
 * and never makes this fail: piLoaderGetReports tells what became of each. Only one that does not
 * return does: plugins run on the calling thread, which nothing can take back from them, and all that
 * the loader can do is to say whom it waits for (stall_warning_delay). One that ends the process is
 * named by the last line of a log of level debug.
 *
 * The environment is copied once, here. No other thread may change it meanwhile (setenv, putenv): the C
 * library moves it under its readers. PI_LOADER_IGNORE_ENVIRONMENT does not read it.
 *
 * What a directory or a manifest leads to is refused where everyone could have put it there: where all
 * may write to the file, to the manifest or to a directory on the way; in one with the sticky bit, as
 * /tmp, where it is neither root's, this user's nor that of the directory's owner. What is not there
 * yet is refused, too: it could become anyone's. A link counts as a file, each one on the way, and what
 * is opened is what was looked at. Whoever names a file by its path
 * answers for it, and who can write beside libpi_loader needs no plugin. */
PI_EXPORT pi_result PI_CALL piLoaderCreate(const pi_loader_desc *desc, pi_loader *out_loader);
PI_EXPORT pi_result PI_CALL piLoaderRetain(pi_loader loader);
/* Not inside a callback of PI, the log's included. The last reference tears each plugin instance down once its objects are gone. An instance whose
 * objects outlive the wait is parked for the life of the process (its handles stay usable and are
 * leaked) and a warning lists it.
 * A process may also end without it, on any thread, with work in flight: what was not waited for may not
 * have happened. Until its last exit handler and static destructor has run, calls work as before. In the
 * child of a fork() that the loader was made before: PI_ERROR_INVALID_OPERATION. */
PI_EXPORT pi_result PI_CALL piLoaderRelease(pi_loader loader);

/* What became of a plugin file, of a name that was asked for, of a manifest that leads to no file, or of
 * a directory that cannot be searched. */
typedef uint32_t pi_plugin_status;
enum {
    PI_PLUGIN_LOADED = 1,
    PI_PLUGIN_UNAVAILABLE = 2, /* a good plugin whose driver or device is not on this machine */
    PI_PLUGIN_REFUSED = 3,     /* not a plugin, or not one for this loader */
    PI_PLUGIN_SHADOWED = 4     /* one of this name was loaded before */
};
/* Strings live as long as the loader. */
typedef struct pi_plugin_report {
    const char *name;   /* the plugin's own; before it says one, what asked for it, or "" */
    const char *path;   /* absolute where a file was found */
    const char *reason; /* "" when loaded */
    pi_plugin_status status;
    uint32_t reserved;
    pi_plugin plugin; /* when loaded; may be NULL when unavailable, and is in all other cases */
    uint64_t reserved_words[4];
} pi_plugin_report;
/* Asks every loaded plugin for its platforms (which opens the vendors' libraries), so that what is
 * unavailable is known. */
PI_EXPORT pi_result PI_CALL piLoaderGetReports(pi_loader loader, uint32_t capacity,
                                               pi_plugin_report *out_reports, uint32_t *out_count);

/* Devices by name. A selector is a comma-separated list of plugin[:platform[:device]], numbers counted
 * from 0, '*' for any: "opencl:0:1,host". NULL means PI_DEVICE_SELECTOR, or else all. The order is that
 * of the selector, each device once. Only the plugins that it names are asked, so that the vendors'
 * libraries of the others stay closed. A selector that is not understood is PI_ERROR_INVALID_VALUE; an
 * element that names no device is PI_ERROR_INVALID_NAME, and the text lists those that exist, for which
 * all plugins are asked, and says why the plugin of the element could not list its own. A plugin that cannot list
 * them has none here, with a warning: so a second call may tell of fewer, and its count is the one to use. */
PI_EXPORT pi_result PI_CALL piLoaderSelectDevices(pi_loader loader, const char *selector,
                                                  uint32_t capacity, pi_device *out_devices,
                                                  uint32_t *out_count);
/* The full selector of a root device, "opencl:0:1"; size as for info calls. The device's plugin is asked for its
 * devices; if it fails, with its error. */
PI_EXPORT pi_result PI_CALL piLoaderGetDeviceSelector(pi_loader loader, pi_device device,
                                                      uint64_t size, char *value,
                                                      uint64_t *out_size);

/* Every environment variable that PI reads, with what is in force in this loader. Strings live as long as it. */
typedef struct pi_environment_variable {
    const char *name;
    const char *type; /* "path list", "level", ... */
    const char *description;
    const char *value; /* in force, or NULL */
    uint64_t reserved[2];
} pi_environment_variable;
PI_EXPORT pi_result PI_CALL piLoaderGetEnvironment(pi_loader loader, uint32_t capacity,
                                                   pi_environment_variable *out_variables,
                                                   uint32_t *out_count);

/* How often a function has been called since its plugin was loaded. */
typedef struct pi_call_count {
    const char *function; /* "piMemBufferCreate" */
    uint64_t count;
    uint64_t reserved[2];
} pi_call_count;
/* The calls of each function of a plugin, in the order of pi_functions.def, as the layer "fault" counts them: the
 * numbers that PI_FAULT speaks of. The loader's own calls (for platforms and devices) are among them; calls that the
 * loader refuses itself (a NULL handle) are not. Without that layer: PI_ERROR_INVALID_OPERATION. */
PI_EXPORT pi_result PI_CALL piLoaderGetCallCounts(pi_loader loader, pi_plugin plugin,
                                                  uint32_t capacity, pi_call_count *out_counts,
                                                  uint32_t *out_count);

/* Since 1.1. How a connection is verified: flags of pi_memory_verification_desc. */
enum {
    PI_VERIFY_DEEP =
        1 << 0, /* 256 MiB, or what the devices have room for, both directions at once */
    PI_VERIFY_AGAIN = 1 << 1,  /* whatever was seen before, in this process or another */
    PI_VERIFY_KERNELS = 1 << 2 /* of UNIFIED memory kernels of dst as well */
};
typedef struct pi_memory_verification_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEMORY_VERIFICATION_DESC */
    const void *next;
    uint64_t flags; /* PI_VERIFY_ */
    pi_memory_kind kind;
    uint32_t src_scope;
    uint32_t dst_scope;
    uint32_t reserved; /* 0 */
    /* IMPORTED: host memory to import at src, of `size` bytes, which nobody else may use during the call and
     * which holds the same bytes after it; NULL and 0: memory of the loader. Other kinds: NULL and 0. */
    void *host_ptr;
    uint64_t size;
} pi_memory_verification_desc;
/* Whether memory of (src_device, src_context) is to (dst_device, dst_context) what the plugin
 * says: bytes are moved, and compared. desc NULL means buffers in scope 0. out_info receives what
 * piGetMemoryConnectionInfo answers for that kind and these scopes, with `verified` and
 * `verified_text` filled in. The answer is directed, as the connection is: nothing follows for dst
 * -> src.
 *
 * MIGRATABLE: patterns are copied from src's memory to dst's, on a queue of either end, in sizes
 * around a page and 64 KiB, at offsets on and off a page's begin. UNIFIED: dst's commands read,
 * write, copy and map src's memory in place, and src's commands read what they wrote. IMPORTED: so
 * does the host, between maps where its coherence is MAP_UNMAP. Both ends are read back. A sample
 * finds a driver that loses bytes; it cannot show that one never does.
 *
 * KERNELS: where the connection is UNIFIED, and after all that, a kernel of dst also copies words
 * of src's memory into memory of dst and back, and src reads what it wrote; of memory that dst
 * itself has IMPORTED the host does. The kernel is the plugin's (pi/pi_verification_kernel.h).
 * Where it has none for the device, or its program does not build, the answer is that without
 * KERNELS, and with PI_VERIFIED_YES `verified_text` says that kernels were not tried, and why;
 * else it is empty unless FAILED. The answer without KERNELS says nothing of kernels, and one that
 * FAILED only for kernels holds for them alone.
 *
 * Bytes that do not arrive are an answer, PI_VERIFIED_FAILED, and the call succeeds. NONE needs no
 * check, nor does memory of a place to itself unless it is IMPORTED: PI_VERIFIED_UNKNOWN. Where a
 * command or an allocation fails, the call fails with its error, and nothing is known. Other
 * errors: those of piGetMemoryConnectionInfo, PI_ERROR_UNSUPPORTED_FEATURE for images and for USM
 * of two contexts, and PI_ERROR_WOULD_BLOCK inside a callback.
 *
 * It blocks, for a few milliseconds and the time that the driver takes for the first use of a
 * pair; with KERNELS for the build of a program as well, with DEEP for seconds. Queues, memory and
 * events are its own, and its commands go to the plugin past the layers, which see none of them.
 * The loader remembers the answer and keeps it in the file of PI_VERIFIED_FILE if both devices
 * have a UUID, LUID or PCI address; later calls look it up until the plugin, the driver or the
 * kernel is another one, or the machine is started again. */
PI_EXPORT pi_result PI_CALL piVerifyMemoryConnection(pi_device src_device, pi_context src_context,
                                                     pi_device dst_device, pi_context dst_context,
                                                     const pi_memory_verification_desc *desc,
                                                     pi_memory_connection_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
