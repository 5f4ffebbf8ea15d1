/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * old_loader PLUGIN: a loader of version 1.0, unchanged and compiled against conformance/abi/v1.0.
 * It opens a plugin of today and uses it through the table of then: platforms, devices, a context,
 * buffers, maps, copies, host events, teardown. Exits with 0 on success, with 1 at the first error,
 * with 77 if the plugin's backend is not available.
 */
#include <pi/pi_plugin.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BYTES 4096
#define TIMEOUT UINT64_C(20000000000)

/* Memory after a struct of the old size: a plugin that takes the struct for a newer one uses it. */
typedef struct guard {
    unsigned char bytes[512];
} guard;

typedef struct old_loader {
    pi_host host;
    guard behind_host;
    pi_dispatch table;
    guard behind_table;
    pi_plugin_desc desc;
    guard behind_desc;
    atomic_llong objects;
} old_loader;

static _Thread_local char error_text[1024];

static _Noreturn void fail_at(int line, const char *what, pi_result result) {
    fprintf(stderr, "old_loader.c:%d: %s (result %d, \"%s\")\n", line, what, (int)result,
            error_text);
    exit(1);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_at(__LINE__, #condition, 0);                                                      \
    } while (0)
#define EXPECT(code, call)                                                                         \
    do {                                                                                           \
        pi_result returned = (call);                                                               \
        if (returned != (code))                                                                    \
            fail_at(__LINE__, #call " should be " #code, returned);                                \
    } while (0)

/* As an exported function of that loader: the first word of each handle leads to the table. */
#define CALL(function, first, ...)                                                                 \
    (((const pi_object_header *)(const void *)(first))->dispatch->function((first), __VA_ARGS__))
#define CALL1(function, first)                                                                     \
    (((const pi_object_header *)(const void *)(first))->dispatch->function((first)))

static void PI_CALL set_error(const pi_host *host, pi_result code, const char *message) {
    (void)host, (void)code;
    snprintf(error_text, sizeof error_text, "%s", message);
}

static void PI_CALL write_log(const pi_host *host, pi_log_level level, const char *message) {
    (void)host;
    fprintf(stderr, "log %u: %s\n", (unsigned)level, message);
}

static void PI_CALL count_objects(const pi_host *host, int64_t change) {
    atomic_fetch_add(&((old_loader *)host->context)->objects, change);
}

static const char *PI_CALL get_option(const pi_host *host, const char *name) {
    (void)host, (void)name;
    return NULL;
}

static void fill_guard(guard *it) {
    memset(it->bytes, 0xa5, sizeof it->bytes);
}

static void check_guard(const guard *it) {
    for (size_t i = 0; i < sizeof it->bytes; ++i)
        CHECK(it->bytes[i] == 0xa5 /* nothing was written behind a struct of the old size */);
}

/* The required functions of the old list must be there, inside of the table's size. */
static void check_table(const pi_dispatch *table) {
#define PI_FUNCTION(name, group, needs, since)                                                     \
    if (strcmp(#group, "REQUIRED") == 0) {                                                         \
        CHECK(table->struct_size >= offsetof(pi_dispatch, name) + sizeof table->name);             \
        CHECK(table->name != NULL);                                                                \
    }
#include <pi/pi_functions.def>
}

static void open_plugin(old_loader *loader, const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        fprintf(stderr, "old_loader: %s\n", dlerror());
        exit(1);
    }
    pi_plugin_main plugin_main;
    *(void **)&plugin_main = dlsym(library, "piPluginMain");
    CHECK(plugin_main != NULL);

    fill_guard(&loader->behind_host);
    fill_guard(&loader->behind_table);
    fill_guard(&loader->behind_desc);
    loader->host =
        (pi_host){sizeof loader->host, PI_VERSION_MAJOR, PI_VERSION_MINOR, &loader->table, loader,
                  set_error,           write_log,        count_objects,    get_option};
    loader->desc.struct_size = sizeof loader->desc;
    pi_result result = plugin_main(&loader->host, &loader->desc);
    if (result == PI_ERROR_UNAVAILABLE) {
        fprintf(stderr, "skipped: %s\n", error_text);
        exit(77);
    }
    EXPECT(PI_SUCCESS, result);
    check_guard(&loader->behind_desc);
    CHECK(loader->desc.struct_size == sizeof loader->desc);
    CHECK(loader->desc.version_major == PI_VERSION_MAJOR);
    CHECK(loader->desc.name && loader->desc.version && loader->desc.teardown);
    CHECK(loader->desc.functions->version_major == PI_VERSION_MAJOR);
    check_table(loader->desc.functions);

    size_t size = loader->desc.functions->struct_size;
    memcpy(&loader->table, loader->desc.functions,
           size < sizeof loader->table ? size : sizeof loader->table);
    loader->table.struct_size = sizeof loader->table;
    const pi_object_header *header = (const void *)loader->desc.instance;
    CHECK(header->dispatch == &loader->table && header->kind == PI_KIND_PLUGIN);
}

typedef struct place {
    pi_platform platform;
    pi_device device;
    pi_context context;
    pi_queue queue;
} place;

static place make_place(const old_loader *loader) {
    place here;
    uint32_t count = 0;
    pi_result result = CALL(piPlatformsGet, loader->desc.instance, 1, &here.platform, &count);
    if (result == PI_ERROR_UNAVAILABLE) {
        fprintf(stderr, "skipped: %s\n", error_text);
        exit(77);
    }
    EXPECT(PI_SUCCESS, result);
    CHECK(count >= 1);
    EXPECT(PI_SUCCESS,
           CALL(piDevicesGet, here.platform, PI_DEVICE_TYPE_ALL, 1, &here.device, &count));
    CHECK(count >= 1);
    uint64_t size = 0;
    char name[256] = "";
    EXPECT(PI_SUCCESS,
           CALL(piDeviceGetInfo, here.device, PI_DEVICE_INFO_NAME, sizeof name, name, &size));
    CHECK(size == strlen(name) + 1);
    pi_memory_scope scope;
    EXPECT(PI_SUCCESS, CALL(piDeviceGetMemoryScopes, here.device, 1, &scope, &count));
    CHECK(count >= 1 && scope.name[0]);

    pi_context_desc context = {sizeof context, PI_TYPE_CONTEXT_DESC};
    context.device_count = 1;
    context.devices = &here.device;
    EXPECT(PI_SUCCESS, CALL(piContextCreate, here.platform, &context, &here.context));
    pi_memory_connection connection = 77;
    EXPECT(PI_SUCCESS, CALL(piGetMemoryConnection, here.device, here.context, here.device,
                            here.context, &connection));
    CHECK(connection == PI_MEMORY_CONNECTION_UNIFIED);
    /* As a program of a version without any field would have written it. */
    pi_struct_header bare = {sizeof bare, PI_TYPE_QUEUE_DESC, NULL};
    EXPECT(PI_SUCCESS, CALL(piQueueCreate, here.context, here.device,
                            (const pi_queue_desc *)(const void *)&bare, &here.queue));
    printf("%s: %s\n", loader->desc.name, name);
    return here;
}

static pi_mem make_buffer(const place *here) {
    /* With a tail as a newer program would have: zeros are accepted, anything else is refused. */
    struct {
        pi_mem_buffer_desc known;
        guard newer;
    } desc = {{sizeof desc, PI_TYPE_MEM_BUFFER_DESC}, {{0}}};
    desc.known.size = BYTES;
    pi_mem mem = NULL;
    EXPECT(PI_SUCCESS, CALL(piMemBufferCreate, here->context, here->device, &desc.known, &mem));
    pi_mem none = NULL;
    desc.newer.bytes[300] = 1;
    EXPECT(PI_ERROR_UNSUPPORTED_FEATURE,
           CALL(piMemBufferCreate, here->context, here->device, &desc.known, &none));
    CHECK(none == NULL && error_text[0]);
    uint64_t size = 0;
    EXPECT(PI_SUCCESS, CALL(piMemGetInfo, mem, PI_MEM_INFO_SIZE, sizeof size, &size, NULL));
    CHECK(size == BYTES);
    return mem;
}

static void wait_and_release(pi_event event) {
    EXPECT(PI_SUCCESS, CALL(piEventWait, event, TIMEOUT));
    EXPECT(PI_SUCCESS, CALL1(piEventRelease, event));
}

static unsigned char *map(const place *here, pi_mem mem, uint64_t flags) {
    void *pointer = NULL;
    pi_event event = NULL;
    pi_buffer_map_desc desc = {sizeof desc, PI_TYPE_BUFFER_MAP_DESC};
    desc.flags = flags;
    desc.mem = mem;
    desc.size = BYTES;
    desc.out_pointer = &pointer;
    EXPECT(PI_SUCCESS, CALL(piEnqueueMemBufferMap, here->queue, &desc, 0, NULL, &event));
    wait_and_release(event);
    CHECK(pointer != NULL);
    return pointer;
}

static void unmap(const place *here, pi_mem mem, void *pointer) {
    pi_event event = NULL;
    pi_unmap_desc desc = {sizeof desc, PI_TYPE_UNMAP_DESC};
    desc.mem = mem;
    desc.pointer = pointer;
    EXPECT(PI_SUCCESS, CALL(piEnqueueMemUnmap, here->queue, &desc, 0, NULL, &event));
    wait_and_release(event);
}

/* A copy that a host event holds back: src is released while it waits. */
static void copy_behind_host_event(const place *here, pi_mem src, pi_mem dst) {
    pi_event gate = NULL, copied = NULL, barrier = NULL;
    EXPECT(PI_SUCCESS, CALL(piEventCreateHost, here->context, NULL, &gate));
    pi_region region = {.extent = {BYTES / 2, 1, 1}, .src_offset = BYTES / 2, .dst_offset = 16};
    pi_buffer_copy_desc desc = {sizeof desc, PI_TYPE_BUFFER_COPY_DESC};
    desc.src = src;
    desc.dst = dst;
    desc.region_count = 1;
    desc.regions = &region;
    EXPECT(PI_SUCCESS, CALL(piEnqueueMemBufferCopy, here->queue, &desc, 1, &gate, &copied));
    memset(&region, 0xff, sizeof region);
    EXPECT(PI_SUCCESS, CALL1(piMemRelease, src));
    EXPECT(PI_ERROR_TIMEOUT, CALL(piEventWait, copied, 0));
    EXPECT(PI_SUCCESS, CALL(piEventSignalHost, gate, PI_SUCCESS));
    EXPECT(PI_SUCCESS, CALL1(piEventRelease, gate));
    wait_and_release(copied);
    EXPECT(PI_SUCCESS, CALL(piEnqueueBarrier, here->queue, NULL, 0, NULL, &barrier));
    wait_and_release(barrier);
    desc.src = NULL;
    EXPECT(PI_ERROR_INVALID_MEM_OBJECT,
           CALL(piEnqueueMemBufferCopy, here->queue, &desc, 0, NULL, NULL));
}

/* A newer plugin's answer is cut to the size of the old struct. */
static void check_output_struct(const old_loader *loader, const place *here) {
    struct {
        pi_memory_connection_info known;
        guard behind;
    } info = {{offsetof(pi_memory_connection_info, atomics), PI_TYPE_MEMORY_CONNECTION_INFO},
              {{0}}};
    fill_guard(&info.behind);
    info.known.atomics = 0xa5a5a5a5;
    if (!loader->table.piGetMemoryConnectionInfo)
        return;
    EXPECT(PI_SUCCESS, CALL(piGetMemoryConnectionInfo, here->device, here->context, here->device,
                            here->context, NULL, &info.known));
    CHECK(info.known.connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(info.known.atomics == 0xa5a5a5a5);
    check_guard(&info.behind);
}

static void tear_down(old_loader *loader) {
    const struct timespec pause = {0, 1000000};
    /* Commands drop what they hold a moment after they are final. */
    for (int i = 0; i < 20000 && atomic_load(&loader->objects) != 0; ++i)
        nanosleep(&pause, NULL);
    CHECK(atomic_load(&loader->objects) == 0 /* every object was released: none may be left */);
    loader->desc.teardown(loader->desc.instance);
    CHECK(atomic_load(&loader->objects) == 0);
    check_guard(&loader->behind_host);
    check_guard(&loader->behind_table);
    check_guard(&loader->behind_desc);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: old_loader PLUGIN\n");
        return 2;
    }
    alarm(60); /* a hang is a failure */
    static old_loader loader;
    open_plugin(&loader, arguments[1]);
    place here = make_place(&loader);
    check_output_struct(&loader, &here);

    pi_mem src = make_buffer(&here), dst = make_buffer(&here);
    unsigned char *bytes = map(&here, src, PI_MAP_WRITE_DISCARD);
    for (int i = 0; i < BYTES; ++i)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    unmap(&here, src, bytes);
    bytes = map(&here, dst, PI_MAP_WRITE_DISCARD);
    memset(bytes, 0xee, BYTES);
    unmap(&here, dst, bytes);
    copy_behind_host_event(&here, src, dst);
    bytes = map(&here, dst, PI_MAP_READ);
    for (int i = 0; i < BYTES; ++i) {
        const int from = i - 16 + BYTES / 2;
        const int inside = i >= 16 && i < 16 + BYTES / 2;
        CHECK(bytes[i] == (inside ? (unsigned char)(from * 7 + from / 256) : 0xee));
    }
    unmap(&here, dst, bytes);

    EXPECT(PI_SUCCESS, CALL1(piQueueFlush, here.queue));
    EXPECT(PI_SUCCESS, CALL1(piQueueFinish, here.queue));
    EXPECT(PI_SUCCESS, CALL1(piMemRelease, dst));
    EXPECT(PI_SUCCESS, CALL1(piQueueRelease, here.queue));
    EXPECT(PI_SUCCESS, CALL1(piContextRelease, here.context));
    tear_down(&loader);
    printf("an old loader works with this plugin\n");
    return 0;
}
