// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With libFuzzer: -write_seeds=FOLDER writes the generated inputs into a folder, for it to begin
// with.
#include "input.hpp"

#include <fstream>
#include <string>

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
    constexpr std::string_view option = "-write_seeds=";
    if (*argc != 2 || !std::string_view((*argv)[1]).starts_with(option)) {
        return 0;
    }
    const std::string folder((*argv)[1] + option.size());
    size_t count = 0;
    for (const std::vector<uint8_t> &input : pi::fuzz::generated_inputs()) {
        std::ofstream file(folder + "/generated_" + std::to_string(count++), std::ios::binary);
        file.write(reinterpret_cast<const char *>(input.data()),
                   static_cast<std::streamsize>(input.size()));
        file.close();
        if (!file) {
            std::fprintf(stderr, "%s: cannot write\n", folder.c_str());
            std::exit(1);
        }
    }
    std::exit(0);
}
