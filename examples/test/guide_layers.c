/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C about layers in docs/runtime-authors.md, run on the host plugin. scripts/check-readme
 * compares both. */
#include "guide.h"

#include <string.h>

static uint64_t calls_of(pi_loader loader, pi_plugin plugin, const char *function) {
    pi_call_count counts[200];
    uint32_t count, i;
    check(piLoaderGetCallCounts(loader, plugin, 200, counts, &count), "piLoaderGetCallCounts");
    for (i = 0; i < count && i < 200; ++i)
        if (strcmp(counts[i].function, function) == 0)
            return counts[i].count;
    return 0;
}

static pi_loader with_a_fault_at(const char *function, uint64_t call) {
    static const char *const layers[] = {"fault"};
    char text[200];
    const pi_loader_option option = {"PI_FAULT", text};
    pi_loader_desc desc = {sizeof desc, PI_TYPE_LOADER_DESC};
    pi_loader loader;
    snprintf(text, sizeof text, "%s:%llu=fail(OUT_OF_DEVICE_MEMORY)", function,
             (unsigned long long)call);
    desc.layers = layers;
    desc.layer_count = 1;
    desc.options = &option;
    desc.option_count = 1;
    check(piLoaderCreate(&desc, &loader), "piLoaderCreate");
    return loader;
}

/* The program under test creates two buffers. Returns the first error, or PI_SUCCESS. */
static pi_result make_two(pi_device device, pi_context context) {
    pi_mem_buffer_desc desc = {sizeof desc, PI_TYPE_MEM_BUFFER_DESC};
    pi_result result = PI_SUCCESS;
    pi_mem mem;
    int i;
    desc.size = 64;
    for (i = 0; i < 2 && result == PI_SUCCESS; ++i) {
        result = piMemBufferCreate(context, device, &desc, &mem);
        if (result == PI_SUCCESS)
            check(piMemRelease(mem), "piMemRelease");
    }
    return result;
}

/* Runs it with a fault at a call of piMemBufferCreate. Returns the number of calls. */
static uint64_t run(uint64_t call, pi_result expected) {
    const pi_loader loader = with_a_fault_at("piMemBufferCreate", call);
    pi_plugin plugins[8];
    pi_device device;
    uint32_t count, i;
    uint64_t calls = 0;
    check(piLoaderSelectDevices(loader, "host", 1, &device, &count), "piLoaderSelectDevices");
    const pi_context context = make_context(device);
    if (make_two(device, context) != expected) {
        fprintf(stderr, "the fault at call %llu did not happen\n", (unsigned long long)call);
        exit(1);
    }
    check(piPluginsGet(loader, 8, plugins, &count), "piPluginsGet");
    for (i = 0; i < count && i < 8; ++i)
        calls += calls_of(loader, plugins[i], "piMemBufferCreate");
    check(piContextRelease(context), "piContextRelease");
    check(piLoaderRelease(loader), "piLoaderRelease");
    return calls;
}

int main(void) {
    const uint64_t calls = run(1000, PI_SUCCESS);
    uint64_t call;
    for (call = 1; call <= calls; ++call)
        if (run(call, PI_ERROR_OUT_OF_DEVICE_MEMORY) != call)
            return 1;
    printf("passed with a fault at each of %llu calls\n", (unsigned long long)calls);
    return calls == 2 ? 0 : 1;
}
