// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using namespace pi_cuda_test;

TEST_CASE("The simulated driver has every entry point that PI needs") {
    for (const pi_cuda_entry &row : pi_cuda_entries) {
        void *address = nullptr;
        std::memcpy(&address, reinterpret_cast<const char *>(&open_driver()) + row.offset,
                    sizeof address);
        CAPTURE(row.symbol);
        CHECK((address || !row.needed));
    }
}

TEST_CASE("cuGetProcAddress returns the newest version of a name for the caller's CUDA") {
    void *address = nullptr;
    CUdriverProcAddressQueryResult status{};
    CHECK(cu().cuGetProcAddress_v2("cuMemAlloc", &address, 12000, 0, &status) == CUDA_SUCCESS);
    CHECK(address == reinterpret_cast<void *>(cu().cuMemAlloc_v2));
    CHECK(status == CU_GET_PROC_ADDRESS_SUCCESS);
    CHECK(cu().cuGetProcAddress_v2("cuMemAdvise", &address, 12010, 0, &status) == CUDA_SUCCESS);
    CHECK(address == reinterpret_cast<void *>(cu().cuMemAdvise));
    CHECK(cu().cuGetProcAddress_v2("cuMemAdvise", &address, 12020, 0, &status) == CUDA_SUCCESS);
    CHECK(address == reinterpret_cast<void *>(cu().cuMemAdvise_v2));
    CHECK(cu().cuGetProcAddress_v2("cuMemCreate", &address, 10000, 0, &status) ==
          CUDA_ERROR_NOT_FOUND);
    CHECK(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    CHECK(cu().cuGetProcAddress_v2("cuNothing", &address, 13000, 0, &status) ==
          CUDA_ERROR_NOT_FOUND);
    CHECK(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK(address == nullptr);
}

TEST_CASE("Codes have names and texts; a number that is not a code has neither") {
    const char *text = nullptr;
    CHECK(cu().cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text) == CUDA_SUCCESS);
    CHECK(std::string(text) == "CUDA_ERROR_ILLEGAL_ADDRESS");
    CHECK(cu().cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text) == CUDA_SUCCESS);
    CHECK(std::string(text) == "out of memory");
    CHECK(cu().cuGetErrorName(static_cast<CUresult>(12345), &text) == CUDA_ERROR_INVALID_VALUE);
    CHECK(text == nullptr);
}

TEST_CASE("Devices are those of the machine file without its processors, named simulated") {
    int count = 0;
    REQUIRE(cu().cuDeviceGetCount(&count) == CUDA_SUCCESS);
    REQUIRE(count == 3);
    char name[64];
    CHECK(cu().cuDeviceGetName(name, sizeof name, 0) == CUDA_SUCCESS);
    CHECK(std::string(name) == "left (simulated)");
    CHECK(cu().cuDeviceGetName(name, 5, 1) == CUDA_SUCCESS);
    CHECK(std::string(name) == "righ");
    CHECK(cu().cuDeviceGetName(name, sizeof name, 3) == CUDA_ERROR_INVALID_DEVICE);
    size_t bytes = 0;
    CHECK(cu().cuDeviceTotalMem_v2(&bytes, 0) == CUDA_SUCCESS);
    CHECK(bytes == size_t(64) << 20);
    CHECK(cu().cuDeviceTotalMem_v2(&bytes, 2) == CUDA_SUCCESS);
    CHECK(bytes == size_t(16) << 20);
    int value = 0;
    CHECK(cu().cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0) ==
          CUDA_SUCCESS);
    CHECK(value == 4);
    CUdevice device = -1;
    CHECK(cu().cuDeviceGet(&device, 3) == CUDA_ERROR_INVALID_DEVICE);
    CHECK(cu().cuDeviceGet(&device, 1) == CUDA_SUCCESS);
    CHECK(device == 1);
}

TEST_CASE("Devices have the file's identities, or generated ones") {
    CUuuid uuid[2];
    CHECK(cu().cuDeviceGetUuid_v2(&uuid[0], 0) == CUDA_SUCCESS);
    CHECK(std::memcmp(uuid[0].bytes, "pi-cuda\0\0\0\0\0\0\0\0\x01", 16) == 0);
    CHECK(cu().cuDeviceGetUuid_v2(&uuid[0], 1) == CUDA_SUCCESS);
    CHECK(cu().cuDeviceGetUuid_v2(&uuid[1], 2) == CUDA_SUCCESS);
    CHECK(std::memcmp(&uuid[0], &uuid[1], sizeof uuid[0]) != 0);
    char text[16];
    CHECK(cu().cuDeviceGetPCIBusId(text, sizeof text, 0) == CUDA_SUCCESS);
    CHECK(std::string(text) == "0000:1b:00.0");
    int bus = 0;
    CHECK(cu().cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0) == CUDA_SUCCESS);
    CHECK(bus == 0x1b);
    CUdevice device = -1;
    CHECK(cu().cuDeviceGetByPCIBusId(&device, text) == CUDA_SUCCESS);
    CHECK(device == 0);
}

TEST_CASE("Peers follow the links of the machine file") {
    const auto can = [](CUdevice user, CUdevice owner) {
        int access = -1;
        CHECK(cu().cuDeviceCanAccessPeer(&access, user, owner) == CUDA_SUCCESS);
        return access;
    };
    CHECK(can(0, 1) == 1);
    CHECK(can(1, 0) == 1);
    CHECK(can(2, 0) == 0); // migratable: copies only
    CHECK(can(0, 2) == 0);
    CHECK(can(0, 0) == 0);
    int value = -1;
    CHECK(cu().cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1) ==
          CUDA_SUCCESS);
    CHECK(value == 1);
    CHECK(cu().cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0) ==
          CUDA_ERROR_INVALID_DEVICE);
}
