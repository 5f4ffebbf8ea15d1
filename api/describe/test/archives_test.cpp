// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every descriptor and every call through both archives: bytes, and the text of the layer record.
#include "filler.hpp"
#include "reader.hpp"

#include "layers/record/text_archive.hpp"

#include <pi/describe/binary_archive.hpp>
#include <pi/pi_loader.h>

#include <catch2/catch.hpp>

#include <string>

using namespace describe_test;
using namespace pi::describe;
using pi::loader::JsonObject;
using pi::loader::record::TextWriter;
using pi::loader::record::UsmPlace;
using pi_run::Json;

namespace {

/// What both archives call objects: a handle and an address of USM are numbers.
struct Objects {
    // The writers'.
    uint64_t id(const void *handle) { return reinterpret_cast<std::uintptr_t>(handle); }
    uint64_t find(const void *handle) { return id(handle); }
    std::optional<uint64_t> address(const void *pointer) {
        return id(pointer) >= usm_begin ? std::optional(id(pointer)) : std::nullopt;
    }
    std::optional<UsmPlace> find_usm(const void *pointer) {
        return address(pointer) ? std::optional(UsmPlace{1, id(pointer) - usm_begin})
                                : std::nullopt;
    }
    uint64_t pixel_bytes(pi_mem) { return pixel; }
    // The readers'.
    template <typename Handle>
    bool find(uint64_t number, Handle &out) {
        out = reinterpret_cast<Handle>(number);
        return number < 100;
    }
    void *address(uint64_t number) { return reinterpret_cast<void *>(number); }
    template <typename Handle>
    Handle find(const Json &number) {
        return number.is_null() ? nullptr : reinterpret_cast<Handle>(number.get<uint64_t>());
    }
    unsigned char *find_memory(const Json &, uint64_t) { return nullptr; }
    unsigned char *find_usm(const Json &place) {
        return place.is_null() ? nullptr
                               : reinterpret_cast<unsigned char *>(
                                     usm_begin + place.at("offset").get<uint64_t>());
    }
    unsigned char *shared_memory_at(uint64_t number, uint64_t size,
                                    const std::basic_string<unsigned char> *bytes) {
        auto *const memory = reinterpret_cast<unsigned char *>(number);
        CHECK((size == 0 || std::memcmp(memory, bytes->data(), size) == 0));
        return memory;
    }
};

/// In its own memory, so that a sanitizer detects reads beyond it.
struct Exactly {
    explicit Exactly(std::span<const unsigned char> bytes)
        : memory(new unsigned char[bytes.size()]), size(bytes.size()) {
        std::copy(bytes.begin(), bytes.end(), memory.get());
    }
    std::unique_ptr<unsigned char[]> memory;
    std::size_t size;
};

/// Writes and reads one struct, or the parameters of one function.
template <typename Type>
struct Struct {
    using Value = Type;
    template <typename Archive>
    static void visit(Archive &archive, Value &value) {
        archive.object("it", value);
    }
};
template <auto Slot, typename Type>
struct Function;
template <auto Slot, typename... Parameters>
struct Function<Slot, pi_result (*)(Parameters...)> {
    using Value = std::tuple<Parameters...>;
    template <typename Archive>
    static void visit(Archive &archive, Value &value) {
        if constexpr (requires { archive.take(); }) {
            std::vector<std::string> all;
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                ((parameter<Slot, I>(archive, value), all.push_back(archive.take())), ...);
            }
            (std::index_sequence_for<Parameters...>());
            archive.text_of_all =
                pi::loader::json_array(all, [](const std::string &one) { return one; });
        } else {
            parameters<Slot>(archive, value);
        }
    }
};

struct Text : TextWriter<Objects> {
    using TextWriter::TextWriter;
    std::string text_of_all; ///< of all parameters
};

template <typename What>
std::string text_of(typename What::Value &value, bool trusted = true) {
    Objects objects;
    std::string cannot;
    Text writer(objects, trusted, cannot);
    What::visit(writer, value);
    return writer.text_of_all.empty() ? writer.take() : writer.text_of_all;
}

template <typename What>
std::vector<unsigned char> bytes_of(typename What::Value &value) {
    Objects objects;
    std::vector<unsigned char> bytes;
    BinaryWriter writer(bytes, objects);
    What::visit(writer, value);
    return bytes;
}

/// Whether they are a whole call.
template <typename What>
bool read(const Exactly &bytes, Memory &memory, typename What::Value &value) {
    Objects objects;
    BinaryReader reader(std::span<const unsigned char>(bytes.memory.get(), bytes.size), memory,
                        objects);
    What::visit(reader, value);
    return reader.error() == nullptr && reader.at_end();
}

constexpr uint64_t enough = 1 << 20;

template <typename What>
void pass_through_both(uint64_t seed) {
    typename What::Value value{};
    Filler filler(seed, false);
    What::visit(filler, value);

    const std::vector<unsigned char> bytes = bytes_of<What>(value);
    typename What::Value copy{};
    Memory memory(enough);
    REQUIRE(read<What>(Exactly(bytes), memory, copy));
    CHECK(bytes_of<What>(copy) == bytes);

    const std::string text = text_of<What>(value);
    INFO(text);
    typename What::Value from_text{};
    Objects objects;
    pi_run::Storage storage;
    const Json json = Json::parse(text[0] == '[' ? text : R"({"it":)" + text + "}");
    pi_run::TextReader reader(objects, storage, json, false);
    What::visit(reader, from_text);
    CHECK(text_of<What>(from_text) == text);
}

/// Truncated at any byte it is an error; with other bytes it is one or another call.
template <typename What>
void break_bytes(uint64_t seed) {
    typename What::Value value{};
    Filler filler(seed, false);
    What::visit(filler, value);
    std::vector<unsigned char> bytes = bytes_of<What>(value);
    const std::size_t step = 1 + bytes.size() / 200;
    for (std::size_t size = 0; size < bytes.size(); size += step) {
        Memory memory(enough);
        typename What::Value out{};
        CHECK_FALSE(read<What>(Exactly({bytes.data(), size}), memory, out));
    }
    std::mt19937_64 random(seed);
    for (int i = 0; i < 200 && !bytes.empty(); ++i) {
        std::vector<unsigned char> broken = bytes;
        for (uint64_t k = 0; k <= random() % 4; ++k)
            broken[random() % broken.size()] = static_cast<unsigned char>(random());
        Memory memory(enough);
        typename What::Value out{};
        read<What>(Exactly(broken), memory, out);
    }
}

/// Each byte that is not an address's is in both archives.
template <typename Type>
void change_each_byte(uint64_t seed) {
    static_assert(std::has_unique_object_representations_v<Type>, "it has no padding");
    using What = Struct<Type>;
    Type value{};
    Filler filler(seed, true);
    filler.fill(value);
    auto *const first = reinterpret_cast<unsigned char *>(&value);
    std::vector<bool> left_out(sizeof value);
    if (pi::type_of<Type> != PI_TYPE_NONE)
        std::fill_n(left_out.begin(), sizeof(pi_struct_header), true);
    for (const auto &[address, size] : filler.addresses()) {
        const auto *const at = static_cast<const unsigned char *>(address);
        if (at >= first && at < first + sizeof value)
            std::fill_n(left_out.begin() + (at - first), size, true);
    }
    if constexpr (std::is_same_v<Type, pi_kernel_argument>) {
        if (value.kind == PI_ARGUMENT_LOCAL)
            std::fill_n(left_out.begin() + offsetof(pi_kernel_argument, value), 8, true);
    }
    const std::string text = text_of<What>(value, false);
    const std::vector<unsigned char> bytes = bytes_of<What>(value);
    for (std::size_t i = 0; i < sizeof value; ++i) {
        if (left_out[i])
            continue;
        for (const unsigned char change : {0x01, 0x80}) {
            first[i] ^= change;
            INFO("byte " << i << " of " << sizeof value << ": " << text);
            CHECK(text_of<What>(value, false) != text);
            CHECK(bytes_of<What>(value) != bytes);
            first[i] ^= change;
        }
    }
}

} // namespace

TEMPLATE_TEST_CASE("every struct keeps its contents in both archives, and no member is forgotten",
                   "", pi_native_handle, pi_native_desc, pi_device_partition_desc,
                   pi_program_binary, pi_memory_scope, pi_context_desc, pi_memory_connection_query,
                   pi_memory_connection_info, pi_memory_verification_desc, pi_queue_desc,
                   pi_sampler_desc, pi_kernel_desc, pi_host_event_desc, pi_mem_layout_desc,
                   pi_mem_buffer_desc, pi_mem_image_desc, pi_mem_partition_desc, pi_external_handle,
                   pi_mem_import_desc, pi_mem_export_desc, pi_usm_desc, pi_usm_pool_desc, pi_region,
                   pi_buffer_read_desc, pi_buffer_write_desc, pi_buffer_copy_desc,
                   pi_buffer_fill_desc, pi_buffer_map_desc, pi_unmap_desc, pi_image_region,
                   pi_image_read_desc, pi_image_write_desc, pi_image_copy_region,
                   pi_image_copy_desc, pi_image_fill_desc, pi_usm_copy_desc, pi_usm_fill_desc,
                   pi_usm_prefetch_desc, pi_usm_advise_desc, pi_usm_alloc_desc, pi_usm_free_desc,
                   pi_kernel_argument, pi_kernel_launch_desc, pi_host_function_desc,
                   pi_events_wait_desc, pi_barrier_desc, pi_timestamp_desc,
                   pi_device_global_read_desc, pi_device_global_write_desc, pi_program_desc,
                   pi_program_build_desc, pi_program_link_desc, pi_specialization_constant) {
    for (uint64_t seed = 0; seed < 12; ++seed) {
        INFO("seed " << seed);
        pass_through_both<Struct<TestType>>(seed);
        break_bytes<Struct<TestType>>(seed);
        change_each_byte<TestType>(seed);
    }
}

TEST_CASE("every call keeps its arguments in both archives") {
    for (uint64_t seed = 0; seed < 8; ++seed) {
        INFO("seed " << seed);
#define PI_FUNCTION(name, group, needs, since)                                                     \
    {                                                                                              \
        INFO(#name);                                                                               \
        using What = Function<&pi_dispatch::name, decltype(pi_dispatch::name)>;                    \
        pass_through_both<What>(seed);                                                             \
        break_bytes<What>(seed);                                                                   \
    }
#include <pi/pi_functions.def>
    }
}

TEST_CASE("a call that needs much memory for few bytes is refused before it is allocated") {
    std::vector<unsigned char> bytes;
    Objects objects;
    pi_region region{};
    region.extent[0] = UINT64_C(1) << 50;
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.region_count = 1;
    desc.regions = &region;
    desc.host_ptr = &bytes;
    BinaryWriter writer(bytes, objects);
    writer.object("it", desc);
    Memory memory(enough);
    pi_buffer_read_desc out{};
    CHECK_FALSE(read<Struct<pi_buffer_read_desc>>(Exactly(bytes), memory, out));

    // A count of 2^32 - 1 devices without any.
    pi_context_desc many{};
    many.device_count = UINT32_MAX;
    bytes = bytes_of<Struct<pi_context_desc>>(many);
    bytes.back() = 1; // the array is not NULL
    pi_context_desc got{};
    Memory all(UINT64_MAX);
    CHECK_FALSE(read<Struct<pi_context_desc>>(Exactly(bytes), all, got));
}

TEST_CASE("what no other process can have is an error of the writer") {
    Objects objects;
    std::vector<unsigned char> bytes;
    auto program = pi::desc<pi_program_desc>();
    program.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    BinaryWriter writer(bytes, objects);
    writer.object("it", program);
    CHECK(writer.error() != nullptr);

    auto fill = pi::desc<pi_usm_fill_desc>();
    fill.pointer = &program;
    BinaryWriter other(bytes, objects);
    other.object("it", fill);
    CHECK(other.error() != nullptr);

    auto queue = pi::desc<pi_queue_desc>();
    queue.next = &program;
    const pi_queue_desc *desc = &queue;
    BinaryWriter third(bytes, objects);
    third.descriptor("desc", desc);
    CHECK(third.error() != nullptr);
}

TEST_CASE("memory used in place keeps its place in a page, also at the page's beginning") {
    for (const std::size_t offset : {0, 1, 64, 4095}) {
        const std::unique_ptr<unsigned char, void (*)(void *)> block(
            static_cast<unsigned char *>(std::aligned_alloc(4096, 8192)), &std::free);
        std::fill_n(block.get() + offset, 100, static_cast<unsigned char>(7));
        auto desc = pi::desc<pi_memory_verification_desc>();
        desc.host_ptr = block.get() + offset;
        desc.size = 100;
        using What = Struct<pi_memory_verification_desc>;
        const std::vector<unsigned char> bytes = bytes_of<What>(desc);
        for (int again = 0; again < 10; ++again) {
            pi_memory_verification_desc copy{};
            Memory memory(enough);
            REQUIRE(read<What>(Exactly(bytes), memory, copy));
            CHECK(reinterpret_cast<std::uintptr_t>(copy.host_ptr) % 4096 == offset);
        }
    }
}
