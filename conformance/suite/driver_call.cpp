// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver_call.hpp"

#include "text.hpp"

#include <algorithm>
#include <cstdint>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <sstream>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace pi::suite {
namespace {

// Words of a stack that are read at most.
constexpr std::size_t deepest = 8192;

struct Code {
    uintptr_t begin;
    uintptr_t end;
    std::string file; // without its folder
};

// The executable parts of this process.
std::vector<Code> code_now() {
    std::vector<Code> code;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        // "7f30c0000000-7f30c0021000 r-xp 00000000 08:01 4711    /usr/lib/libcuda.so.1"
        std::istringstream words(line);
        std::string range, access, offset, device, inode, path;
        words >> range >> access >> offset >> device >> inode >> path;
        if (access.size() < 3 || access[2] != 'x' || path.empty())
            continue;
        const std::size_t dash = range.find('-');
        code.push_back({std::stoul(range.substr(0, dash), nullptr, 16),
                        std::stoul(range.substr(dash + 1), nullptr, 16),
                        path.substr(path.rfind('/') + 1)});
    }
    return code;
}

bool is_plugin(const std::string &file) {
    return file.starts_with("libpi_plugin_");
}

// What a plugin and the suite call without a driver.
bool is_system(const std::string &file) {
    constexpr const char *names[] = {"[",        "ld-",           "libc.",         "libgcc_s.",
                                     "libm.",    "libpi_loader.", "libstdc++",     "libasan.",
                                     "libtsan.", "libubsan.",     "pi-conformance"};
    return std::any_of(std::begin(names), std::end(names),
                       [&](const char *name) { return file.starts_with(name); });
}

// The stack of a thread that waits in the kernel, the newest word first; empty if it runs.
std::vector<uintptr_t> stack_of(int thread) {
    std::ifstream file(join("/proc/self/task/", thread, "/syscall"));
    // Numbers, of which the last two are the stack pointer and the program counter.
    const std::vector<std::string> words{std::istream_iterator<std::string>(file), {}};
    std::vector<uintptr_t> stack;
    if (words.size() < 3)
        return stack;
    uintptr_t at = std::stoul(words[words.size() - 2], nullptr, 16);
    for (uintptr_t word = 0; stack.size() < deepest; at += sizeof word) {
        const iovec local{&word, sizeof word};
        const iovec remote{reinterpret_cast<void *>(at), sizeof word};
        if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != sizeof word)
            break;
        stack.push_back(word);
    }
    return stack;
}

// The exported function that contains this address, or "".
std::string function_at(uintptr_t address) {
    Dl_info info{};
    void *entry = nullptr;
    if (dladdr1(reinterpret_cast<void *>(address), &info, &entry, RTLD_DL_SYMENT) == 0 ||
        entry == nullptr || info.dli_sname == nullptr)
        return "";
    const auto *symbol = static_cast<const ElfW(Sym) *>(entry);
    const bool inside = address - reinterpret_cast<uintptr_t>(info.dli_saddr) < symbol->st_size;
    return inside && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ? info.dli_sname : "";
}

} // namespace

std::string driver_call_of(int thread) {
    const std::vector<Code> code = code_now();
    std::string call;
    for (const uintptr_t word : stack_of(thread)) {
        const uintptr_t address = word - 1; // within the call, not behind it
        const auto found = std::find_if(code.begin(), code.end(), [&](const Code &part) {
            return address >= part.begin && address < part.end;
        });
        if (found == code.end())
            continue;
        if (is_plugin(found->file))
            return call;
        if (is_system(found->file))
            continue;
        // The outermost before the plugin is the one that the plugin called.
        if (const std::string function = function_at(address); !function.empty())
            call = join(function, " (", found->file, ")");
    }
    return "";
}

} // namespace pi::suite
