// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where there is no libFuzzer: gives a target its generated inputs and each file of some folders,
// once, so that what was found once stays fixed.
#include "input.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

int main(int argc, char **argv) {
    size_t count = 0;
    for (const std::vector<uint8_t> &input : pi::fuzz::generated_inputs()) {
        std::fprintf(stderr, "generated input %zu\n", count);
        LLVMFuzzerTestOneInput(input.data(), input.size());
        ++count;
    }
    for (int index = 1; index < argc; ++index) {
        if (!std::filesystem::is_directory(argv[index])) {
            continue; // nothing was found yet
        }
        std::vector<std::filesystem::path> files;
        for (const auto &entry : std::filesystem::directory_iterator(argv[index])) {
            files.push_back(entry.path());
        }
        std::sort(files.begin(), files.end());
        for (const std::filesystem::path &path : files) {
            std::fprintf(stderr, "%s\n", path.c_str()); // a crash is about the last one
            std::ifstream file(path, std::ios::binary);
            // Exactly as large as the input, so that a sanitizer detects reads beyond it.
            const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
            LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
            ++count;
        }
    }
    std::fprintf(stderr, "%zu inputs\n", count);
    return count == 0 ? 1 : 0;
}
