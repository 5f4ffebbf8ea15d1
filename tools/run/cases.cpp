// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cases.hpp"

#include "replay.hpp"

#ifdef PI_RUN_STORAGES
#include "case_storages.hpp"
#endif

#include <pi/describe/descriptor.hpp>
#include <pi/pi.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

#include <stdlib.h>
#include <unistd.h>

namespace pi_run {
namespace {

std::string content_of(const std::string &path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
        throw Refusal(fmt::format("{}: cannot be read", path));
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// A machine file beside the case, or one that PI ships.
std::string machine_file(const std::string &name, const std::filesystem::path &case_path) {
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    const std::filesystem::path folders[] = {case_path.parent_path(),
                                             program.parent_path() / PI_RUN_MACHINES};
    for (const std::filesystem::path &folder : folders) {
        for (const char *const suffix : {"", ".json"}) {
            const std::filesystem::path file = folder / (name + suffix);
            std::error_code ignored;
            if (std::filesystem::is_regular_file(file, ignored))
                return file.string();
        }
    }
    std::vector<std::string> shipped;
    std::error_code ignored;
    for (const auto &entry : std::filesystem::directory_iterator(folders[1], ignored))
        shipped.push_back(entry.path().stem().string());
    std::sort(shipped.begin(), shipped.end());
    if (!shipped.empty())
        throw Refusal(fmt::format("no machine {}: no file beside the case, and none of {}", name,
                                  fmt::join(shipped, ", ")));
    throw Refusal(
        fmt::format("no machine {}: neither beside the case nor in {}", name, folders[1].string()));
}

/// A file with the text of a machine, as long as the object lives.
class MachineText {
public:
    explicit MachineText(const std::string &text) {
        std::string name = (std::filesystem::temp_directory_path() / "pi_run_XXXXXX").string();
        const pi::loader::FileDescriptor file(::mkstemp(name.data()));
        if (file.get() < 0 ||
            ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
            throw Refusal(fmt::format("{}: cannot be written", name));
        path_ = name;
    }
    ~MachineText() { ::unlink(path_.c_str()); }
    MachineText(const MachineText &) = delete;
    MachineText &operator=(const MachineText &) = delete;
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

/// Those of PI_LAYERS, which a list of a loader's own replaces.
std::vector<std::string> layers_of_environment() {
    const pi::Loader loader = pi::LoaderRef::create();
    std::vector<std::string> layers;
    std::istringstream names(layers_of(loader.get()));
    for (std::string name; std::getline(names, name, ',');)
        layers.push_back(name);
    return layers;
}

/// Adds the file to a refusal, which begins with the line.
template <typename Part>
auto in_file(const std::string &path, Part &&part) {
    try {
        return part();
    } catch (const Refusal &refusal) {
        throw Refusal(fmt::format("{}:{}", path, refusal.what()));
    }
}

} // namespace

CaseResult run_case_file(const std::string &path, const std::string &selector) {
    const std::string text = content_of(path);
    const Case parsed = in_file(path, [&] { return Case(text); });
    const Equipment &equipment = parsed.equipment();
    std::vector<pi_loader_option> options;
    std::string machine;
    std::optional<MachineText> text_of_machine;
    std::string wanted = selector;
    std::vector<std::string> layers;
    std::vector<const char *> layer_names;
    if (!equipment.machine.empty()) {
        if (equipment.machine.starts_with('{'))
            machine = text_of_machine.emplace(equipment.machine).path();
        else
            machine = machine_file(equipment.machine, path);
        options.push_back({"PI_SIM_MACHINE", machine.c_str()});
        wanted = "sim";
    }
    auto desc = pi::desc<pi_loader_desc>();
    if (!equipment.faults.empty()) {
        options.push_back({"PI_FAULT", equipment.faults.c_str()});
        layers = layers_of_environment();
        layers.emplace_back("fault");
    }
    for (const std::string &layer : layers)
        layer_names.push_back(layer.c_str());
    desc.layers = layer_names.data();
    desc.layer_count = static_cast<uint32_t>(layer_names.size());
    desc.options = options.data();
    desc.option_count = static_cast<uint32_t>(options.size());
    const pi::Loader loader = pi::LoaderRef::create(&desc);
    std::vector<pi_device> devices;
    for (const pi::DeviceRef &device :
         loader.select_devices(wanted.empty() ? nullptr : wanted.c_str()))
        devices.push_back(device.get());
#ifdef PI_RUN_STORAGES
    CaseStorages storages(equipment.verified);
    return in_file(path, [&] { return parsed.run(devices, loader.get(), &storages); });
#else
    return in_file(path, [&] { return parsed.run(devices, loader.get()); });
#endif
}

} // namespace pi_run
