// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands between a test and libpi_loader, and counts how often each public function gave each
// result: what a test sees, answers of the loader and of its layers included. It is preloaded
// (LD_PRELOAD), so that its functions are found first.
//
// The counts are in a file that all processes of a ctest entry map, so that they outlive a process
// that is killed or ends by _exit. The file is an array of Row; scripts/check-reached reads it. A
// name is written with the first count of its row.

#include "../next_function.hpp"
#include "config.hpp"

#include <pi/pi_loader.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

// Those of pi_loader.h.
#define PI_REACHED_LOADER(ROW)                                                                     \
    ROW(piLoaderCreate)                                                                            \
    ROW(piLoaderRetain)                                                                            \
    ROW(piLoaderRelease)                                                                           \
    ROW(piLoaderGetReports)                                                                        \
    ROW(piLoaderSelectDevices)                                                                     \
    ROW(piLoaderGetDeviceSelector)                                                                 \
    ROW(piLoaderGetEnvironment)                                                                    \
    ROW(piLoaderGetCallCounts)                                                                     \
    ROW(piVerifyMemoryConnection)

namespace pi::reached {
namespace {

#define PI_REACHED_NAME(name) #name,
constexpr const char *names[] = {
#define PI_LOADER_FUNCTION(name, since) PI_REACHED_NAME(name)
#define PI_FUNCTION(name, group, needs, since) PI_REACHED_NAME(name)
#include <pi/pi_functions.def>
    PI_REACHED_LOADER(PI_REACHED_NAME)};

#define PI_REACHED_ROW(name) row_##name,
enum RowIndex : std::size_t {
#define PI_LOADER_FUNCTION(name, since) PI_REACHED_ROW(name)
#define PI_FUNCTION(name, group, needs, since) PI_REACHED_ROW(name)
#include <pi/pi_functions.def>
    PI_REACHED_LOADER(PI_REACHED_ROW)
};

constexpr std::size_t other_results = 119;

struct Row {
    char name[64];
    std::atomic<uint64_t> counts[other_results + 1]; ///< of the results 0, -1, ...
};
static_assert(sizeof(Row) == 1024);
constexpr std::size_t file_size = sizeof(Row) * std::size(names);

Row *rows = nullptr;
pthread_once_t mapped = PTHREAD_ONCE_INIT;

void map_file() {
    const char *path = counts_file();
    const int file = path != nullptr ? ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file < 0)
        return;
    if (::ftruncate(file, file_size) == 0) {
        void *memory = ::mmap(nullptr, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        rows = memory != MAP_FAILED ? static_cast<Row *>(memory) : nullptr;
    }
    ::close(file);
}

void count(RowIndex index, pi_result result) {
    ::pthread_once(&mapped, map_file);
    if (rows == nullptr)
        return;
    Row &row = rows[index];
    // Others may write the same bytes.
    if (row.name[0] == '\0')
        std::strcpy(row.name, names[index]);
    const std::size_t column = static_cast<std::size_t>(-int64_t{result});
    row.counts[std::min(column, other_results)].fetch_add(1, std::memory_order_relaxed);
}

template <RowIndex Index, typename Function>
struct Counted;
template <RowIndex Index, typename... Parameters>
struct Counted<Index, pi_result(Parameters...)> {
    using Function = pi_result(Parameters...);

    static pi_result call(Parameters... parameters) {
        static constinit std::atomic<Function *> next{nullptr};
        Function *const function = pi_test::next_function(names[Index], next);
        const pi_result result = function(parameters...);
        count(Index, result);
        return result;
    }
};

} // namespace
} // namespace pi::reached

#define PI_DEFINITION_BODY(name, ...)                                                              \
    return pi::reached::Counted<pi::reached::row_##name, decltype(::name)>::call(__VA_ARGS__);
#include "definitions.def"

PI_DEFINE_2(piGetLastError)
PI_DEFINE_4(piPluginsGet)
PI_DEFINE_5(piGetMemoryConnection)
PI_DEFINE_6(piGetMemoryConnectionInfo)
PI_DEFINE_2(piLoaderCreate)
PI_DEFINE_1(piLoaderRetain)
PI_DEFINE_1(piLoaderRelease)
PI_DEFINE_4(piLoaderGetReports)
PI_DEFINE_5(piLoaderSelectDevices)
PI_DEFINE_5(piLoaderGetDeviceSelector)
PI_DEFINE_4(piLoaderGetEnvironment)
PI_DEFINE_5(piLoaderGetCallCounts)
PI_DEFINE_6(piVerifyMemoryConnection)
