// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verified_file.hpp"

#include "layers/shallow_json.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace pi::loader {
namespace {

using VerifiedJson = nlohmann::json;

constexpr int verified_format = 1;
constexpr std::size_t largest_verified_file = 1 << 20;

class File {
public:
    explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File() {
        if (descriptor_ >= 0)
            ::close(descriptor_);
    }
    int get() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

// Drivers change with the kernel's release, and the hardware while the machine is off.
std::string this_machine() {
    utsname system{};
    ::uname(&system);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return std::string(system.release) + " " + boot;
}

// "" for what is not a regular file of this user.
std::string content_of(const std::string &path) {
    // A pipe would hold the open until somebody writes to it.
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != ::geteuid() ||
        static_cast<std::size_t>(status.st_size) > largest_verified_file)
        return "";
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t size = 0;
    for (ssize_t n = 0; size < text.size() &&
                        (n = ::read(file.get(), text.data() + size, text.size() - size)) > 0;)
        size += static_cast<std::size_t>(n);
    text.resize(size);
    return text;
}

bool write_all(int file, const std::string &text) {
    for (std::size_t size = 0; size < text.size();) {
        const ssize_t n = ::write(file, text.data() + size, text.size() - size);
        if (n <= 0)
            return false;
        size += static_cast<std::size_t>(n);
    }
    return true;
}

} // namespace

std::map<std::string, Verified, std::less<>> read_verified(const std::string &file) {
    std::map<std::string, Verified, std::less<>> answers;
    bool deep = false;
    const auto content = parse_shallow<VerifiedJson>(content_of(file), 4, deep);
    if (!content.is_object() || content.value("pi_verified", VerifiedJson()) != verified_format ||
        content.value("machine", VerifiedJson()) != this_machine())
        return answers;
    for (const VerifiedJson &row : content.value("connections", VerifiedJson::array())) {
        const auto member = [&](const char *name) {
            return row.is_object() ? row.value(name, VerifiedJson()) : VerifiedJson();
        };
        const VerifiedJson pair = member("pair"), seen = member("seen"), deep_one = member("deep");
        if (pair.is_string() && seen.is_string() && deep_one.is_boolean())
            answers[pair.get<std::string>()] = {seen.get<std::string>(), deep_one.get<bool>()};
    }
    return answers;
}

void write_verified(const std::string &file,
                    const std::map<std::string, Verified, std::less<>> &answers) {
    VerifiedJson rows = VerifiedJson::array();
    for (const auto &[pair, seen] : answers)
        rows.push_back({{"pair", pair}, {"seen", seen.text}, {"deep", seen.deep}});
    const VerifiedJson content = {{"pi_verified", verified_format},
                                  {"machine", this_machine()},
                                  {"connections", std::move(rows)}};
    const std::string text =
        content.dump(1, ' ', false, VerifiedJson::error_handler_t::replace) + "\n";
    struct stat status {};
    if (text.size() > largest_verified_file ||
        (::lstat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode)))
        return;
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
    std::string temporary = file + ".XXXXXX";
    const File out(::mkostemp(temporary.data(), O_CLOEXEC));
    if (out.get() >= 0 &&
        (!write_all(out.get(), text) || ::rename(temporary.c_str(), file.c_str()) != 0))
        ::unlink(temporary.c_str());
}

} // namespace pi::loader
