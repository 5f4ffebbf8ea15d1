/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The template plugin with one fault, PI_TOY_FAULT, which the conformance suite must find and
 * survive. */
#define piPluginMain template_main
#include "../../../plugins/template/template.c"
#undef piPluginMain

#include <pi/sdk/pi_sdk_signals.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HONEST 0
#define CRASHES 1       /* at one info name of contexts */
#define HANGS 2         /* there */
#define LEAKS 3         /* every context */
#define LIES 4          /* about the size of that info, and prints bytes that are not text */
#define DIES_AT_EXIT 5  /* of the process */
#define UNAVAILABLE 6   /* no driver */
#define CRASHES_EARLY 7 /* when platforms are listed */
#define HAS_NO_DEVICE 8
#define LEAVES_THREAD 9 /* for each context */
#define LEAVES_FILE 10  /* for each context, a descriptor of /dev/null */
#define KEEPS_BOTH 11   /* a thread and a descriptor, once per process, as vendors' libraries do */
#define LIES_AT_EVEN_SEEDS 12 /* only */
#define WARNS_AT_TEARDOWN 13  /* and leaves nothing */
#define FLOODS                                                                                     \
    14 /* prints 1 MiB for each context; lies about that info, and then crashes at its release */
#define GARBLES_RESULT 15    /* of each test that makes a context: it is invalid */
#define GARBLES_DEVICES 16   /* in their queries */
#define LISTS_FOR_EVER 17    /* its platforms, in two processes */
#define LEAVES_PROCESS 18    /* for each context, in a group of its own */
#define CRASHES_ON_THREAD 19 /* of its own, at that info */
#define CLAIMS_ALIGNMENT 20  /* of buffers, whatever is asked: it is the scope's */
#define HIDES_QUEUE_FLAGS 21 /* an info that is required of devices */
#define NEVER_ENDS 22        /* each copy */
#define ANSWERS_REQUIRED 23  /* infos, and no other one */
#define HAS_CONTROLS 24      /* in its device's name and in the text of an error */

#define HANGS_AT_TEARDOWN 25 /* in the release of the loader that runs a test */
#define HANGS_IN_DRIVER 26   /* on a thread for each context; the driver is toy_driver.c */
#define HAS_A_RACE 27        /* that a sanitizer reports at the end of the process */
#define KNOWS_1_0 28         /* none of the infos of devices that 1.1 added, as a plugin of 1.0 */
#define KNOWS_HALF 29        /* of them */

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc);

#if PI_TOY_FAULT == CRASHES || PI_TOY_FAULT == CRASHES_EARLY || PI_TOY_FAULT == FLOODS ||          \
    PI_TOY_FAULT == CRASHES_ON_THREAD
static void crash(void) {
    /* The pointer is volatile, too, or the compiler may drop the write. */
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}
#endif

#if PI_TOY_FAULT == LIES_AT_EVEN_SEEDS
/* Whether this process has the option "--seed=N" or "--seed N" with an even N. */
static bool seed_is_even(void) {
    static const char name[] = "--seed";
    char arguments[4096] = "";
    const int file = open("/proc/self/cmdline", O_RDONLY);
    const ssize_t size = file < 0 ? 0 : read(file, arguments, sizeof arguments - 1);
    ssize_t i;
    if (file >= 0)
        close(file);
    for (i = 0; i + (ssize_t)sizeof name < size; ++i) {
        if (memcmp(arguments + i, name, sizeof name - 1) == 0)
            return strtoull(arguments + i + sizeof name, NULL, 10) % 2 == 0;
    }
    return false;
}
#endif

#if PI_TOY_FAULT == CRASHES_ON_THREAD
static void *crash_there(void *unused) {
    crash();
    return unused;
}
#endif

#if PI_TOY_FAULT == CRASHES || PI_TOY_FAULT == HANGS || PI_TOY_FAULT == LIES ||                    \
    PI_TOY_FAULT == LIES_AT_EVEN_SEEDS || PI_TOY_FAULT == CRASHES_ON_THREAD
static pi_result PI_CALL faulty_context_get_info(pi_context context, pi_context_info name,
                                                 uint64_t size, void *value, uint64_t *out_size) {
    bool right = name != PI_CONTEXT_INFO_REFERENCE_COUNT;
#if PI_TOY_FAULT == LIES_AT_EVEN_SEEDS
    right = right || !seed_is_even();
#endif
    if (right)
        return pi_sdk_context_get_info(context, name, size, value, out_size);
#if PI_TOY_FAULT == CRASHES
    crash();
    return PI_SUCCESS;
#elif PI_TOY_FAULT == CRASHES_ON_THREAD
    {
        sigset_t before;
        pthread_t thread;
        pi_sdk_block_signals(&before);
        if (!pthread_create(&thread, NULL, &crash_there, NULL))
            pthread_join(thread, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return PI_SUCCESS;
    }
#elif PI_TOY_FAULT == HANGS
    for (;;)
        pause();
#else
    {
        static const uint64_t count = 1;
        printf("<script>alert('here')</script>\n");
        printf("a <tag> & \"quotes\" ]]> \x01 \xff \xef\xbf\xbe end\n");
        return pi_sdk_write_info(pi_sdk_host(context), &count, sizeof count, size, value, out_size);
    }
#endif
}
#endif

#if PI_TOY_FAULT == LEAKS
static pi_result PI_CALL faulty_context_create(pi_platform platform, const pi_context_desc *desc,
                                               pi_context *out_context) {
    const pi_result result = pi_sdk_context_create(platform, desc, out_context);
    if (!result)
        pi_sdk_retain(*out_context);
    return result;
}
#endif

#if PI_TOY_FAULT == LEAVES_THREAD || PI_TOY_FAULT == LEAVES_FILE || PI_TOY_FAULT == KEEPS_BOTH
/* Without pthread_setname_np, which strict C does not declare. */
static void *wait_for_ever(void *unused) {
    FILE *file = fopen("/proc/thread-self/comm", "w");
    if (file) {
        fputs("toy-worker", file);
        fclose(file);
    }
    for (;;)
        pause();
    return unused;
}

static pi_result PI_CALL faulty_context_create(pi_platform platform, const pi_context_desc *desc,
                                               pi_context *out_context) {
    static atomic_flag used =
        ATOMIC_FLAG_INIT; /* this file stays in the process, as it is linked */
    if (PI_TOY_FAULT != KEEPS_BOTH || !atomic_flag_test_and_set(&used)) {
        pthread_t thread;
        if (PI_TOY_FAULT != LEAVES_FILE && !pthread_create(&thread, NULL, &wait_for_ever, NULL))
            pthread_detach(thread);
        if (PI_TOY_FAULT != LEAVES_THREAD && open("/dev/null", O_RDONLY) < 0)
            return PI_ERROR_INTERNAL;
    }
    return pi_sdk_context_create(platform, desc, out_context);
}
#endif

#if PI_TOY_FAULT == HANGS_IN_DRIVER
void toyDriverSynchronize(void);

static void *call_driver(void *unused) {
    toyDriverSynchronize();
    return unused;
}

static pi_result PI_CALL faulty_context_create(pi_platform platform, const pi_context_desc *desc,
                                               pi_context *out_context) {
    pthread_t thread;
    if (!pthread_create(&thread, NULL, &call_driver, NULL))
        pthread_detach(thread);
    return pi_sdk_context_create(platform, desc, out_context);
}
#endif

#if PI_TOY_FAULT == DIES_AT_EXIT
__attribute__((destructor)) static void die(void) {
    abort();
}
#endif

#if PI_TOY_FAULT == HAS_A_RACE
__attribute__((destructor)) static void report(void) {
    fputs("SUMMARY: ThreadSanitizer: data race acme.c:31 in submit\n", stderr);
    _exit(66);
}
#endif

#if PI_TOY_FAULT == UNAVAILABLE || PI_TOY_FAULT == CRASHES_EARLY
static pi_result PI_CALL faulty_platforms_get(pi_plugin plugin, uint32_t capacity,
                                              pi_platform *out_platforms, uint32_t *out_count) {
    (void)capacity, (void)out_platforms, (void)out_count;
#if PI_TOY_FAULT == CRASHES_EARLY
    crash();
#endif
    return pi_sdk_fail(pi_sdk_host(plugin), PI_ERROR_UNAVAILABLE, "toy driver 7 is not installed");
}
#endif

#if PI_TOY_FAULT == HAS_NO_DEVICE
static pi_result PI_CALL faulty_devices_get(pi_platform platform, pi_device_type types,
                                            uint32_t capacity, pi_device *out_devices,
                                            uint32_t *out_count) {
    (void)platform, (void)types, (void)capacity, (void)out_devices;
    if (out_count)
        *out_count = 0;
    return PI_SUCCESS;
}
#endif

#if PI_TOY_FAULT == WARNS_AT_TEARDOWN
static void warn(void *object) {
    const pi_host *host = pi_sdk_host(object);
    host->log(host, PI_LOG_WARNING, "firmware 3.1 is old");
}
#endif

#if PI_TOY_FAULT == HANGS_AT_TEARDOWN
static atomic_bool used;

static pi_result PI_CALL faulty_context_create(pi_platform platform, const pi_context_desc *desc,
                                               pi_context *out_context) {
    atomic_store(&used, true);
    return pi_sdk_context_create(platform, desc, out_context);
}

static void hang(void *object) {
    (void)object;
    while (atomic_load(&used))
        pause();
}
#endif

#if PI_TOY_FAULT == FLOODS
static atomic_bool has_lied;

static pi_result PI_CALL faulty_context_create(pi_platform platform, const pi_context_desc *desc,
                                               pi_context *out_context) {
    int i;
    for (i = 0; i < 1 << 14; ++i)
        printf("%063d\n", i);
    fflush(stdout);
    return pi_sdk_context_create(platform, desc, out_context);
}

static pi_result PI_CALL faulty_context_get_info(pi_context context, pi_context_info name,
                                                 uint64_t size, void *value, uint64_t *out_size) {
    static const uint64_t count = 1;
    if (name != PI_CONTEXT_INFO_REFERENCE_COUNT)
        return pi_sdk_context_get_info(context, name, size, value, out_size);
    atomic_store(&has_lied, true);
    return pi_sdk_write_info(pi_sdk_host(context), &count, sizeof count, size, value, out_size);
}

static pi_result PI_CALL faulty_context_release(pi_context context) {
    if (atomic_load(&has_lied))
        crash();
    return pi_sdk_context_release(context);
}
#endif

#if PI_TOY_FAULT == GARBLES_RESULT || PI_TOY_FAULT == GARBLES_DEVICES
static void write_result(const char *result) {
    /* The descriptor where the suite's processes write their result. */
    _exit(write(3, result, strlen(result)) < 0 ? 1 : 0);
}
#endif

#if PI_TOY_FAULT == GARBLES_RESULT
static pi_result PI_CALL faulty_context_create(pi_platform platform, const pi_context_desc *desc,
                                               pi_context *out_context) {
    write_result("{\"result\": 5, \"reason\": [\"none\"]}");
    return pi_sdk_context_create(platform, desc, out_context);
}
#endif

#if PI_TOY_FAULT == GARBLES_DEVICES
static pi_result PI_CALL faulty_platforms_get(pi_plugin plugin, uint32_t capacity,
                                              pi_platform *out_platforms, uint32_t *out_count) {
    (void)plugin, (void)capacity, (void)out_platforms, (void)out_count;
    write_result("{\"status\": \"loaded\", \"devices\": [\"none\"]}");
    return PI_ERROR_INTERNAL;
}
#endif

#if PI_TOY_FAULT == LISTS_FOR_EVER
static pi_result PI_CALL faulty_platforms_get(pi_plugin plugin, uint32_t capacity,
                                              pi_platform *out_platforms, uint32_t *out_count) {
    (void)plugin, (void)capacity, (void)out_platforms, (void)out_count;
    fork();
    for (;;)
        pause();
    return PI_SUCCESS;
}
#endif

#if PI_TOY_FAULT == LEAVES_PROCESS
static pi_result PI_CALL faulty_context_create(pi_platform platform, const pi_context_desc *desc,
                                               pi_context *out_context) {
    const pid_t daemon = fork();
    if (daemon == 0 && setsid() > 0 && fork() == 0) {
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        for (;;)
            pause();
    }
    if (daemon == 0)
        _exit(0);
    waitpid(daemon, NULL, 0);
    return pi_sdk_context_create(platform, desc, out_context);
}
#endif

#if PI_TOY_FAULT == CLAIMS_ALIGNMENT
static pi_result PI_CALL faulty_mem_buffer_create(pi_context context, pi_device device,
                                                  const pi_mem_buffer_desc *desc, pi_mem *out_mem) {
    pi_mem_buffer_desc without = *desc;
    pi_result result;
    without.alignment = 0;
    result = mem_buffer_create(context, device, &without, out_mem);
    if (!result && desc->alignment > scopes[0].min_alignment)
        ((pi_sdk_mem *)*out_mem)->desc.alignment = desc->alignment;
    return result;
}
#endif

#if PI_TOY_FAULT == HIDES_QUEUE_FLAGS
static pi_result PI_CALL faulty_device_get_info(pi_device device, pi_device_info name,
                                                uint64_t size, void *value, uint64_t *out_size) {
    if (name == PI_DEVICE_INFO_QUEUE_FLAGS)
        return pi_sdk_fail(pi_sdk_host(device), PI_ERROR_UNSUPPORTED_FEATURE, "not known");
    return device_get_info(device, name, size, value, out_size);
}
#endif

#if PI_TOY_FAULT == KNOWS_1_0 || PI_TOY_FAULT == KNOWS_HALF
static pi_result PI_CALL faulty_device_get_info(pi_device device, pi_device_info name,
                                                uint64_t size, void *value, uint64_t *out_size) {
    const pi_device_info last =
        PI_TOY_FAULT == KNOWS_1_0 ? PI_DEVICE_INFO_HOST_WRITE_CHANNELS : PI_DEVICE_INFO_ATOMIC_64;
    if (name > last)
        return pi_sdk_fail(pi_sdk_host(device), PI_ERROR_INVALID_ENUMERATION, "name is %u",
                           (unsigned)name);
    return device_get_info(device, name, size, value, out_size);
}
#endif

#if PI_TOY_FAULT == HAS_CONTROLS
static pi_result PI_CALL faulty_device_get_info(pi_device device, pi_device_info name,
                                                uint64_t size, void *value, uint64_t *out_size) {
    static const char text[] = "toy \x1b[31mred\x07\xc2\x9b\xff";
    if (name == PI_DEVICE_INFO_NAME)
        return pi_sdk_write_info(pi_sdk_host(device), text, sizeof text, size, value, out_size);
    if (name == PI_DEVICE_INFO_QUEUE_FLAGS)
        return pi_sdk_fail(pi_sdk_host(device), PI_ERROR_BACKEND, "\x1b[8mhidden");
    return device_get_info(device, name, size, value, out_size);
}
#endif

#if PI_TOY_FAULT == ANSWERS_REQUIRED
/* The template's functions. */
static pi_dispatch whole;

#define ONLY(Function, Object, ...)                                                                \
    static pi_result PI_CALL only_##Function(Object object, uint32_t name, uint64_t size,          \
                                             void *value, uint64_t *out_size) {                    \
        static const uint32_t required[] = {__VA_ARGS__};                                          \
        size_t i;                                                                                  \
        uint64_t unused;                                                                           \
        for (i = 0; i < sizeof required / sizeof *required; ++i)                                   \
            if (required[i] == name)                                                               \
                return whole.Function(object, name, size, value, out_size);                        \
        if (whole.Function(object, name, 0, NULL, &unused)) /* not even in the list */             \
            return whole.Function(object, name, size, value, out_size);                            \
        return pi_sdk_fail(pi_sdk_host(object), PI_ERROR_UNSUPPORTED_FEATURE,                      \
                           #Function ": name: %u: not required", (unsigned)name);                  \
    }

ONLY(piPluginGetInfo, pi_plugin, PI_PLUGIN_INFO_NAME, PI_PLUGIN_INFO_VERSION,
     PI_PLUGIN_INFO_CAPABILITIES)
ONLY(piPlatformGetInfo, pi_platform, PI_PLATFORM_INFO_NAME, PI_PLATFORM_INFO_PLUGIN,
     PI_PLATFORM_INFO_BACKEND)
ONLY(piDeviceGetInfo, pi_device, PI_DEVICE_INFO_TYPE, PI_DEVICE_INFO_NAME, PI_DEVICE_INFO_PLATFORM,
     PI_DEVICE_INFO_PARENT, PI_DEVICE_INFO_QUEUE_FLAGS, PI_DEVICE_INFO_CAPABILITIES)
ONLY(piContextGetInfo, pi_context, PI_CONTEXT_INFO_DEVICES, PI_CONTEXT_INFO_PLATFORM)
ONLY(piQueueGetInfo, pi_queue, PI_QUEUE_INFO_CONTEXT, PI_QUEUE_INFO_DEVICE, PI_QUEUE_INFO_FLAGS)
ONLY(piMemGetInfo, pi_mem, PI_MEM_INFO_SIZE, PI_MEM_INFO_CONTEXT, PI_MEM_INFO_DEVICE,
     PI_MEM_INFO_FLAGS, PI_MEM_INFO_SCOPE, PI_MEM_INFO_PARENT, PI_MEM_INFO_OFFSET,
     PI_MEM_INFO_COHERENCE, PI_MEM_INFO_KIND)
ONLY(piEventGetInfo, pi_event, PI_EVENT_INFO_STATUS, PI_EVENT_INFO_RESULT, PI_EVENT_INFO_ERROR_TEXT,
     PI_EVENT_INFO_CONTEXT, PI_EVENT_INFO_QUEUE, PI_EVENT_INFO_COMMAND)
#endif

#if PI_TOY_FAULT == NEVER_ENDS
static void start_for_ever(pi_sdk_event *event) {
    (void)event;
}

static pi_result PI_CALL faulty_enqueue_copy(pi_queue queue, const pi_buffer_copy_desc *given,
                                             uint32_t wait_count, const pi_event *wait_list,
                                             pi_event *out_event) {
    pi_buffer_copy_desc desc;
    const pi_result result = pi_sdk_read_copy(queue, given, &desc);
    const pi_sdk_command command = {.type = desc.type, .start = start_for_ever};
    return result ? result : pi_sdk_enqueue(queue, &command, wait_count, wait_list, out_event);
}
#endif

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    const pi_result result = template_main(host, out_desc);
    if (!result) {
        pi_dispatch *slots = &((pi_sdk_plugin *)out_desc->instance)->functions;
#if PI_TOY_FAULT == CRASHES || PI_TOY_FAULT == HANGS || PI_TOY_FAULT == LIES ||                    \
    PI_TOY_FAULT == LIES_AT_EVEN_SEEDS || PI_TOY_FAULT == CRASHES_ON_THREAD
        slots->piContextGetInfo = faulty_context_get_info;
#elif PI_TOY_FAULT == LEAKS || PI_TOY_FAULT == LEAVES_THREAD || PI_TOY_FAULT == LEAVES_FILE ||     \
    PI_TOY_FAULT == KEEPS_BOTH
        slots->piContextCreate = faulty_context_create;
#elif PI_TOY_FAULT == UNAVAILABLE || PI_TOY_FAULT == CRASHES_EARLY
        slots->piPlatformsGet = faulty_platforms_get;
#elif PI_TOY_FAULT == HAS_NO_DEVICE
        slots->piDevicesGet = faulty_devices_get;
#elif PI_TOY_FAULT == WARNS_AT_TEARDOWN
        (void)slots;
        ((pi_sdk_object *)out_desc->instance)->destroy = &warn;
#elif PI_TOY_FAULT == HANGS_IN_DRIVER
        slots->piContextCreate = faulty_context_create;
#elif PI_TOY_FAULT == HANGS_AT_TEARDOWN
        slots->piContextCreate = faulty_context_create;
        ((pi_sdk_object *)out_desc->instance)->destroy = &hang;
#elif PI_TOY_FAULT == HAS_CONTROLS
        slots->piDeviceGetInfo = faulty_device_get_info;
#elif PI_TOY_FAULT == ANSWERS_REQUIRED
        whole = *slots;
        slots->piPluginGetInfo = only_piPluginGetInfo;
        slots->piPlatformGetInfo = only_piPlatformGetInfo;
        slots->piDeviceGetInfo = only_piDeviceGetInfo;
        slots->piContextGetInfo = only_piContextGetInfo;
        slots->piQueueGetInfo = only_piQueueGetInfo;
        slots->piMemGetInfo = only_piMemGetInfo;
        slots->piEventGetInfo = only_piEventGetInfo;
#elif PI_TOY_FAULT == FLOODS
        slots->piContextCreate = faulty_context_create;
        slots->piContextGetInfo = faulty_context_get_info;
        slots->piContextRelease = faulty_context_release;
#elif PI_TOY_FAULT == GARBLES_RESULT
        slots->piContextCreate = faulty_context_create;
#elif PI_TOY_FAULT == GARBLES_DEVICES
        slots->piPlatformsGet = faulty_platforms_get;
#elif PI_TOY_FAULT == LISTS_FOR_EVER
        slots->piPlatformsGet = faulty_platforms_get;
#elif PI_TOY_FAULT == LEAVES_PROCESS
        slots->piContextCreate = faulty_context_create;
#elif PI_TOY_FAULT == CLAIMS_ALIGNMENT
        slots->piMemBufferCreate = faulty_mem_buffer_create;
#elif PI_TOY_FAULT == HIDES_QUEUE_FLAGS || PI_TOY_FAULT == KNOWS_1_0 || PI_TOY_FAULT == KNOWS_HALF
        slots->piDeviceGetInfo = faulty_device_get_info;
#elif PI_TOY_FAULT == NEVER_ENDS
        slots->piEnqueueMemBufferCopy = faulty_enqueue_copy;
#else
        (void)slots;
#endif
    }
    return result;
}
