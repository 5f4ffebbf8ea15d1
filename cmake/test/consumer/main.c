/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints the names of all devices. */
#include <pi/pi_loader.h>

#include <stdio.h>

int main(void) {
    pi_loader loader;
    pi_device devices[16];
    uint32_t count = 0;
    if (piLoaderCreate(NULL, &loader) != PI_SUCCESS ||
        piLoaderSelectDevices(loader, NULL, 16, devices, &count) != PI_SUCCESS) {
        const char *text;
        piGetLastError(NULL, &text);
        fprintf(stderr, "%s\n", text);
        return 1;
    }
    for (uint32_t i = 0; i < count && i < 16; ++i) {
        char name[256];
        if (piDeviceGetInfo(devices[i], PI_DEVICE_INFO_NAME, sizeof(name), name, NULL) ==
            PI_SUCCESS)
            printf("device: %s\n", name);
    }
    return piLoaderRelease(loader) == PI_SUCCESS ? 0 : 1;
}
