// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verified_file.hpp"

#include "file_descriptor.hpp"
#include "layers/json_text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace pi::loader {
namespace {

using Answers = std::map<std::string, Verified, std::less<>>;

constexpr uint64_t verified_format = 1;
constexpr std::size_t largest_verified_file = 1 << 20;

// Includes the boot: drivers change with the kernel's release, and hardware while the machine is
// off.
std::string this_machine() {
    utsname system{};
    ::uname(&system);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return std::string(system.release) + " " + boot;
}

// "" unless it is a regular file of this user.
std::string content_of(const std::string &path) {
    // Opening a pipe would block until another process writes to it.
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
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

/// Its members are at depth 1, those of a row of "connections" at depth 3.
class VerifiedReader : public JsonReader {
public:
    VerifiedReader() : JsonReader(4), this_machine_(this_machine()) {}
    /// Empty for another format or machine.
    Answers take() && { return is_format_ && is_machine_ ? std::move(answers_) : Answers(); }

    bool key(string_t &name) override {
        key_ = name;
        if (depth() == 1)
            member_ = name;
        return true;
    }
    bool number_unsigned(number_unsigned_t number) override {
        if (depth() == 1 && key_ == "pi_verified")
            is_format_ = number == verified_format;
        return JsonReader::number_unsigned(number);
    }
    bool string(string_t &text) override {
        if (depth() == 1 && key_ == "machine")
            is_machine_ = text == this_machine_;
        if (depth() == 3 && key_ == "pair")
            pair_ = text;
        if (depth() == 3 && key_ == "seen")
            seen_ = text;
        return JsonReader::string(text);
    }
    bool boolean(bool value) override {
        if (depth() == 3 && key_ == "deep")
            deep_ = value;
        return JsonReader::boolean(value);
    }
    bool end_object() override {
        if (depth() == 3 && member_ == "connections" && pair_ && seen_ && deep_)
            answers_[*pair_] = {*seen_, *deep_};
        pair_.reset();
        seen_.reset();
        deep_.reset();
        return JsonReader::end_object();
    }

private:
    const std::string this_machine_;
    std::string member_, key_;
    bool is_format_ = false, is_machine_ = false;
    std::optional<std::string> pair_, seen_;
    std::optional<bool> deep_;
    Answers answers_;
};

} // namespace

std::map<std::string, Verified, std::less<>> read_verified(const std::string &file) {
    VerifiedReader reader;
    return reader.read(content_of(file)) ? std::move(reader).take() : Answers();
}

void write_verified(const std::string &file,
                    const std::map<std::string, Verified, std::less<>> &answers) {
    std::string rows;
    for (const auto &[pair, seen] : answers)
        rows +=
            fmt::format("{}\n  {{\"pair\": {}, \"seen\": {}, \"deep\": {}}}",
                        rows.empty() ? "" : ",", json_text(pair), json_text(seen.text), seen.deep);
    const std::string text =
        fmt::format("{{\n \"pi_verified\": {},\n \"machine\": {},\n \"connections\": [{}\n ]\n}}\n",
                    verified_format, json_text(this_machine()), rows);
    struct stat status {};
    if (text.size() > largest_verified_file ||
        (::lstat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode)))
        return;
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
    std::string temporary = file + ".XXXXXX";
    const FileDescriptor out(::mkostemp(temporary.data(), O_CLOEXEC));
    if (out.get() >= 0 &&
        (!write_all(out.get(), text) || ::rename(temporary.c_str(), file.c_str()) != 0))
        ::unlink(temporary.c_str());
}

} // namespace pi::loader
