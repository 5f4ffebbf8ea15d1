/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * PI: a plugin interface for device runtimes. This header is the specification.
 *
 * Read it from top to bottom: grammar, results, objects, then one section a noun. An application
 * links the loader (pi/pi_loader.h), which opens backend plugins (pi/pi_plugin.h) and forwards every
 * function below to the plugin that made the handle in its first argument.
 *
 * GRAMMAR
 *  - pi<Object><Verb> is a function, pi_<object> a type, PI_<OBJECT>_<CONSTANT> a constant.
 *  - Every function returns pi_result, which is never positive, and takes at most six parameters. The
 *    first argument dispatches; inputs follow; outputs come last, are named out_*, and are written only on success.
 *  - Lists: (capacity, out_array, out_count). out_count, if not NULL, receives how many there are;
 *    out_array, if not NULL, receives the first `capacity` of them; both NULL is
 *    PI_ERROR_INVALID_NULL_POINTER. Handles received this way are borrowed, unless the comment says that
 *    they must be released.
 *  - Info: Get...Info(object, name, size, value, out_size). Each enumerator's comment begins with the
 *    type that it returns. value may be NULL to ask for the size alone; a size smaller than needed is
 *    PI_ERROR_INVALID_SIZE and writes nothing. Strings are UTF-8 and their size counts the final 0. A
 *    name that the object cannot answer is PI_ERROR_UNSUPPORTED_FEATURE, one that is not in the list
 *    PI_ERROR_INVALID_ENUMERATION; a caller takes both for "it does not say", since an older plugin does not
 *    know the newer names. "Required" before a list says which names every object must answer; any
 *    other one it may leave unsupported.
 *  - Commands: piEnqueueX(queue, desc, wait_count, wait_list, out_event), described under "Commands".
 *
 * DESCRIPTORS begin with {struct_size, type, next}. The caller sets struct_size = sizeof the struct
 * that it was compiled with, type to the PI_TYPE_ constant, and next to NULL or to a further
 * descriptor. An input descriptor smaller than the callee's is extended by zeros; a larger one is
 * accepted only if the tail that the callee does not know is zero (else PI_ERROR_UNSUPPORTED_FEATURE).
 * Zero always means the default; reserved words must be zero (else PI_ERROR_UNSUPPORTED_FEATURE). An
 * output struct receives the smaller of both sizes, and zeros beyond what the callee knows. A chained
 * `type` that the callee does not know is PI_ERROR_UNSUPPORTED_FEATURE unless its bit 31 is set
 * (PI_TYPE_MAY_IGNORE_BIT). A flag bit that the descriptor does not have is PI_ERROR_UNSUPPORTED_FEATURE. Elements of arrays are
 * frozen. An array's pointer is not looked at when its count is 0, and is PI_ERROR_INVALID_NULL_POINTER
 * when it is NULL with another count. A handle that a list of handles names twice is the error of its
 * kind (PI_ERROR_INVALID_DEVICE), except in a wait list, which may name an event twice. Output
 * structs may chain output structs by the same rules; one that is ignored is left as it was.
 *
 * VENDORS: enumerated values (struct types, info names, formats, kinds, types of handles) with
 * PI_VENDOR_BIT are never given out here. They mean what the plugin that receives them says; others
 * do not know them. Masks (1 << value) have the values below 32 alone. Flags are never a vendor's: a
 * chained descriptor is. A caller takes a value that it does not know for the unknown one of its kind,
 * and a connection that it does not know for NONE.
 *
 * THREADS: every function may be called from any thread at any time, unless its comment says
 * "externally synchronised". A plugin leaves the calling thread as it found it. Blocking are
 * piEventWait, piQueueFinish and commands with PI_COMMAND_BLOCKING, and only these; other calls may take
 * the time that the vendor's call takes, but wait for no command. Inside a callback, of whichever plugin, the
 * blocking ones answer PI_ERROR_WOULD_BLOCK; so may piProgramCompile, piProgramBuild, piProgramLink,
 * piMemFlush and piMemInvalidate, which are long on some backends.
 *
 * LIFETIMES: objects are reference counted; creation gives one reference. From a successful enqueue
 * until the command's event is final, a command keeps alive every object it names (memory and the
 * roots of views, kernel, program, sampler, waited events, queue): all of them may be released right
 * after the call. Not kept: host pointers and USM. Values, patterns, regions and arguments are copied
 * during the call. Any release but that of a loader is legal inside a callback. A released handle is
 * undefined.
 *
 * ABI: version 1. What is here stays as it is; what comes is appended (api/README.md has the rules), and
 * its comment says since which minor version it is there.
 */
#ifndef PI_PI_H
#define PI_PI_H

#include <stdint.h>

#if UINTPTR_MAX < UINT64_MAX
#error "PI is for 64-bit targets: its structs have no others' layouts"
#endif

/* Windows plugins use the platform's C convention; elsewhere both macros are empty or visibility. */
#if defined(_WIN32)
#define PI_CALL __cdecl
#define PI_EXPORT __declspec(dllexport)
#else
#define PI_CALL
#define PI_EXPORT __attribute__((visibility("default")))
#endif

#define PI_VERSION_MAJOR 1
#define PI_VERSION_MINOR 1
/* While a minor version is being made, the number of its draft: what is new in it may still change, and
 * this number changes with it. 0 once the version is frozen. */
#define PI_VERSION_DRAFT 2

/* Set in the enumerated values that vendors give out: see VENDORS. */
#define PI_VENDOR_BIT UINT32_C(0x40000000)

/* A timeout that never ends. */
#define PI_TIMEOUT_NEVER UINT64_MAX

#ifdef __cplusplus
extern "C" {
#endif

/* ===== Results ================================================================================ */

typedef int32_t pi_result;

/* One code for one cause; the text of piGetLastError tells the particulars. Values are stable. */
enum {
    PI_SUCCESS = 0,

    /* The caller's arguments. */
    PI_ERROR_INVALID_VALUE = -1,        /* a value outside of what its comment allows */
    PI_ERROR_INVALID_NULL_POINTER = -2, /* a pointer (not a handle) that may not be NULL is */
    PI_ERROR_INVALID_SIZE = -3,         /* zero, overflowing, or past the end of what it names */
    PI_ERROR_INVALID_ENUMERATION = -4,  /* an info name, format or kind that is not in the list */
    PI_ERROR_INVALID_DESCRIPTOR = -5,   /* struct_size or type is not that of a descriptor */
    PI_ERROR_MISALIGNED_OFFSET = -6,    /* an offset breaks the scope's offset_alignment */
    PI_ERROR_MISALIGNED_POINTER = -7,   /* a host pointer breaks the alignment that it needs */
    PI_ERROR_INVALID_ALIGNMENT = -8,    /* not a power of two, or more than can be honoured */
    PI_ERROR_MEM_COPY_OVERLAP = -9,     /* source and destination of one copy overlap */
    PI_ERROR_INVALID_WAIT_LIST = -10,   /* wait_list is NULL, and wait_count is not 0 */
    PI_ERROR_INVALID_WORK_SIZE = -11,   /* a launch's dimensions or sizes */
    PI_ERROR_INVALID_ARGUMENTS = -12,   /* a launch's arguments: count, kind or size */
    PI_ERROR_INVALID_NAME = -13,      /* no kernel, function, variable or extension of that name */
    PI_ERROR_INVALID_BINARY = -14,    /* a program's bytes are not of the format they claim */
    PI_ERROR_INVALID_OPERATION = -15, /* right arguments at the wrong time (signalled twice) */
    PI_ERROR_INVALID_NATIVE_HANDLE = -16, /* a native handle's type, count or owner, or NULL */

    /* A handle that is NULL, of another kind, or of another plugin instance. */
    PI_ERROR_INVALID_LOADER = -32,
    PI_ERROR_INVALID_PLUGIN = -33,
    PI_ERROR_INVALID_PLATFORM = -34,
    PI_ERROR_INVALID_DEVICE = -35, /* also: a device that is not of the context */
    PI_ERROR_INVALID_CONTEXT = -36,
    PI_ERROR_INVALID_QUEUE = -37,
    PI_ERROR_INVALID_MEM_OBJECT = -38, /* also: memory that dst cannot use (connection NONE) */
    PI_ERROR_INVALID_EVENT = -39,
    PI_ERROR_INVALID_PROGRAM = -40,
    PI_ERROR_INVALID_KERNEL = -41,
    PI_ERROR_INVALID_SAMPLER = -42,
    PI_ERROR_INVALID_USM_POOL = -43,
    PI_ERROR_INVALID_USM_POINTER = -44, /* not an address of a live USM allocation of the context */

    /* What the system, the backend or the device cannot do. */
    PI_ERROR_UNSUPPORTED_FEATURE = -64, /* the backend cannot, or this plugin does not yet */
    PI_ERROR_OUT_OF_HOST_MEMORY = -65,
    PI_ERROR_OUT_OF_DEVICE_MEMORY = -66,
    PI_ERROR_OUT_OF_RESOURCES = -67, /* handles, threads, file descriptors, registers */
    /* All commands of that device answer this until the contexts on it are gone, or for ever. */
    PI_ERROR_DEVICE_LOST = -68,
    PI_ERROR_UNAVAILABLE = -69,  /* no driver or no device: the backend is not on this machine */
    PI_ERROR_BUILD_FAILED = -70, /* compile or link; the log is in piProgramGetBuildInfo */
    PI_ERROR_DEPENDENCY_FAILED = -71, /* an event of the wait list failed; the text is the root's */
    PI_ERROR_ABANDONED = -72, /* a host event's last reference went before it was signalled */
    PI_ERROR_TIMEOUT = -73,
    PI_ERROR_WOULD_BLOCK = -74,           /* a blocking call inside a callback */
    PI_ERROR_PROFILING_UNAVAILABLE = -75, /* the queue was created without PI_QUEUE_PROFILING */
    PI_ERROR_BACKEND = -76, /* a vendor's code with no better name; the text holds it */
    PI_ERROR_INTERNAL = -77 /* a defect of the plugin or the loader */
};

/* ===== Objects ================================================================================ */

/* Handles are pointers to opaque structs. The first word of each is the loader's dispatch table, the
 * second its kind (pi/pi_plugin.h has the layout); the rest belongs to the plugin. */
typedef struct pi_loader_s *pi_loader;
typedef struct pi_plugin_s *pi_plugin; /* an instance of a plugin in one loader; not counted */
typedef struct pi_platform_s
    *pi_platform;                      /* one driver of a backend; lives as long as its plugin */
typedef struct pi_device_s *pi_device; /* root devices live as long as their plugin */
typedef struct pi_context_s *pi_context;
typedef struct pi_queue_s *pi_queue;
typedef struct pi_mem_s *pi_mem; /* a buffer, a view of one, or an image */
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
/* Set in the `type` of a chained descriptor that a callee may ignore when it does not know it. */
#define PI_TYPE_MAY_IGNORE_BIT UINT32_C(0x80000000)

/* What every descriptor begins with; `next` chains point to these. */
typedef struct pi_struct_header {
    uint32_t struct_size;
    pi_struct_type type;
    const void *next;
} pi_struct_header;

/* ===== Errors ================================================================================= */

/* The code and text of this thread's newest failed call of any PI function in this process. The text
 * belongs to the loader and lives until the thread's next failing call. Without one: PI_SUCCESS and
 * "". Either output may be NULL. The text names the argument, its value and what would have been
 * right, or the vendor's call and code: "clCreateBuffer: CL_OUT_OF_RESOURCES: 8 GiB asked". */
PI_EXPORT pi_result PI_CALL piGetLastError(pi_result *out_code, const char **out_message);

/* How much a message matters, to the loader's log. */
typedef uint32_t pi_log_level;
enum {
    PI_LOG_TRACE = 1,
    PI_LOG_DEBUG = 2,
    PI_LOG_INFO = 3,
    PI_LOG_WARNING = 4,
    PI_LOG_ERROR = 5,
    PI_LOG_OFF = 6 /* of no message: a threshold that lets none through */
};

/* ===== Native handles ========================================================================= */

/* What `value` holds, per backend. Opaque values are pointers or integers, as the vendor has them. */
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
    PI_NATIVE_LEVEL_ZERO_POINTER = 65 /* a device allocation's address */
};

typedef struct pi_native_handle {
    pi_native_type type;
    uint32_t count; /* how many of value are used */
    uint64_t value[6];
} pi_native_handle;

/* Get...NativeHandle borrows: the handle lives as long as the object. ...CreateWithNativeHandle makes
 * an object around one; on failure nothing changes hands. Contexts, programs and kernels have a handle
 * a device on some backends, so their getters take the device (of the context; NULL will do where the
 * backend has one for all). A handle that is NULL, of another type or count, or, as far as the backend tells, of
 * another platform, context or device than the call's is PI_ERROR_INVALID_NATIVE_HANDLE; a value that is no handle
 * of the backend at all cannot be told from one, and is undefined. Without PI_NATIVE_OWN the application keeps
 * the handle until the object is gone, and an event's until it has happened, too: it may be waited for. Work put
 * directly on a native queue is not ordered with commands that the plugin holds back. An event that has no native
 * counterpart (a held command's, a host event) is PI_ERROR_INVALID_OPERATION. */
enum {
    PI_NATIVE_OWN = 1 << 0 /* take the handle over: it is released with the object */
};

typedef struct pi_native_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_NATIVE_DESC */
    const void *next;
    uint64_t flags; /* PI_NATIVE_OWN */
    /* Of contexts, programs and kernels: whose handle it is, where the backend has one a device (a
     * CUmodule cannot be asked for its device). NULL elsewhere. */
    pi_device device;
    pi_native_handle handle;
} pi_native_desc;

/* ===== Plugins ================================================================================ */

/* The plugins that this loader has loaded, in the order in which they were found. */
PI_EXPORT pi_result PI_CALL piPluginsGet(pi_loader loader, uint32_t capacity,
                                         pi_plugin *out_plugins, uint32_t *out_count);

/* Required: all of them. */
typedef uint32_t pi_plugin_info;
enum {
    PI_PLUGIN_INFO_NAME = 1,        /* char[]: "host", "opencl", ... */
    PI_PLUGIN_INFO_VERSION = 2,     /* char[]: the plugin's own version */
    PI_PLUGIN_INFO_CAPABILITIES = 3 /* uint64_t: PI_CAPABILITY_ bits */
};

/* Optional groups of functions: a plugin implements all functions of a group or none, and says which.
 * pi_functions.def tells the group of each function. */
enum {
    PI_CAPABILITY_BUFFER_COMMANDS = 1 << 0, /* read, write, fill (emulated by map where absent) */
    PI_CAPABILITY_MEM_IMPORT = 1 << 1,
    PI_CAPABILITY_MEM_EXPORT = 1 << 2,
    PI_CAPABILITY_MEM_HOST_ACCESS = 1 << 3, /* host pointer, flush, invalidate */
    PI_CAPABILITY_IMAGE = 1 << 4,           /* images, their commands, samplers */
    PI_CAPABILITY_USM = 1 << 5,             /* allocations and commands on pointers */
    PI_CAPABILITY_USM_POOL = 1 << 6,
    PI_CAPABILITY_USM_ASYNC = 1 << 7,     /* stream-ordered alloc and free */
    PI_CAPABILITY_USM_REGISTER = 1 << 8,  /* pin the application's memory */
    PI_CAPABILITY_PROGRAM = 1 << 9,       /* programs, kernels, launches */
    PI_CAPABILITY_PROGRAM_LINK = 1 << 10, /* compile and link apart */
    PI_CAPABILITY_SPECIALIZATION = 1 << 11,
    PI_CAPABILITY_DEVICE_GLOBALS = 1 << 12,
    PI_CAPABILITY_COOPERATIVE = 1 << 13,
    PI_CAPABILITY_HOST_FUNCTION = 1 << 14,
    PI_CAPABILITY_TIMESTAMP = 1 << 15, /* device and host clocks, timestamp commands */
    PI_CAPABILITY_PARTITION = 1 << 16, /* sub-devices */
    PI_CAPABILITY_VIEW = 1 << 17,      /* sub-buffers */
    PI_CAPABILITY_NATIVE = 1 << 18     /* native handles of the core objects, both ways */
};

PI_EXPORT pi_result PI_CALL piPluginGetInfo(pi_plugin plugin, pi_plugin_info name, uint64_t size,
                                            void *value, uint64_t *out_size);

/* A table of functions that the core lacks, by name ("vendor_feature_v1"). The table begins with its
 * size in bytes as uint64_t; one smaller than min_size is PI_ERROR_UNSUPPORTED_FEATURE, a name that
 * the plugin does not have PI_ERROR_INVALID_NAME. The table lives as long as the plugin. */
PI_EXPORT pi_result PI_CALL piPluginGetExtension(pi_plugin plugin, const char *name,
                                                 uint64_t min_size, const void **out_table);

/* ===== Platforms ============================================================================== */

/* The drivers of this backend. The first call opens the vendor's library. PI_ERROR_UNAVAILABLE with
 * the reason when there is no driver or no device; the plugin stays usable and may be asked again. */
PI_EXPORT pi_result PI_CALL piPlatformsGet(pi_plugin plugin, uint32_t capacity,
                                           pi_platform *out_platforms, uint32_t *out_count);

/* Required: NAME, PLUGIN, BACKEND. */
typedef uint32_t pi_platform_info;
enum {
    PI_PLATFORM_INFO_NAME = 1,    /* char[] */
    PI_PLATFORM_INFO_VENDOR = 2,  /* char[] */
    PI_PLATFORM_INFO_VERSION = 3, /* char[]: of the driver or its API, as the vendor writes it */
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

/* Translates a compiler option of a frontend ("-O2", "-g") into the backend's spelling. An option
 * without a counterpart becomes "". Fewer than `size` bytes are an error, as for info calls. */
PI_EXPORT pi_result PI_CALL piPlatformGetBackendOption(pi_platform platform,
                                                       const char *frontend_option, uint64_t size,
                                                       char *value, uint64_t *out_size);

PI_EXPORT pi_result PI_CALL piPlatformGetNativeHandle(pi_platform platform,
                                                      pi_native_handle *out_handle);
/* Finds the plugin's platform that a native handle means; platforms are never made nor owned. */
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

/* The platform's root devices of the types in `types`; 0 means all. Bits that no type has are no device's, and
 * none of the devices is success with a count of 0. */
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

    /* Who it is. Absent ones are PI_ERROR_UNSUPPORTED_FEATURE, never zeros. Two devices are the same
     * physical one if an identity (UUID, LUID, PCI address) that both have is equal; never by name. */
    PI_DEVICE_INFO_UUID = 16,        /* uint8_t[16] */
    PI_DEVICE_INFO_LUID = 17,        /* uint8_t[8] */
    PI_DEVICE_INFO_PCI_ADDRESS = 18, /* char[]: "0000:c1:00.0" */
    /* Where it is; not who. */
    PI_DEVICE_INFO_NUMA_NODE = 19, /* uint32_t: the operating system's number */

    PI_DEVICE_INFO_COMPUTE_UNITS = 32,       /* uint32_t */
    PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE = 33, /* uint64_t: work-items */
    PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES = 34, /* uint64_t[3] */
    PI_DEVICE_INFO_LOCAL_MEMORY_SIZE = 35,   /* uint64_t: bytes a work-group can have */
    PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE = 36,  /* uint64_t: bytes of scope 0 */
    PI_DEVICE_INFO_MAX_ALLOCATION_SIZE = 37, /* uint64_t: bytes */
    PI_DEVICE_INFO_ADDRESS_BITS = 38,        /* uint32_t */
    PI_DEVICE_INFO_FP16 = 39,                /* uint32_t: 0 or 1 */
    PI_DEVICE_INFO_FP64 = 40,                /* uint32_t: 0 or 1 */
    PI_DEVICE_INFO_IMAGES = 41,              /* uint32_t: 0 or 1 */
    PI_DEVICE_INFO_SUB_GROUP_SIZES = 42,     /* uint32_t[] */

    /* How offsets work: PI_BUFFER_OFFSET_ bits. The alignment is in the memory scope. */
    PI_DEVICE_INFO_BUFFER_OFFSET_MODE = 48, /* uint32_t */
    /* Importing application memory in place (piMemImport, HOST_POINTER). */
    PI_DEVICE_INFO_HOST_POINTER_IMPORT = 49,    /* uint32_t: 0 or 1 */
    PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT = 50, /* uint64_t: bytes, of pointer and size */
    PI_DEVICE_INFO_INTEGRATED = 51, /* uint32_t: 1 when host and device share physical memory */
    PI_DEVICE_INFO_USM_CAPABILITIES = 52,      /* uint32_t: 1 << PI_USM_ kinds */
    PI_DEVICE_INFO_PROGRAM_FORMATS = 53,       /* uint32_t: 1 << PI_PROGRAM_FORMAT_ */
    PI_DEVICE_INFO_QUEUE_FLAGS = 54,           /* uint64_t: the PI_QUEUE_ flags that are honoured */
    PI_DEVICE_INFO_TIMER_RESOLUTION = 55,      /* uint64_t: nanoseconds of profiling times */
    PI_DEVICE_INFO_PARTITION_KINDS = 56,       /* uint32_t: 1 << PI_PARTITION_ */
    PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES = 57, /* uint32_t: 1 << PI_EXTERNAL_ that import takes */
    PI_DEVICE_INFO_EXPORT_HANDLE_TYPES = 58,   /* uint32_t: 1 << PI_EXTERNAL_ that export gives */
    /* What this device can do of what its plugin implements: one plugin serves unlike devices. The rest is PI_ERROR_UNSUPPORTED_FEATURE, or a wrong argument's error. */
    PI_DEVICE_INFO_CAPABILITIES = 59,      /* uint64_t: PI_CAPABILITY_, a subset of the plugin's */
    PI_DEVICE_INFO_LAUNCH_FEATURES = 60,   /* uint32_t: PI_LAUNCH_FEATURE_ */
    PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE = 61, /* uint64_t[2]: pixels */
    PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE = 62, /* uint64_t[3]: pixels */
    PI_DEVICE_INFO_IMAGE_VIEW_OFFSET_ALIGNMENT = 63, /* uint64_t: bytes; absent: it begins at 0 */
    PI_DEVICE_INFO_IMAGE_VIEW_PITCH_ALIGNMENT = 64,  /* uint64_t: bytes, of rows; absent: one row */
    /* What moving bytes between scope 0 and the host's memory costs, which no connection tells since the
     * host is no place. A speed is {bytes a second, nanoseconds}: a command alone takes the nanoseconds,
     * and its bytes at that rate; a rate of UINT64_MAX: as many as there are at once. Absent unless it was
     * measured or specified: never a guess. */
    PI_DEVICE_INFO_HOST_READ_SPEED = 65,  /* uint64_t[2]: of piEnqueueMemBufferRead */
    PI_DEVICE_INFO_HOST_WRITE_SPEED = 66, /* uint64_t[2]: of piEnqueueMemBufferWrite */
    PI_DEVICE_INFO_MAP_SPEED =
        67, /* uint64_t[2]: of a map for reading, or of an unmap after writing */
    PI_DEVICE_INFO_CALLBACK_LATENCY =
        68, /* uint64_t: nanoseconds from a command's end to a callback */
    /* The channels (pi_memory_connection_info) that those reads and writes take, without zeros. Absent:
     * nothing is known. */
    PI_DEVICE_INFO_HOST_READ_CHANNELS = 69, /* uint64_t[]: at most PI_CONNECTION_MAX_CHANNELS */
    PI_DEVICE_INFO_HOST_WRITE_CHANNELS = 70 /* uint64_t[]: at most PI_CONNECTION_MAX_CHANNELS */
};

/* A launch's buffer argument may begin at an offset because device pointers are addresses (POINTER),
 * or because the plugin makes a sub-buffer there (SUB_BUFFER: offset_alignment of the scope applies). */
enum { PI_BUFFER_OFFSET_POINTER = 1 << 0, PI_BUFFER_OFFSET_SUB_BUFFER = 1 << 1 };

/* What launches may ask for. Without the bit a global offset is PI_ERROR_UNSUPPORTED_FEATURE, a global
 * size that is no multiple of the local size PI_ERROR_INVALID_WORK_SIZE, a cluster size
 * PI_ERROR_UNSUPPORTED_FEATURE. */
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
    PI_PARTITION_BY_HARDWARE = 4 /* one for each tile or stack that the device is built of */
};
typedef struct pi_device_partition_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_DEVICE_PARTITION_DESC */
    const void *next;
    pi_partition_kind kind;
    uint32_t count; /* EQUALLY: compute units each; BY_COUNTS: how many counts */
    const uint32_t *counts;
} pi_device_partition_desc;
/* Makes sub-devices, of which each compute unit is in one at most: each of out_devices is the caller's to
 * release, and keeps its parent alive. With out_devices NULL only counts. A kind that
 * PI_DEVICE_INFO_PARTITION_KINDS lacks is PI_ERROR_UNSUPPORTED_FEATURE; a count, counts of which one is 0,
 * or a sum of them that is 0 or more than the device's compute units PI_ERROR_INVALID_SIZE. */
PI_EXPORT pi_result PI_CALL piDevicePartition(pi_device device,
                                              const pi_device_partition_desc *desc,
                                              uint32_t capacity, pi_device *out_devices,
                                              uint32_t *out_count);
/* On root devices these succeed and change nothing. */
PI_EXPORT pi_result PI_CALL piDeviceRetain(pi_device device);
PI_EXPORT pi_result PI_CALL piDeviceRelease(pi_device device);

/* Device and host clock read as close together as the backend can, in nanoseconds. The host's is
 * CLOCK_MONOTONIC. Either output may be NULL. */
PI_EXPORT pi_result PI_CALL piDeviceGetGlobalTimestamps(pi_device device, uint64_t *out_device_time,
                                                        uint64_t *out_host_time);

/* A program's images for several targets: which of them suits this device best; of equals the first. One whose
 * target or format the plugin does not know suits no device; when none suits: PI_ERROR_INVALID_BINARY, also of a
 * count of 0. */
typedef struct pi_program_binary {
    const char *target; /* "opencl_c", "spirv64", "native", "sm_90", ... */
    uint32_t format;    /* PI_PROGRAM_FORMAT_ */
    uint32_t reserved;
    /* The image, for backends whose targets do not tell all; NULL and 0: not at hand. */
    const void *data;
    uint64_t size; /* bytes */
    uint64_t reserved_words[2];
} pi_program_binary;
PI_EXPORT pi_result PI_CALL piDeviceSelectBinary(pi_device device, uint32_t count,
                                                 const pi_program_binary *binaries,
                                                 uint32_t *out_index);

/* A kind of memory that the device can allocate. Names are for discovery; descriptors carry the index
 * in the list. Scope 0 is the device's ordinary memory. Usual names: "global", "host.pinned",
 * "shared", "texture", "<vendor>.<name>". */
enum {
    PI_SCOPE_HOST_VISIBLE = 1 << 0, /* piMemGetHostPointer works */
    PI_SCOPE_COHERENT = 1 << 1, /* host and device see each other's writes once events order them */
    PI_SCOPE_CONTIGUOUS = 1 << 2,   /* PI_MEM_REQUIRE_CONTIGUOUS can be asked for */
    PI_SCOPE_PINNED = 1 << 3,       /* PI_MEM_REQUIRE_PINNED can be asked for */
    PI_SCOPE_LAYOUT = 1 << 4,       /* n-D allocations (pi_mem_layout_desc) */
    PI_SCOPE_POOLABLE = 1 << 5,     /* allocations may be kept and used again by a pool */
    PI_SCOPE_MAPS_IN_PLACE = 1 << 6 /* a map gives the memory itself: it costs no copy */
};
typedef struct pi_memory_scope {
    char name[64];
    uint64_t flags;            /* PI_SCOPE_ */
    uint64_t capacity;         /* bytes; 0 = unknown */
    uint64_t max_allocation;   /* bytes; 0 = unknown */
    uint64_t min_alignment;    /* bytes; what every allocation has without asking */
    uint64_t offset_alignment; /* bytes; of launch arguments' offsets and of views */
    uint64_t flush_atom;       /* bytes; the unit of piMemFlush and piMemInvalidate; 1 = any */
    uint64_t reserved[4];
} pi_memory_scope;
PI_EXPORT pi_result PI_CALL piDeviceGetMemoryScopes(pi_device device, uint32_t capacity,
                                                    pi_memory_scope *out_scopes,
                                                    uint32_t *out_count);

PI_EXPORT pi_result PI_CALL piDeviceGetNativeHandle(pi_device device, pi_native_handle *out_handle);
/* Finds the platform's device that a native handle means (a sub-device is wrapped). */
PI_EXPORT pi_result PI_CALL piDeviceCreateWithNativeHandle(pi_platform platform,
                                                           const pi_native_desc *desc,
                                                           pi_device *out_device);

/* ===== Contexts =============================================================================== */

/* A context joins devices of one platform. What their memory means to each other is never implied by
 * the context: piGetMemoryConnection answers it. */
typedef struct pi_context_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_CONTEXT_DESC */
    const void *next;
    uint64_t flags; /* must be 0 */
    uint32_t device_count;
    uint32_t reserved;
    /* Of this platform; at least one (else PI_ERROR_INVALID_SIZE). A sub-device belongs only if listed. */
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
    PI_MEMORY_CONNECTION_MIGRATABLE = 1, /* the plugin copies it there itself */
    PI_MEMORY_CONNECTION_UNIFIED = 2     /* used as it is */
};

/* What memory of (src_device, src_context) is to (dst_device, dst_context), for reading and writing.
 * It speaks of linear buffers in scope 0 of src that were created without host_ptr. Directed: nothing
 * follows for dst -> src. Cheap after the first query of a pair, which may have to enable access;
 * constant while both contexts live. The promises:
 *  1. The same pair is UNIFIED.
 *  2. UNIFIED: every command on a queue of dst accepts src's memory in every position and sees the
 *     same bytes once events order it.
 *  3. MIGRATABLE: piEnqueueMemBufferCopy from src's to dst's buffer is accepted on a queue of either
 *     end, asynchronous, exact, at any offset and size.
 *  4. NONE: dst's commands refuse src's memory with PI_ERROR_INVALID_MEM_OBJECT. (Raw USM pointers
 *     cannot be checked.)
 *  5. A device that is not of its context is PI_ERROR_INVALID_DEVICE. Between two plugin instances
 *     the loader answers NONE and asks neither. */
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
    PI_COHERENCE_MAP_UNMAP = 3         /* the host touches it only between map and unmap */
};
typedef uint32_t pi_residency;
enum {
    PI_RESIDENCY_UNKNOWN = 0,
    PI_RESIDENCY_SAME_MEMORY = 1,          /* both ends use one physical memory */
    PI_RESIDENCY_REMOTE_ACCESS = 2,        /* dst reads and writes over the link */
    PI_RESIDENCY_MIGRATES_WHOLE_OBJECT = 3 /* the driver moves the object implicitly */
};
typedef uint32_t pi_concurrent_writers;
enum {
    PI_CONCURRENT_WRITERS_NONE = 0, /* one writer at a time, whatever it writes */
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
/* Whether bytes were seen to arrive, since 1.1: piVerifyMemoryConnection in pi/pi_loader.h. */
typedef uint32_t pi_verified;
enum {
    PI_VERIFIED_UNKNOWN = 0, /* not verified */
    PI_VERIFIED_YES = 1,     /* the bytes that were tried arrived */
    PI_VERIFIED_FAILED = 2   /* the calls succeeded, and bytes were wrong */
};
/* Channels are what a transfer has to itself while its bytes are on their way: one direction of a slot, a
 * switch's port, a copy engine. Each has a number, which only the plugin instance that gave it
 * understands; transfers without a number in common can go at the same time, others take turns. */
#define PI_CONNECTION_MAX_CHANNELS 8
/* An output struct: the caller sets struct_size and type. Where two kinds or scopes differ, this answer
 * for that kind wins over piGetMemoryConnection's. */
typedef struct pi_memory_connection_info {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEMORY_CONNECTION_INFO */
    void *next;
    pi_memory_connection connection;
    pi_coherence coherence; /* of dst's accesses with src's, when UNIFIED */
    uint32_t atomics;       /* 1: atomics of both ends on one word are atomic to each other */
    pi_residency residency;
    pi_concurrent_writers concurrent_writers;
    pi_copy_path path; /* of a plugin copy */
    pi_preferred_queue preferred_queue;
    pi_link_kind link_kind;
    uint64_t bandwidth;             /* of a copy alone: bytes a second; 0 = unknown */
    uint64_t latency;               /* and nanoseconds beside that; 0 = unknown */
    uint32_t external_handle_types; /* 1 << PI_EXTERNAL_: types that src exports and dst imports */
    uint32_t reserved;
    char reason[256]; /* a sentence: why the answer is what it is */
    /* All that a copy takes on its way, each once, in any order, then zeros; all 0 = unknown. */
    uint64_t channels[PI_CONNECTION_MAX_CHANNELS];
    /* Since 1.1. A plugin leaves both zero: its answer is the driver's word, and constant. */
    pi_verified verified;
    uint32_t reserved2;
    char verified_text[256]; /* FAILED: what was seen; YES: "" or what was not tried, and why */
} pi_memory_connection_info;
/* The whole answer for one kind of memory; query NULL means buffers in scope 0. */
PI_EXPORT pi_result PI_CALL piGetMemoryConnectionInfo(pi_device src_device, pi_context src_context,
                                                      pi_device dst_device, pi_context dst_context,
                                                      const pi_memory_connection_query *query,
                                                      pi_memory_connection_info *out_info);

/* ===== Queues ================================================================================= */

/* In an in-order queue (the default) each command begins after the one before it is final. The failure
 * of a command does not fail its successors in the queue: only wait lists carry errors. */
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
/* desc NULL: in order, no profiling. A flag that the device cannot honour is
 * PI_ERROR_UNSUPPORTED_FEATURE, except priorities, which are hints. */
PI_EXPORT pi_result PI_CALL piQueueCreate(pi_context context, pi_device device,
                                          const pi_queue_desc *desc, pi_queue *out_queue);
PI_EXPORT pi_result PI_CALL piQueueRetain(pi_queue queue);
/* The last reference flushes; it never blocks and cancels nothing. */
PI_EXPORT pi_result PI_CALL piQueueRelease(pi_queue queue);
PI_EXPORT pi_result PI_CALL piQueueGetInfo(pi_queue queue, pi_queue_info name, uint64_t size,
                                           void *value, uint64_t *out_size);
/* Every command that is not held back by an event will now run without further calls. A plugin may keep
 * commands until then, or until piQueueFinish, a blocking command, or the queue's last release; piEventWait
 * with a timeout other than 0 flushes the queues of all that its event waits for. A callback, and a wait
 * list in another queue, flush nothing. */
PI_EXPORT pi_result PI_CALL piQueueFlush(pi_queue queue);
/* Blocks until every command enqueued before is final, failed ones included: success means "all
 * final". Inside a callback: PI_ERROR_WOULD_BLOCK; where every command is complete already, it may
 * be PI_SUCCESS instead. */
PI_EXPORT pi_result PI_CALL piQueueFinish(pi_queue queue);
PI_EXPORT pi_result PI_CALL piQueueGetNativeHandle(pi_queue queue, pi_native_handle *out_handle);
PI_EXPORT pi_result PI_CALL piQueueCreateWithNativeHandle(pi_context context, pi_device device,
                                                          const pi_native_desc *desc,
                                                          pi_queue *out_queue);

/* ===== Memory ================================================================================= */

enum {
    /* What kernels do with it; 0 is reading and writing. Other commands may read and write it all the same. */
    PI_MEM_READ_ONLY = 1 << 0,
    PI_MEM_WRITE_ONLY = 1 << 1,
    /* host_ptr: copied during the call, or used as the storage that a map returns. USE is not a proof
     * of zero copy: piMemImport is. The memory must outlive the object and its commands. */
    PI_MEM_COPY_HOST_PTR = 1 << 2,
    PI_MEM_USE_HOST_PTR = 1 << 3, /* both together: PI_ERROR_INVALID_VALUE */
    /* Demands: they hold, or creation fails with PI_ERROR_UNSUPPORTED_FEATURE and a text. */
    PI_MEM_REQUIRE_CONTIGUOUS = 1 << 4, /* physically contiguous, as seen by a DMA engine */
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
    uint32_t export_types; /* 1 << PI_EXTERNAL_: what piMemExport will be asked for; 0 = nothing */
    void *host_ptr;        /* with COPY or USE, of at least size bytes; else NULL */
} pi_mem_buffer_desc;

/* An n-D allocation: rank extents of element_size bytes; axis_separators tell where the logical axes
 * are folded into physical ones (a 2-D scratchpad has one separator). All commands and ranges speak
 * of the logical dense row-major bytes; pitches show only in PI_MEM_INFO_PITCHES, host pointers and
 * native handles. */
typedef struct pi_mem_layout_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEM_LAYOUT_DESC */
    const void *next;
    uint32_t rank;                 /* 1 to 8 */
    uint32_t element_size;         /* bytes */
    const uint64_t *extents;       /* rank of them, outermost first */
    uint32_t axis_separator_count; /* 0 = flat */
    uint32_t reserved;
    const uint32_t *axis_separators; /* increasing, in 1..rank-1 */
} pi_mem_layout_desc;

typedef struct pi_mem_partition_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEM_PARTITION_DESC */
    const void *next;
    uint64_t flags;  /* PI_MEM_READ_ONLY, PI_MEM_WRITE_ONLY, or 0 for the parent's */
    uint64_t offset; /* bytes from the parent's begin */
    uint64_t size;   /* bytes; 0, or a range past the parent's end, is PI_ERROR_INVALID_SIZE */
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
/* Every pair of the channel orders and types of version 1 is a format. A format, type, or number of mip levels or samples that
 * the device does not have is PI_ERROR_UNSUPPORTED_FEATURE, one that is not in the list
 * PI_ERROR_INVALID_ENUMERATION; an axis of 0, or of more than the device's images have, is
 * PI_ERROR_INVALID_SIZE. Words that the type or the call has no use for must be 0 (else
 * PI_ERROR_INVALID_VALUE). row_pitch is a multiple of the pixel's size, slice_pitch (from slice to slice,
 * or layer to layer) one of the row pitch, neither smaller than what it steps over (else
 * PI_ERROR_INVALID_SIZE). A pixel holds its channels in the order's order, each as the machine has it. */
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

/* All creations take the device whose memory it will be; it must belong to the context. A backend with
 * context-wide memory may ignore the device and then answers UNIFIED for the context's devices. */
PI_EXPORT pi_result PI_CALL piMemBufferCreate(pi_context context, pi_device device,
                                              const pi_mem_buffer_desc *desc, pi_mem *out_mem);
PI_EXPORT pi_result PI_CALL piMemImageCreate(pi_context context, pi_device device,
                                             const pi_mem_image_desc *desc, pi_mem *out_mem);
/* A view: the same bytes. A view of a view is flattened to its root, which it keeps alive. An offset
 * that breaks the scope's offset_alignment is PI_ERROR_MISALIGNED_OFFSET, naming both numbers. Access flags
 * that mem does not allow (it may be a view itself) are PI_ERROR_INVALID_VALUE. */
PI_EXPORT pi_result PI_CALL piMemBufferPartition(pi_mem mem, const pi_mem_partition_desc *desc,
                                                 pi_mem *out_mem);
/* Reads a buffer's storage as an image; of a view, the root's. flags are access flags, or 0 for the
 * buffer's; those that it does not allow are PI_ERROR_INVALID_VALUE. An offset or row pitch that breaks PI_DEVICE_INFO_IMAGE_VIEW_..._ALIGNMENT is
 * PI_ERROR_MISALIGNED_OFFSET, naming both numbers; pixels past the buffer's end are PI_ERROR_INVALID_SIZE. */
PI_EXPORT pi_result PI_CALL piMemImageViewCreate(pi_mem mem, const pi_mem_image_desc *desc,
                                                 pi_mem *out_mem);

typedef uint32_t pi_external_type;
enum {
    /* Application memory, used in place. The application keeps it alive and unmoved until the mem and
     * every command on it are gone. */
    PI_EXTERNAL_HOST_POINTER = 1,
    PI_EXTERNAL_DMA_BUF_FD = 2, /* import duplicates the descriptor; export gives one to close */
    PI_EXTERNAL_OPAQUE_FD = 3,  /* likewise; as Vulkan, CUDA and Level Zero exchange it */
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
    /* Where the object lies in what the handle names, which may be a whole allocation: export tells
     * it, and an import begins there. 0 in a handle that the application made itself. */
    uint64_t offset;
    uint64_t size;            /* bytes of the object */
    uint64_t allocation_size; /* bytes of all that the handle names; 0 = not known */
    uint64_t flags;           /* 0 */
    uint64_t reserved[6];
} pi_external_handle;

typedef struct pi_mem_import_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_MEM_IMPORT_DESC */
    const void *next;
    uint64_t flags;  /* PI_MEM_READ_ONLY, PI_MEM_WRITE_ONLY */
    uint64_t size;   /* bytes */
    uint64_t offset; /* bytes from handle.offset on */
    uint32_t own;    /* NATIVE: 1 = take over */
    uint32_t reserved;
    pi_external_handle handle;
} pi_mem_import_desc;
/* Device memory out of something that exists, in place, or an error that says why not and which
 * alignment would do. It never copies. Where its coherence is PI_COHERENCE_MAP_UNMAP, what the host
 * has written into a host pointer's memory outside a map is the object's once a write command has
 * read it from there: its host_ptr is that same memory. */
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
    PI_MEM_INFO_SIZE = 1,            /* uint64_t: bytes; of an image those of its dense pixels */
    PI_MEM_INFO_CONTEXT = 2,         /* pi_context, borrowed */
    PI_MEM_INFO_DEVICE = 3,          /* pi_device, borrowed */
    PI_MEM_INFO_FLAGS = 4,           /* uint64_t: PI_MEM_ */
    PI_MEM_INFO_SCOPE = 5,           /* uint32_t */
    PI_MEM_INFO_ALIGNMENT = 6,       /* uint64_t: bytes that hold for the begin of this object */
    PI_MEM_INFO_PARENT = 7,          /* pi_mem: the root of a view, borrowed; NULL for a root */
    PI_MEM_INFO_OFFSET = 8,          /* uint64_t: bytes into the root; 0 for a root */
    PI_MEM_INFO_COHERENCE = 9,       /* pi_coherence, with the host */
    PI_MEM_INFO_DEVICE_ADDRESS = 10, /* uint64_t; where buffers have one */
    PI_MEM_INFO_BUS_ADDRESS = 11,    /* uint64_t; of contiguous memory, where it may be known */
    /* uint64_t[]: bytes from one index of each physical axis to the next, outermost axis first. An n-D
     * allocation has a physical axis more than separators; the innermost pitch is the element's size. */
    PI_MEM_INFO_PITCHES = 12,
    PI_MEM_INFO_KIND = 13,           /* pi_memory_kind */
    PI_MEM_INFO_REFERENCE_COUNT = 14 /* uint32_t: for debugging only */
};
PI_EXPORT pi_result PI_CALL piMemGetInfo(pi_mem mem, pi_mem_info name, uint64_t size, void *value,
                                         uint64_t *out_size);
/* The host's address of the object's first byte, while it lives; PI_ERROR_UNSUPPORTED_FEATURE where the
 * host cannot address it. PI_MEM_INFO_COHERENCE tells how it may be used. */
PI_EXPORT pi_result PI_CALL piMemGetHostPointer(pi_mem mem, void **out_pointer);
/* Flush publishes host writes to the device, invalidate makes the device's writes visible to the host: synchronous, in units of the scope's flush_atom,
 * needed only for PI_COHERENCE_FLUSH_INVALIDATE, legal only while no command uses the range's units (invalidate: writes them). A flush may publish whole
 * units as the host sees them: where it has neither written nor invalidated since the device wrote, the device's bytes are lost. On coherent memory both
 * succeed and do nothing; on PI_COHERENCE_MAP_UNMAP memory they are PI_ERROR_UNSUPPORTED_FEATURE. */
PI_EXPORT pi_result PI_CALL piMemFlush(pi_mem mem, uint64_t offset, uint64_t size);
PI_EXPORT pi_result PI_CALL piMemInvalidate(pi_mem mem, uint64_t offset, uint64_t size);
PI_EXPORT pi_result PI_CALL piMemRetain(pi_mem mem);
PI_EXPORT pi_result PI_CALL piMemRelease(pi_mem mem);
/* The handle that `device` uses (a buffer may have one a device). */
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
    uint64_t release_threshold; /* bytes kept for reuse at most; 0 = the plugin's choice */
    uint64_t limit;             /* bytes handed out at most; 0 = none */
} pi_usm_pool_desc;

/* Required: all of them. */
typedef uint32_t pi_usm_info;
enum {
    PI_USM_INFO_KIND = 1,   /* pi_usm_kind */
    PI_USM_INFO_BASE = 2,   /* void *: begin of the allocation */
    PI_USM_INFO_SIZE = 3,   /* uint64_t: bytes of the allocation */
    PI_USM_INFO_DEVICE = 4, /* pi_device, borrowed; NULL for host memory */
    PI_USM_INFO_POOL = 5    /* pi_usm_pool, borrowed, or NULL */
};
/* Required: CONTEXT, RESERVED, USED. */
typedef uint32_t pi_usm_pool_info;
enum {
    PI_USM_POOL_INFO_CONTEXT = 1,        /* pi_context, borrowed */
    PI_USM_POOL_INFO_RESERVED = 2,       /* uint64_t: bytes taken from the device */
    PI_USM_POOL_INFO_USED = 3,           /* uint64_t: bytes handed out */
    PI_USM_POOL_INFO_REFERENCE_COUNT = 4 /* uint32_t: for debugging only */
};

/* device may be NULL for host memory only (else PI_ERROR_INVALID_DEVICE). A pool must have memory of this
 * context, kind and device (else PI_ERROR_INVALID_USM_POOL). */
PI_EXPORT pi_result PI_CALL piUsmAlloc(pi_context context, pi_device device,
                                       const pi_usm_desc *desc, void **out_pointer);
/* Only when no command uses it; NULL succeeds. The pointer is the allocation's begin. What nobody has freed
 * goes with the context. */
PI_EXPORT pi_result PI_CALL piUsmFree(pi_context context, void *pointer);
/* Of any address within a live allocation of the context. */
PI_EXPORT pi_result PI_CALL piUsmGetInfo(pi_context context, const void *pointer, pi_usm_info name,
                                         uint64_t size, void *value, uint64_t *out_size);
/* What a pool has handed out stays when its last reference goes; PI_USM_INFO_POOL is NULL then. More than
 * the limit is PI_ERROR_OUT_OF_DEVICE_MEMORY. */
PI_EXPORT pi_result PI_CALL piUsmPoolCreate(pi_context context, pi_device device,
                                            const pi_usm_pool_desc *desc, pi_usm_pool *out_pool);
PI_EXPORT pi_result PI_CALL piUsmPoolRetain(pi_usm_pool pool);
PI_EXPORT pi_result PI_CALL piUsmPoolRelease(pi_usm_pool pool);
PI_EXPORT pi_result PI_CALL piUsmPoolGetInfo(pi_usm_pool pool, pi_usm_pool_info name, uint64_t size,
                                             void *value, uint64_t *out_size);
/* Pins application memory, so that transfers from and to it are direct and asynchronous. flags must
 * be 0. Ranges may overlap, and each registration is undone on its own, the newest of a pointer first; a
 * pointer that is not registered with the context is PI_ERROR_INVALID_VALUE. PI_ERROR_OUT_OF_RESOURCES where
 * the system does not let so much be pinned. */
PI_EXPORT pi_result PI_CALL piUsmHostRegister(pi_context context, void *pointer, uint64_t size,
                                              uint64_t flags);
PI_EXPORT pi_result PI_CALL piUsmHostUnregister(pi_context context, void *pointer);

/* ===== Commands =============================================================================== */

/* piEnqueueX(queue, desc, wait_count, wait_list, out_event). Submitting never waits for an incomplete
 * event. wait_list NULL with a wait_count other than 0 is PI_ERROR_INVALID_WAIT_LIST. The wait list
 * takes events of any context, device and platform of the same plugin instance, and may name one
 * several times; NULL among them, or an event of another instance, is PI_ERROR_INVALID_EVENT. A
 * command behind an unsignalled host event may be held inside the plugin and submitted later. If an
 * event of the wait list fails, the command does nothing and fails with PI_ERROR_DEPENDENCY_FAILED.
 * out_event may be NULL; otherwise it receives an event that the caller releases. On failure of the
 * call nothing was enqueued; of a blocking one the failure may be the command's own, and then the
 * bytes that it writes are undefined, but there is no event. Every command descriptor's first field
 * is `flags`: */
enum {
    /* Return when the command is final, with its result (on success out_event, if wanted, is final
     * too). Illegal in a callback (PI_ERROR_WOULD_BLOCK). */
    PI_COMMAND_BLOCKING = 1 << 0,

    /* Of maps; at least one (else PI_ERROR_INVALID_VALUE). WRITE keeps the bytes that the host does not
     * write; WRITE_DISCARD says that the range's old bytes are not needed, and is WRITE beside READ. */
    PI_MAP_READ = 1 << 8,
    PI_MAP_WRITE = 1 << 9,
    PI_MAP_WRITE_DISCARD = 1 << 10,

    /* Of launches. */
    PI_LAUNCH_COOPERATIVE = 1 << 8,       /* all work-groups are resident together */
    PI_LAUNCH_INDIRECT_USM_HOST = 1 << 9, /* the kernel follows pointers inside memory */
    PI_LAUNCH_INDIRECT_USM_DEVICE = 1 << 10,
    PI_LAUNCH_INDIRECT_USM_SHARED = 1 << 11,

    /* Of prefetches. */
    PI_USM_PREFETCH_TO_HOST = 1 << 8
};

/* One rectangle of bytes. extent = {bytes of a row, rows, slices}; 0 rows or slices mean 1, 0 bytes is
 * PI_ERROR_INVALID_SIZE. pitch = {row, slice} in bytes; 0 = dense; one smaller than what it steps
 * over is PI_ERROR_INVALID_SIZE, any larger one is legal. src and dst are as in the command:
 * for a read dst is the host pointer, for a write src is. The regions of one command are done in any
 * order and must not overlap in dst. A command of no regions is PI_ERROR_INVALID_SIZE. */
typedef struct pi_region {
    uint64_t src_offset;
    uint64_t dst_offset;
    uint64_t extent[3];
    uint64_t src_pitch[2];
    uint64_t dst_pitch[2];
    uint64_t reserved;
} pi_region;

typedef struct pi_buffer_read_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_BUFFER_READ_DESC */
    const void *next;
    uint64_t flags; /* PI_COMMAND_ */
    pi_mem mem;
    void *host_ptr; /* must stay valid until the event is final */
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
    const void *host_ptr; /* must stay valid and unchanged until the event is final */
    uint32_t region_count;
    uint32_t reserved;
    const pi_region *regions;
} pi_buffer_write_desc;

/* src and dst may belong to different contexts when their connection is UNIFIED or MIGRATABLE. If they
 * share storage, no region's source may overlap its destination (PI_ERROR_MEM_COPY_OVERLAP). */
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

/* Repeats the pattern; offset and size are multiples of pattern_size, which is 1 to 128 bytes and a
 * power of two. */
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

/* *out_pointer is written at the latest when the event completes with success (a held command has no
 * address before), never on failure; its storage must live until then. The host may use the range
 * from the event's completion until the unmap is enqueued. Maps of overlapping ranges are legal if all of
 * them are for reading; each needs its own unmap, whether or not their addresses are equal. While a
 * range is mapped no command may write it, nor read it if it is mapped for writing: a map for writing is
 * such a command. An unmap that fails, at the call or by its event, leaves the range mapped: unmap it
 * again before a command uses it. */
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
    void *pointer; /* what a map of this mem gave */
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

/* Image commands and arguments take images; buffer commands and arguments, maps and views take buffers:
 * the other one is PI_ERROR_INVALID_MEM_OBJECT.
 *
 * Origins and extents in pixels {x, y, z or layer}: the layer is the third also of 1-D arrays. Extents of
 * 0 rows or slices mean 1; 0 pixels, or a region past the end of the image, is PI_ERROR_INVALID_SIZE, a mip
 * level that the image does not have PI_ERROR_INVALID_VALUE. Pitches in bytes, of the host or buffer end,
 * are as for pi_region, and so are the regions of one command. */
typedef struct pi_image_region {
    uint64_t origin[3];
    uint64_t extent[3];
    uint64_t row_pitch;
    uint64_t slice_pitch;
    uint64_t offset; /* bytes into the host pointer */
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
/* One end may be a buffer: its side of a region is then {offset, row_pitch, slice_pitch}; two are
 * PI_ERROR_INVALID_MEM_OBJECT. Words of an end that there is not must be 0, and two images have one format
 * (else PI_ERROR_INVALID_VALUE). Contexts and overlap are as for buffers: an image shares storage with
 * itself, and a view with its buffer. */
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
/* The colour's channels are {r, g, b, a}, whatever the order of the image's; those that it lacks are
 * ignored. Of norm types the nearest value is written, or a neighbour of it. */
typedef struct pi_image_fill_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_IMAGE_FILL_DESC */
    const void *next;
    uint64_t flags;
    pi_mem image;
    const void *color; /* 16 bytes: four float, int32_t or uint32_t, as the channel type needs */
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

/* Pointers are USM or, for one end, any host address: two of those are PI_ERROR_INVALID_USM_POINTER. They
 * may lie within an allocation; a region past its end is PI_ERROR_INVALID_SIZE. No region's source may
 * overlap its destination (PI_ERROR_MEM_COPY_OVERLAP). */
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
/* The pointer must be a multiple of pattern_size, else PI_ERROR_MISALIGNED_POINTER. */
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
/* Prefetch and advise are hints: doing nothing is a success. */
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
/* Stream-ordered: the memory may be used by commands behind this one at once; *out_pointer is written
 * during the call. If the command fails later, the memory stays until it is freed. */
typedef struct pi_usm_alloc_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_USM_ALLOC_DESC */
    const void *next;
    uint64_t flags;
    pi_usm_pool pool; /* NULL = the device's default, of kind DEVICE */
    uint64_t size;
    uint64_t alignment;
    void **out_pointer;
} pi_usm_alloc_desc;
/* Any USM of the queue's context, by its begin; NULL succeeds. From the call on nobody else may free it;
 * if the command fails, it is as it was. */
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

/* Arguments travel with the launch: a kernel object has no hidden state and many threads may launch
 * it. The i-th element is the kernel's i-th parameter. */
typedef uint32_t pi_argument_kind;
enum {
    PI_ARGUMENT_VALUE = 1, /* `size` bytes at `value` */
    /* `mem` from `offset`; size 0 = to its end; mem NULL = a null pointer */
    PI_ARGUMENT_BUFFER = 2,
    PI_ARGUMENT_IMAGE = 3, /* `mem`; offset and size are 0 */
    /* `sampler`, of the queue's context; else PI_ERROR_INVALID_SAMPLER. Where the backend has no samplers
     * but those of images (CUDA, HIP) the parameter is an integer of 4 bytes and receives
     * 256 * addressing + 16 * filter + normalized_coordinates. */
    PI_ARGUMENT_SAMPLER = 4,
    PI_ARGUMENT_POINTER = 5, /* a USM address */
    /* `size` bytes of work-group memory. Where the backend has a single such area (CUDA, HIP) the
     * parameter is an integer of 4 or 8 bytes and receives the offset into it. */
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
    /* IMAGE: what it is read through, for backends that join both (CUDA: with it the parameter is a texture, else
     * a surface to load and store pixels by. A buffer's view has none; a 1-D one is for tex1Dfetch); may be NULL */
    pi_sampler image_sampler;
} pi_kernel_argument;

typedef struct pi_kernel_launch_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_KERNEL_LAUNCH_DESC */
    const void *next;
    uint64_t flags; /* PI_COMMAND_ and PI_LAUNCH_ */
    pi_kernel kernel;
    uint32_t dimensions; /* 1 to 3; entries beyond are ignored */
    uint32_t argument_count;
    const pi_kernel_argument *arguments;
    uint64_t global_offset[3]; /* work-items */
    uint64_t global_size[3];   /* work-items; 0 is PI_ERROR_INVALID_WORK_SIZE */
    uint64_t local_size[3];    /* work-items of a group; all 0 = the plugin's choice */
    uint64_t cluster_size[3];  /* groups; all 0 = none */
    /* Work-group memory without a parameter (CUDA's extern __shared__), bytes; elsewhere
     * PI_ERROR_UNSUPPORTED_FEATURE unless 0. */
    uint64_t local_memory_size;
} pi_kernel_launch_desc;
PI_EXPORT pi_result PI_CALL piEnqueueKernelLaunch(pi_queue queue, const pi_kernel_launch_desc *desc,
                                                  uint32_t wait_count, const pi_event *wait_list,
                                                  pi_event *out_event);

typedef void(PI_CALL *pi_host_function)(void *user_data);
/* Runs on a thread of the plugin; the same rules as for event callbacks. */
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
/* A command that does nothing. Complete when the wait list is, or, with none, when all commands
 * enqueued before are final. In an out-of-order queue later commands do not wait for it. desc may be
 * NULL. */
PI_EXPORT pi_result PI_CALL piEnqueueEventsWait(pi_queue queue, const pi_events_wait_desc *desc,
                                                uint32_t wait_count, const pi_event *wait_list,
                                                pi_event *out_event);
typedef struct pi_barrier_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_BARRIER_DESC */
    const void *next;
    uint64_t flags;
} pi_barrier_desc;
/* Like piEnqueueEventsWait, and every later command of the queue begins after it. desc may be NULL. */
PI_EXPORT pi_result PI_CALL piEnqueueBarrier(pi_queue queue, const pi_barrier_desc *desc,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event);
typedef struct pi_timestamp_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_TIMESTAMP_DESC */
    const void *next;
    uint64_t flags;
} pi_timestamp_desc;
/* Its event's profiling times are the device's clock when the command ran; works on any queue. */
PI_EXPORT pi_result PI_CALL piEnqueueTimestamp(pi_queue queue, const pi_timestamp_desc *desc,
                                               uint32_t wait_count, const pi_event *wait_list,
                                               pi_event *out_event);

/* Bytes of a variable of a program that is built for the queue's device (else PI_ERROR_INVALID_OPERATION), by its
 * name in the source: PI_ERROR_INVALID_NAME where the program has none of it, PI_ERROR_UNSUPPORTED_FEATURE for a
 * format that has none at all. A constant is not written: PI_ERROR_INVALID_OPERATION (CUDA's are the host's to write). */
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
    PI_PROGRAM_FORMAT_DEVICE_BINARY = 6, /* as PI_PROGRAM_INFO_BINARIES gave it */
    /* Native functions: data is a pi_native_program (pi/pi_native_kernel.h), borrowed until the program
     * and its kernels are gone; size is its struct_size. */
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
    uint64_t size;    /* bytes, without a final 0 */
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
    PI_PROGRAM_INFO_DEVICES = 2,        /* pi_device[], borrowed: those it is built for */
    PI_PROGRAM_INFO_FORMAT = 3,         /* pi_program_format */
    PI_PROGRAM_INFO_KERNEL_NAMES = 4,   /* char[]: separated by ';'; of a built program */
    PI_PROGRAM_INFO_BINARY_SIZES = 5,   /* uint64_t[]: one for each of DEVICES */
    PI_PROGRAM_INFO_BINARIES = 6,       /* uint8_t *[]: filled in, one for each of DEVICES */
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
/* Compile, build and set-specialization are externally synchronised per program. desc may be NULL. Both may be called
 * any number of times, with commands under way: kernels stay what they were made of, and the program, with its native
 * handle, is the newest. Only around a native handle that has kernels may the backend refuse: PI_ERROR_INVALID_OPERATION.
 * Compiling makes a part that has no kernels until it is linked; what has no source (a binary) is
 * PI_ERROR_INVALID_OPERATION. */
PI_EXPORT pi_result PI_CALL piProgramCompile(pi_program program, const pi_program_build_desc *desc);
/* A new program of compiled ones, of their format: another context's is PI_ERROR_INVALID_PROGRAM, one that is not
 * compiled for the devices PI_ERROR_INVALID_OPERATION, a program_count of 0 PI_ERROR_INVALID_SIZE. They may be
 * released, compiled and linked again; the new one is not. Where linking fails there is no program:
 * PI_ERROR_BUILD_FAILED, whose text has the begin of the log, if the backend has one. */
PI_EXPORT pi_result PI_CALL piProgramLink(pi_context context, const pi_program_link_desc *desc,
                                          pi_program *out_program);
PI_EXPORT pi_result PI_CALL piProgramBuild(pi_program program, const pi_program_build_desc *desc);
/* Values of specialization constants, copied, that a program of SPIR-V is compiled or built with from the next time on;
 * others keep what they have, at first their defaults, and of several values for one id the last counts. An id that the
 * program does not have is PI_ERROR_INVALID_VALUE, a size that is not its type's (a boolean's is 1)
 * PI_ERROR_INVALID_SIZE; a call that fails sets none. Formats without such constants are PI_ERROR_UNSUPPORTED_FEATURE,
 * a linked program is PI_ERROR_INVALID_OPERATION. */
PI_EXPORT pi_result PI_CALL piProgramSetSpecializationConstants(
    pi_program program, uint32_t count, const pi_specialization_constant *constants);
PI_EXPORT pi_result PI_CALL piProgramRetain(pi_program program);
PI_EXPORT pi_result PI_CALL piProgramRelease(pi_program program);
PI_EXPORT pi_result PI_CALL piProgramGetInfo(pi_program program, pi_program_info name,
                                             uint64_t size, void *value, uint64_t *out_size);
PI_EXPORT pi_result PI_CALL piProgramGetBuildInfo(pi_program program, pi_device device,
                                                  pi_program_build_info name, uint64_t size,
                                                  void *value, uint64_t *out_size);
/* The address that device code may call. */
PI_EXPORT pi_result PI_CALL piProgramGetFunctionPointer(pi_program program, pi_device device,
                                                        const char *name, uint64_t *out_address);
/* The same of a variable, and its bytes; either output may be NULL, but not both. */
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
    PI_KERNEL_GROUP_INFO_PRIVATE_MEMORY_SIZE = 4,     /* uint64_t: bytes a work-item */
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
/* desc may be NULL. The program must be built: PI_ERROR_INVALID_OPERATION. A kernel is launched on the devices that
 * its program is built for; others are PI_ERROR_INVALID_KERNEL. */
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
/* A good local size for this launch (kernel, dimensions and global size are read): three values. */
PI_EXPORT pi_result PI_CALL piKernelGetSuggestedLocalSize(pi_queue queue,
                                                          const pi_kernel_launch_desc *desc,
                                                          uint64_t out_local_size[3]);
/* How many work-groups of this local size can be resident together. A cooperative launch of more is
 * PI_ERROR_INVALID_WORK_SIZE; where local_size is all 0 the plugin chooses one with which there are no more, if
 * it finds one. */
PI_EXPORT pi_result PI_CALL piKernelGetMaxCooperativeGroups(pi_queue queue,
                                                            const pi_kernel_launch_desc *desc,
                                                            uint32_t *out_count);
PI_EXPORT pi_result PI_CALL piKernelGetNativeHandle(pi_kernel kernel, pi_device device,
                                                    pi_native_handle *out_handle);
PI_EXPORT pi_result PI_CALL piKernelCreateWithNativeHandle(pi_program program,
                                                           const pi_native_desc *desc,
                                                           pi_kernel *out_kernel);

/* ===== Samplers =============================================================================== */

/* The two that repeat need normalized coordinates, else PI_ERROR_INVALID_VALUE. */
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
/* Of a sampler around a native handle, what its backend cannot be asked is PI_ERROR_UNSUPPORTED_FEATURE: coordinates,
 * addressing and filter, never the context. */
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
    PI_EVENT_QUEUED = 1,    /* held by the plugin: something it waits for is not final */
    PI_EVENT_SUBMITTED = 2, /* given to the backend */
    PI_EVENT_RUNNING = 3,
    PI_EVENT_COMPLETE = 4 /* final, with success or failure: PI_EVENT_INFO_RESULT tells */
};
/* Required: STATUS, RESULT, ERROR_TEXT, CONTEXT, QUEUE, COMMAND. */
typedef uint32_t pi_event_info;
enum {
    PI_EVENT_INFO_STATUS = 1, /* pi_event_status */
    PI_EVENT_INFO_RESULT =
        2, /* pi_result; tells nothing unless STATUS, asked before, was COMPLETE */
    PI_EVENT_INFO_ERROR_TEXT = 3, /* char[]: "" unless failed */
    PI_EVENT_INFO_CONTEXT = 4,    /* pi_context, borrowed */
    PI_EVENT_INFO_QUEUE = 5,      /* pi_queue, borrowed; NULL for a host event */
    PI_EVENT_INFO_COMMAND =
        6, /* uint32_t: the PI_TYPE_ of the command's descriptor; 0 = host event */
    PI_EVENT_INFO_REFERENCE_COUNT = 7 /* uint32_t: for debugging only */
};
/* Nanoseconds of the device's clock (piDeviceGetGlobalTimestamps); never decreasing in this order. */
typedef uint32_t pi_profiling_info;
enum {
    PI_PROFILING_QUEUED = 1, /* uint64_t */
    PI_PROFILING_SUBMIT = 2, /* uint64_t */
    PI_PROFILING_START = 3,  /* uint64_t */
    PI_PROFILING_END = 4     /* uint64_t */
};

/* Blocks until the event is final or the time (nanoseconds) is over. The result is the command's own:
 * a failed command's error, with its text; PI_ERROR_TIMEOUT; PI_ERROR_WOULD_BLOCK inside a callback
 * unless the event is final already. A timeout of 0 asks and never blocks. */
PI_EXPORT pi_result PI_CALL piEventWait(pi_event event, uint64_t timeout);
PI_EXPORT pi_result PI_CALL piEventGetInfo(pi_event event, pi_event_info name, uint64_t size,
                                           void *value, uint64_t *out_size);
/* Only when final; PI_ERROR_PROFILING_UNAVAILABLE otherwise or without profiling. */
PI_EXPORT pi_result PI_CALL piEventGetProfilingInfo(pi_event event, pi_profiling_info name,
                                                    uint64_t size, void *value, uint64_t *out_size);
/* The handle is borrowed for the call. */
typedef void(PI_CALL *pi_event_callback)(pi_event event, pi_result result, void *user_data);
/* Called exactly once, on completion or error, on any thread (also inside this call if the event is
 * final), with no lock of the plugin held. A callback may make any non-blocking call (enqueue, signal,
 * release); blocking ones answer PI_ERROR_WOULD_BLOCK. */
PI_EXPORT pi_result PI_CALL piEventSetCallback(pi_event event, pi_event_callback callback,
                                               void *user_data);
typedef struct pi_host_event_desc {
    uint32_t struct_size;
    pi_struct_type type; /* PI_TYPE_HOST_EVENT_DESC */
    const void *next;
    uint64_t flags; /* must be 0 */
} pi_host_event_desc;
/* An event that the application signals, once, with success or an error (0 or negative). desc may be NULL. If its last
 * reference is released before, it fails with PI_ERROR_ABANDONED, so that nothing waits for ever.
 * (References that waiting commands hold do not count here.) */
PI_EXPORT pi_result PI_CALL piEventCreateHost(pi_context context, const pi_host_event_desc *desc,
                                              pi_event *out_event);
/* A second signal, or one on a command's event, is PI_ERROR_INVALID_OPERATION. No event has the results
 * PI_ERROR_TIMEOUT and PI_ERROR_WOULD_BLOCK, which are a wait's own: they, and positive ones, are
 * PI_ERROR_INVALID_VALUE. */
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
