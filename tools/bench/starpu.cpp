// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "starpu.hpp"

#include "equipment.hpp"
#include "process.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace pi_bench {
namespace {

namespace fs = std::filesystem;

constexpr const char *program = "pi_bench_starpu";

/// StarPU's program. Measurements of the machine that StarPU makes before its first task are in a
/// folder that is deleted with this object.
class StarPu {
public:
    StarPu()
        : program_(equipment(program)),
          home_(fs::temp_directory_path() / ("pi_bench_starpu_" + std::to_string(getpid()))) {
        fs::create_directories(home_);
    }
    ~StarPu() {
        std::error_code ignored;
        fs::remove_all(home_, ignored);
    }
    StarPu(const StarPu &) = delete;
    StarPu &operator=(const StarPu &) = delete;

    struct Round {
        double nanoseconds = 0;
        uint64_t bytes = 0; ///< moved
    };
    Round run(uint64_t bytes, uint64_t rounds) const {
        const std::string said =
            output_of({program_, std::to_string(bytes), std::to_string(rounds)},
                      {"STARPU_HOME=" + home_.string(), "STARPU_OPENCL_ON_CPUS=1", "STARPU_NCPU=1",
                       "STARPU_SILENT=1", "RUSTICL_ENABLE="});
        Round round;
        if (!(std::istringstream(said) >> round.nanoseconds >> round.bytes)) {
            throw std::runtime_error(program_ + " said \"" + said + "\"");
        }
        return round;
    }

private:
    const std::string program_;
    const fs::path home_;
};

} // namespace

void compare_with_starpu(Session &session, const std::string &name, uint64_t bytes,
                         const Batch &ours) {
    if (!session.wants(name)) {
        return;
    }
    if (!has_equipment(program)) {
        session.skip(name, "PI was built without StarPU (Debian's libstarpu-dev)");
        return;
    }
    const StarPu starpu;
    const uint32_t batches = session.quick() ? 2 : 9;
    const uint64_t rounds = session.quick() ? 1 : 4;
    uint64_t moved = starpu.run(bytes, 1).bytes; // StarPU measures the machine first
    Times times;
    for (uint32_t batch = 0; batch < batches; ++batch) {
        const auto begin = std::chrono::steady_clock::now();
        ours(100);
        const std::chrono::duration<double, std::nano> time =
            std::chrono::steady_clock::now() - begin;
        times.ours.push_back(time.count() / 100);
        const StarPu::Round round = starpu.run(bytes, rounds);
        times.limit.push_back(round.nanoseconds);
        moved = round.bytes;
    }
    session.add({name, median(times.ours) / 1e3, median(times.limit) / 1e3,
                 "StarPU's tasks that do the same: it moves " + std::to_string(moved >> 20) +
                     " MiB a round, ours moves 0",
                 median(ratios(times.ours, times.limit)), "us"});
}

} // namespace pi_bench
