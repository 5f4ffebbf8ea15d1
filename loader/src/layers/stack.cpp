// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "layers/stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/auxv.h>

namespace pi::loader {
namespace {

/// The symbol at an address; unknown names are NULL.
Dl_info look_up(const void *address) {
    Dl_info info{};
    if (::dladdr(address, &info) == 0)
        info = {};
    return info;
}

// A return address is after the call, and may be in the next function already.
const char *call_of(const void *frame) {
    return static_cast<const char *>(frame) - 1;
}

std::string demangle(const char *name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void *)> text(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
    return text != nullptr ? text.get() : name;
}

std::string describe_frame(const void *frame) {
    const char *const call = call_of(frame);
    const Dl_info info = look_up(call);
    if (info.dli_fname == nullptr)
        return fmt::format("{}", static_cast<const void *>(call));
    const std::string_view path = info.dli_fname;
    std::string module = fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1),
                                     call - static_cast<const char *>(info.dli_fbase));
    if (info.dli_sname == nullptr)
        return module;
    return fmt::format("{}+{:#x} ({})", demangle(info.dli_sname),
                       call - static_cast<const char *>(info.dli_saddr), module);
}

// The loader's library; nullptr if it is linked into the program, whose frames are all shown.
const void *own_library() {
    const void *const own = look_up(reinterpret_cast<const void *>(&take_stack)).dli_fbase;
    const void *const program =
        look_up(reinterpret_cast<const void *>(::getauxval(AT_ENTRY))).dli_fbase;
    return own != program ? own : nullptr;
}

} // namespace

Stack take_stack(void *caller) {
    void *frames[48];
    void **const end = frames + ::backtrace(frames, static_cast<int>(std::size(frames)));
    void **const begin = std::find(frames, end, caller);
    return begin != end ? Stack(begin, end) : Stack(frames, end);
}

std::string describe(const Stack &stack) {
    const void *const own = own_library();
    auto frame = stack.begin();
    while (own != nullptr && frame != stack.end() && look_up(call_of(*frame)).dli_fbase == own)
        ++frame;
    std::string text;
    for (int number = 0; frame != stack.end(); ++frame, ++number)
        text += fmt::format("\n    #{} {}", number, describe_frame(*frame));
    return text;
}

} // namespace pi::loader
