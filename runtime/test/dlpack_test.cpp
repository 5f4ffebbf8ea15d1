// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of other libraries in place, and places' memory as tensors, on every available backend.
#include "equipment.hpp"
#include "skip.hpp"

#include <pi/runtime/dlpack.hpp>

#include <catch2/catch.hpp>

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <future>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

using namespace runtime_test;

namespace {

constexpr pi_dlpack_data_type float32{PI_DLPACK_FLOAT, 32, 1};

/// A tensor as another library makes it; counts the deleter's calls.
template <class Managed>
struct Producer {
    Producer(void *data, pi_dlpack_device device, pi_dlpack_data_type dtype,
             std::vector<int64_t> extents, std::vector<int64_t> steps = {}, uint64_t offset = 0)
        : shape(std::move(extents)), strides(std::move(steps)) {
        pi_dlpack_tensor &tensor = managed.dl_tensor;
        tensor.data = data;
        tensor.device = device;
        tensor.ndim = static_cast<int32_t>(shape.size());
        tensor.dtype = dtype;
        tensor.shape = shape.data();
        tensor.strides = strides.empty() ? nullptr : strides.data();
        tensor.byte_offset = offset;
        managed.manager_ctx = this;
        managed.deleter = [](Managed *self) {
            ++static_cast<Producer *>(self->manager_ctx)->deleted;
        };
        if constexpr (std::is_same_v<Managed, pi_dlpack_managed_tensor_versioned>) {
            managed.version = {1, 0};
        }
    }
    Producer(const Producer &) = delete;
    Producer &operator=(const Producer &) = delete;

    auto *get() {
        if constexpr (std::is_same_v<Managed, pi_dlpack_managed_tensor>) {
            return reinterpret_cast<::DLManagedTensor *>(&managed);
        } else {
            return reinterpret_cast<::DLManagedTensorVersioned *>(&managed);
        }
    }

    std::vector<int64_t> shape, strides;
    Managed managed{};
    std::atomic<int> deleted{0};
};
using Old = Producer<pi_dlpack_managed_tensor>;
using New = Producer<pi_dlpack_managed_tensor_versioned>;

constexpr pi_dlpack_device cpu{PI_DLPACK_CPU, 0};

pi_dlpack_managed_tensor_versioned &as_ours(::DLManagedTensorVersioned *tensor) {
    return *reinterpret_cast<pi_dlpack_managed_tensor_versioned *>(tensor);
}
pi_dlpack_managed_tensor &as_ours(::DLManagedTensor *tensor) {
    return *reinterpret_cast<pi_dlpack_managed_tensor *>(tensor);
}

template <class Call>
std::string text_of(Call call) {
    try {
        call();
    } catch (const Error &error) {
        return error.what();
    }
    return {};
}

uint32_t backend_of(const Topology &topology, PlaceIndex place) {
    pi_platform platform = nullptr;
    uint32_t backend = 0;
    check(piDeviceGetInfo(topology.device(place), PI_DEVICE_INFO_PLATFORM, sizeof platform,
                          &platform, nullptr),
          "piDeviceGetInfo");
    check(piPlatformGetInfo(platform, PI_PLATFORM_INFO_BACKEND, sizeof backend, &backend, nullptr),
          "piPlatformGetInfo");
    return backend;
}

/// The address or handle of a use at a device.
uint64_t native_of(const Topology &topology, const Acquisition &use) {
    pi_native_handle native{};
    check(piMemGetNativeHandle(use.mem(), topology.device(use.place()), &native),
          "piMemGetNativeHandle");
    return native.value[0];
}

} // namespace

TEST_CASE("a tensor of the host is used in place, at its offset, with its strides", "[dlpack]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    std::vector<float> numbers(64);
    std::iota(numbers.begin(), numbers.end(), 0.0F);
    // Every second column of rows 1 to 3 of an 8 by 8 matrix.
    Old producer(numbers.data(), cpu, float32, {3, 4}, {8, 2}, 8 * sizeof(float));
    {
        const ImportedTensor tensor = import_dlpack(runtime, producer.get());
        CHECK(tensor.place == host_place);
        CHECK_FALSE(tensor.read_only);
        CHECK_FALSE(tensor.copied);
        CHECK(tensor.layout.shape == std::vector<int64_t>{3, 4});
        CHECK(tensor.layout.strides == std::vector<int64_t>{8, 2});
        CHECK(tensor.layout.begin == 0);
        CHECK(tensor.buffer.size() == (2 * 8 + 3 * 2 + 1) * sizeof(float));
        {
            Acquisition host = tensor.buffer.acquire(host_place, Access::read_write);
            REQUIRE(static_cast<void *>(host.pointer()) == &numbers[8]);
            host.release();
        }
        for (const PlaceIndex place : machine.places()) {
            const auto seen = device_read(machine, tensor.buffer, place);
            CHECK(std::memcmp(seen.data(), &numbers[8], seen.size()) == 0);
            CHECK(producer.deleted == 0);
        }
        // A write at a device changes the producer's memory after the next acquire at the host.
        Acquisition use = tensor.buffer.acquire(1, Access::discard_write);
        use.release(machine.fill(use, 0).get());
        Acquisition host = tensor.buffer.acquire(host_place, Access::read);
        host.wait(patience);
        host.release();
        CHECK(numbers[7] == 7.0F);
        CHECK(numbers[8] == 0.0F);
        CHECK(numbers[8 + 22] == 0.0F);
        CHECK(numbers[8 + 23] == 31.0F);
    }
    REQUIRE(runtime.finish(patience));
    CHECK(producer.deleted == 1);
}

TEST_CASE("strides that go backwards begin at the last element", "[dlpack]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    std::vector<uint8_t> bytes(16);
    Old producer(&bytes[15], cpu, {PI_DLPACK_UINT, 8, 1}, {4, 4}, {-4, -1});
    const ImportedTensor tensor = import_dlpack(runtime, producer.get());
    CHECK(tensor.layout.begin == 15);
    Acquisition host = tensor.buffer.acquire(host_place, Access::read);
    CHECK(static_cast<void *>(host.pointer()) == bytes.data());
    host.release();
    // Exported again, element 0, 0 has its original address.
    auto *managed = export_dlpack_unversioned(tensor.buffer.acquire(host_place, Access::read_write),
                                              tensor.layout);
    CHECK(as_ours(managed).dl_tensor.data == &bytes[15]);
    CHECK(as_ours(managed).dl_tensor.strides[0] == -4);
    as_ours(managed).deleter(&as_ours(managed));
}

TEST_CASE("a versioned tensor's flags are reported, and a read-only one is never written",
          "[dlpack]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    const auto expected = pattern(4096, 3);
    std::vector<uint8_t> bytes = expected;
    New producer(bytes.data(), cpu, {PI_DLPACK_UINT, 8, 1}, {4096});
    const uint64_t flags = GENERATE(0, PI_DLPACK_READ_ONLY, PI_DLPACK_IS_COPIED);
    producer.managed.flags = flags;
    producer.managed.version.minor = 7; // newer and compatible
    {
        const ImportedTensor tensor =
            import_dlpack(runtime, producer.get(), {.storage = {.name = "t"}});
        CHECK(tensor.read_only == (flags == PI_DLPACK_READ_ONLY));
        CHECK(tensor.copied == (flags == PI_DLPACK_IS_COPIED));
        for (const PlaceIndex place : {host_place, PlaceIndex{1}}) {
            for (const Access access : {Access::write, Access::read_write, Access::discard_write}) {
                const auto acquire = [&] { tensor.buffer.acquire(place, access).abandon(); };
                if (tensor.read_only) {
                    CHECK(code_of(acquire) == PI_ERROR_INVALID_OPERATION);
                    CHECK_THAT(text_of(acquire), Catch::Contains("'t' is read-only"));
                } else {
                    CHECK(code_of(acquire) == PI_SUCCESS);
                }
            }
        }
        if (tensor.read_only) { // the abandoned writes above left no valid bytes
            CHECK(device_read(machine, tensor.buffer, 1) == expected);
        }
    }
    REQUIRE(runtime.finish(patience));
    CHECK(producer.deleted == 1);
    if (flags == PI_DLPACK_READ_ONLY) {
        CHECK(bytes == expected);
    }
}

TEST_CASE("a tensor that is refused stays the caller's, and the text says why", "[dlpack]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    std::vector<uint8_t> bytes(64);
    struct Wrong {
        pi_result code;
        const char *words;
        std::function<void(New &)> spoil;
    };
    const std::vector<Wrong> all{
        {PI_ERROR_UNSUPPORTED_FEATURE, "of version 2.3",
         [](New &t) {
             t.managed.version = {2, 3};
         }},
        {PI_ERROR_UNSUPPORTED_FEATURE, "device (7, 0) cannot be used in place",
         [](New &t) {
             t.managed.dl_tensor.device = {PI_DLPACK_VULKAN, 0};
         }},
        {PI_ERROR_UNSUPPORTED_FEATURE, "device (99, 1)",
         [](New &t) {
             t.managed.dl_tensor.device = {99, 1};
         }},
        {PI_ERROR_INVALID_DEVICE, "no place of the topology is device (2, 77)",
         [](New &t) {
             t.managed.dl_tensor.device = {PI_DLPACK_CUDA, 77};
         }},
        {PI_ERROR_INVALID_NULL_POINTER, "data is NULL",
         [](New &t) { t.managed.dl_tensor.data = nullptr; }},
        {PI_ERROR_INVALID_NULL_POINTER, "shape is NULL",
         [](New &t) { t.managed.dl_tensor.shape = nullptr; }},
        {PI_ERROR_INVALID_VALUE, "ndim is -1", [](New &t) { t.managed.dl_tensor.ndim = -1; }},
        {PI_ERROR_INVALID_VALUE, "shape[1] is -8", [](New &t) { t.shape[1] = -8; }},
        {PI_ERROR_INVALID_SIZE, "shape[0] is 0", [](New &t) { t.shape[0] = 0; }},
        {PI_ERROR_INVALID_SIZE, "overflow",
         [](New &t) {
             t.shape = {INT64_MAX, INT64_MAX};
         }},
        {PI_ERROR_UNSUPPORTED_FEATURE, "elements of 4 bits times 1 lanes",
         [](New &t) { t.managed.dl_tensor.dtype.bits = 4; }},
    };
    for (const Wrong &wrong : all) {
        New producer(bytes.data(), cpu, {PI_DLPACK_UINT, 8, 1}, {8, 8});
        wrong.spoil(producer);
        if (producer.managed.dl_tensor.shape != nullptr) {
            producer.managed.dl_tensor.shape = producer.shape.data();
        }
        const auto import = [&] { import_dlpack(runtime, producer.get()); };
        INFO(wrong.words);
        CHECK(code_of(import) == wrong.code);
        CHECK_THAT(text_of(import), Catch::Contains(wrong.words));
        CHECK(producer.deleted == 0);
    }
    CHECK(code_of([&] { import_dlpack(runtime, static_cast<::DLManagedTensor *>(nullptr)); }) ==
          PI_ERROR_INVALID_NULL_POINTER);
    New producer(bytes.data(), cpu, {PI_DLPACK_UINT, 8, 1}, {8, 8});
    CHECK(code_of([&] { import_dlpack(runtime, producer.get(), {.place = 1}); }) ==
          PI_ERROR_INVALID_VALUE);
    CHECK(code_of([&] { import_dlpack(runtime, producer.get(), {.place = 1000}); }) ==
          PI_ERROR_INVALID_VALUE);
    CHECK(producer.deleted == 0);
}

TEST_CASE("the deleter is called once, when the last use has ended, on whichever thread",
          "[dlpack]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    std::vector<uint8_t> bytes(1 << 16);
    New producer(bytes.data(), cpu, {PI_DLPACK_UINT, 8, 1}, {1 << 16});
    pi_event raw = nullptr;
    check(piEventCreateHost(machine.topology()->context(1), nullptr, &raw), "piEventCreateHost");
    const Event gate = Event::adopt(raw);
    {
        const ImportedTensor tensor = import_dlpack(runtime, producer.get());
        Acquisition use = tensor.buffer.acquire(1, Access::read);
        use.release(gate.get());
    }
    CHECK(producer.deleted == 0); // the storage is destroyed, its last use has not ended
    std::thread other([&] { piEventSignalHost(gate.get(), PI_SUCCESS); });
    other.join();
    REQUIRE(runtime.finish(patience));
    CHECK(producer.deleted == 1);

    // Many tensors on several threads, each destroyed on its thread.
    constexpr int threads = 4, rounds = 25;
    std::vector<std::unique_ptr<New>> tensors;
    for (int i = 0; i < threads * rounds; ++i) {
        tensors.push_back(std::make_unique<New>(bytes.data() + 64 * i, cpu,
                                                pi_dlpack_data_type{PI_DLPACK_UINT, 8, 1},
                                                std::vector<int64_t>{64}));
    }
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread) {
        workers.emplace_back([&, thread] {
            for (int round = 0; round < rounds; ++round) {
                const ImportedTensor tensor =
                    import_dlpack(runtime, tensors[thread * rounds + round]->get());
                const Buffer copy = tensor.buffer;
                copy.prefetch(1);
            }
        });
    }
    for (std::thread &worker : workers) {
        worker.join();
    }
    REQUIRE(runtime.finish(patience));
    for (const auto &tensor : tensors) {
        CHECK(tensor->deleted == 1);
    }
}

TEST_CASE("a use at the host is exported in place, and its deleter ends it", "[dlpack]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = 1024});
    const Buffer buffer = storage.buffer(256, 512);
    auto *managed = export_dlpack(buffer.acquire(host_place, Access::discard_write),
                                  TensorLayout::dense(float32, {8, 16}));
    pi_dlpack_managed_tensor_versioned &given = as_ours(managed);
    CHECK(given.version.major == 1);
    CHECK(given.flags == 0);
    CHECK(given.dl_tensor.device.device_type == PI_DLPACK_CPU);
    CHECK(given.dl_tensor.byte_offset == 0);
    CHECK(std::vector<int64_t>(given.dl_tensor.strides, given.dl_tensor.strides + 2) ==
          std::vector<int64_t>{16, 1});
    std::memset(given.dl_tensor.data, 7, 512);
    CHECK(code_of([&] { buffer.acquire(host_place, Access::read); }) == PI_ERROR_INVALID_OPERATION);
    std::thread([&] { given.deleter(&given); }).join();
    CHECK(host_read(buffer) == std::vector<uint8_t>(512, 7));
    if (!machine.places().empty()) {
        CHECK(device_read(machine, buffer, 1) == std::vector<uint8_t>(512, 7));
    }

    // Only the versioned form says that a use is read-only and that the data is a copy.
    const TensorLayout layout = TensorLayout::dense({PI_DLPACK_UINT, 8, 1}, {512});
    auto *read = export_dlpack(buffer.acquire(host_place, Access::read), layout, true);
    CHECK(as_ours(read).flags == (PI_DLPACK_READ_ONLY | PI_DLPACK_IS_COPIED));
    as_ours(read).deleter(&as_ours(read));
    CHECK(code_of([&] {
              export_dlpack_unversioned(buffer.acquire(host_place, Access::read), layout);
          }) == PI_ERROR_UNSUPPORTED_FEATURE);
    // Past the end of the range; the use ends all the same.
    CHECK(code_of([&] {
              export_dlpack(buffer.acquire(host_place, Access::read_write),
                            TensorLayout::dense({PI_DLPACK_UINT, 8, 1}, {513}));
          }) == PI_ERROR_INVALID_SIZE);
    TensorLayout before = layout;
    before.strides = {-1};
    CHECK(code_of([&] { export_dlpack(buffer.acquire(host_place, Access::read_write), before); }) ==
          PI_ERROR_INVALID_SIZE);
    CHECK(host_read(buffer) == std::vector<uint8_t>(512, 7));
}

TEST_CASE("an exported use that another object holds ends when the deleter releases its owner",
          "[dlpack]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = 64});
    Acquisition use = storage.buffer().acquire(host_place, Access::discard_write);
    auto owner = std::make_shared<int>(0);
    const TensorLayout layout = TensorLayout::dense({PI_DLPACK_UINT, 8, 1}, {64});
    auto *managed = export_dlpack_unversioned(use, layout, owner);
    CHECK(owner.use_count() == 2);
    CHECK(as_ours(managed).dl_tensor.data == use.pointer());
    as_ours(managed).deleter(&as_ours(managed));
    CHECK(owner.use_count() == 1);
    CHECK(use.held());
    use.release();
}

TEST_CASE("memory of a device is exported and imported by its address or handle, in place",
          "[dlpack]") {
    const Machine machine(1);
    const Topology &topology = *machine.topology();
    const Runtime runtime(machine.topology());
    constexpr uint64_t size = 64 << 10;
    int tried = 0;
    for (const PlaceIndex place : machine.places()) {
        const uint32_t backend = backend_of(topology, place);
        INFO(topology.info(place).name);
        const Storage producer(runtime, {.size = size,
                                         .routes = mask_of(RouteKind::none_needed) |
                                                   mask_of(RouteKind::migrate) |
                                                   mask_of(RouteKind::host_bounce)});
        host_write(producer.buffer(), 0, pattern(size, place));
        const auto give = [&] {
            return export_dlpack(producer.buffer().acquire(place, Access::read_write),
                                 TensorLayout::dense(float32, {size / 4}));
        };
        if (backend == PI_BACKEND_SIMULATED) {
            CHECK(code_of(give) == PI_ERROR_UNSUPPORTED_FEATURE);
            CHECK(code_of([&] { dlpack_device(topology, place); }) == PI_ERROR_UNSUPPORTED_FEATURE);
            continue;
        }
        auto *managed = give();
        const pi_dlpack_tensor &tensor = as_ours(managed).dl_tensor;
        const pi_dlpack_device device = dlpack_device(topology, place);
        CHECK(tensor.device.device_type == device.device_type);
        CHECK(tensor.device.device_id == device.device_id);
        // Imported again, it is another storage on the same memory.
        {
            const ImportedTensor same = import_dlpack(runtime, managed);
            if (backend == PI_BACKEND_HOST) {
                CHECK(same.place == host_place);
            } else {
                REQUIRE(same.place == place);
                Acquisition use = same.buffer.acquire(place, Access::read);
                const uint64_t native = native_of(topology, use);
                use.release();
                if (backend !=
                    PI_BACKEND_OPENCL) { // where it is a sub-buffer, which has its own handle
                    CHECK(native == reinterpret_cast<uintptr_t>(tensor.data));
                }
                ++tried;
            }
            CHECK(host_read(same.buffer) == pattern(size, place));
            host_write(same.buffer, 0, pattern(size, 100 + place));
            Acquisition back = same.buffer.acquire(same.place, Access::read);
            back.wait(patience);
            back.release();
            REQUIRE(same.storage.finish(patience));
        } // its deleter ends the producer's use
        REQUIRE(runtime.finish(patience));
        CHECK(device_read(machine, producer.buffer(), place) == pattern(size, 100 + place));
        CHECK(host_read(producer.buffer()) == pattern(size, 100 + place));
    }
    if (tried == 0) {
        pi_test::skip("no device has memory of its own that others can name");
    }
}

TEST_CASE("a sub-device is not a tensor's device, and hides no other device", "[dlpack]") {
    const Machine machine(1);
    int tried = 0;
    for (const PlaceIndex root : machine.places()) {
        pi_device device = machine.topology()->device(root);
        auto desc = pi::desc<pi_device_partition_desc>();
        desc.kind = PI_PARTITION_EQUALLY;
        desc.count = 1;
        uint32_t count = 0;
        if (backend_of(*machine.topology(), root) != PI_BACKEND_OPENCL ||
            piDevicePartition(device, &desc, 0, nullptr, &count) != PI_SUCCESS || count == 0) {
            continue;
        }
        std::vector<pi_device> parts(count);
        check(piDevicePartition(device, &desc, count, parts.data(), &count), "piDevicePartition");
        std::vector<Device> owners;
        std::transform(parts.begin(), parts.end(), std::back_inserter(owners), &Device::adopt);
        const auto topology = Topology::from_devices(std::array{parts[0], device});
        const Runtime runtime(topology);
        const Storage storage(runtime, {.size = 256});
        const TensorLayout layout = TensorLayout::dense(float32, {64});
        CHECK_THAT(text_of([&] { dlpack_device(*topology, 1); }), Catch::Contains("sub-device"));
        CHECK(code_of([&] {
                  export_dlpack(storage.buffer().acquire(1, Access::discard_write), layout);
              }) == PI_ERROR_UNSUPPORTED_FEATURE);
        const Storage other(runtime, {.size = 256}); // with memory only at the root device
        const ImportedTensor same = import_dlpack(
            runtime, export_dlpack(other.buffer().acquire(2, Access::discard_write), layout));
        CHECK(same.place == 2);
        ++tried;
    }
    if (tried == 0) {
        pi_test::skip("no OpenCL device has sub-devices");
    }
}

TEST_CASE("given device memory must be the place's, and large enough", "[dlpack]") {
    const Machine machine(2);
    const Runtime runtime(machine.topology());
    const Topology &topology = *machine.topology();
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = 4096;
    Mem mem;
    check(piMemBufferCreate(topology.context(1), topology.device(1), &desc, mem.out()),
          "piMemBufferCreate");
    const auto other = static_cast<PlaceIndex>(1 + machine.devices().size()); // the same device
    const auto make = [&](StorageDescriptor description) {
        return code_of([&] {
            description.device_memory = mem;
            const Storage storage(runtime, description);
            CHECK(storage.valid(description.device_place) == RangeSet({0, description.size}));
            CHECK(storage.valid(host_place).empty());
        });
    };
    uint8_t byte = 0;
    CHECK(make({.size = 4096, .device_place = 1}) == PI_SUCCESS);
    CHECK(make({.size = 4097, .device_place = 1}) == PI_ERROR_INVALID_SIZE);
    CHECK(make({.size = 4096, .device_place = other}) == PI_ERROR_INVALID_MEM_OBJECT);
    CHECK(make({.size = 4096, .device_place = host_place}) == PI_ERROR_INVALID_VALUE);
    CHECK(make({.size = 4096, .device_place = 1000}) == PI_ERROR_INVALID_VALUE);
    CHECK(make({.size = 1, .host_memory = &byte, .device_place = 1}) == PI_ERROR_INVALID_VALUE);
}

TEST_CASE("an image is refused as memory of a storage", "[dlpack]") {
    const Machine machine(1);
    const Topology &topology = *machine.topology();
    const Runtime runtime(machine.topology());
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = PI_IMAGE_2D;
    desc.channel_order = PI_CHANNEL_ORDER_RGBA;
    desc.channel_type = PI_CHANNEL_UNORM8;
    desc.width = desc.height = 32;
    int tried = 0;
    for (const PlaceIndex place : machine.places()) {
        Mem image;
        if (piMemImageCreate(topology.context(place), topology.device(place), &desc, image.out()) ==
            PI_SUCCESS) {
            INFO(topology.info(place).name);
            CHECK(code_of([&] {
                      const Storage storage(
                          runtime, {.size = 4096, .device_memory = image, .device_place = place});
                  }) == PI_ERROR_INVALID_MEM_OBJECT);
            ++tried;
        }
    }
    if (tried == 0) {
        pi_test::skip("no device has images");
    }
}

namespace {

/// A function of CUDA's driver, loaded as the plugin loads it.
template <class Function>
Function *driver_function(const char *name) {
    void *const driver = dlopen(PI_TEST_SIMULATED_CUDA, RTLD_NOW);
    return driver != nullptr ? reinterpret_cast<Function *>(dlsym(driver, name)) : nullptr;
}

std::vector<PlaceIndex> cuda_places(const Machine &machine) {
    std::vector<PlaceIndex> places;
    for (const PlaceIndex place : machine.places()) {
        if (backend_of(*machine.topology(), place) == PI_BACKEND_CUDA) {
            places.push_back(place);
        }
    }
    return places;
}

/// Another library on the first CUDA device, in the primary context: memory, and streams whose work
/// waits for open().
class CudaLibrary {
public:
    explicit CudaLibrary(const Machine &machine) {
        const std::vector<PlaceIndex> places = cuda_places(machine);
        if (places.empty() || driver_function<int(void *)>("cuCtxSetCurrent") == nullptr) {
            pi_test::skip("no device of CUDA");
        }
        place = places.front();
        const Topology &topology = *machine.topology();
        pi_native_handle context{};
        OK(piContextGetNativeHandle(topology.context(place), topology.device(place), &context));
        context_ = reinterpret_cast<void *>(context.value[0]);
        make_current();
    }
    ~CudaLibrary() {
        open();
        driver_function<int()>("cuCtxSynchronize")();
        for (void *const stream : streams_) {
            driver_function<int(void *)>("cuStreamDestroy_v2")(stream);
        }
        for (const uint64_t address : memory_) {
            driver_function<int(uint64_t)>("cuMemFree_v2")(address);
        }
        driver_function<int(void *)>("cuCtxSetCurrent")(nullptr);
    }
    CudaLibrary(const CudaLibrary &) = delete;
    CudaLibrary &operator=(const CudaLibrary &) = delete;

    void make_current() const {
        REQUIRE(driver_function<int(void *)>("cuCtxSetCurrent")(context_) == 0);
    }
    /// `size` zero bytes.
    uint64_t allocate() {
        uint64_t address = 0;
        REQUIRE(driver_function<int(uint64_t *, size_t)>("cuMemAlloc_v2")(&address, size) == 0);
        memory_.push_back(address);
        fill(nullptr, address, 0);
        REQUIRE(driver_function<int()>("cuCtxSynchronize")() == 0);
        return address;
    }
    int64_t make_stream() {
        void *stream = nullptr;
        REQUIRE(driver_function<int(void **, unsigned)>("cuStreamCreate")(&stream, 1) == 0);
        streams_.push_back(stream);
        return static_cast<int64_t>(reinterpret_cast<uintptr_t>(stream));
    }
    static void *handle(const DlpackStream &stream) {
        return reinterpret_cast<void *>(static_cast<uintptr_t>(stream.value_or(1)));
    }
    /// Work that is put into the stream from now on waits for open().
    void close(const DlpackStream &stream) {
        constexpr auto wait = [](void *self) {
            static_cast<CudaLibrary *>(self)->opened_.get_future().wait();
        };
        using HostFunction = void(void *);
        REQUIRE(driver_function<int(void *, HostFunction *, void *)>("cuLaunchHostFunc")(
                    handle(stream), wait, this) == 0);
        closed_ = true;
    }
    void open() {
        if (std::exchange(closed_, false)) {
            opened_.set_value();
        }
    }
    static void fill(void *stream, uint64_t address, uint8_t value) {
        REQUIRE(driver_function<int(uint64_t, uint8_t, size_t, void *)>("cuMemsetD8Async")(
                    address, value, size, stream) == 0);
    }
    static void copy(void *stream, uint64_t to, uint64_t from) {
        REQUIRE(driver_function<int(uint64_t, uint64_t, size_t, void *)>("cuMemcpyDtoDAsync_v2")(
                    to, from, size, stream) == 0);
    }
    static std::vector<uint8_t> bytes_of(uint64_t address) {
        std::vector<uint8_t> bytes(size);
        REQUIRE(driver_function<int()>("cuCtxSynchronize")() == 0);
        REQUIRE(driver_function<int(void *, uint64_t, size_t)>("cuMemcpyDtoH_v2")(
                    bytes.data(), address, size) == 0);
        return bytes;
    }
    static std::unique_ptr<New> tensor(uint64_t address) {
        return std::make_unique<New>(
            reinterpret_cast<void *>(address), pi_dlpack_device{PI_DLPACK_CUDA, 0},
            pi_dlpack_data_type{PI_DLPACK_UINT, 8, 1}, std::vector<int64_t>{size});
    }

    static constexpr int64_t size = 4096;
    PlaceIndex place = host_place;

private:
    void *context_ = nullptr;
    std::vector<uint64_t> memory_;
    std::vector<void *> streams_;
    std::promise<void> opened_;
    bool closed_ = false;
};

std::vector<uint8_t> all(uint8_t value) {
    return std::vector<uint8_t>(CudaLibrary::size, value);
}

std::vector<uint8_t> bytes_of(const Acquisition &host) {
    const auto *const bytes = reinterpret_cast<const uint8_t *>(host.pointer());
    return {bytes, bytes + host.range().size()};
}

bool is_there(const Acquisition &use) {
    return code_of([&] { use.wait(std::chrono::nanoseconds(0)); }) == PI_SUCCESS;
}

/// Every kind of stream for a tensor's work; empty: the default stream.
DlpackStream any_stream(CudaLibrary &library) {
    switch (GENERATE(0, 1, 2, 3)) {
    case 0:
        return {};
    case 1:
        return 1;
    case 2:
        return 2;
    default:
        return library.make_stream();
    }
}

} // namespace

TEST_CASE("a tensor of CUDA's stream-ordered pool comes to a peer, which has no access to it",
          "[dlpack]") {
    const Machine machine(1);
    const Topology &topology = *machine.topology();
    const std::vector<PlaceIndex> gpus = cuda_places(machine);
    auto *const allocate = driver_function<int(uint64_t *, size_t, void *)>("cuMemAllocAsync");
    if (gpus.size() < 2 || allocate == nullptr ||
        topology.description().buffer(gpus[0], gpus[1]).connection !=
            PI_MEMORY_CONNECTION_UNIFIED) {
        pi_test::skip("no two devices of CUDA of which one uses the other's memory");
    }
    auto *const make_current = driver_function<int(void *)>("cuCtxSetCurrent");
    auto *const finish = driver_function<int()>("cuCtxSynchronize");
    auto *const give_back = driver_function<int(uint64_t, void *)>("cuMemFreeAsync");
    pi_native_handle context{};
    OK(piContextGetNativeHandle(topology.context(gpus[0]), topology.device(gpus[0]), &context));
    REQUIRE(make_current(reinterpret_cast<void *>(context.value[0])) == 0);
    constexpr uint64_t size = 4096;
    uint64_t address = 0;
    REQUIRE(allocate(&address, size, nullptr) == 0);
    REQUIRE(finish() == 0);
    {
        const Runtime runtime(machine.topology());
        New producer(reinterpret_cast<void *>(address), {PI_DLPACK_CUDA, 0}, {PI_DLPACK_UINT, 8, 1},
                     {size});
        const ImportedTensor tensor =
            import_dlpack(runtime, producer.get(), {.place = gpus[0], .storage = {.name = "t"}});
        host_write(tensor.buffer, 0, pattern(size, 9));
        CHECK(device_read(machine, tensor.buffer, gpus[0]) == pattern(size, 9));
        CHECK(device_read(machine, tensor.buffer, gpus[1]) == pattern(size, 9));
        // And back into the tensor.
        Acquisition use = tensor.buffer.acquire(gpus[1], Access::discard_write);
        use.release(machine.fill(use, 3).get());
        CHECK(device_read(machine, tensor.buffer, gpus[0]) == std::vector<uint8_t>(size, 3));
        REQUIRE(runtime.finish(patience));
    }
    CHECK(give_back(address, nullptr) == 0);
    CHECK(finish() == 0);
    make_current(nullptr);
}

TEST_CASE("uses of a tensor begin after the work in its producer's stream", "[dlpack]") {
    const Machine machine(1);
    CudaLibrary library(machine);
    const DlpackStream stream = any_stream(library);
    const bool read_only = GENERATE(false, true);
    const uint64_t address = library.allocate();
    library.close(stream);
    library.fill(library.handle(stream), address, 7);
    {
        const Runtime runtime(machine.topology());
        const auto theirs = library.tensor(address);
        theirs->managed.flags = read_only ? PI_DLPACK_READ_ONLY : 0;
        {
            const ImportedTensor tensor = import_dlpack(
                runtime, theirs->get(), {.place = library.place, .stream = stream, .storage = {}});
            Acquisition here = tensor.buffer.acquire(library.place, Access::read);
            CHECK_FALSE(is_there(here));
            Acquisition use = tensor.buffer.acquire(host_place, Access::read);
            CHECK_FALSE(is_there(use));
            library.open();
            use.wait(patience);
            CHECK(bytes_of(use) == all(7));
            use.release();
            CHECK(is_there(here));
            here.release();
            // An import is neither a transfer nor a use.
            CHECK(runtime.counters().bytes_delivered == library.size);
            CHECK(runtime.log().size() == 1);
        }
        REQUIRE(runtime.finish(patience));
        CHECK(theirs->deleted == 1);
    }
}

TEST_CASE("a stream of -1 orders nothing", "[dlpack]") {
    const Machine machine(1);
    CudaLibrary library(machine);
    const Runtime runtime(machine.topology());
    const uint64_t address = library.allocate();
    library.close({});
    const auto theirs = library.tensor(address);
    const ImportedTensor tensor = import_dlpack(
        runtime, theirs->get(), {.place = library.place, .stream = -1, .storage = {}});
    {
        Acquisition use = tensor.buffer.acquire(library.place, Access::read);
        CHECK(is_there(use));
    }
    // Nor in the other direction: the earlier use has not ended.
    Event open;
    OK(piEventCreateHost(machine.topology()->context(library.place), nullptr, open.out()));
    tensor.buffer.acquire(library.place, Access::discard_write).release(open.get());
    ::DLManagedTensorVersioned *const given =
        export_dlpack(tensor.buffer.acquire(library.place, Access::read_write),
                      TensorLayout::dense({PI_DLPACK_UINT, 8, 1}, {library.size}), false, -1);
    OK(piEventSignalHost(open.get(), PI_SUCCESS));
    as_ours(given).deleter(&as_ours(given));
    library.open();
    REQUIRE(runtime.finish(patience));
}

TEST_CASE("a consumer's stream waits for the driver's work on the bytes", "[dlpack]") {
    const Machine machine(1);
    CudaLibrary library(machine);
    const int64_t producers = library.make_stream();
    const int64_t number = GENERATE(1, 2, 3);
    const int64_t stream = number == 3 ? library.make_stream() : number;
    const uint64_t address = library.allocate();
    const uint64_t seen = library.allocate();
    const Runtime runtime(machine.topology());
    library.close(producers);
    library.fill(library.handle(producers), address, 7);
    const auto theirs = library.tensor(address);
    const ImportedTensor tensor = import_dlpack(
        runtime, theirs->get(), {.place = library.place, .stream = producers, .storage = {}});
    // This call does not wait for open(), which this thread calls later.
    ::DLManagedTensorVersioned *const given =
        export_dlpack(tensor.buffer.acquire(library.place, Access::read_write),
                      TensorLayout::dense({PI_DLPACK_UINT, 8, 1}, {library.size}), false, stream);
    CHECK(reinterpret_cast<uintptr_t>(as_ours(given).dl_tensor.data) == address);
    library.copy(library.handle(stream), seen, address);
    library.open();
    CHECK(library.bytes_of(seen) == all(7));
    as_ours(given).deleter(&as_ours(given));
    REQUIRE(runtime.finish(patience));
}

TEST_CASE("a tensor is exported when the work that its driver does not know is over", "[dlpack]") {
    const Machine machine(1);
    CudaLibrary library(machine);
    const DlpackStream stream = any_stream(library);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = library.size});
    Event over;
    OK(piEventCreateHost(machine.topology()->context(library.place), nullptr, over.out()));
    storage.buffer().acquire(library.place, Access::discard_write).release(over.get());
    std::atomic<bool> signalled{false};
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // late, if nobody waits
        signalled = true;
        piEventSignalHost(over.get(), PI_SUCCESS);
    });
    ::DLManagedTensorVersioned *const given =
        export_dlpack(storage.buffer().acquire(library.place, Access::read_write),
                      TensorLayout::dense({PI_DLPACK_UINT, 8, 1}, {library.size}), false, stream);
    CHECK(signalled);
    other.join();
    as_ours(given).deleter(&as_ours(given));
    REQUIRE(runtime.finish(patience));
}

TEST_CASE("a consumer's work in a default stream comes before the next use", "[dlpack]") {
    const Machine machine(1);
    CudaLibrary library(machine);
    const DlpackStream stream = GENERATE(DlpackStream(), DlpackStream(1), DlpackStream(2));
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = library.size});
    ::DLManagedTensorVersioned *const given =
        export_dlpack(storage.buffer().acquire(library.place, Access::discard_write),
                      TensorLayout::dense({PI_DLPACK_UINT, 8, 1}, {library.size}), false, stream);
    library.close(stream);
    library.fill(library.handle(stream), reinterpret_cast<uintptr_t>(as_ours(given).dl_tensor.data),
                 9);
    as_ours(given).deleter(&as_ours(given));
    Acquisition use = storage.buffer().acquire(host_place, Access::read);
    CHECK_FALSE(is_there(use));
    library.open();
    use.wait(patience);
    CHECK(bytes_of(use) == all(9));
    use.release();
    REQUIRE(runtime.finish(patience));
}

TEST_CASE("a stream that the protocol does not have is refused, by its value", "[dlpack]") {
    constexpr pi_dlpack_device cuda{PI_DLPACK_CUDA, 0};
    for (const int64_t stream : {int64_t{0}, int64_t{-2}, INT64_MIN}) {
        CAPTURE(stream);
        CHECK(code_of([&] { check_dlpack_stream(cuda, stream); }) == PI_ERROR_INVALID_VALUE);
        CHECK(text_of([&] {
                  check_dlpack_stream(cuda, stream);
              }).find("stream is " + std::to_string(stream)) != std::string::npos);
    }
    for (const int64_t stream : {int64_t{-1}, int64_t{1}, int64_t{2}, INT64_MAX}) {
        CHECK(code_of([&] { check_dlpack_stream(cuda, stream); }) == PI_SUCCESS);
    }
    for (const int32_t type : {PI_DLPACK_CPU, PI_DLPACK_CUDA_HOST, PI_DLPACK_OPENCL,
                               PI_DLPACK_ONE_API, PI_DLPACK_ROCM_HOST}) {
        CHECK(code_of([&] { check_dlpack_stream({type, 0}, {}); }) == PI_SUCCESS);
        CHECK(code_of([&] { check_dlpack_stream({type, 0}, 1); }) == PI_ERROR_INVALID_VALUE);
    }
    // In both directions: a refused tensor stays the caller's.
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    std::vector<uint8_t> bytes(64);
    New producer(bytes.data(), cpu, {PI_DLPACK_UINT, 8, 1}, {64});
    CHECK(code_of([&] { import_dlpack(runtime, producer.get(), {.stream = 1, .storage = {}}); }) ==
          PI_ERROR_INVALID_VALUE);
    CHECK(producer.deleted == 0);
    const Storage storage(runtime, {.size = 64});
    CHECK(code_of([&] {
              export_dlpack(storage.buffer().acquire(host_place, Access::discard_write),
                            TensorLayout::dense({PI_DLPACK_UINT, 8, 1}, {64}), false, 1);
          }) == PI_ERROR_INVALID_VALUE);
}

TEST_CASE("a first content that never comes is an error for its readers", "[dlpack]") {
    const Machine machine(1);
    CudaLibrary library(machine);
    const Runtime runtime(machine.topology());
    StorageDescriptor description{.size = 4096};
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = 4096;
    const Topology &topology = *machine.topology();
    OK(piMemBufferCreate(topology.context(library.place), topology.device(library.place), &desc,
                         description.device_memory.out()));
    description.device_place = library.place;
    OK(piEventCreateHost(topology.context(library.place), nullptr, description.ready.out()));
    const Event ready = description.ready;
    const Storage storage(runtime, description);
    Acquisition early = storage.buffer().acquire(host_place, Access::read);
    CHECK_FALSE(is_there(early));
    OK(piEventSignalHost(ready.get(), PI_ERROR_BACKEND));
    CHECK(code_of([&] { early.wait(patience); }) != PI_SUCCESS);
    early.abandon();
    // A write replaces the missing bytes.
    host_write(storage.buffer(), 0, std::vector<uint8_t>(4096, 3));
    CHECK(device_read(machine, storage.buffer(), library.place) == std::vector<uint8_t>(4096, 3));
    REQUIRE(runtime.finish(patience));
}

TEST_CASE("options do not override what the import of a tensor sets", "[dlpack]") {
    const Machine machine(1);
    const Topology &topology = *machine.topology();
    const Runtime runtime(machine.topology());
    std::vector<uint8_t> bytes = pattern(4096, 4);
    New producer(bytes.data(), cpu, {PI_DLPACK_UINT, 8, 1}, {4096});
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = 4096;
    DlpackImportOptions options;
    options.storage.host_memory_valid = false;
    check(piMemBufferCreate(topology.context(1), topology.device(1), &desc,
                            options.storage.device_memory.out()),
          "piMemBufferCreate");
    options.storage.device_place = 1;
    options.storage.routes = mask_of(RouteKind::host_bounce);
    const ImportedTensor tensor = import_dlpack(runtime, producer.get(), options);
    CHECK(device_read(machine, tensor.buffer, 1) == bytes);
    REQUIRE(runtime.finish(patience));
}
