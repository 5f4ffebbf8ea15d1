/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * PI: a plugin interface for device runtimes. This header is the specification.
 *
 * Read it from top to bottom: grammar, results and objects first, then one section for each kind of
 * object. An application links the loader (pi/pi_loader.h). The loader opens backend plugins
 * (pi/pi_plugin.h) and forwards every function below to the plugin that created the handle in its
 * first argument.
 *
 * GRAMMAR
 *  - pi<Object><Verb> is a function, pi_<object> a type, PI_<OBJECT>_<CONSTANT> a constant.
 *  - Every function returns pi_result, which is never positive, and has at most six parameters. The
 *    first argument selects the plugin; inputs follow; outputs come last, are named out_*, and are
 *    written only on success.
 *  - Lists: (capacity, out_array, out_count). out_count, if not NULL, receives the number of
 *    elements that exist; out_array, if not NULL, receives the first `capacity` of them. Both NULL
 *    is PI_ERROR_INVALID_NULL_POINTER. Handles in a list are borrowed, unless the function's
 *    comment says that the caller must release them.
 *  - Info: Get...Info(object, name, size, value, out_size). The comment of each enumerator begins
 *    with the type of its value. value may be NULL to query the size alone; a size that is too
 *    small is PI_ERROR_INVALID_SIZE, and nothing is written. Strings are UTF-8; their size includes
 *    the terminating 0. A name that the object cannot answer is PI_ERROR_UNSUPPORTED_FEATURE; a
 *    name that is not in the list is PI_ERROR_INVALID_ENUMERATION. Callers treat both as "not
 *    known", since an older plugin does not know newer names. "Required" above a list gives the
 *    names that every object must answer; it may leave all others unsupported.
 *  - Commands: piEnqueueX(queue, desc, wait_count, wait_list, out_event), described under
 *    "Commands".
 *
 * DESCRIPTORS begin with {struct_size, type, next}. The caller sets struct_size to the sizeof of
 * the struct that it was compiled with, type to the PI_TYPE_ constant, and next to NULL or to a
 * further descriptor. An input descriptor that is smaller than the callee's is extended with zeros.
 * A larger one is accepted only if the tail that the callee does not know is zero (else
 * PI_ERROR_UNSUPPORTED_FEATURE). Zero always means the default. Reserved words must be zero, and
 * flag bits must be those that the descriptor defines (else PI_ERROR_UNSUPPORTED_FEATURE). A
 * chained `type` that the callee does not know is PI_ERROR_UNSUPPORTED_FEATURE, unless its bit 31
 * is set (PI_TYPE_MAY_IGNORE_BIT).
 *
 * An output struct receives as many bytes as the smaller of both sizes, and zeros beyond the part
 * that the callee knows. Output structs may chain output structs by the same rules; one that is
 * ignored stays unchanged.
 *
 * Structs that are elements of arrays never grow. The pointer of an array is ignored if its count
 * is 0; NULL with any other count is PI_ERROR_INVALID_NULL_POINTER. A list that names the same
 * handle twice fails with the error of the handle's kind (PI_ERROR_INVALID_DEVICE); a wait list may
 * name an event twice.
 *
 * VENDORS: this header never assigns enumerated values (struct types, info names, formats, kinds,
 * types of handles) that contain PI_VENDOR_BIT. The plugin that receives such a value defines its
 * meaning; to other plugins it is unknown. Masks (1 << value) cover only values below 32. Vendors
 * add no flag bits; they use chained descriptors. A caller treats a value that it does not know as
 * the UNKNOWN value of its type, and a connection that it does not know as NONE.
 *
 * THREADS: every function may be called from any thread at any time, unless its comment says
 * "externally synchronised". A plugin leaves the state of the calling thread as it was. Only
 * piEventWait, piQueueFinish and commands with PI_COMMAND_BLOCKING block. All other calls may take
 * as long as the vendor's call takes, but do not wait for commands. Inside a callback of any
 * plugin, blocking calls return PI_ERROR_WOULD_BLOCK. piProgramCompile, piProgramBuild,
 * piProgramLink, piMemFlush and piMemInvalidate may return it there as well, since they take long
 * on some backends.
 *
 * LIFETIMES: objects are reference counted; a create function returns one reference. From a
 * successful enqueue until its event is complete, a command keeps alive every object that it names
 * (memory and the roots of views, kernel, program, sampler, waited events, queue): the caller may
 * release all of them right after the call. A command does not keep host pointers and USM alive.
 * Values, patterns, regions and arguments are copied during the call. Any object but a loader may
 * be released inside a callback. Using a handle after its release is undefined behaviour.
 *
 * ABI: version 1. Everything here keeps its meaning and layout; additions are appended, and their
 * comments give the minor version that added them (api/README.md has the rules).
 */
#ifndef PI_PI_H
#define PI_PI_H

#include <stdint.h>

#if UINTPTR_MAX < UINT64_MAX
#error "PI is for 64-bit targets: its structs have no others' layouts"
#endif

/* Windows plugins use the platform's C calling convention. Elsewhere PI_CALL is empty, and
 * PI_EXPORT sets the visibility. */
#if defined(_WIN32)
#define PI_CALL __cdecl
#define PI_EXPORT __declspec(dllexport)
#else
#define PI_CALL
#define PI_EXPORT __attribute__((visibility("default")))
#endif

#define PI_VERSION_MAJOR 1
#define PI_VERSION_MINOR 1
/* The draft number of a minor version under development: its additions may still change, and each
 * change raises this number. 0 once the version is frozen. */
#define PI_VERSION_DRAFT 3

/* Set in enumerated values that vendors assign: see VENDORS. */
#define PI_VENDOR_BIT UINT32_C(0x40000000)

/* A wait without a time limit. */
#define PI_TIMEOUT_NEVER UINT64_MAX

#ifdef __cplusplus
extern "C" {
#endif

/* ===== Results ================================================================================ */

typedef int32_t pi_result;

/* One code for each cause; the text of piGetLastError gives the details. Values are stable. */
enum {
    PI_SUCCESS = 0,

    /* Wrong arguments. */
    PI_ERROR_INVALID_VALUE = -1,        /* a value outside the range that its comment allows */
    PI_ERROR_INVALID_NULL_POINTER = -2, /* a pointer (not a handle) is NULL and must not be */
    PI_ERROR_INVALID_SIZE = -3,         /* zero, overflows, or is past the end of its object */
    PI_ERROR_INVALID_ENUMERATION = -4,  /* an info name, format or kind that is not in the list */
    PI_ERROR_INVALID_DESCRIPTOR = -5,   /* struct_size or type does not match the descriptor */
    PI_ERROR_MISALIGNED_OFFSET = -6,    /* an offset breaks the scope's offset_alignment */
    PI_ERROR_MISALIGNED_POINTER = -7,   /* a host pointer breaks the required alignment */
    PI_ERROR_INVALID_ALIGNMENT = -8,    /* not a power of two, or too large to be honoured */
    PI_ERROR_MEM_COPY_OVERLAP = -9,     /* source and destination of one copy overlap */
    PI_ERROR_INVALID_WAIT_LIST = -10,   /* wait_list is NULL and wait_count is not 0 */
    PI_ERROR_INVALID_WORK_SIZE = -11,   /* dimensions or sizes of a launch */
    PI_ERROR_INVALID_ARGUMENTS = -12,   /* arguments of a launch: count, kind or size */
    PI_ERROR_INVALID_NAME = -13,      /* no kernel, function, variable or extension has this name */
    PI_ERROR_INVALID_BINARY = -14,    /* the bytes of a program are not of the given format */
    PI_ERROR_INVALID_OPERATION = -15, /* not allowed in the current state (signalled twice) */
    PI_ERROR_INVALID_NATIVE_HANDLE = -16, /* a native handle's type, count or owner, or NULL */

    /* A handle is NULL, of another kind, or of another plugin instance. */
    PI_ERROR_INVALID_LOADER = -32,
    PI_ERROR_INVALID_PLUGIN = -33,
    PI_ERROR_INVALID_PLATFORM = -34,
    PI_ERROR_INVALID_DEVICE = -35, /* also: the device does not belong to the context */
    PI_ERROR_INVALID_CONTEXT = -36,
    PI_ERROR_INVALID_QUEUE = -37,
    PI_ERROR_INVALID_MEM_OBJECT = -38, /* also: dst cannot use the memory (connection NONE) */
    PI_ERROR_INVALID_EVENT = -39,
    PI_ERROR_INVALID_PROGRAM = -40,
    PI_ERROR_INVALID_KERNEL = -41,
    PI_ERROR_INVALID_SAMPLER = -42,
    PI_ERROR_INVALID_USM_POOL = -43,
    PI_ERROR_INVALID_USM_POINTER = -44, /* not in a live USM allocation of the context */

    /* Limits of the system, the backend or the device. */
    PI_ERROR_UNSUPPORTED_FEATURE = -64, /* not possible on the backend, or not implemented */
    PI_ERROR_OUT_OF_HOST_MEMORY = -65,
    PI_ERROR_OUT_OF_DEVICE_MEMORY = -66,
    PI_ERROR_OUT_OF_RESOURCES = -67, /* handles, threads, file descriptors, registers */
    /* All commands of the device return this until its contexts are destroyed, or for ever. */
    PI_ERROR_DEVICE_LOST = -68,
    PI_ERROR_UNAVAILABLE = -69,  /* no driver or no device of this backend on the machine */
    PI_ERROR_BUILD_FAILED = -70, /* compile or link failed; piProgramGetBuildInfo has the log */
    /* An event of the wait list failed; the text is that of the first failure. */
    PI_ERROR_DEPENDENCY_FAILED = -71,
    PI_ERROR_ABANDONED = -72, /* a host event's last reference was released before a signal */
    PI_ERROR_TIMEOUT = -73,
    PI_ERROR_WOULD_BLOCK = -74,           /* a blocking call inside a callback */
    PI_ERROR_PROFILING_UNAVAILABLE = -75, /* the queue was created without PI_QUEUE_PROFILING */
    PI_ERROR_BACKEND = -76, /* a vendor's code without an equivalent; the text names it */
    PI_ERROR_INTERNAL = -77 /* a bug in the plugin or the loader */
};

/* ===== Objects ================================================================================ */

/* A handle points to an opaque struct. Its first word is the loader's dispatch table, the second
 * its kind (pi/pi_plugin.h defines the layout); the rest belongs to the plugin. */
typedef struct pi_loader_s *pi_loader;
/* A plugin's instance in one loader; not reference counted. */
typedef struct pi_plugin_s *pi_plugin;
/* One driver of a backend; lives as long as its plugin. */
typedef struct pi_platform_s *pi_platform;
/* Root devices live as long as their plugin. */
typedef struct pi_device_s *pi_device;
typedef struct pi_context_s *pi_context;
typedef struct pi_queue_s *pi_queue;
/* A buffer, a view of a buffer, or an image. */
typedef struct pi_mem_s *pi_mem;
typedef struct pi_event_s *pi_event;
typedef struct pi_program_s *pi_program;
typedef struct pi_kernel_s *pi_kernel;
typedef struct pi_sampler_s *pi_sampler;
typedef struct pi_usm_pool_s *pi_usm_pool;

typedef uint32_t pi_kind;
enum {
    PI_KIND_LOADER = 1,
    PI_KIND_PLUGIN = 2,
    PI_KIND_PLATFORM = 3,
    PI_KIND_DEVICE = 4,
    PI_KIND_CONTEXT = 5,
    PI_KIND_QUEUE = 6,
    PI_KIND_MEM = 7,
    PI_KIND_EVENT = 8,
    PI_KIND_PROGRAM = 9,
    PI_KIND_KERNEL = 10,
    PI_KIND_SAMPLER = 11,
    PI_KIND_USM_POOL = 12
};

/* The `type` of each descriptor. */
typedef uint32_t pi_struct_type;
enum {
    PI_TYPE_NONE = 0,
    PI_TYPE_LOADER_DESC = 1,
    PI_TYPE_CONTEXT_DESC = 2,
    PI_TYPE_QUEUE_DESC = 3,
    PI_TYPE_MEM_BUFFER_DESC = 4,
    PI_TYPE_MEM_IMAGE_DESC = 5,
    PI_TYPE_MEM_PARTITION_DESC = 6,
    PI_TYPE_MEM_LAYOUT_DESC = 7,
    PI_TYPE_MEM_IMPORT_DESC = 8,
    PI_TYPE_MEM_EXPORT_DESC = 9,
    PI_TYPE_MEMORY_CONNECTION_QUERY = 10,
    PI_TYPE_MEMORY_CONNECTION_INFO = 11,
    PI_TYPE_USM_DESC = 12,
    PI_TYPE_USM_POOL_DESC = 13,
    PI_TYPE_PROGRAM_DESC = 14,
    PI_TYPE_PROGRAM_BUILD_DESC = 15,
    PI_TYPE_PROGRAM_LINK_DESC = 16,
    PI_TYPE_SAMPLER_DESC = 17,
    PI_TYPE_DEVICE_PARTITION_DESC = 18,
    PI_TYPE_NATIVE_DESC = 19,
    PI_TYPE_BUFFER_READ_DESC = 20,
    PI_TYPE_BUFFER_WRITE_DESC = 21,
    PI_TYPE_BUFFER_COPY_DESC = 22,
    PI_TYPE_BUFFER_FILL_DESC = 23,
    PI_TYPE_BUFFER_MAP_DESC = 24,
    PI_TYPE_UNMAP_DESC = 25,
    PI_TYPE_IMAGE_READ_DESC = 26,
    PI_TYPE_IMAGE_WRITE_DESC = 27,
    PI_TYPE_IMAGE_COPY_DESC = 28,
    PI_TYPE_IMAGE_FILL_DESC = 29,
    PI_TYPE_USM_COPY_DESC = 30,
    PI_TYPE_USM_FILL_DESC = 31,
    PI_TYPE_USM_PREFETCH_DESC = 32,
    PI_TYPE_USM_ADVISE_DESC = 33,
    PI_TYPE_USM_ALLOC_DESC = 34,
    PI_TYPE_USM_FREE_DESC = 35,
    PI_TYPE_KERNEL_LAUNCH_DESC = 36,
    PI_TYPE_HOST_FUNCTION_DESC = 37,
    PI_TYPE_EVENTS_WAIT_DESC = 38,
    PI_TYPE_BARRIER_DESC = 39,
    PI_TYPE_TIMESTAMP_DESC = 40,
    PI_TYPE_DEVICE_GLOBAL_READ_DESC = 41,
    PI_TYPE_DEVICE_GLOBAL_WRITE_DESC = 42,
    PI_TYPE_KERNEL_DESC = 43,
    PI_TYPE_HOST_EVENT_DESC = 44,
    PI_TYPE_MEMORY_VERIFICATION_DESC = 45 /* since 1.1 */
};
/* Set in the `type` of a chained descriptor that a callee may ignore if it does not know the
 * type. */
#define PI_TYPE_MAY_IGNORE_BIT UINT32_C(0x80000000)

/* The beginning of every descriptor; `next` points to one of these. */
typedef struct pi_struct_header {
    uint32_t struct_size;
    pi_struct_type type;
    const void *next;
} pi_struct_header;

/* ===== Errors ================================================================================= */

/* Code and text of the calling thread's most recent failed call of any PI function in this process;
 * PI_SUCCESS and "" if none failed. The text belongs to the loader and lives until the thread's
 * next failing call. Either output may be NULL. The text names the argument, its value and what
 * would be right, or the vendor's call and code: "clCreateBuffer: CL_OUT_OF_RESOURCES: 8 GiB
 * requested". */
PI_EXPORT pi_result PI_CALL piGetLastError(pi_result *out_code, const char **out_message);

/* Severity of a log message. */
typedef uint32_t pi_log_level;
enum {
    PI_LOG_TRACE = 1,
    PI_LOG_DEBUG = 2,
    PI_LOG_INFO = 3,
    PI_LOG_WARNING = 4,
    PI_LOG_ERROR = 5,
    PI_LOG_OFF = 6 /* only as a threshold: no messages */
};

/* ===== Native handles ========================================================================= */

/* Contents of `value`, per backend. Opaque values are pointers or integers, as the vendor defines
 * them. */
typedef uint32_t pi_native_type;
enum {
    PI_NATIVE_NONE = 0,
    PI_NATIVE_HOST_POINTER = 1, /* host: the address of the object's bytes or function */
    PI_NATIVE_OPENCL = 16,      /* one cl_* handle of the object's kind */
    PI_NATIVE_CUDA_DEVICE = 32, /* CUdevice */
    PI_NATIVE_CUDA_CONTEXT = 33,
    PI_NATIVE_CUDA_STREAM = 34,
    PI_NATIVE_CUDA_EVENT = 35,
    PI_NATIVE_CUDA_POINTER = 36,       /* CUdeviceptr */
    PI_NATIVE_CUDA_ARRAY_TEXTURE = 37, /* two values: CUarray, CUtexObject */
    PI_NATIVE_CUDA_MODULE = 38,
    PI_NATIVE_CUDA_FUNCTION = 39,
    PI_NATIVE_LEVEL_ZERO = 64,        /* one ze_*_handle_t of the object's kind */
    PI_NATIVE_LEVEL_ZERO_POINTER = 65 /* the address of a device allocation */
};

typedef struct pi_native_handle {
    pi_native_type type;
    uint32_t count; /* number of used elements of value */
    uint64_t value[6];
} pi_native_handle;

/* Get...NativeHandle lends the handle: it lives as long as the object. ...CreateWithNativeHandle
 * creates an object around a handle; if it fails, the owner of the handle stays the same. On some
 * backends contexts, programs and kernels have one handle per device, so their getters take a
 * device of the context; it may be NULL where the backend has one handle for all devices.
 *
 * PI_ERROR_INVALID_NATIVE_HANDLE: the handle is NULL, has another type or count, or, as far as the
 * backend can detect it, belongs to another platform, context or device than the call. A value that
 * is not a handle of the backend at all cannot be detected; using it is undefined behaviour.
 * PI_ERROR_INVALID_OPERATION: the event has no native counterpart (a host event, or the event of a
 * deferred command).
 *
 * Without PI_NATIVE_OWN the application keeps the handle valid until the object is destroyed, and
 * the handle of an event also until the event has completed, since commands may wait for it.
 * Commands that the plugin has deferred are not ordered with work that is submitted directly to a
 * native queue. */
enum {
    PI_NATIVE_OWN = 1 << 0 /* transfers ownership: the handle is released with the object */
};

typedef struct pi_native_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_NATIVE_DESC */
    const void *next;
    uint64_t flags; /* PI_NATIVE_OWN */
    /* Contexts, programs and kernels: the device of the handle, where the backend has one handle
     * per device (a CUmodule cannot be queried for its device). Elsewhere NULL. */
    pi_device device;
    pi_native_handle handle;
} pi_native_desc;

/* ===== Plugins ================================================================================ */

/* The plugins that this loader has loaded, in the order in which it found them. */
PI_EXPORT pi_result PI_CALL piPluginsGet(pi_loader loader, uint32_t capacity,
                                         pi_plugin *out_plugins, uint32_t *out_count);

/* Required: all of them. */
typedef uint32_t pi_plugin_info;
enum {
    PI_PLUGIN_INFO_NAME = 1,        /* char[]: "host", "opencl", ... */
    PI_PLUGIN_INFO_VERSION = 2,     /* char[]: the plugin's own version */
    PI_PLUGIN_INFO_CAPABILITIES = 3 /* uint64_t: PI_CAPABILITY_ bits */
};

/* Optional groups of functions. A plugin implements all functions of a group or none, and reports
 * the groups that it implements. pi_functions.def gives the group of each function. */
enum {
    PI_CAPABILITY_BUFFER_COMMANDS = 1 << 0, /* read, write, fill (else emulated by maps) */
    PI_CAPABILITY_MEM_IMPORT = 1 << 1,
    PI_CAPABILITY_MEM_EXPORT = 1 << 2,
    PI_CAPABILITY_MEM_HOST_ACCESS = 1 << 3, /* host pointer, flush, invalidate */
    PI_CAPABILITY_IMAGE = 1 << 4,           /* images, their commands, samplers */
    PI_CAPABILITY_USM = 1 << 5,             /* allocations and commands on pointers */
    PI_CAPABILITY_USM_POOL = 1 << 6,
    PI_CAPABILITY_USM_ASYNC = 1 << 7,     /* stream-ordered allocation and free */
    PI_CAPABILITY_USM_REGISTER = 1 << 8,  /* pin the application's memory */
    PI_CAPABILITY_PROGRAM = 1 << 9,       /* programs, kernels, launches */
    PI_CAPABILITY_PROGRAM_LINK = 1 << 10, /* separate compile and link */
    PI_CAPABILITY_SPECIALIZATION = 1 << 11,
    PI_CAPABILITY_DEVICE_GLOBALS = 1 << 12,
    PI_CAPABILITY_COOPERATIVE = 1 << 13,
    PI_CAPABILITY_HOST_FUNCTION = 1 << 14,
    PI_CAPABILITY_TIMESTAMP = 1 << 15, /* device and host clocks, timestamp commands */
    PI_CAPABILITY_PARTITION = 1 << 16, /* sub-devices */
    PI_CAPABILITY_VIEW = 1 << 17,      /* sub-buffers */
    PI_CAPABILITY_NATIVE = 1 << 18     /* native handles of the core objects, get and create */
};

PI_EXPORT pi_result PI_CALL piPluginGetInfo(pi_plugin plugin, pi_plugin_info name, uint64_t size,
                                            void *value, uint64_t *out_size);

/* A table of functions outside the core, by name ("vendor_feature_v1"). The table begins with its
 * size in bytes as uint64_t and lives as long as the plugin. PI_ERROR_UNSUPPORTED_FEATURE: the
 * table is smaller than min_size. PI_ERROR_INVALID_NAME: the plugin has no table of this name. */
PI_EXPORT pi_result PI_CALL piPluginGetExtension(pi_plugin plugin, const char *name,
                                                 uint64_t min_size, const void **out_table);

/* ===== Platforms ============================================================================== */

/* The drivers of this backend. The first call opens the vendor's library. PI_ERROR_UNAVAILABLE,
 * with the reason as text, if there is no driver or no device; the plugin stays usable, and the
 * call may be repeated. */
PI_EXPORT pi_result PI_CALL piPlatformsGet(pi_plugin plugin, uint32_t capacity,
                                           pi_platform *out_platforms, uint32_t *out_count);

/* Required: NAME, PLUGIN, BACKEND. */
typedef uint32_t pi_platform_info;
enum {
    PI_PLATFORM_INFO_NAME = 1,    /* char[] */
    PI_PLATFORM_INFO_VENDOR = 2,  /* char[] */
    PI_PLATFORM_INFO_VERSION = 3, /* char[]: of the driver or its API, in the vendor's format */
    PI_PLATFORM_INFO_PLUGIN = 4,  /* pi_plugin, borrowed */
    PI_PLATFORM_INFO_BACKEND = 5  /* uint32_t: PI_BACKEND_ */
};
enum {
    PI_BACKEND_HOST = 1,
    PI_BACKEND_OPENCL = 2,
    PI_BACKEND_CUDA = 3,
    PI_BACKEND_LEVEL_ZERO = 4,
    PI_BACKEND_SIMULATED = 5,
    PI_BACKEND_OTHER = 6,
    PI_BACKEND_HIP = 7,
    PI_BACKEND_VULKAN = 8,
    PI_BACKEND_METAL = 9
};
PI_EXPORT pi_result PI_CALL piPlatformGetInfo(pi_platform platform, pi_platform_info name,
                                              uint64_t size, void *value, uint64_t *out_size);

/* Translates a frontend's compiler option ("-O2", "-g") into the backend's spelling; "" if the
 * backend has no equivalent. size, value and out_size are those of an info query. */
PI_EXPORT pi_result PI_CALL piPlatformGetBackendOption(pi_platform platform,
                                                       const char *frontend_option, uint64_t size,
                                                       char *value, uint64_t *out_size);

PI_EXPORT pi_result PI_CALL piPlatformGetNativeHandle(pi_platform platform,
                                                      pi_native_handle *out_handle);
/* Finds the platform that a native handle denotes. This never creates a platform or transfers
 * ownership. */
PI_EXPORT pi_result PI_CALL piPlatformCreateWithNativeHandle(pi_plugin plugin,
                                                             const pi_native_desc *desc,
                                                             pi_platform *out_platform);

/* ===== Devices ================================================================================ */

typedef uint32_t pi_device_type;
enum {
    PI_DEVICE_TYPE_CPU = 1 << 0,
    PI_DEVICE_TYPE_GPU = 1 << 1,
    PI_DEVICE_TYPE_ACCELERATOR = 1 << 2,
    PI_DEVICE_TYPE_OTHER = 1 << 3
};
#define PI_DEVICE_TYPE_ALL UINT32_MAX

/* The platform's root devices of the types in `types`; 0 means all. Bits that are not a
 * PI_DEVICE_TYPE_ match no device. If no device matches, the call succeeds with a count of 0. */
PI_EXPORT pi_result PI_CALL piDevicesGet(pi_platform platform, pi_device_type types,
                                         uint32_t capacity, pi_device *out_devices,
                                         uint32_t *out_count);

/* Required: TYPE, NAME, PLATFORM, PARENT, QUEUE_FLAGS, CAPABILITIES. With PI_CAPABILITY_PROGRAM:
 * PROGRAM_FORMATS, MAX_WORK_GROUP_SIZE, MAX_WORK_ITEM_SIZES; with PI_CAPABILITY_USM:
 * USM_CAPABILITIES; with PARTITION_KINDS other than 0: COMPUTE_UNITS; where HOST_POINTER_IMPORT is
 * 1: HOST_POINTER_ALIGNMENT. */
typedef uint32_t pi_device_info;
enum {
    PI_DEVICE_INFO_TYPE = 1,            /* pi_device_type, one bit */
    PI_DEVICE_INFO_NAME = 2,            /* char[] */
    PI_DEVICE_INFO_VENDOR = 3,          /* char[] */
    PI_DEVICE_INFO_VERSION = 4,         /* char[]: of the device's API */
    PI_DEVICE_INFO_DRIVER_VERSION = 5,  /* char[] */
    PI_DEVICE_INFO_PLATFORM = 6,        /* pi_platform, borrowed */
    PI_DEVICE_INFO_PARENT = 7,          /* pi_device, borrowed; NULL for a root device */
    PI_DEVICE_INFO_REFERENCE_COUNT = 8, /* uint32_t: for debugging only */

    /* Identity. An identity that the device does not have is PI_ERROR_UNSUPPORTED_FEATURE, never
     * zeros. Two devices are the same physical device if they have an equal UUID, LUID or PCI
     * address; names never decide. */
    PI_DEVICE_INFO_UUID = 16,        /* uint8_t[16] */
    PI_DEVICE_INFO_LUID = 17,        /* uint8_t[8] */
    PI_DEVICE_INFO_PCI_ADDRESS = 18, /* char[]: "0000:c1:00.0" */
    /* Location, not identity. */
    PI_DEVICE_INFO_NUMA_NODE = 19, /* uint32_t: the operating system's number */

    PI_DEVICE_INFO_COMPUTE_UNITS = 32,       /* uint32_t */
    PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE = 33, /* uint64_t: work-items */
    PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES = 34, /* uint64_t[3] */
    PI_DEVICE_INFO_LOCAL_MEMORY_SIZE = 35,   /* uint64_t: bytes per work-group */
    PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE = 36,  /* uint64_t: bytes of scope 0 */
    PI_DEVICE_INFO_MAX_ALLOCATION_SIZE = 37, /* uint64_t: bytes */
    PI_DEVICE_INFO_ADDRESS_BITS = 38,        /* uint32_t */
    PI_DEVICE_INFO_FP16 = 39,                /* uint32_t: 0 or 1 */
    PI_DEVICE_INFO_FP64 = 40,                /* uint32_t: 0 or 1 */
    PI_DEVICE_INFO_IMAGES = 41,              /* uint32_t: 0 or 1 */
    PI_DEVICE_INFO_SUB_GROUP_SIZES = 42,     /* uint32_t[] */

    /* PI_BUFFER_OFFSET_ bits: how buffer arguments can begin at an offset. The alignment is that of
     * the memory scope. */
    PI_DEVICE_INFO_BUFFER_OFFSET_MODE = 48, /* uint32_t */
    /* Whether piMemImport accepts a HOST_POINTER, and for which pointers. */
    PI_DEVICE_INFO_HOST_POINTER_IMPORT = 49,    /* uint32_t: 0 or 1 */
    PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT = 50, /* uint64_t: bytes, of pointer and size */
    PI_DEVICE_INFO_INTEGRATED = 51,       /* uint32_t: 1 if host and device share physical memory */
    PI_DEVICE_INFO_USM_CAPABILITIES = 52, /* uint32_t: 1 << PI_USM_ kinds */
    PI_DEVICE_INFO_PROGRAM_FORMATS = 53,  /* uint32_t: 1 << PI_PROGRAM_FORMAT_ */
    PI_DEVICE_INFO_QUEUE_FLAGS = 54, /* uint64_t: the PI_QUEUE_ flags that the device honours */
    PI_DEVICE_INFO_TIMER_RESOLUTION = 55,      /* uint64_t: nanoseconds of profiling times */
    PI_DEVICE_INFO_PARTITION_KINDS = 56,       /* uint32_t: 1 << PI_PARTITION_ */
    PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES = 57, /* uint32_t: 1 << PI_EXTERNAL_ that import accepts */
    PI_DEVICE_INFO_EXPORT_HANDLE_TYPES = 58, /* uint32_t: 1 << PI_EXTERNAL_ that export supports */
    /* The part of its plugin's capabilities that this device supports (one plugin may serve
     * different devices). Anything else fails with PI_ERROR_UNSUPPORTED_FEATURE, or with the error
     * of an invalid argument. */
    PI_DEVICE_INFO_CAPABILITIES = 59,      /* uint64_t: PI_CAPABILITY_, a subset of the plugin's */
    PI_DEVICE_INFO_LAUNCH_FEATURES = 60,   /* uint32_t: PI_LAUNCH_FEATURE_ */
    PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE = 61, /* uint64_t[2]: pixels */
    PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE = 62, /* uint64_t[3]: pixels */
    /* Alignments of the offset and of the row pitch of an image view of a buffer. If the first is
     * unsupported, a view must begin at offset 0; if the second is, a view must have one row. */
    PI_DEVICE_INFO_IMAGE_VIEW_OFFSET_ALIGNMENT = 63, /* uint64_t: bytes */
    PI_DEVICE_INFO_IMAGE_VIEW_PITCH_ALIGNMENT = 64,  /* uint64_t: bytes */
    /* Time to move bytes between scope 0 and host memory. (No connection describes it, since the
     * host is not a place.) A speed is {bytes per second, nanoseconds}: a command that runs alone
     * takes the nanoseconds plus its bytes at this rate; a rate of UINT64_MAX means that the time
     * does not depend on the size. Unsupported unless measured or specified; never an estimate. */
    PI_DEVICE_INFO_HOST_READ_SPEED = 65,  /* uint64_t[2]: of piEnqueueMemBufferRead */
    PI_DEVICE_INFO_HOST_WRITE_SPEED = 66, /* uint64_t[2]: of piEnqueueMemBufferWrite */
    /* Of a map for reading, or of an unmap after writing. */
    PI_DEVICE_INFO_MAP_SPEED = 67, /* uint64_t[2] */
    /* From the end of a command to its callback. */
    PI_DEVICE_INFO_CALLBACK_LATENCY = 68, /* uint64_t: nanoseconds */
    /* The channels (pi_memory_connection_info) that these reads and writes occupy, without zeros.
     * Unsupported: not known. */
    PI_DEVICE_INFO_HOST_READ_CHANNELS = 69,  /* uint64_t[]: at most PI_CONNECTION_MAX_CHANNELS */
    PI_DEVICE_INFO_HOST_WRITE_CHANNELS = 70, /* uint64_t[]: at most PI_CONNECTION_MAX_CHANNELS */

    /* Since 1.1, up to MAX_SUB_DEVICES. The ids of vendor and model; like names, they never decide
     * whether two devices are the same. */
    PI_DEVICE_INFO_VENDOR_ID = 71, /* uint32_t: assigned by PCI-SIG, or else by Khronos */
    PI_DEVICE_INFO_DEVICE_ID = 72, /* uint32_t: PCI's, assigned by the vendor */

    PI_DEVICE_INFO_CLOCK_RATE = 73,        /* uint32_t: MHz, the highest */
    PI_DEVICE_INFO_MEMORY_CLOCK_RATE = 74, /* uint32_t: MHz, the highest */
    PI_DEVICE_INFO_MEMORY_BUS_WIDTH = 75,  /* uint32_t: bits */
    /* Bytes of GLOBAL_MEMORY_SIZE that nobody uses at the time of the query. */
    PI_DEVICE_INFO_FREE_MEMORY = 76, /* uint64_t: bytes */
    /* Elements of vectors of char, short, int, long, float, double and half, in this order; 0 if
     * the device does not have the type. */
    PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS = 77, /* uint32_t[7] */
    PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS = 78,    /* uint32_t[7] */
    /* PI_FP_ bits of half, float and double, in this order; 0 if the device does not have the
     * type. */
    PI_DEVICE_INFO_FP_CONFIGS = 79, /* uint32_t[3] */
    /* The last cache before the device's memory. */
    PI_DEVICE_INFO_CACHE_SIZE = 80,        /* uint64_t: bytes; 0 = no cache */
    PI_DEVICE_INFO_CACHE_LINE_SIZE = 81,   /* uint32_t: bytes, a power of two */
    PI_DEVICE_INFO_CACHE_TYPE = 82,        /* uint32_t: PI_CACHE_ */
    PI_DEVICE_INFO_LOCAL_MEMORY_TYPE = 83, /* uint32_t: PI_LOCAL_MEMORY_ */

    PI_DEVICE_INFO_MAX_SUB_GROUP_COUNT = 84, /* uint32_t: of one work-group */
    /* 1: a sub-group proceeds while others of its work-group wait for it. */
    PI_DEVICE_INFO_SUB_GROUP_INDEPENDENT_PROGRESS = 85, /* uint32_t: 0 or 1 */
    PI_DEVICE_INFO_ATOMIC_64 = 86, /* uint32_t: 0 or 1; atomics of 64-bit integers */
    /* Memory orders and scopes of kernels' atomic operations and of their fences. */
    PI_DEVICE_INFO_ATOMIC_CAPABILITIES = 87, /* uint32_t: PI_ATOMIC_ */
    PI_DEVICE_INFO_FENCE_CAPABILITIES = 88,  /* uint32_t: PI_ATOMIC_ */
    /* PI_USM_ACCESS_ bits of kernels in memory of kind HOST, DEVICE and SHARED of this device, of
     * kind SHARED of another device, and in memory that is not USM (the application's own), in this
     * order; 0 if the device does not have the kind. */
    PI_DEVICE_INFO_USM_ACCESS = 89, /* uint32_t[5] */

    PI_DEVICE_INFO_MAX_PARAMETER_SIZE = 90,       /* uint64_t: bytes of all arguments of a launch */
    PI_DEVICE_INFO_MAX_CONSTANT_SIZE = 91,        /* uint64_t: bytes of constant memory */
    PI_DEVICE_INFO_MAX_CONSTANT_ARGUMENTS = 92,   /* uint32_t: of one kernel */
    PI_DEVICE_INFO_MAX_READ_IMAGE_ARGUMENTS = 93, /* uint32_t: of one kernel */
    PI_DEVICE_INFO_MAX_WRITE_IMAGE_ARGUMENTS = 94, /* uint32_t: of one kernel */
    PI_DEVICE_INFO_MAX_SAMPLERS = 95,              /* uint32_t: of one kernel */
    PI_DEVICE_INFO_MAX_IMAGE_ARRAY_SIZE = 96,      /* uint64_t: layers */
    PI_DEVICE_INFO_MAX_IMAGE_BUFFER_SIZE = 97,     /* uint64_t: pixels of a 1-D view of a buffer */
    /* Lists of names with single spaces between them; "" if there is none. */
    PI_DEVICE_INFO_IL_VERSIONS = 98,       /* char[]: "SPIR-V_1.0 SPIR-V_1.4" */
    PI_DEVICE_INFO_EXTENSIONS = 99,        /* char[]: the vendor's names */
    PI_DEVICE_INFO_ERROR_CORRECTION = 100, /* uint32_t: 0 or 1; of the device's memory */
    PI_DEVICE_INFO_MAX_GRID_SIZES = 101,   /* uint64_t[3]: work-groups of a launch */
    PI_DEVICE_INFO_MAX_PRINTF_SIZE = 102,  /* uint64_t: bytes that a launch can print */
    PI_DEVICE_INFO_PARTITION_KIND = 103,   /* pi_partition_kind: of a sub-device; 0 for a root */
    PI_DEVICE_INFO_MAX_SUB_DEVICES = 104 /* uint32_t: of one partition; 0 without PARTITION_KINDS */
};

/* Since 1.1, down to PI_USM_ACCESS_. How the device computes with a floating-point type. */
enum {
    PI_FP_DENORMALS = 1 << 0,
    PI_FP_INF_NAN = 1 << 1,
    PI_FP_ROUND_TO_NEAREST = 1 << 2,
    PI_FP_ROUND_TO_ZERO = 1 << 3,
    PI_FP_ROUND_TO_INF = 1 << 4,
    PI_FP_FMA = 1 << 5,
    PI_FP_SOFT_FLOAT = 1 << 6, /* in software */
    PI_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7
};
enum { PI_CACHE_NONE = 0, PI_CACHE_READ_ONLY = 1, PI_CACHE_READ_WRITE = 2 };
/* GLOBAL: work-group memory lies in the device's memory. */
enum { PI_LOCAL_MEMORY_NONE = 0, PI_LOCAL_MEMORY_DEDICATED = 1, PI_LOCAL_MEMORY_GLOBAL = 2 };
/* SYSTEM: the host and all devices. */
enum {
    PI_ATOMIC_ORDER_RELAXED = 1 << 0,
    PI_ATOMIC_ORDER_ACQUIRE = 1 << 1,
    PI_ATOMIC_ORDER_RELEASE = 1 << 2,
    PI_ATOMIC_ORDER_ACQUIRE_RELEASE = 1 << 3,
    PI_ATOMIC_ORDER_SEQUENTIALLY_CONSISTENT = 1 << 4,
    PI_ATOMIC_SCOPE_WORK_ITEM = 1 << 5,
    PI_ATOMIC_SCOPE_SUB_GROUP = 1 << 6,
    PI_ATOMIC_SCOPE_WORK_GROUP = 1 << 7,
    PI_ATOMIC_SCOPE_DEVICE = 1 << 8,
    PI_ATOMIC_SCOPE_SYSTEM = 1 << 9
};
/* CONCURRENT: while the host or another device accesses the same memory. No bit is set without
 * PI_USM_ACCESS. */
enum {
    PI_USM_ACCESS = 1 << 0,
    PI_USM_ACCESS_ATOMIC = 1 << 1,
    PI_USM_ACCESS_CONCURRENT = 1 << 2,
    PI_USM_ACCESS_CONCURRENT_ATOMIC = 1 << 3
};

/* How the buffer argument of a launch can begin at an offset: device pointers are addresses
 * (POINTER), or the plugin creates a sub-buffer (SUB_BUFFER: the scope's offset_alignment
 * applies). */
enum { PI_BUFFER_OFFSET_POINTER = 1 << 0, PI_BUFFER_OFFSET_SUB_BUFFER = 1 << 1 };

/* Optional features of launches. Without the bit, a global offset is PI_ERROR_UNSUPPORTED_FEATURE,
 * a global size that is not a multiple of the local size is PI_ERROR_INVALID_WORK_SIZE, and a
 * cluster size is PI_ERROR_UNSUPPORTED_FEATURE. */
enum {
    PI_LAUNCH_FEATURE_GLOBAL_OFFSET = 1 << 0,
    PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS = 1 << 1,
    PI_LAUNCH_FEATURE_CLUSTERS = 1 << 2
};

PI_EXPORT pi_result PI_CALL piDeviceGetInfo(pi_device device, pi_device_info name, uint64_t size,
                                            void *value, uint64_t *out_size);

typedef uint32_t pi_partition_kind;
enum {
    PI_PARTITION_EQUALLY = 1,    /* sub-devices of `count` compute units each */
    PI_PARTITION_BY_COUNTS = 2,  /* one sub-device for each of `counts` */
    PI_PARTITION_BY_NUMA = 3,    /* one for each NUMA node */
    PI_PARTITION_BY_HARDWARE = 4 /* one for each tile or stack of the device */
};
typedef struct pi_device_partition_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_DEVICE_PARTITION_DESC */
    const void *next;
    pi_partition_kind kind;
    uint32_t count; /* EQUALLY: compute units of each; BY_COUNTS: length of counts */
    const uint32_t *counts;
} pi_device_partition_desc;
/* Creates sub-devices; each compute unit is in at most one of them. The caller releases each
 * element of out_devices; a sub-device keeps its parent alive. If out_devices is NULL, the call
 * creates nothing and only counts. PI_ERROR_UNSUPPORTED_FEATURE: PI_DEVICE_INFO_PARTITION_KINDS
 * lacks the kind. PI_ERROR_INVALID_SIZE: for EQUALLY, count is 0 or exceeds the device's compute
 * units; for BY_COUNTS, count or one of the counts is 0, or the sum of counts exceeds them. */
PI_EXPORT pi_result PI_CALL piDevicePartition(pi_device device,
                                              const pi_device_partition_desc *desc,
                                              uint32_t capacity, pi_device *out_devices,
                                              uint32_t *out_count);
/* On root devices both succeed and do nothing. */
PI_EXPORT pi_result PI_CALL piDeviceRetain(pi_device device);
PI_EXPORT pi_result PI_CALL piDeviceRelease(pi_device device);

/* The device's and the host's clock in nanoseconds, read as close together as the backend can. The
 * host's clock is CLOCK_MONOTONIC. Either output may be NULL. */
PI_EXPORT pi_result PI_CALL piDeviceGetGlobalTimestamps(pi_device device, uint64_t *out_device_time,
                                                        uint64_t *out_host_time);

/* One image of a program, for one target. piDeviceSelectBinary returns the index of the image that
 * suits the device best; of equals the first. An image whose target or format the plugin does not
 * know suits no device. PI_ERROR_INVALID_BINARY: no image suits, or count is 0. */
typedef struct pi_program_binary {
    const char *target; /* "opencl_c", "spirv64", "native", "sm_90", ... */
    uint32_t format;    /* PI_PROGRAM_FORMAT_ */
    uint32_t reserved;
    /* The image, for backends that cannot decide by the target alone; NULL and 0: not available. */
    const void *data;
    uint64_t size; /* bytes */
    uint64_t reserved_words[2];
} pi_program_binary;
PI_EXPORT pi_result PI_CALL piDeviceSelectBinary(pi_device device, uint32_t count,
                                                 const pi_program_binary *binaries,
                                                 uint32_t *out_index);

/* A kind of memory that the device can allocate. Descriptors carry the index in the list; names are
 * for discovery. Scope 0 is the device's ordinary memory. Usual names: "global", "host.pinned",
 * "shared", "texture", "<vendor>.<name>". */
enum {
    PI_SCOPE_HOST_VISIBLE = 1 << 0, /* piMemGetHostPointer works */
    PI_SCOPE_COHERENT = 1 << 1, /* host and device see each other's writes once events order them */
    PI_SCOPE_CONTIGUOUS = 1 << 2,   /* PI_MEM_REQUIRE_CONTIGUOUS is accepted */
    PI_SCOPE_PINNED = 1 << 3,       /* PI_MEM_REQUIRE_PINNED is accepted */
    PI_SCOPE_LAYOUT = 1 << 4,       /* n-D allocations (pi_mem_layout_desc) */
    PI_SCOPE_POOLABLE = 1 << 5,     /* a pool may recycle allocations */
    PI_SCOPE_MAPS_IN_PLACE = 1 << 6 /* a map returns the memory itself, without a copy */
};
typedef struct pi_memory_scope {
    char name[64];
    uint64_t flags;            /* PI_SCOPE_ */
    uint64_t capacity;         /* bytes; 0 = unknown */
    uint64_t max_allocation;   /* bytes; 0 = unknown */
    uint64_t min_alignment;    /* bytes; guaranteed for every allocation */
    uint64_t offset_alignment; /* bytes; of the offsets of launch arguments and of views */
    uint64_t flush_atom;       /* bytes; the unit of piMemFlush and piMemInvalidate; 1 = any */
    uint64_t reserved[4];
} pi_memory_scope;
PI_EXPORT pi_result PI_CALL piDeviceGetMemoryScopes(pi_device device, uint32_t capacity,
                                                    pi_memory_scope *out_scopes,
                                                    uint32_t *out_count);

PI_EXPORT pi_result PI_CALL piDeviceGetNativeHandle(pi_device device, pi_native_handle *out_handle);
/* Finds the device of the platform that a native handle denotes; for a sub-device it creates a new
 * object. */
PI_EXPORT pi_result PI_CALL piDeviceCreateWithNativeHandle(pi_platform platform,
                                                           const pi_native_desc *desc,
                                                           pi_device *out_device);

/* ===== Contexts =============================================================================== */

/* A context groups devices of one platform. It implies nothing about how they can use each other's
 * memory: query piGetMemoryConnection. */
typedef struct pi_context_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_CONTEXT_DESC */
    const void *next;
    uint64_t flags; /* must be 0 */
    uint32_t device_count;
    uint32_t reserved;
    /* Devices of this platform, at least one (else PI_ERROR_INVALID_SIZE). A sub-device belongs to
     * the context only if it is listed. */
    const pi_device *devices;
} pi_context_desc;

/* Required: DEVICES, PLATFORM. */
typedef uint32_t pi_context_info;
enum {
    PI_CONTEXT_INFO_DEVICES = 1,        /* pi_device[], borrowed */
    PI_CONTEXT_INFO_PLATFORM = 2,       /* pi_platform, borrowed */
    PI_CONTEXT_INFO_REFERENCE_COUNT = 3 /* uint32_t: for debugging only */
};
PI_EXPORT pi_result PI_CALL piContextCreate(pi_platform platform, const pi_context_desc *desc,
                                            pi_context *out_context);
PI_EXPORT pi_result PI_CALL piContextRetain(pi_context context);
PI_EXPORT pi_result PI_CALL piContextRelease(pi_context context);
PI_EXPORT pi_result PI_CALL piContextGetInfo(pi_context context, pi_context_info name,
                                             uint64_t size, void *value, uint64_t *out_size);
PI_EXPORT pi_result PI_CALL piContextGetNativeHandle(pi_context context, pi_device device,
                                                     pi_native_handle *out_handle);
PI_EXPORT pi_result PI_CALL piContextCreateWithNativeHandle(pi_platform platform,
                                                            const pi_native_desc *desc,
                                                            pi_context *out_context);

/* ===== Connections: can memory of one place be used by another? =============================== */

typedef uint32_t pi_memory_connection;
enum {
    PI_MEMORY_CONNECTION_NONE = 0,       /* only through the host */
    PI_MEMORY_CONNECTION_MIGRATABLE = 1, /* the plugin can copy it there */
    PI_MEMORY_CONNECTION_UNIFIED = 2     /* usable in place */
};

/* How (dst_device, dst_context) can use memory of (src_device, src_context), for reading and
 * writing. Each such pair of a device and a context is a place. The answer holds for linear buffers
 * in scope 0 of src that were created without host_ptr. It is directed: it says nothing about dst
 * -> src. It is constant while both contexts live. The first query of a pair may have to enable
 * access; later ones are cheap. The contract:
 *  1. A place to itself is UNIFIED.
 *  2. UNIFIED: every command on a queue of dst accepts src's memory as any of its operands, and
 *     sees the same bytes once events order it.
 *  3. MIGRATABLE: piEnqueueMemBufferCopy from a buffer of src to a buffer of dst is accepted on a
 *     queue of either end. It is asynchronous and exact, at any offset and size.
 *  4. NONE: dst's commands refuse src's memory with PI_ERROR_INVALID_MEM_OBJECT. (Raw USM pointers
 *     cannot be checked.)
 *  5. A device that does not belong to its context is PI_ERROR_INVALID_DEVICE. Between two plugin
 *     instances the loader answers NONE and queries neither. */
PI_EXPORT pi_result PI_CALL piGetMemoryConnection(pi_device src_device, pi_context src_context,
                                                  pi_device dst_device, pi_context dst_context,
                                                  pi_memory_connection *out_connection);

typedef uint32_t pi_memory_kind;
enum {
    PI_MEMORY_KIND_BUFFER = 0,
    PI_MEMORY_KIND_IMAGE = 1,
    PI_MEMORY_KIND_USM_HOST = 2,
    PI_MEMORY_KIND_USM_DEVICE = 3,
    PI_MEMORY_KIND_USM_SHARED = 4,
    PI_MEMORY_KIND_IMPORTED = 5 /* piMemImport of a host pointer */
};
typedef struct pi_memory_connection_query {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEMORY_CONNECTION_QUERY */
    const void *next;
    pi_memory_kind kind;
    uint32_t src_scope;
    uint32_t dst_scope;
    uint32_t reserved;
} pi_memory_connection_query;

/* How a memory object and the host see each other's writes. */
typedef uint32_t pi_coherence;
enum {
    PI_COHERENCE_UNKNOWN = 0,
    PI_COHERENCE_COHERENT = 1,         /* once events order them */
    PI_COHERENCE_FLUSH_INVALIDATE = 2, /* piMemFlush publishes, piMemInvalidate makes visible */
    PI_COHERENCE_MAP_UNMAP = 3         /* the host accesses it only between map and unmap */
};
typedef uint32_t pi_residency;
enum {
    PI_RESIDENCY_UNKNOWN = 0,
    PI_RESIDENCY_SAME_MEMORY = 1,          /* both ends use the same physical memory */
    PI_RESIDENCY_REMOTE_ACCESS = 2,        /* dst reads and writes across the link */
    PI_RESIDENCY_MIGRATES_WHOLE_OBJECT = 3 /* the driver moves the object implicitly */
};
typedef uint32_t pi_concurrent_writers;
enum {
    PI_CONCURRENT_WRITERS_NONE = 0, /* one writer at a time, whichever bytes it writes */
    PI_CONCURRENT_WRITERS_DISJOINT_VIEWS = 1,
    PI_CONCURRENT_WRITERS_DISJOINT_BYTES = 2
};
typedef uint32_t pi_copy_path;
enum {
    PI_COPY_PATH_UNKNOWN = 0,
    PI_COPY_PATH_DIRECT = 1,
    PI_COPY_PATH_STAGED_BY_DRIVER = 2,
    PI_COPY_PATH_STAGED_BY_PLUGIN = 3
};
typedef uint32_t pi_preferred_queue;
enum { PI_PREFERRED_QUEUE_EITHER = 0, PI_PREFERRED_QUEUE_SRC = 1, PI_PREFERRED_QUEUE_DST = 2 };
typedef uint32_t pi_link_kind;
enum {
    PI_LINK_UNKNOWN = 0,
    PI_LINK_SAME_DEVICE = 1,
    PI_LINK_SYSTEM_MEMORY = 2,
    PI_LINK_PCIE = 3,
    PI_LINK_NVLINK = 4,
    PI_LINK_XE_LINK = 5,
    PI_LINK_NETWORK = 6,
    PI_LINK_OTHER = 7
};
/* Since 1.1. Result of piVerifyMemoryConnection (pi/pi_loader.h): whether bytes arrived. */
typedef uint32_t pi_verified;
enum {
    PI_VERIFIED_UNKNOWN = 0, /* not verified */
    PI_VERIFIED_YES = 1,     /* all tested bytes arrived */
    PI_VERIFIED_FAILED = 2   /* the calls succeeded, but bytes were wrong */
};
/* A channel is something that a transfer occupies exclusively while its bytes move: one direction
 * of a slot, a port of a switch, a copy engine. It has a number that only the plugin instance that
 * assigned it understands. Transfers that share no channel can run at the same time; others take
 * turns. */
#define PI_CONNECTION_MAX_CHANNELS 8
/* An output struct: the caller sets struct_size and type. If connections differ between kinds or
 * scopes, this answer takes precedence over that of piGetMemoryConnection. */
typedef struct pi_memory_connection_info {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEMORY_CONNECTION_INFO */
    void *next;
    pi_memory_connection connection;
    pi_coherence coherence; /* of dst's accesses with src's, if UNIFIED */
    uint32_t atomics;       /* 1: atomics of both ends on one word are atomic to each other */
    pi_residency residency;
    pi_concurrent_writers concurrent_writers;
    pi_copy_path path; /* of a copy by the plugin */
    pi_preferred_queue preferred_queue;
    pi_link_kind link_kind;
    uint64_t bandwidth; /* of a copy that runs alone, in bytes per second; 0 = unknown */
    uint64_t latency;   /* plus this many nanoseconds per copy; 0 = unknown */
    uint32_t external_handle_types; /* 1 << PI_EXTERNAL_: src exports and dst imports the type */
    uint32_t reserved;
    char reason[256]; /* one sentence: why the answer is this one */
    /* All channels that a copy occupies, each once, in any order, then zeros; all 0 = unknown. */
    uint64_t channels[PI_CONNECTION_MAX_CHANNELS];
    /* Since 1.1. A plugin leaves these zero: its answer is what the driver reports, and
     * constant. */
    pi_verified verified;
    uint32_t reserved2;
    /* FAILED: which bytes were wrong. YES: "", or what was not tried and why. */
    char verified_text[256];
} pi_memory_connection_info;
/* The complete answer for one kind of memory. query NULL means buffers in scope 0. */
PI_EXPORT pi_result PI_CALL piGetMemoryConnectionInfo(pi_device src_device, pi_context src_context,
                                                      pi_device dst_device, pi_context dst_context,
                                                      const pi_memory_connection_query *query,
                                                      pi_memory_connection_info *out_info);

/* ===== Queues ================================================================================= */

/* In an in-order queue (the default) each command begins after the previous one is complete. A
 * failed command does not fail the commands behind it in the queue: errors propagate only through
 * wait lists. */
enum {
    PI_QUEUE_OUT_OF_ORDER = 1 << 0,
    PI_QUEUE_PROFILING = 1 << 1,
    PI_QUEUE_PRIORITY_LOW = 1 << 2, /* hints */
    PI_QUEUE_PRIORITY_HIGH = 1 << 3
};
typedef struct pi_queue_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_QUEUE_DESC */
    const void *next;
    uint64_t flags; /* PI_QUEUE_ */
} pi_queue_desc;
/* Required: CONTEXT, DEVICE, FLAGS. */
typedef uint32_t pi_queue_info;
enum {
    PI_QUEUE_INFO_CONTEXT = 1,        /* pi_context, borrowed */
    PI_QUEUE_INFO_DEVICE = 2,         /* pi_device, borrowed */
    PI_QUEUE_INFO_FLAGS = 3,          /* uint64_t */
    PI_QUEUE_INFO_REFERENCE_COUNT = 4 /* uint32_t: for debugging only */
};
/* desc NULL: in order, without profiling. A flag that the device cannot honour is
 * PI_ERROR_UNSUPPORTED_FEATURE, except priorities, which are hints. */
PI_EXPORT pi_result PI_CALL piQueueCreate(pi_context context, pi_device device,
                                          const pi_queue_desc *desc, pi_queue *out_queue);
PI_EXPORT pi_result PI_CALL piQueueRetain(pi_queue queue);
/* Releasing the last reference flushes the queue. It never blocks and cancels no command. */
PI_EXPORT pi_result PI_CALL piQueueRelease(pi_queue queue);
PI_EXPORT pi_result PI_CALL piQueueGetInfo(pi_queue queue, pi_queue_info name, uint64_t size,
                                           void *value, uint64_t *out_size);
/* From now on every command enqueued so far runs without further calls, unless an event still holds
 * it back. Until a flush a plugin may batch commands; piQueueFinish, a blocking command and the
 * release of the last reference flush the queue as well. piEventWait with a timeout other than 0
 * flushes the queues of all commands that its event depends on. A callback on an event, or a wait
 * list in another queue, flushes nothing. */
PI_EXPORT pi_result PI_CALL piQueueFlush(pi_queue queue);
/* Blocks until every command enqueued before is complete. PI_SUCCESS means that all are complete,
 * including those that failed. Inside a callback: PI_ERROR_WOULD_BLOCK, or PI_SUCCESS if every
 * command is complete already; a plugin may return either. */
PI_EXPORT pi_result PI_CALL piQueueFinish(pi_queue queue);
PI_EXPORT pi_result PI_CALL piQueueGetNativeHandle(pi_queue queue, pi_native_handle *out_handle);
PI_EXPORT pi_result PI_CALL piQueueCreateWithNativeHandle(pi_context context, pi_device device,
                                                          const pi_native_desc *desc,
                                                          pi_queue *out_queue);

/* ===== Memory ================================================================================= */

enum {
    /* How kernels access the memory; 0 = they read and write it. Other commands may read and write
     * it regardless. */
    PI_MEM_READ_ONLY = 1 << 0,
    PI_MEM_WRITE_ONLY = 1 << 1,
    /* COPY: the bytes at host_ptr are copied during the call. USE: host_ptr is the storage that a
     * map returns, and must outlive the object and its commands. USE does not guarantee zero copy;
     * piMemImport does. */
    PI_MEM_COPY_HOST_PTR = 1 << 2,
    PI_MEM_USE_HOST_PTR = 1 << 3, /* both together: PI_ERROR_INVALID_VALUE */
    /* Requirements: the plugin honours them, or creation fails with PI_ERROR_UNSUPPORTED_FEATURE
     * and a text. */
    PI_MEM_REQUIRE_CONTIGUOUS = 1 << 4, /* physically contiguous from the view of a DMA engine */
    PI_MEM_REQUIRE_PINNED = 1 << 5      /* never paged out */
};

typedef struct pi_mem_buffer_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEM_BUFFER_DESC; may chain a pi_mem_layout_desc */
    const void *next;
    uint64_t flags;        /* PI_MEM_ */
    uint64_t size;         /* bytes; 0 is PI_ERROR_INVALID_SIZE */
    uint64_t alignment;    /* bytes, a power of two, of device and host address; 0 = the scope's */
    uint32_t scope;        /* index into piDeviceGetMemoryScopes */
    uint32_t export_types; /* 1 << PI_EXTERNAL_: the types for piMemExport; 0 = none */
    void *host_ptr;        /* with COPY or USE, at least size bytes; else NULL */
} pi_mem_buffer_desc;

/* An n-D allocation: `rank` extents of elements of element_size bytes. Axis separators mark where
 * logical axes are folded into physical ones (a 2-D scratchpad has one separator). All commands and
 * ranges address the logical bytes, dense and row-major. Pitches are visible only in
 * PI_MEM_INFO_PITCHES, host pointers and native handles. */
typedef struct pi_mem_layout_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEM_LAYOUT_DESC */
    const void *next;
    uint32_t rank;                 /* 1 to 8 */
    uint32_t element_size;         /* bytes */
    const uint64_t *extents;       /* `rank` elements, outermost first */
    uint32_t axis_separator_count; /* 0 = flat */
    uint32_t reserved;
    const uint32_t *axis_separators; /* increasing, in 1..rank-1 */
} pi_mem_layout_desc;

typedef struct pi_mem_partition_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEM_PARTITION_DESC */
    const void *next;
    uint64_t flags;  /* PI_MEM_READ_ONLY, PI_MEM_WRITE_ONLY, or 0 for the parent's */
    uint64_t offset; /* bytes from the beginning of the parent */
    uint64_t size;   /* bytes; 0, or past the parent's end, is PI_ERROR_INVALID_SIZE */
} pi_mem_partition_desc;

typedef uint32_t pi_image_type;
enum {
    PI_IMAGE_1D = 1,
    PI_IMAGE_2D = 2,
    PI_IMAGE_3D = 3,
    PI_IMAGE_1D_ARRAY = 4,
    PI_IMAGE_2D_ARRAY = 5
};
typedef uint32_t pi_channel_order;
enum {
    PI_CHANNEL_ORDER_R = 1,
    PI_CHANNEL_ORDER_RG = 2,
    PI_CHANNEL_ORDER_RGBA = 3,
    PI_CHANNEL_ORDER_BGRA = 4
};
typedef uint32_t pi_channel_type;
enum {
    PI_CHANNEL_UNORM8 = 1,
    PI_CHANNEL_UNORM16 = 2,
    PI_CHANNEL_SNORM8 = 3,
    PI_CHANNEL_SNORM16 = 4,
    PI_CHANNEL_UINT8 = 5,
    PI_CHANNEL_UINT16 = 6,
    PI_CHANNEL_UINT32 = 7,
    PI_CHANNEL_SINT8 = 8,
    PI_CHANNEL_SINT16 = 9,
    PI_CHANNEL_SINT32 = 10,
    PI_CHANNEL_HALF = 11,
    PI_CHANNEL_FLOAT = 12
};
/* Every pair of a channel order and a channel type of version 1 is a format. A pixel holds its
 * channels in the sequence that the order names, each in the machine's native representation.
 * Members that the image type or the function does not use must be 0. row_pitch is a multiple of
 * the pixel size, slice_pitch (from slice to slice, or layer to layer) a multiple of the row pitch;
 * neither is smaller than the bytes that it steps over.
 *
 * PI_ERROR_UNSUPPORTED_FEATURE: the device does not support the format, the type, or the number of
 * mip levels or samples. PI_ERROR_INVALID_ENUMERATION: one of them is not in its list.
 * PI_ERROR_INVALID_SIZE: an axis is 0 or exceeds the device's limit, or a pitch breaks the rules
 * above. PI_ERROR_INVALID_VALUE: an unused member is not 0. */
typedef struct pi_mem_image_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEM_IMAGE_DESC */
    const void *next;
    uint64_t flags; /* PI_MEM_ */
    pi_image_type image_type;
    pi_channel_order channel_order;
    pi_channel_type channel_type;
    uint32_t scope;
    uint64_t width, height, depth;   /* pixels; 0 where the type has no such axis */
    uint64_t array_size;             /* layers of the array types, else 0 */
    uint64_t row_pitch, slice_pitch; /* bytes, of host_ptr or of the viewed buffer; 0 = dense */
    uint64_t offset;                 /* views: bytes into the buffer */
    uint32_t mip_levels, samples;    /* 0 = 1 */
    void *host_ptr;
} pi_mem_image_desc;

/* All create functions take the device that will own the memory; it must belong to the context. A
 * backend with context-wide memory may ignore the device; it then answers UNIFIED for the devices
 * of the context. */
PI_EXPORT pi_result PI_CALL piMemBufferCreate(pi_context context, pi_device device,
                                              const pi_mem_buffer_desc *desc, pi_mem *out_mem);
PI_EXPORT pi_result PI_CALL piMemImageCreate(pi_context context, pi_device device,
                                             const pi_mem_image_desc *desc, pi_mem *out_mem);
/* Creates a view of the same bytes. A view of a view is flattened to its root, which it keeps
 * alive. PI_ERROR_MISALIGNED_OFFSET: the offset breaks the scope's offset_alignment; the text names
 * both numbers. PI_ERROR_INVALID_VALUE: access flags that mem (which may itself be a view) does not
 * allow. */
PI_EXPORT pi_result PI_CALL piMemBufferPartition(pi_mem mem, const pi_mem_partition_desc *desc,
                                                 pi_mem *out_mem);
/* Creates an image over the storage of a buffer; if mem is a view, over that of its root. flags are
 * access flags, or 0 for those of the buffer. PI_ERROR_MISALIGNED_OFFSET: an offset or row pitch
 * breaks PI_DEVICE_INFO_IMAGE_VIEW_..._ALIGNMENT; the text names both numbers.
 * PI_ERROR_INVALID_VALUE: access flags that the buffer does not allow. PI_ERROR_INVALID_SIZE:
 * pixels past the end of the buffer. */
PI_EXPORT pi_result PI_CALL piMemImageViewCreate(pi_mem mem, const pi_mem_image_desc *desc,
                                                 pi_mem *out_mem);

typedef uint32_t pi_external_type;
enum {
    /* Application memory, used in place. The application must neither free nor move it until the
     * memory object and all commands on it are gone. */
    PI_EXTERNAL_HOST_POINTER = 1,
    PI_EXTERNAL_DMA_BUF_FD = 2, /* import duplicates the fd; the caller of export closes its fd */
    PI_EXTERNAL_OPAQUE_FD = 3,  /* likewise; as exchanged by Vulkan, CUDA and Level Zero */
    PI_EXTERNAL_NATIVE = 4,     /* a pi_native_handle; `own` as in PI_NATIVE_OWN */
    PI_EXTERNAL_CUDA_IPC = 5,   /* 64 bytes; the exporter must outlive the importer */
    PI_EXTERNAL_ZE_IPC = 6      /* 64 bytes; likewise */
};
typedef struct pi_external_handle {
    pi_external_type type;
    int32_t fd; /* the _FD types */
    void *pointer;
    pi_native_handle native;
    uint8_t ipc[64];
    /* Position of the object within the allocation that the handle names. piMemExport fills it in,
     * and piMemImport begins there. 0 in a handle that the application made itself. */
    uint64_t offset;
    uint64_t size;            /* bytes of the object */
    uint64_t allocation_size; /* bytes of all that the handle names; 0 = unknown */
    uint64_t flags;           /* must be 0 */
    uint64_t reserved[6];
} pi_external_handle;

typedef struct pi_mem_import_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEM_IMPORT_DESC */
    const void *next;
    uint64_t flags;  /* PI_MEM_READ_ONLY, PI_MEM_WRITE_ONLY */
    uint64_t size;   /* bytes */
    uint64_t offset; /* bytes, added to handle.offset */
    uint32_t own;    /* NATIVE: 1 = transfer ownership, as with PI_NATIVE_OWN */
    uint32_t reserved;
    pi_external_handle handle;
} pi_mem_import_desc;
/* Creates a memory object over existing memory, in place; it never copies. If that is impossible,
 * the text of the error says why, and which alignment would work. With PI_COHERENCE_MAP_UNMAP, the
 * object does not contain what the host writes to an imported host pointer outside a map until a
 * write command with that same memory as its host_ptr is complete. */
PI_EXPORT pi_result PI_CALL piMemImport(pi_context context, pi_device device,
                                        const pi_mem_import_desc *desc, pi_mem *out_mem);

typedef struct pi_mem_export_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEM_EXPORT_DESC */
    const void *next;
    pi_external_type external_type;
    uint32_t reserved;
} pi_mem_export_desc;
PI_EXPORT pi_result PI_CALL piMemExport(pi_mem mem, const pi_mem_export_desc *desc,
                                        pi_external_handle *out_handle);

/* Required: SIZE, CONTEXT, DEVICE, FLAGS, SCOPE, PARENT, OFFSET, COHERENCE, KIND; in a scope with
 * PI_SCOPE_LAYOUT also PITCHES. */
typedef uint32_t pi_mem_info;
enum {
    PI_MEM_INFO_SIZE = 1,            /* uint64_t: bytes; of an image, those of its dense pixels */
    PI_MEM_INFO_CONTEXT = 2,         /* pi_context, borrowed */
    PI_MEM_INFO_DEVICE = 3,          /* pi_device, borrowed */
    PI_MEM_INFO_FLAGS = 4,           /* uint64_t: PI_MEM_ */
    PI_MEM_INFO_SCOPE = 5,           /* uint32_t */
    PI_MEM_INFO_ALIGNMENT = 6,       /* uint64_t: bytes; alignment of the object's first byte */
    PI_MEM_INFO_PARENT = 7,          /* pi_mem: the root of a view, borrowed; NULL for a root */
    PI_MEM_INFO_OFFSET = 8,          /* uint64_t: bytes into the root; 0 for a root */
    PI_MEM_INFO_COHERENCE = 9,       /* pi_coherence, with the host */
    PI_MEM_INFO_DEVICE_ADDRESS = 10, /* uint64_t; if buffers have one */
    PI_MEM_INFO_BUS_ADDRESS = 11,    /* uint64_t; of contiguous memory, if available */
    /* uint64_t[]: bytes between neighbours along each physical axis, outermost axis first. An n-D
     * allocation has one more physical axis than separators; the innermost pitch is the element
     * size. A linear buffer has one axis, that of its bytes. */
    PI_MEM_INFO_PITCHES = 12,
    PI_MEM_INFO_KIND = 13,           /* pi_memory_kind */
    PI_MEM_INFO_REFERENCE_COUNT = 14 /* uint32_t: for debugging only */
};
PI_EXPORT pi_result PI_CALL piMemGetInfo(pi_mem mem, pi_mem_info name, uint64_t size, void *value,
                                         uint64_t *out_size);
/* The host address of the object's first byte, valid while the object lives.
 * PI_MEM_INFO_COHERENCE says how the host may use it. PI_ERROR_UNSUPPORTED_FEATURE if the host
 * cannot address the memory. */
PI_EXPORT pi_result PI_CALL piMemGetHostPointer(pi_mem mem, void **out_pointer);
/* Flush publishes host writes to the device; invalidate makes device writes visible to the host.
 * Both are synchronous, work in units of the scope's flush_atom, and are needed only for
 * PI_COHERENCE_FLUSH_INVALIDATE. They are legal only while no command uses the units of the range
 * (invalidate: while no command writes them). A flush may publish whole units as the host sees
 * them: a byte that the device wrote is lost if the host has not invalidated it since, even if the
 * host wrote only other bytes of its unit. On coherent memory both succeed and do nothing; on
 * PI_COHERENCE_MAP_UNMAP memory they are PI_ERROR_UNSUPPORTED_FEATURE. */
PI_EXPORT pi_result PI_CALL piMemFlush(pi_mem mem, uint64_t offset, uint64_t size);
PI_EXPORT pi_result PI_CALL piMemInvalidate(pi_mem mem, uint64_t offset, uint64_t size);
PI_EXPORT pi_result PI_CALL piMemRetain(pi_mem mem);
PI_EXPORT pi_result PI_CALL piMemRelease(pi_mem mem);
/* The handle that `device` uses; a buffer may have one per device. */
PI_EXPORT pi_result PI_CALL piMemGetNativeHandle(pi_mem mem, pi_device device,
                                                 pi_native_handle *out_handle);

/* ===== USM: memory by address ================================================================= */

typedef uint32_t pi_usm_kind;
enum { PI_USM_HOST = 1, PI_USM_DEVICE = 2, PI_USM_SHARED = 3 };

typedef struct pi_usm_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_USM_DESC */
    const void *next;
    uint64_t flags; /* PI_MEM_REQUIRE_ */
    pi_usm_kind kind;
    uint32_t scope;
    uint64_t size;      /* bytes */
    uint64_t alignment; /* bytes, a power of two; 0 = the scope's */
    pi_usm_pool pool;   /* NULL = none */
} pi_usm_desc;

typedef struct pi_usm_pool_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_USM_POOL_DESC */
    const void *next;
    uint64_t flags; /* must be 0 */
    pi_usm_kind kind;
    uint32_t scope;
    uint64_t release_threshold; /* bytes cached at most; 0 = the plugin's choice */
    uint64_t limit;             /* bytes in use at most; 0 = no limit */
} pi_usm_pool_desc;

/* Required: all of them. */
typedef uint32_t pi_usm_info;
enum {
    PI_USM_INFO_KIND = 1,   /* pi_usm_kind */
    PI_USM_INFO_BASE = 2,   /* void *: first byte of the allocation */
    PI_USM_INFO_SIZE = 3,   /* uint64_t: bytes of the allocation */
    PI_USM_INFO_DEVICE = 4, /* pi_device, borrowed; NULL for host memory */
    PI_USM_INFO_POOL = 5    /* pi_usm_pool, borrowed, or NULL */
};
/* Required: CONTEXT, RESERVED, USED. */
typedef uint32_t pi_usm_pool_info;
enum {
    PI_USM_POOL_INFO_CONTEXT = 1,        /* pi_context, borrowed */
    PI_USM_POOL_INFO_RESERVED = 2,       /* uint64_t: bytes allocated from the device */
    PI_USM_POOL_INFO_USED = 3,           /* uint64_t: bytes in use by the application */
    PI_USM_POOL_INFO_REFERENCE_COUNT = 4 /* uint32_t: for debugging only */
};

/* device may be NULL for host memory only (else PI_ERROR_INVALID_DEVICE). A pool must be of the
 * same context, kind and device (else PI_ERROR_INVALID_USM_POOL). */
PI_EXPORT pi_result PI_CALL piUsmAlloc(pi_context context, pi_device device,
                                       const pi_usm_desc *desc, void **out_pointer);
/* Frees the allocation that begins at pointer; NULL succeeds. No command may be using it.
 * Destroying the context frees the allocations that are left. */
PI_EXPORT pi_result PI_CALL piUsmFree(pi_context context, void *pointer);
/* pointer is any address within a live allocation of the context. */
PI_EXPORT pi_result PI_CALL piUsmGetInfo(pi_context context, const void *pointer, pi_usm_info name,
                                         uint64_t size, void *value, uint64_t *out_size);
/* Allocations of a pool stay valid after the release of its last reference; their PI_USM_INFO_POOL
 * is NULL then. An allocation beyond the limit is PI_ERROR_OUT_OF_DEVICE_MEMORY. */
PI_EXPORT pi_result PI_CALL piUsmPoolCreate(pi_context context, pi_device device,
                                            const pi_usm_pool_desc *desc, pi_usm_pool *out_pool);
PI_EXPORT pi_result PI_CALL piUsmPoolRetain(pi_usm_pool pool);
PI_EXPORT pi_result PI_CALL piUsmPoolRelease(pi_usm_pool pool);
PI_EXPORT pi_result PI_CALL piUsmPoolGetInfo(pi_usm_pool pool, pi_usm_pool_info name, uint64_t size,
                                             void *value, uint64_t *out_size);
/* Pins application memory, so that transfers from and to it are direct and asynchronous. flags must
 * be 0. Ranges may overlap. Each registration is undone separately; among those of one pointer, the
 * newest first. PI_ERROR_OUT_OF_RESOURCES: the system refuses to pin so much memory. Unregister:
 * PI_ERROR_INVALID_VALUE if the pointer is not registered with the context. */
PI_EXPORT pi_result PI_CALL piUsmHostRegister(pi_context context, void *pointer, uint64_t size,
                                              uint64_t flags);
PI_EXPORT pi_result PI_CALL piUsmHostUnregister(pi_context context, void *pointer);

/* ===== Commands =============================================================================== */

/* piEnqueueX(queue, desc, wait_count, wait_list, out_event). Submission never waits for an
 * incomplete event; only PI_COMMAND_BLOCKING waits, for the command itself. A plugin may defer the
 * submission of a command that waits for an unsignalled host event.
 *
 * The wait list accepts events of any context, device and platform of the same plugin instance, and
 * may name an event several times. PI_ERROR_INVALID_WAIT_LIST: it is NULL, and wait_count is not 0.
 * PI_ERROR_INVALID_EVENT: an element is NULL or an event of another instance. If an event of the
 * wait list fails, the command does nothing and fails with PI_ERROR_DEPENDENCY_FAILED.
 *
 * out_event may be NULL; otherwise it receives an event, which the caller releases. If the call
 * fails, nothing was enqueued. A blocking call may also return the failure of the command itself:
 * the bytes that it writes are undefined then, and there is no event.
 *
 * The first field of every command descriptor is `flags`: */
enum {
    /* Return when the command is complete, with its result. On success out_event, if requested, is
     * complete too. PI_ERROR_WOULD_BLOCK inside a callback. */
    PI_COMMAND_BLOCKING = 1 << 0,

    /* Maps: at least one of these (else PI_ERROR_INVALID_VALUE). WRITE preserves the bytes that the
     * host does not write. WRITE_DISCARD declares the old bytes of the range unneeded; combined
     * with READ it means WRITE. */
    PI_MAP_READ = 1 << 8,
    PI_MAP_WRITE = 1 << 9,
    PI_MAP_WRITE_DISCARD = 1 << 10,

    /* Launches. */
    PI_LAUNCH_COOPERATIVE = 1 << 8,       /* all work-groups are resident at the same time */
    PI_LAUNCH_INDIRECT_USM_HOST = 1 << 9, /* the kernel follows pointers stored in memory */
    PI_LAUNCH_INDIRECT_USM_DEVICE = 1 << 10,
    PI_LAUNCH_INDIRECT_USM_SHARED = 1 << 11,

    /* Prefetches. */
    PI_USM_PREFETCH_TO_HOST = 1 << 8
};

/* One rectangle of bytes. extent = {bytes per row, rows, slices}; 0 rows or slices mean 1. pitch =
 * {row, slice} in bytes; 0 = dense. A pitch may have any size that is not smaller than the bytes
 * that it steps over. src and dst are those of the command: the host pointer is dst of a read and
 * src of a write. A command processes its regions in any order; they must not overlap in dst.
 * PI_ERROR_INVALID_SIZE: 0 bytes, a pitch that is too small, or a command without regions. */
typedef struct pi_region {
    uint64_t src_offset;
    uint64_t dst_offset;
    uint64_t extent[3];
    uint64_t src_pitch[2]; /* a dense slice has rows times the row pitch */
    uint64_t dst_pitch[2];
    uint64_t reserved;
} pi_region;

typedef struct pi_buffer_read_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_BUFFER_READ_DESC */
    const void *next;
    uint64_t flags; /* PI_COMMAND_ */
    pi_mem mem;
    void *host_ptr; /* must stay valid until the event is complete */
    uint32_t region_count;
    uint32_t reserved;
    const pi_region *regions;
} pi_buffer_read_desc;

typedef struct pi_buffer_write_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_BUFFER_WRITE_DESC */
    const void *next;
    uint64_t flags;
    pi_mem mem;
    const void *host_ptr; /* must stay valid and unchanged until the event is complete */
    uint32_t region_count;
    uint32_t reserved;
    const pi_region *regions;
} pi_buffer_write_desc;

/* src and dst may belong to different contexts if their connection is UNIFIED or MIGRATABLE. In one
 * object, views of one root or one host memory used in place, no region's source may overlap its
 * destination (PI_ERROR_MEM_COPY_OVERLAP); other overlaps (export/import) write undefined bytes. */
typedef struct pi_buffer_copy_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_BUFFER_COPY_DESC */
    const void *next;
    uint64_t flags;
    pi_mem src;
    pi_mem dst;
    uint32_t region_count;
    uint32_t reserved;
    const pi_region *regions;
} pi_buffer_copy_desc;

/* Repeats the pattern. pattern_size is a power of two from 1 to 128 bytes; offset and size are
 * multiples of it. */
typedef struct pi_buffer_fill_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_BUFFER_FILL_DESC */
    const void *next;
    uint64_t flags;
    pi_mem mem;
    const void *pattern;
    uint64_t pattern_size;
    uint64_t offset;
    uint64_t size;
} pi_buffer_fill_desc;

/* *out_pointer is written when the event completes successfully, or earlier (the address of a
 * deferred command is not known before), and never on failure; its storage must live until then.
 * The host may use the range from the completion of the event until it enqueues the unmap.
 *
 * Maps of overlapping ranges are legal if all of them are for reading. Each map needs its own
 * unmap, even if several have the same address. While a range is mapped, no command may write it;
 * while it is mapped for writing, none may read it either (a map for writing counts as writing). If
 * an unmap fails, in the call or by its event, the range stays mapped: unmap it again before a
 * command uses it. */
typedef struct pi_buffer_map_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_BUFFER_MAP_DESC */
    const void *next;
    uint64_t flags; /* PI_COMMAND_ and PI_MAP_ */
    pi_mem mem;
    uint64_t offset;
    uint64_t size;
    void **out_pointer;
} pi_buffer_map_desc;

typedef struct pi_unmap_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_UNMAP_DESC */
    const void *next;
    uint64_t flags;
    pi_mem mem;
    void *pointer; /* the address that a map of this mem returned */
} pi_unmap_desc;

PI_EXPORT pi_result PI_CALL piEnqueueMemBufferRead(pi_queue queue, const pi_buffer_read_desc *desc,
                                                   uint32_t wait_count, const pi_event *wait_list,
                                                   pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueMemBufferWrite(pi_queue queue,
                                                    const pi_buffer_write_desc *desc,
                                                    uint32_t wait_count, const pi_event *wait_list,
                                                    pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueMemBufferCopy(pi_queue queue, const pi_buffer_copy_desc *desc,
                                                   uint32_t wait_count, const pi_event *wait_list,
                                                   pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueMemBufferFill(pi_queue queue, const pi_buffer_fill_desc *desc,
                                                   uint32_t wait_count, const pi_event *wait_list,
                                                   pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueMemBufferMap(pi_queue queue, const pi_buffer_map_desc *desc,
                                                  uint32_t wait_count, const pi_event *wait_list,
                                                  pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueMemUnmap(pi_queue queue, const pi_unmap_desc *desc,
                                              uint32_t wait_count, const pi_event *wait_list,
                                              pi_event *out_event);

/* Image commands and arguments accept images; buffer commands and arguments, maps and views accept
 * buffers. Any other memory is PI_ERROR_INVALID_MEM_OBJECT.
 *
 * Origins and extents are in pixels: {x, y, z or layer}; the layer is the third, also for 1-D
 * arrays. 0 rows or slices of an extent mean 1. Pitches are in bytes, of the host or buffer end,
 * and follow the rules of pi_region, as do the regions of one command. PI_ERROR_INVALID_SIZE: 0
 * pixels, or a region past the end of the image. PI_ERROR_INVALID_VALUE: the image does not have
 * the mip level. */
typedef struct pi_image_region {
    uint64_t origin[3];
    uint64_t extent[3];
    uint64_t row_pitch;
    uint64_t slice_pitch;
    uint64_t offset; /* bytes from host_ptr */
    uint32_t mip_level;
    uint32_t reserved[3];
} pi_image_region;
typedef struct pi_image_read_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_IMAGE_READ_DESC */
    const void *next;
    uint64_t flags;
    pi_mem image;
    void *host_ptr;
    uint32_t region_count;
    uint32_t reserved;
    const pi_image_region *regions;
} pi_image_read_desc;
typedef struct pi_image_write_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_IMAGE_WRITE_DESC */
    const void *next;
    uint64_t flags;
    pi_mem image;
    const void *host_ptr;
    uint32_t region_count;
    uint32_t reserved;
    const pi_image_region *regions;
} pi_image_write_desc;
/* One end may be a buffer; its side of a region is {buffer_offset, buffer_row_pitch,
 * buffer_slice_pitch}. Members of an end that does not exist must be 0, and two images must have
 * the same format (else PI_ERROR_INVALID_VALUE). Two buffers are PI_ERROR_INVALID_MEM_OBJECT.
 * Contexts and overlap follow the rules of buffers: an image shares storage with itself, and a view
 * with its buffer. */
typedef struct pi_image_copy_region {
    uint64_t src_origin[3];
    uint64_t dst_origin[3];
    uint64_t extent[3];
    uint64_t buffer_offset;
    uint64_t buffer_row_pitch;
    uint64_t buffer_slice_pitch;
    uint32_t src_mip_level;
    uint32_t dst_mip_level;
    uint64_t reserved;
} pi_image_copy_region;
typedef struct pi_image_copy_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_IMAGE_COPY_DESC */
    const void *next;
    uint64_t flags;
    pi_mem src;
    pi_mem dst;
    uint32_t region_count;
    uint32_t reserved;
    const pi_image_copy_region *regions;
} pi_image_copy_desc;
/* The channels of the colour are {r, g, b, a}, whatever the image's order; channels that the image
 * lacks are ignored. In UNORM and SNORM images the value written is the nearest one or a neighbour
 * of it. */
typedef struct pi_image_fill_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_IMAGE_FILL_DESC */
    const void *next;
    uint64_t flags;
    pi_mem image;
    const void *color; /* 16 bytes: four float, int32_t or uint32_t, by channel type */
    uint64_t origin[3];
    uint64_t extent[3];
} pi_image_fill_desc;
PI_EXPORT pi_result PI_CALL piEnqueueMemImageRead(pi_queue queue, const pi_image_read_desc *desc,
                                                  uint32_t wait_count, const pi_event *wait_list,
                                                  pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueMemImageWrite(pi_queue queue, const pi_image_write_desc *desc,
                                                   uint32_t wait_count, const pi_event *wait_list,
                                                   pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueMemImageCopy(pi_queue queue, const pi_image_copy_desc *desc,
                                                  uint32_t wait_count, const pi_event *wait_list,
                                                  pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueMemImageFill(pi_queue queue, const pi_image_fill_desc *desc,
                                                  uint32_t wait_count, const pi_event *wait_list,
                                                  pi_event *out_event);

/* At least one end is USM; the other may be any host address. A pointer may point into an
 * allocation. PI_ERROR_INVALID_USM_POINTER: neither end is USM. PI_ERROR_INVALID_SIZE: a region
 * past the end of the allocation. PI_ERROR_MEM_COPY_OVERLAP: the source of a region overlaps its
 * destination. */
typedef struct pi_usm_copy_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_USM_COPY_DESC */
    const void *next;
    uint64_t flags;
    const void *src;
    void *dst;
    uint32_t region_count;
    uint32_t reserved;
    const pi_region *regions;
} pi_usm_copy_desc;
/* The pointer must be a multiple of pattern_size (else PI_ERROR_MISALIGNED_POINTER). */
typedef struct pi_usm_fill_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_USM_FILL_DESC */
    const void *next;
    uint64_t flags;
    void *pointer;
    const void *pattern;
    uint64_t pattern_size; /* as for buffers */
    uint64_t size;
} pi_usm_fill_desc;
/* Prefetch and advise are hints: a plugin may do nothing and succeed. */
typedef struct pi_usm_prefetch_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_USM_PREFETCH_DESC */
    const void *next;
    uint64_t flags; /* PI_COMMAND_, PI_USM_PREFETCH_TO_HOST */
    const void *pointer;
    uint64_t size;
} pi_usm_prefetch_desc;
typedef uint32_t pi_usm_advice;
enum {
    PI_USM_ADVICE_READ_MOSTLY = 1,
    PI_USM_ADVICE_PREFER_DEVICE = 2,
    PI_USM_ADVICE_PREFER_HOST = 3,
    PI_USM_ADVICE_ACCESSED_BY_DEVICE = 4,
    PI_USM_ADVICE_RESET = 5
};
typedef struct pi_usm_advise_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_USM_ADVISE_DESC */
    const void *next;
    uint64_t flags;
    const void *pointer;
    uint64_t size;
    pi_usm_advice advice;
    uint32_t reserved;
} pi_usm_advise_desc;
/* Stream-ordered allocation: *out_pointer is written during the call, and commands behind this one
 * may use the memory at once. If the command fails later, the memory exists until it is freed. */
typedef struct pi_usm_alloc_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_USM_ALLOC_DESC */
    const void *next;
    uint64_t flags;
    pi_usm_pool pool; /* NULL = the device's default pool, of kind DEVICE */
    uint64_t size;
    uint64_t alignment;
    void **out_pointer;
} pi_usm_alloc_desc;
/* Frees the USM allocation of the queue's context that begins at pointer, of any kind; NULL
 * succeeds. After the call no other call may free it; if the command fails, the allocation is
 * unchanged. */
typedef struct pi_usm_free_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_USM_FREE_DESC */
    const void *next;
    uint64_t flags;
    void *pointer;
} pi_usm_free_desc;
PI_EXPORT pi_result PI_CALL piEnqueueUsmCopy(pi_queue queue, const pi_usm_copy_desc *desc,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueUsmFill(pi_queue queue, const pi_usm_fill_desc *desc,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueUsmPrefetch(pi_queue queue, const pi_usm_prefetch_desc *desc,
                                                 uint32_t wait_count, const pi_event *wait_list,
                                                 pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueUsmAdvise(pi_queue queue, const pi_usm_advise_desc *desc,
                                               uint32_t wait_count, const pi_event *wait_list,
                                               pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueUsmAlloc(pi_queue queue, const pi_usm_alloc_desc *desc,
                                              uint32_t wait_count, const pi_event *wait_list,
                                              pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueUsmFree(pi_queue queue, const pi_usm_free_desc *desc,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event);

/* The arguments are part of the launch. A kernel object has no hidden state, so many threads may
 * launch it. The i-th element is the kernel's i-th parameter. */
typedef uint32_t pi_argument_kind;
enum {
    PI_ARGUMENT_VALUE = 1, /* `size` bytes at `value` */
    /* `mem` from `offset`; size 0 = to its end; mem NULL = a null pointer */
    PI_ARGUMENT_BUFFER = 2,
    PI_ARGUMENT_IMAGE = 3, /* `mem`; offset and size are 0 */
    /* `sampler`, of the queue's context (else PI_ERROR_INVALID_SAMPLER). Where the backend has no
     * samplers apart from images (CUDA, HIP), the parameter is an integer of 4 bytes and receives
     * 256 * addressing + 16 * filter + normalized_coordinates. */
    PI_ARGUMENT_SAMPLER = 4,
    PI_ARGUMENT_POINTER = 5, /* a USM address */
    /* `size` bytes of work-group memory. Where the backend has a single area of it (CUDA, HIP), the
     * parameter is an integer of 4 or 8 bytes and receives the offset into the area. */
    PI_ARGUMENT_LOCAL = 6
};
typedef struct pi_kernel_argument {
    pi_argument_kind kind;
    uint32_t reserved;
    union {
        const void *value;
        const void *pointer;
        pi_mem mem;
        pi_sampler sampler;
    };
    uint64_t offset;
    uint64_t size;
    /* IMAGE: the sampler for backends that combine image and sampler; may be NULL. CUDA: with a
     * sampler the parameter is a texture, without one a surface that loads and stores pixels. A
     * view of a buffer has no surface; a 1-D view is read with tex1Dfetch. */
    pi_sampler image_sampler;
} pi_kernel_argument;

typedef struct pi_kernel_launch_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_KERNEL_LAUNCH_DESC */
    const void *next;
    uint64_t flags; /* PI_COMMAND_ and PI_LAUNCH_ */
    pi_kernel kernel;
    uint32_t dimensions; /* 1 to 3; further entries are ignored */
    uint32_t argument_count;
    const pi_kernel_argument *arguments;
    uint64_t global_offset[3]; /* work-items */
    uint64_t global_size[3];   /* work-items; 0 is PI_ERROR_INVALID_WORK_SIZE */
    uint64_t local_size[3];    /* work-items per group; all 0 = the plugin's choice */
    uint64_t cluster_size[3];  /* groups; all 0 = none */
    /* Work-group memory without a parameter (CUDA's extern __shared__), in bytes. On other backends
     * anything but 0 is PI_ERROR_UNSUPPORTED_FEATURE. */
    uint64_t local_memory_size;
} pi_kernel_launch_desc;
PI_EXPORT pi_result PI_CALL piEnqueueKernelLaunch(pi_queue queue, const pi_kernel_launch_desc *desc,
                                                  uint32_t wait_count, const pi_event *wait_list,
                                                  pi_event *out_event);

typedef void(PI_CALL *pi_host_function)(void *user_data);
/* Runs on a thread of the plugin, under the rules of event callbacks. */
typedef struct pi_host_function_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_HOST_FUNCTION_DESC */
    const void *next;
    uint64_t flags;
    pi_host_function function;
    void *user_data;
} pi_host_function_desc;
PI_EXPORT pi_result PI_CALL piEnqueueHostFunction(pi_queue queue, const pi_host_function_desc *desc,
                                                  uint32_t wait_count, const pi_event *wait_list,
                                                  pi_event *out_event);

typedef struct pi_events_wait_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_EVENTS_WAIT_DESC */
    const void *next;
    uint64_t flags;
} pi_events_wait_desc;
/* A command that does nothing. It completes when the events of its wait list are complete, or,
 * without a wait list, when all commands enqueued before are. In an out-of-order queue later
 * commands do not wait for it. desc may be NULL. */
PI_EXPORT pi_result PI_CALL piEnqueueEventsWait(pi_queue queue, const pi_events_wait_desc *desc,
                                                uint32_t wait_count, const pi_event *wait_list,
                                                pi_event *out_event);
typedef struct pi_barrier_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_BARRIER_DESC */
    const void *next;
    uint64_t flags;
} pi_barrier_desc;
/* Like piEnqueueEventsWait; in addition every later command of the queue begins after it. desc may
 * be NULL. */
PI_EXPORT pi_result PI_CALL piEnqueueBarrier(pi_queue queue, const pi_barrier_desc *desc,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event);
typedef struct pi_timestamp_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_TIMESTAMP_DESC */
    const void *next;
    uint64_t flags;
} pi_timestamp_desc;
/* The profiling times of its event are the device's clock when the command ran, on any queue. */
PI_EXPORT pi_result PI_CALL piEnqueueTimestamp(pi_queue queue, const pi_timestamp_desc *desc,
                                               uint32_t wait_count, const pi_event *wait_list,
                                               pi_event *out_event);

/* Reads or writes bytes of a program's variable, given its name in the source.
 * PI_ERROR_INVALID_OPERATION: the program is not built for the queue's device, or the command
 * writes a constant (CUDA allows the host to write constants). PI_ERROR_INVALID_NAME: the program
 * has no such variable. PI_ERROR_UNSUPPORTED_FEATURE: the program's format has no variables. */
typedef struct pi_device_global_read_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_DEVICE_GLOBAL_READ_DESC */
    const void *next;
    uint64_t flags;
    pi_program program;
    const char *name;
    void *host_ptr;
    uint64_t offset;
    uint64_t size;
} pi_device_global_read_desc;
typedef struct pi_device_global_write_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_DEVICE_GLOBAL_WRITE_DESC */
    const void *next;
    uint64_t flags;
    pi_program program;
    const char *name;
    const void *host_ptr;
    uint64_t offset;
    uint64_t size;
} pi_device_global_write_desc;
PI_EXPORT pi_result PI_CALL piEnqueueDeviceGlobalRead(pi_queue queue,
                                                      const pi_device_global_read_desc *desc,
                                                      uint32_t wait_count,
                                                      const pi_event *wait_list,
                                                      pi_event *out_event);
PI_EXPORT pi_result PI_CALL piEnqueueDeviceGlobalWrite(pi_queue queue,
                                                       const pi_device_global_write_desc *desc,
                                                       uint32_t wait_count,
                                                       const pi_event *wait_list,
                                                       pi_event *out_event);

/* ===== Programs =============================================================================== */

typedef uint32_t pi_program_format;
enum {
    PI_PROGRAM_FORMAT_OPENCL_C = 1,
    PI_PROGRAM_FORMAT_SPIRV = 2, /* of OpenCL (Kernel execution model), not Vulkan's shaders */
    PI_PROGRAM_FORMAT_CUDA_C = 3,
    PI_PROGRAM_FORMAT_PTX = 4,
    PI_PROGRAM_FORMAT_CUBIN = 5,         /* or a fat binary */
    PI_PROGRAM_FORMAT_DEVICE_BINARY = 6, /* returned by PI_PROGRAM_INFO_BINARIES */
    /* Native functions: data points to a pi_native_program (pi/pi_native_kernel.h), borrowed until
     * the program and its kernels are destroyed; size is its struct_size. */
    PI_PROGRAM_FORMAT_NATIVE_TABLE = 7,
    PI_PROGRAM_FORMAT_NATIVE_LIBRARY = 8 /* data is the path of a shared object that exports one */
};
typedef struct pi_program_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_PROGRAM_DESC */
    const void *next;
    uint64_t flags; /* must be 0 */
    pi_program_format format;
    uint32_t reserved;
    const void *data; /* copied during the call (except NATIVE_TABLE) */
    uint64_t size;    /* bytes, without a terminating 0 */
} pi_program_desc;
typedef struct pi_program_build_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_PROGRAM_BUILD_DESC */
    const void *next;
    uint64_t flags; /* must be 0 */
    uint32_t device_count;
    uint32_t reserved;
    const pi_device *devices; /* of the program's context; count 0 = all of them */
    const char *options;      /* the backend's; NULL = none; unknown ones may fail the build */
} pi_program_build_desc;
typedef struct pi_program_link_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_PROGRAM_LINK_DESC */
    const void *next;
    uint64_t flags; /* must be 0 */
    uint32_t program_count;
    uint32_t device_count;
    const pi_program *programs; /* compiled ones */
    const pi_device *devices;   /* count 0 = all of the context */
    const char *options;
} pi_program_link_desc;
typedef struct pi_specialization_constant {
    uint32_t id;
    uint32_t reserved;
    uint64_t size; /* bytes */
    const void *value;
} pi_specialization_constant;

/* Required: CONTEXT, DEVICES, FORMAT. */
typedef uint32_t pi_program_info;
enum {
    PI_PROGRAM_INFO_CONTEXT = 1,        /* pi_context, borrowed */
    PI_PROGRAM_INFO_DEVICES = 2,        /* pi_device[], borrowed: the devices it is built for */
    PI_PROGRAM_INFO_FORMAT = 3,         /* pi_program_format */
    PI_PROGRAM_INFO_KERNEL_NAMES = 4,   /* char[]: separated by ';'; of a built program */
    PI_PROGRAM_INFO_BINARY_SIZES = 5,   /* uint64_t[]: one per element of DEVICES */
    PI_PROGRAM_INFO_BINARIES = 6,       /* uint8_t *[]: filled in, one per element of DEVICES */
    PI_PROGRAM_INFO_REFERENCE_COUNT = 7 /* uint32_t: for debugging only */
};
/* Required: STATUS, LOG. */
typedef uint32_t pi_program_build_info;
enum {
    PI_PROGRAM_BUILD_INFO_STATUS = 1, /* uint32_t: PI_PROGRAM_ */
    PI_PROGRAM_BUILD_INFO_LOG = 2,    /* char[] */
    PI_PROGRAM_BUILD_INFO_OPTIONS = 3 /* char[] */
};
enum {
    PI_PROGRAM_NOT_BUILT = 0,
    PI_PROGRAM_COMPILED = 1,
    PI_PROGRAM_BUILT = 2,
    PI_PROGRAM_FAILED = 3
};

PI_EXPORT pi_result PI_CALL piProgramCreate(pi_context context, const pi_program_desc *desc,
                                            pi_program *out_program);
/* Compile, build and piProgramSetSpecializationConstants are externally synchronised per program.
 * desc may be NULL. Compile and build may be called repeatedly, even while commands run: a kernel
 * keeps the code that it was created from, and the program and its native handle are those of the
 * newest build. A backend may refuse this with PI_ERROR_INVALID_OPERATION only for a program around
 * a native handle that has kernels. A compiled program has no kernels until it is linked. Compiling
 * a program without source (a binary) is PI_ERROR_INVALID_OPERATION. */
PI_EXPORT pi_result PI_CALL piProgramCompile(pi_program program, const pi_program_build_desc *desc);
/* Links compiled programs of the same format into a new program of that format. The inputs may be
 * released, compiled and linked again; the result can be neither compiled nor linked.
 * PI_ERROR_INVALID_PROGRAM: an input belongs to another context. PI_ERROR_INVALID_OPERATION: an
 * input is not compiled for the devices. PI_ERROR_INVALID_SIZE: program_count is 0.
 * PI_ERROR_BUILD_FAILED: linking failed, and there is no program; the text contains the beginning
 * of the log, if the backend has one. */
PI_EXPORT pi_result PI_CALL piProgramLink(pi_context context, const pi_program_link_desc *desc,
                                          pi_program *out_program);
PI_EXPORT pi_result PI_CALL piProgramBuild(pi_program program, const pi_program_build_desc *desc);
/* Sets values of specialization constants, which are copied, for all later compiles and builds of a
 * SPIR-V program. Constants that are not listed keep their value, initially the default; of several
 * values for one id the last counts. A call that fails sets none. PI_ERROR_INVALID_VALUE: the
 * program has no such id. PI_ERROR_INVALID_SIZE: the size is not that of the constant's type (1 for
 * a boolean). PI_ERROR_UNSUPPORTED_FEATURE: the format has no such constants.
 * PI_ERROR_INVALID_OPERATION: the program was linked. */
PI_EXPORT pi_result PI_CALL piProgramSetSpecializationConstants(
    pi_program program, uint32_t count, const pi_specialization_constant *constants);
PI_EXPORT pi_result PI_CALL piProgramRetain(pi_program program);
PI_EXPORT pi_result PI_CALL piProgramRelease(pi_program program);
PI_EXPORT pi_result PI_CALL piProgramGetInfo(pi_program program, pi_program_info name,
                                             uint64_t size, void *value, uint64_t *out_size);
PI_EXPORT pi_result PI_CALL piProgramGetBuildInfo(pi_program program, pi_device device,
                                                  pi_program_build_info name, uint64_t size,
                                                  void *value, uint64_t *out_size);
/* The address of the function `name`, for calls by device code. */
PI_EXPORT pi_result PI_CALL piProgramGetFunctionPointer(pi_program program, pi_device device,
                                                        const char *name, uint64_t *out_address);
/* The address of the variable `name`, and its size in bytes. Either output may be NULL, but not
 * both. */
PI_EXPORT pi_result PI_CALL piProgramGetGlobalVariablePointer(pi_program program, pi_device device,
                                                              const char *name, void **out_pointer,
                                                              uint64_t *out_size);
PI_EXPORT pi_result PI_CALL piProgramGetNativeHandle(pi_program program, pi_device device,
                                                     pi_native_handle *out_handle);
PI_EXPORT pi_result PI_CALL piProgramCreateWithNativeHandle(pi_context context,
                                                            const pi_native_desc *desc,
                                                            pi_program *out_program);

/* ===== Kernels ================================================================================ */

/* Required: NAME, PROGRAM, CONTEXT. */
typedef uint32_t pi_kernel_info;
enum {
    PI_KERNEL_INFO_NAME = 1,           /* char[] */
    PI_KERNEL_INFO_ARGUMENT_COUNT = 2, /* uint32_t */
    PI_KERNEL_INFO_PROGRAM = 3,        /* pi_program, borrowed */
    PI_KERNEL_INFO_CONTEXT = 4,        /* pi_context, borrowed */
    PI_KERNEL_INFO_REFERENCE_COUNT = 5 /* uint32_t: for debugging only */
};
typedef uint32_t pi_kernel_group_info;
enum {
    PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE = 1,     /* uint64_t */
    PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE = 2, /* uint64_t[3]; zeros = none */
    PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE = 3,       /* uint64_t: bytes */
    PI_KERNEL_GROUP_INFO_PRIVATE_MEMORY_SIZE = 4,     /* uint64_t: bytes per work-item */
    PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE = 5 /* uint64_t */
};
typedef uint32_t pi_kernel_sub_group_info;
enum {
    PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE = 1,    /* uint32_t */
    PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT = 2,   /* uint32_t */
    PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE = 3 /* uint32_t; 0 = none */
};
typedef struct pi_kernel_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_KERNEL_DESC */
    const void *next;
    uint64_t flags; /* must be 0 */
} pi_kernel_desc;
/* desc may be NULL. The program must be built (else PI_ERROR_INVALID_OPERATION). A kernel can be
 * launched on the devices that its program is built for; on others the launch is
 * PI_ERROR_INVALID_KERNEL. */
PI_EXPORT pi_result PI_CALL piKernelCreate(pi_program program, const char *name,
                                           const pi_kernel_desc *desc, pi_kernel *out_kernel);
PI_EXPORT pi_result PI_CALL piKernelRetain(pi_kernel kernel);
PI_EXPORT pi_result PI_CALL piKernelRelease(pi_kernel kernel);
PI_EXPORT pi_result PI_CALL piKernelGetInfo(pi_kernel kernel, pi_kernel_info name, uint64_t size,
                                            void *value, uint64_t *out_size);
PI_EXPORT pi_result PI_CALL piKernelGetGroupInfo(pi_kernel kernel, pi_device device,
                                                 pi_kernel_group_info name, uint64_t size,
                                                 void *value, uint64_t *out_size);
PI_EXPORT pi_result PI_CALL piKernelGetSubGroupInfo(pi_kernel kernel, pi_device device,
                                                    pi_kernel_sub_group_info name, uint64_t size,
                                                    void *value, uint64_t *out_size);
/* Three values: a good local size for this launch. Of desc only the kernel, the dimensions and the
 * global size are read. */
PI_EXPORT pi_result PI_CALL piKernelGetSuggestedLocalSize(pi_queue queue,
                                                          const pi_kernel_launch_desc *desc,
                                                          uint64_t out_local_size[3]);
/* The number of work-groups of this local size that can be resident at the same time. A cooperative
 * launch of more groups is PI_ERROR_INVALID_WORK_SIZE. If the local_size of a cooperative launch is
 * all 0, the plugin chooses one that keeps within this number, if it finds one. */
PI_EXPORT pi_result PI_CALL piKernelGetMaxCooperativeGroups(pi_queue queue,
                                                            const pi_kernel_launch_desc *desc,
                                                            uint32_t *out_count);
PI_EXPORT pi_result PI_CALL piKernelGetNativeHandle(pi_kernel kernel, pi_device device,
                                                    pi_native_handle *out_handle);
PI_EXPORT pi_result PI_CALL piKernelCreateWithNativeHandle(pi_program program,
                                                           const pi_native_desc *desc,
                                                           pi_kernel *out_kernel);

/* ===== Samplers =============================================================================== */

/* The two modes that repeat require normalized coordinates (else PI_ERROR_INVALID_VALUE). */
typedef uint32_t pi_addressing_mode;
enum {
    PI_ADDRESSING_NONE = 0,
    PI_ADDRESSING_CLAMP_TO_EDGE = 1,
    PI_ADDRESSING_CLAMP = 2,
    PI_ADDRESSING_REPEAT = 3,
    PI_ADDRESSING_MIRRORED_REPEAT = 4
};
typedef uint32_t pi_filter_mode;
enum { PI_FILTER_NEAREST = 0, PI_FILTER_LINEAR = 1 };
typedef struct pi_sampler_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_SAMPLER_DESC */
    const void *next;
    uint32_t normalized_coordinates; /* 0 or 1 */
    pi_addressing_mode addressing;
    pi_filter_mode filter;
    uint32_t reserved;
} pi_sampler_desc;
/* Required: CONTEXT, NORMALIZED_COORDINATES, ADDRESSING, FILTER. */
typedef uint32_t pi_sampler_info;
enum {
    PI_SAMPLER_INFO_CONTEXT = 1,                /* pi_context, borrowed */
    PI_SAMPLER_INFO_NORMALIZED_COORDINATES = 2, /* uint32_t */
    PI_SAMPLER_INFO_ADDRESSING = 3,             /* pi_addressing_mode */
    PI_SAMPLER_INFO_FILTER = 4,                 /* pi_filter_mode */
    PI_SAMPLER_INFO_REFERENCE_COUNT = 5         /* uint32_t: for debugging only */
};
PI_EXPORT pi_result PI_CALL piSamplerCreate(pi_context context, const pi_sampler_desc *desc,
                                            pi_sampler *out_sampler);
PI_EXPORT pi_result PI_CALL piSamplerRetain(pi_sampler sampler);
PI_EXPORT pi_result PI_CALL piSamplerRelease(pi_sampler sampler);
/* For a sampler around a native handle, coordinates, addressing and filter are
 * PI_ERROR_UNSUPPORTED_FEATURE if the backend cannot query them; the context never is. */
PI_EXPORT pi_result PI_CALL piSamplerGetInfo(pi_sampler sampler, pi_sampler_info name,
                                             uint64_t size, void *value, uint64_t *out_size);
PI_EXPORT pi_result PI_CALL piSamplerGetNativeHandle(pi_sampler sampler,
                                                     pi_native_handle *out_handle);
PI_EXPORT pi_result PI_CALL piSamplerCreateWithNativeHandle(pi_context context,
                                                            const pi_native_desc *desc,
                                                            pi_sampler *out_sampler);

/* ===== Events ================================================================================= */

typedef uint32_t pi_event_status;
enum {
    PI_EVENT_QUEUED = 1,    /* deferred by the plugin: something it waits for is not complete */
    PI_EVENT_SUBMITTED = 2, /* submitted to the backend */
    PI_EVENT_RUNNING = 3,
    PI_EVENT_COMPLETE = 4 /* over, with success or failure: see PI_EVENT_INFO_RESULT */
};
/* Required: STATUS, RESULT, ERROR_TEXT, CONTEXT, QUEUE, COMMAND. */
typedef uint32_t pi_event_info;
enum {
    PI_EVENT_INFO_STATUS = 1, /* pi_event_status */
    /* Meaningful only after a query of STATUS has returned COMPLETE. */
    PI_EVENT_INFO_RESULT = 2,     /* pi_result */
    PI_EVENT_INFO_ERROR_TEXT = 3, /* char[]: "" unless the event failed */
    PI_EVENT_INFO_CONTEXT = 4,    /* pi_context, borrowed */
    PI_EVENT_INFO_QUEUE = 5,      /* pi_queue, borrowed; NULL for a host event */
    /* The PI_TYPE_ of the command's descriptor; 0 for a host event. */
    PI_EVENT_INFO_COMMAND = 6,        /* uint32_t */
    PI_EVENT_INFO_REFERENCE_COUNT = 7 /* uint32_t: for debugging only */
};
/* Nanoseconds of the device's clock (piDeviceGetGlobalTimestamps); never decreasing in this
 * order. */
typedef uint32_t pi_profiling_info;
enum {
    PI_PROFILING_QUEUED = 1, /* uint64_t */
    PI_PROFILING_SUBMIT = 2, /* uint64_t */
    PI_PROFILING_START = 3,  /* uint64_t */
    PI_PROFILING_END = 4     /* uint64_t */
};

/* Blocks until the event is complete or the timeout (nanoseconds) has elapsed. Returns the result
 * of the command: PI_SUCCESS, or the error of a failed command, with its text. PI_ERROR_TIMEOUT:
 * the event is not complete yet. PI_ERROR_WOULD_BLOCK: called inside a callback, and the event is
 * not complete. A timeout of 0 polls and never blocks. */
PI_EXPORT pi_result PI_CALL piEventWait(pi_event event, uint64_t timeout);
PI_EXPORT pi_result PI_CALL piEventGetInfo(pi_event event, pi_event_info name, uint64_t size,
                                           void *value, uint64_t *out_size);
/* PI_ERROR_PROFILING_UNAVAILABLE: the event is not complete, failed, or has no profiling queue. */
PI_EXPORT pi_result PI_CALL piEventGetProfilingInfo(pi_event event, pi_profiling_info name,
                                                    uint64_t size, void *value, uint64_t *out_size);
/* The callback borrows the handle during its call. */
typedef void(PI_CALL *pi_event_callback)(pi_event event, pi_result result, void *user_data);
/* Calls back exactly once, on completion or error, on any thread (also during this call, if the
 * event is complete), with no lock of the plugin held. A callback may make any non-blocking call
 * (enqueue, signal, release); blocking calls return PI_ERROR_WOULD_BLOCK. */
PI_EXPORT pi_result PI_CALL piEventSetCallback(pi_event event, pi_event_callback callback,
                                               void *user_data);
typedef struct pi_host_event_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_HOST_EVENT_DESC */
    const void *next;
    uint64_t flags; /* must be 0 */
} pi_host_event_desc;
/* Creates an event that the application signals once, with success or an error (0 or negative).
 * desc may be NULL. If the last reference is released before, the event fails with
 * PI_ERROR_ABANDONED, so that nothing waits for ever. (References that waiting commands hold do not
 * count.) */
PI_EXPORT pi_result PI_CALL piEventCreateHost(pi_context context, const pi_host_event_desc *desc,
                                              pi_event *out_event);
/* PI_ERROR_INVALID_OPERATION: a second signal, or the event of a command. PI_ERROR_INVALID_VALUE:
 * result is positive, PI_ERROR_TIMEOUT or PI_ERROR_WOULD_BLOCK; the last two are results of a wait,
 * never of an event. */
PI_EXPORT pi_result PI_CALL piEventSignalHost(pi_event event, pi_result result);
PI_EXPORT pi_result PI_CALL piEventRetain(pi_event event);
PI_EXPORT pi_result PI_CALL piEventRelease(pi_event event);
PI_EXPORT pi_result PI_CALL piEventGetNativeHandle(pi_event event, pi_native_handle *out_handle);
PI_EXPORT pi_result PI_CALL piEventCreateWithNativeHandle(pi_context context,
                                                          const pi_native_desc *desc,
                                                          pi_event *out_event);

#ifdef __cplusplus
}
#endif

#endif
