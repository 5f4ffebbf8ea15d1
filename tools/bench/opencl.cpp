// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opencl.hpp"

#include <cstring>
#include <dlfcn.h>
#include <stdexcept>

namespace pi_bench {
namespace {

[[noreturn, gnu::cold, gnu::noinline]] void fail(cl_int code, const char *call) {
    throw std::runtime_error(std::string(call) + ": " + std::to_string(code));
}

/// A text property of an object; "" if there is none.
template <class Function, class Object>
std::string text(Function function, Object object, cl_uint name) {
    size_t size = 0;
    if (function(object, name, 0, nullptr, &size) != CL_SUCCESS || size == 0) {
        return {};
    }
    std::string value(size, '\0');
    if (function(object, name, size, value.data(), nullptr) != CL_SUCCESS) {
        return {};
    }
    value.resize(std::strlen(value.data())); // without the trailing NUL
    return value;
}

} // namespace

OpenCl::OpenCl(const std::string &path) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw std::runtime_error(dlerror());
    }
#define PI_BENCH_OPENCL_LOAD(name)                                                                 \
    this->name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name));                       \
    if (this->name == nullptr) {                                                                   \
        throw std::runtime_error(path + " has no " #name);                                         \
    }
    PI_BENCH_OPENCL_FUNCTIONS(PI_BENCH_OPENCL_LOAD)
#undef PI_BENCH_OPENCL_LOAD
}

std::vector<ClDevice> all_devices(const OpenCl &cl) {
    cl_uint count = 0;
    check_cl(cl.clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    check_cl(cl.clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    std::vector<ClDevice> devices;
    for (cl_platform_id platform : platforms) {
        const std::string name = text(cl.clGetPlatformInfo, platform, CL_PLATFORM_NAME);
        if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) {
            continue; // it has none
        }
        std::vector<cl_device_id> ids(count);
        check_cl(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr),
                 "clGetDeviceIDs");
        for (cl_device_id id : ids) {
            devices.push_back({id, name, text(cl.clGetDeviceInfo, id, CL_DEVICE_NAME)});
        }
    }
    return devices;
}

void check_cl(cl_int code, const char *call) {
    if (code != CL_SUCCESS) {
        fail(code, call);
    }
}

} // namespace pi_bench
