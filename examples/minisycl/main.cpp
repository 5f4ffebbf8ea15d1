// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// minisycl [vector_add|stencil|matrix_product|reduction|all] [--devices SELECTOR] [--size N]
// [--cubin FILE]
#include "classics.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <utility>

namespace {

constexpr int skipped_code = 77; // test drivers count it as skipped

struct Classic {
    std::string name;
    std::size_t usual_size = 0;
    /// On one device; empty: on all at once.
    bool (*on_one)(minisycl::queue &, const std::vector<minisycl::form> &, std::size_t) = nullptr;
};

const std::vector<Classic> classics{{"vector_add", 1 << 20, &vector_add},
                                    {"stencil", 512},
                                    {"matrix_product", 192, &matrix_product},
                                    {"reduction", 1 << 20, &reduction}};

struct Tally {
    int right = 0, wrong = 0, skipped = 0;

    void run(const std::string &what, const std::function<bool()> &classic) {
        try {
            const bool same = classic();
            std::printf("%s: %s\n", what.c_str(), same ? "right" : "WRONG");
            ++(same ? right : wrong);
        } catch (const minisycl::kernel_not_supported &reason) {
            std::printf("%s: skipped: %s\n", what.c_str(), reason.what());
            ++skipped;
        } catch (const std::exception &failure) {
            std::printf("%s: FAILED: %s\n", what.c_str(), failure.what());
            ++wrong;
        }
    }
};

std::string read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The log, with repeated transfers by one route in one line.
std::vector<pi::runtime::TransferRecord> shortened(std::vector<pi::runtime::TransferRecord> log) {
    std::vector<pi::runtime::TransferRecord> lines;
    std::vector<std::size_t> times;
    for (pi::runtime::TransferRecord &record : log) {
        const auto same = [&](const pi::runtime::TransferRecord &line) {
            return line.storage == record.storage && line.source == record.source &&
                   line.destination == record.destination && line.ranges == record.ranges &&
                   line.kind == record.kind && line.reason == record.reason;
        };
        const auto line = std::find_if(lines.begin(), lines.end(), same);
        if (line == lines.end()) {
            lines.push_back(std::move(record));
            times.push_back(1);
        } else {
            line->bytes += record.bytes;
            line->bytes_copy_in_copy_out += record.bytes_copy_in_copy_out;
            ++times[static_cast<std::size_t>(line - lines.begin())];
        }
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (times[i] > 1) {
            lines[i].reason = std::to_string(times[i]) + " times: " + lines[i].reason;
        }
    }
    return lines;
}

void run(const Classic &classic, minisycl::context &context,
         const std::vector<minisycl::form> &forms, std::size_t size, Tally &tally) {
    context.runtime().clear_log();
    if (classic.on_one == nullptr) {
        std::string names;
        for (std::size_t device = 0; device < context.size(); ++device) {
            names += (device == 0 ? "" : ", ") + context.name(device);
        }
        tally.run(classic.name + " over " + names, [&] { return stencil(context, forms, size); });
    } else {
        for (std::size_t device = 0; device < context.size(); ++device) {
            tally.run(classic.name + " on " + context.name(device), [&] {
                minisycl::queue queue(context, device);
                return classic.on_one(queue, forms, size);
            });
        }
    }
    std::printf("%s\n", pi::runtime::to_string(shortened(context.runtime().log()),
                                               context.runtime().topology().description())
                            .c_str());
}

int run_all(const std::string &wanted, const std::string &devices, std::size_t size,
            const std::string &cubin) {
    // Acquires that need no transfer are in the log, too, with the reason.
    minisycl::context context(devices, {.log_up_to_date = true});
    if (context.size() == 0) {
        std::puts("minisycl: skipped: no device");
        return skipped_code;
    }
    std::printf("Connections: how the column's place can use memory of the row's place\n%s\n",
                context.runtime().topology().to_string().c_str());
    const std::vector<minisycl::form> forms = device_forms(cubin);
    Tally tally;
    for (const Classic &classic : classics) {
        if (wanted == "all" || wanted == classic.name) {
            run(classic, context, forms, size == 0 ? classic.usual_size : size, tally);
        }
    }
    std::printf("%d right, %d wrong, %d skipped\n", tally.right, tally.wrong, tally.skipped);
    return tally.wrong > 0 ? 1 : tally.skipped > 0 ? skipped_code : 0;
}

} // namespace

int main(int count, char **arguments) {
    std::string wanted = "all";
    std::string devices;
    std::string cubin;
    std::size_t size = 0;
    CLI::App app(
        "Classic parallel programs on the devices of all backends.\n"
        "Exit code: 0 all results are right, 1 one is wrong or failed, 2 wrong arguments,\n"
        "77 a device accepts none of the kernels' forms.",
        "minisycl");
    app.add_option("classic", wanted, "vector_add, stencil, matrix_product, reduction or all")
        ->check(CLI::IsMember({"vector_add", "stencil", "matrix_product", "reduction", "all"}));
    app.add_option("--devices", devices,
                   "selector, as \"opencl:0:0,host\"; default: PI_DEVICE_SELECTOR, or all");
    app.add_option("--size", size, "numbers, or rows and columns; default: each program's own")
        ->check(CLI::Range(1, 1 << 24));
    app.add_option("--cubin", cubin, "a module with the kernels of kernels.cl for CUDA devices")
        ->check(CLI::ExistingFile);
    try {
        app.parse(count, arguments);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        return run_all(wanted, devices, size, cubin.empty() ? "" : read_file(cubin));
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "minisycl: %s\n", failure.what());
        return 1;
    }
}
