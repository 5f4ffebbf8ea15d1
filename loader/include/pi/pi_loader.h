/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The loader finds, opens and checks plugins. An application links libpi_loader and begins here;
 * everything else is in pi/pi.h.
 *
 *     pi_loader loader;
 *     piLoaderCreate(NULL, &loader);
 *     pi_plugin plugins[8];
 *     uint32_t count;
 *     piPluginsGet(loader, 8, plugins, &count);
 *
 * Several loaders may live in one process. Each has its own instances of the plugins that it loads;
 * handles of different loaders cannot be mixed.
 *
 * After fork(), every call of the child on an inherited loader or handle returns
 * PI_ERROR_INVALID_OPERATION at once, releases included: the threads of the objects stayed in the
 * parent, and the child keeps their memory until it exits. The child may create its own loaders. In
 * these, plugins whose vendor's driver does not survive a fork (cuda, level_zero, opencl) are
 * PI_ERROR_UNAVAILABLE if the parent had opened the driver; host and sim work. The texts of both
 * errors contain "forked". A child of vfork() or clone() must not call PI.
 */
#ifndef PI_PI_LOADER_H
#define PI_PI_LOADER_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Control characters in the message, except line breaks and tabs, are written as "\x1b". */
typedef void(PI_CALL *pi_log_callback)(pi_log_level level, const char *message, void *user_data);

/* An option by name, as the environment would set it ("PI_OPENCL_PLATFORMS"). It takes precedence
 * over the environment. */
typedef struct pi_loader_option {
    const char *name;
    const char *value;
} pi_loader_option;

enum {
    PI_LOADER_IGNORE_ENVIRONMENT = 1 << 0, /* read no variable (as in a set-uid process) */
    PI_LOADER_NO_DEFAULT_SEARCH = 1 << 1   /* only the plugins and directories named here */
};

/* Every member may be zero. All strings and arrays are copied. */
typedef struct pi_loader_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_LOADER_DESC */
    const void *next;
    uint64_t flags;
    /* Plugin files by path, or plugins by name ("opencl"); loaded before those that a search
     * finds. */
    const char *const *plugins;
    /* Directories that are searched for files named libpi_plugin_*.so. */
    const char *const *directories;
    /* Layers, outermost first ("validate", "leak-origin", "race", "trace", "record", "fault"). */
    const char *const *layers;
    const pi_loader_option *options;
    uint32_t plugin_count;
    uint32_t directory_count;
    uint32_t layer_count;
    uint32_t option_count;
    /* The receiver of log lines; called from any thread. NULL: standard error. */
    pi_log_callback log;
    void *log_user_data;
    pi_log_level log_level; /* the lowest level logged; 0 = the level of PI_LOG, else warnings */
    /* How long the release of the last reference waits for objects that running commands keep
     * alive, in milliseconds; 0 = 1000. Instances with objects left are parked: see
     * piLoaderRelease. */
    uint32_t teardown_timeout;
    /* How long a call of the loader (open, list platforms and devices, tear down) may take inside a
     * plugin before a warning names the plugin, its file and the function, in milliseconds; 0 =
     * 5000. The warning is repeated each time the duration has doubled. */
    uint32_t stall_warning_delay;
    uint32_t reserved; /* must be 0 */
} pi_loader_desc;

/* desc NULL: all defaults. Plugins are searched in this order, and the first of each name wins: the
 * plugins and directories of the descriptor, PI_PLUGINS, PI_PLUGIN_PATH, the manifests in
 * <prefix>/local/share/pi/plugins.d (for /usr: what was installed to /usr/local) and in
 * <prefix>/share/pi/plugins.d, the folder of libpi_loader itself. Before a second plugin of a name
 * is dropped, the first must list its platforms; if it cannot, the second is used instead.
 *
 * A bad plugin neither stops the others nor makes this call fail; piLoaderGetReports says what
 * happened to each. The exception is a plugin that does not return: plugins run on the calling
 * thread, so the loader cannot interrupt them, only warn (stall_warning_delay). If a plugin ends
 * the process, the last line of a log of level debug names it.
 *
 * The environment is copied once, in this call. No other thread may change it meanwhile (setenv,
 * putenv), since the C library moves it while others read. With PI_LOADER_IGNORE_ENVIRONMENT it is
 * not read.
 *
 * SECURITY: a plugin file that a search or a manifest finds is refused if any user could have put
 * it there, that is, if all users may write to the file, to the manifest, or to a directory on the
 * path. In a sticky directory, such as /tmp, the file is refused unless it belongs to root, to this
 * user, or to the owner of the directory. A path that does not exist yet is refused, since any user
 * could create it. Each symbolic link on the path is checked like a file, and the file that was
 * checked is the one that is opened. Two sources are trusted without a check: files that the
 * application or the environment names by path, and the folder of libpi_loader, whose writers could
 * replace the loader itself. */
PI_EXPORT pi_result PI_CALL piLoaderCreate(const pi_loader_desc *desc, pi_loader *out_loader);
PI_EXPORT pi_result PI_CALL piLoaderRetain(pi_loader loader);
/* Not inside a callback of PI, including the log's. Releasing the last reference tears down each
 * plugin instance once its objects are destroyed. An instance whose objects outlive the wait is
 * parked for the life of the process (its handles stay usable and are leaked), and a warning lists
 * it.
 *
 * A process may also exit without this call, on any thread, with commands in flight: those that it
 * did not wait for may not have run. Calls work as before until the last exit handler and static
 * destructor of the process has run. In the child of a fork(), for a loader that was created before
 * the fork: PI_ERROR_INVALID_OPERATION. */
PI_EXPORT pi_result PI_CALL piLoaderRelease(pi_loader loader);

/* What happened to a plugin file, to a requested name, to a manifest that leads to no file, or to a
 * directory that cannot be searched. */
typedef uint32_t pi_plugin_status;
enum {
    PI_PLUGIN_LOADED = 1,
    PI_PLUGIN_UNAVAILABLE = 2, /* a valid plugin without a driver or device on this machine */
    PI_PLUGIN_REFUSED = 3,     /* not a plugin, or not one for this loader */
    PI_PLUGIN_SHADOWED = 4     /* another plugin of this name was loaded before */
};
/* Strings live as long as the loader. */
typedef struct pi_plugin_report {
    const char *name;   /* the plugin's name; if not yet known, the requested name or "" */
    const char *path;   /* absolute if a file was found */
    const char *reason; /* "" if loaded */
    pi_plugin_status status;
    uint32_t reserved;
    pi_plugin plugin; /* if loaded; may be NULL if unavailable; otherwise NULL */
    uint64_t reserved_words[4];
} pi_plugin_report;
/* Lists the platforms of every loaded plugin first (which opens the vendors' libraries), so that
 * the reports show which are unavailable. */
PI_EXPORT pi_result PI_CALL piLoaderGetReports(pi_loader loader, uint32_t capacity,
                                               pi_plugin_report *out_reports, uint32_t *out_count);

/* Devices by selector: a comma-separated list of plugin[:platform[:device]], numbers from 0, '*'
 * for any: "opencl:0:1,host". NULL means the value of PI_DEVICE_SELECTOR, or else all devices.
 * Devices appear in the order of the selector, each once. Only the plugins in the selector are
 * queried, so that the vendor libraries of the others stay closed.
 *
 * A plugin that cannot list its devices contributes none, with a warning. A second call may
 * therefore return fewer devices: use its count. PI_ERROR_INVALID_VALUE: the selector cannot be
 * parsed. PI_ERROR_INVALID_NAME: an element matches no device; the text lists the devices of all
 * plugins (all are queried for it), and says why the element's plugin could not list its own. */
PI_EXPORT pi_result PI_CALL piLoaderSelectDevices(pi_loader loader, const char *selector,
                                                  uint32_t capacity, pi_device *out_devices,
                                                  uint32_t *out_count);
/* The full selector of a root device, "opencl:0:1"; size, value and out_size as for info. This
 * lists the devices of the device's plugin, and fails with the plugin's error if that fails. */
PI_EXPORT pi_result PI_CALL piLoaderGetDeviceSelector(pi_loader loader, pi_device device,
                                                      uint64_t size, char *value,
                                                      uint64_t *out_size);

/* Every environment variable that PI reads, with its value in this loader. Strings live as long as
 * the loader. */
typedef struct pi_environment_variable {
    const char *name;
    const char *type; /* "path list", "level", ... */
    const char *description;
    const char *value; /* in effect, or NULL */
    uint64_t reserved[2];
} pi_environment_variable;
PI_EXPORT pi_result PI_CALL piLoaderGetEnvironment(pi_loader loader, uint32_t capacity,
                                                   pi_environment_variable *out_variables,
                                                   uint32_t *out_count);

/* The number of calls of a function since its plugin was loaded. */
typedef struct pi_call_count {
    const char *function; /* "piMemBufferCreate" */
    uint64_t count;
    uint64_t reserved[2];
} pi_call_count;
/* The number of calls of each function of a plugin, in the order of pi_functions.def, as counted by
 * the layer "fault" and used by PI_FAULT. The loader's own calls (for platforms and devices) count;
 * calls that the loader refuses itself (a NULL handle) do not. PI_ERROR_INVALID_OPERATION: the
 * layer is not enabled. */
PI_EXPORT pi_result PI_CALL piLoaderGetCallCounts(pi_loader loader, pi_plugin plugin,
                                                  uint32_t capacity, pi_call_count *out_counts,
                                                  uint32_t *out_count);

/* Since 1.1. Flags of pi_memory_verification_desc. */
enum {
    /* 256 MiB, or as much as fits on the devices; both directions at once. */
    PI_VERIFY_DEEP = 1 << 0,
    PI_VERIFY_AGAIN = 1 << 1,  /* ignore earlier results, of this or another process */
    PI_VERIFY_KERNELS = 1 << 2 /* for UNIFIED memory, test kernels of dst as well */
};
typedef struct pi_memory_verification_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEMORY_VERIFICATION_DESC */
    const void *next;
    uint64_t flags; /* PI_VERIFY_ */
    pi_memory_kind kind;
    uint32_t src_scope;
    uint32_t dst_scope;
    uint32_t reserved; /* must be 0 */
    /* IMPORTED: host memory of `size` bytes to import at src. Nothing else may use it during the
     * call; afterwards it holds the same bytes as before. NULL and 0: the loader allocates it.
     * Other kinds: NULL and 0. */
    void *host_ptr;
    uint64_t size;
} pi_memory_verification_desc;
/* Verifies a connection: moves bytes and compares them, to see whether (dst_device, dst_context)
 * can use memory of (src_device, src_context) as the plugin says. desc NULL means buffers in scope
 * 0. out_info receives the answer of piGetMemoryConnectionInfo for the kind and scopes of desc,
 * with `verified` and `verified_text` filled in. Like the connection, the answer is directed: it
 * says nothing about dst -> src.
 *
 * MIGRATABLE: copies patterns from src's memory to dst's, on a queue of either end, in sizes around
 * a page and 64 KiB, at offsets on and off page boundaries. UNIFIED: dst's commands read, write,
 * copy and map src's memory in place, and src's commands read what they wrote. IMPORTED: the host
 * reads and writes it as well, between maps if its coherence is MAP_UNMAP. Both ends are read back.
 * This is a sample: it finds a driver that loses bytes, but cannot prove that one never does.
 *
 * KERNELS: if the connection is UNIFIED, a kernel of dst then also copies words of src's memory
 * into memory of dst and back, and src reads what the kernel wrote; if dst itself IMPORTED the
 * memory, the host reads it. The kernel is the plugin's (pi/pi_verification_kernel.h). If the
 * plugin has none for the device, or its program does not build, the answer is the one without
 * KERNELS; if that is PI_VERIFIED_YES, `verified_text` says that kernels were not tried, and why.
 * In all other cases `verified_text` is empty unless FAILED. An answer without KERNELS says nothing
 * about kernels, and an answer that FAILED only for kernels applies to kernels only.
 *
 * Wrong bytes are an answer, PI_VERIFIED_FAILED: the call succeeds. A connection of NONE is not
 * tested, nor is memory of a place to itself unless it is IMPORTED: PI_VERIFIED_UNKNOWN. If a
 * command or an allocation fails, the call fails with its error, and nothing is known. Other
 * errors: those of piGetMemoryConnectionInfo; PI_ERROR_UNSUPPORTED_FEATURE for images, and for USM
 * of two contexts; PI_ERROR_WOULD_BLOCK inside a callback.
 *
 * The call blocks for a few milliseconds, plus the time that the driver takes for the first use of
 * a pair, plus the build of a program with KERNELS; with DEEP for seconds. It uses its own queues,
 * memory and events. Its commands bypass the layers. The loader remembers the answer; if both
 * devices have a UUID, LUID or PCI address, it also stores it in the file of PI_VERIFIED_FILE.
 * Later calls return the stored answer until the plugin, the driver or the kernel changes, or the
 * machine restarts. */
PI_EXPORT pi_result PI_CALL piVerifyMemoryConnection(pi_device src_device, pi_context src_context,
                                                     pi_device dst_device, pi_context dst_context,
                                                     const pi_memory_verification_desc *desc,
                                                     pi_memory_connection_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
