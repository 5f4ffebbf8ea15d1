// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments that the scripts in scripts/ pass to the programs that they build; nothing is built
// here.
#include "tool.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace pi_test;
namespace fs = std::filesystem;

namespace {

/// A source tree with one real script, around programs that only report their calls; and another
/// folder.
class Tree {
public:
    Tree(const std::string &script, const std::string &program) : script_(script) {
        const fs::path tools = root() / "tools";
        for (const fs::path &folder :
             {elsewhere(), tools, root() / "pi/scripts/lib", root() / "pi/build/release/bin"}) {
            fs::create_directories(folder);
        }
        fs::copy_file(fs::path(SCRIPTS) / script, root() / "pi/scripts" / script);
        add_program(root() / "pi/scripts/setup", "echo setup $* >>called.txt");
        // It is called in the tree.
        add_program(tools / "cmake", "test -x scripts/setup && echo cmake $* >>called.txt");
        add_program(root() / "pi/build/release/bin" / program,
                    R"(echo "in $PWD: $*, cuda is ${PI_CUDA_LIBRARY-}")");
    }
    fs::path elsewhere() const { return root() / "else where"; }
    /// Calls the script from the other folder.
    Ran call(const std::string &arguments, const std::vector<std::string> &environment = {}) const {
        return run_tool({"bash", "-c",
                         "cd '" + elsewhere().string() +
                             "' && PATH=$PWD/../tools:$PATH ../pi/scripts/" + script_ + " " +
                             arguments},
                        environment);
    }

    /// Its commands to install and to build, one per line.
    std::string called() const {
        std::ifstream file(root() / "pi/called.txt");
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

private:
    fs::path root() const { return fs::path(file_.path()).parent_path(); }
    static void add_program(const fs::path &path, const std::string &line) {
        std::ofstream(path) << "#!/bin/sh\n" << line << "\n";
        fs::permissions(path, fs::perms::owner_all);
    }

    const TemporaryFile file_; // only its folder is used
    const std::string script_;
};

} // namespace

TEST_CASE("scripts/demo finds the files that it is given from the caller's folder") {
    const Tree tree("demo", "image_pipeline");
    const Ran ran = tree.call("'my photo.png' --machine here.json --output out --json all.json");
    INFO(ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK(ran.output == "in " + tree.elsewhere().string() +
                            ": my photo.png --machine here.json --output out --json all.json"
                            ", cuda is \n");
}

TEST_CASE("scripts/demo installs and builds what it runs, and no more, and nothing for --help") {
    const Tree tree("demo", "image_pipeline");
    const std::string all = "setup --build\ncmake --preset release\n"
                            "cmake --build --preset release --target demo";
    const Ran help = tree.call("--help");
    CHECK_THAT(help.output, Catch::Contains("scripts/demo --simulated"));
    CHECK(help.exit_code == 0);
    CHECK(tree.called().empty());
    REQUIRE(tree.call("--rounds 1").exit_code == 0);
    CHECK(tree.called() == all + "\n");
    REQUIRE(tree.call("--simulated").exit_code == 0);
    CHECK(tree.called() ==
          all + "\n" + all + " pi_simulated_cuda pi_simulated_level_zero unit_examples_kernels\n");
}

TEST_CASE("scripts/bench finds the driver that PI_CUDA_LIBRARY names from the caller's folder") {
    const Tree tree("bench", "pi-bench");
    const Ran here = tree.call("cuda", {"PI_CUDA_LIBRARY=./libcuda.so"});
    INFO(here.errors);
    CHECK_THAT(here.output,
               Catch::Contains("cuda is " + (tree.elsewhere() / "libcuda.so").string() + "\n"));
    // The dynamic linker looks up a bare name.
    const Ran anywhere = tree.call("cuda", {"PI_CUDA_LIBRARY=libcuda.so"});
    CHECK_THAT(anywhere.output, Catch::Contains("cuda is libcuda.so\n"));
}
