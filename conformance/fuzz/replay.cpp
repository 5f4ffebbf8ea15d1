// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives a target each file of some folders, once: what is done where there is no libFuzzer, so that what was found once
// stays mended.
#include "input.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

int main(int argc, char **argv) {
    size_t count = 0;
    for (int index = 1; index < argc; ++index) {
        if (!std::filesystem::is_directory(argv[index])) {
            continue; // nothing has been found yet
        }
        std::vector<std::filesystem::path> files;
        for (const auto &entry : std::filesystem::directory_iterator(argv[index])) {
            files.push_back(entry.path());
        }
        std::sort(files.begin(), files.end());
        for (const std::filesystem::path &path : files) {
            std::fprintf(stderr, "%s\n", path.c_str()); // the last one is what a crash is about
            std::ifstream file(path, std::ios::binary);
            // Of this size exactly, so that a sanitizer sees what is read behind it.
            const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
            LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
            ++count;
        }
    }
    std::fprintf(stderr, "%zu inputs\n", count);
    return count == 0 ? 1 : 0;
}
