// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device globals: variables of programs.

#include "globals.hpp"

#include "checks.hpp"
#include "launch_fixture.hpp"
#include "registry.hpp"

#include <cstring>

namespace pi::suite {
namespace {

// The variables as they are in the program's text.
Bytes first_values() {
    std::vector<uint32_t> words(table_bytes / sizeof(uint32_t));
    for (uint32_t i = 0; i < 4; ++i)
        words[i] = 11 * (i + 1);
    return bytes_of(words);
}

CONFORMANCE_TEST("program",
                 "a program's variables have their initial values, then those that are written") {
    const Program program = make_variables_program(fixture);
    const Queue queue = fixture.make_queue();
    require_global(fixture, queue, program, "table", first_values(), "the variable at first");
    require_global(fixture, queue, program, "fixed", bytes_of({5, 6, 7, 8}), "the constant");
    const Bytes bytes = fixture.random_bytes(table_bytes);
    write_global(fixture, queue, program, "table", bytes);
    require_global(fixture, fixture.make_queue(), program, "table", bytes, "what was written");
    require_global(fixture, queue, program, "second_table", Bytes(table_bytes),
                   "the other variable");
}

CONFORMANCE_TEST(
    "program",
    "kernels see what commands write to a variable, and commands see what kernels write") {
    const Program program = make_variables_program(fixture);
    const Queue queue = fixture.make_queue();
    const Bytes bytes = fixture.random_bytes(table_bytes);
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(table_bytes));
    Arguments arguments;
    arguments.buffer(mem);
    constexpr uint64_t count = table_bytes / sizeof(uint32_t);
    const Event written =
        fixture.enqueue(queue, global_write_desc(program, "table", bytes.data(), 0, table_bytes));
    fixture.wait(fixture.enqueue(
        queue, launch_desc(make_kernel(program, "load_table"), arguments, count), {written}));
    fixture.require_contents(queue, mem, bytes, "what a kernel has seen of the variable");

    const Bytes others = fixture.random_bytes(table_bytes);
    fixture.upload(queue, mem, others);
    const Event stored =
        fixture.enqueue(queue, launch_desc(make_kernel(program, "store_table"), arguments, count));
    Bytes seen(table_bytes);
    fixture.wait(fixture.enqueue(
        queue, global_read_desc(program, "table", seen.data(), 0, table_bytes), {stored}));
    require_same_bytes(seen.data(), others.data(), table_bytes, "what a kernel has written");
}

CONFORMANCE_TEST("program", "a read or write of a part of a variable touches no other byte") {
    const Program program = make_variables_program(fixture);
    const Queue queue = fixture.make_queue();
    Bytes expected = fixture.random_bytes(table_bytes);
    write_global(fixture, queue, program, "table", expected);
    for (int round = 0; round < 20; ++round) {
        const uint64_t offset = fixture.random(0, table_bytes - 1);
        const uint64_t size = fixture.random(1, table_bytes - offset);
        const Bytes part = fixture.random_bytes(size);
        write_global(fixture, queue, program, "table", part, offset);
        std::copy(part.begin(), part.end(), expected.begin() + static_cast<ptrdiff_t>(offset));
        require_global(fixture, queue, program, "table", expected,
                       join("the variable after ", size, " bytes were written at ", offset));
        const uint64_t from = fixture.random(0, table_bytes - 1);
        const uint64_t length = fixture.random(1, table_bytes - from);
        const Bytes read = read_global(fixture, queue, program, "table", length, from);
        require_same_bytes(read.data(), expected.data() + from, length,
                           join(length, " bytes of the variable from ", from));
    }
}

// Calls both commands, which must be refused alike and write nothing.
struct Refused {
    Fixture &fixture;
    pi_queue queue;

    void operator()(const std::string &what, std::initializer_list<pi_result> allowed,
                    pi_program program, const char *name, uint64_t offset = 0,
                    uint64_t size = 4) const {
        uint32_t word = 77;
        const auto read = global_read_desc(program, name, &word, offset, size);
        require_untouched<pi_event>("reading " + what, allowed, [&](pi_event *out) {
            return try_enqueue(queue, read, {}, out);
        });
        const auto write = global_write_desc(program, name, &word, offset, size);
        require_untouched<pi_event>("writing " + what, allowed, [&](pi_event *out) {
            return try_enqueue(queue, write, {}, out);
        });
        require_equal(word, 77u, "the host's word after reading " + what);
    }
};

CONFORMANCE_TEST("program", "unknown variables, and ranges past the end of one, are refused") {
    const Program program = make_variables_program(fixture);
    const Queue queue = fixture.make_queue();
    const Refused refused{fixture, queue};
    for (const char *name : {"no_such_variable", "", "load_table", "piNativeProgram", "environ",
                             "stdout", "table ", "Table"})
        refused(join("the variable \"", name, "\""), {PI_ERROR_INVALID_NAME}, program, name);
    refused("a variable without a name", {PI_ERROR_INVALID_NULL_POINTER}, program, nullptr);
    refused("no bytes", {PI_ERROR_INVALID_SIZE}, program, "table", 0, 0);
    refused("one byte more than there are", {PI_ERROR_INVALID_SIZE}, program, "table", 0,
            table_bytes + 1);
    refused("past the end", {PI_ERROR_INVALID_SIZE}, program, "table", table_bytes - 3, 4);
    refused("behind the end", {PI_ERROR_INVALID_SIZE}, program, "table", table_bytes, 1);
    refused("a range whose end overflows", {PI_ERROR_INVALID_SIZE}, program, "table", UINT64_MAX,
            4);
    const auto read = global_read_desc(program, "table", nullptr, 0, 4);
    const auto write = global_write_desc(program, "table", nullptr, 0, 4);
    require_untouched<pi_event>("reading a variable to NULL", {PI_ERROR_INVALID_NULL_POINTER},
                                [&](pi_event *out) { return try_enqueue(queue, read, {}, out); });
    require_untouched<pi_event>("writing a variable from NULL", {PI_ERROR_INVALID_NULL_POINTER},
                                [&](pi_event *out) { return try_enqueue(queue, write, {}, out); });
    require_global(fixture, queue, program, "table", first_values(), "the variable afterwards");
}

CONFORMANCE_TEST("program", "a constant of a program is not written") {
    const pi_program_format format = variables_format(fixture);
    if (format == PI_PROGRAM_FORMAT_CUBIN || format == PI_PROGRAM_FORMAT_DEVICE_BINARY)
        skip("constants of CUDA and Level Zero are the host's to write");
    const Program program = make_variables_program(fixture);
    const Queue queue = fixture.make_queue();
    const uint32_t word = 77;
    std::vector<const char *> constants{"fixed"};
    if (format == PI_PROGRAM_FORMAT_NATIVE_LIBRARY)
        constants.push_back("fixed_address");
    for (const char *const name : constants) {
        const auto write = global_write_desc(program, name, &word, 0, sizeof word);
        require_untouched<pi_event>(
            join("writing the constant ", name), {PI_ERROR_INVALID_OPERATION},
            [&](pi_event *out) { return try_enqueue(queue, write, {}, out); });
    }
    require_global(fixture, queue, program, "fixed", bytes_of({5, 6, 7, 8}), "the constant");
}

CONFORMANCE_TEST("program", "queues of the context access variables once the program is built") {
    const Program unbuilt = create_variables_program(fixture, fixture.context());
    const Program program = make_variables_program(fixture);
    const Queue queue = fixture.make_queue();
    Refused{fixture, queue}("a variable of a program that is not built",
                            {PI_ERROR_INVALID_OPERATION}, unbuilt, "table");
    const Context context = fixture.make_context({fixture.device()});
    const Queue another = fixture.make_queue({fixture.device(), context});
    Refused{fixture, another}("a variable of another context's program", {PI_ERROR_INVALID_PROGRAM},
                              program, "table");
    require_global(fixture, queue, program, "table", first_values(), "the variable afterwards");
}

CONFORMANCE_TEST("program", "only devices that the program is built for have its variables") {
    const pi_program_format format = variables_format(fixture);
    const TwoDevices two(fixture);
    const std::vector<pi_device> &devices = two.devices;
    if (format == PI_PROGRAM_FORMAT_OPENCL_C)
        skip("building the suite's OpenCL C for one device of two is tried by other tests");
    fixture.need(PI_CAPABILITY_DEVICE_GLOBALS, "PI_CAPABILITY_DEVICE_GLOBALS", devices[1]);
    need_program_format(fixture, format, devices[1]);
    const Context context = fixture.make_context({devices[0], devices[1]});
    const Program program = create_variables_program(fixture, context);
    auto desc = pi::desc<pi_program_build_desc>();
    desc.device_count = 1;
    desc.devices = &devices[1];
    require_success(piProgramBuild(program, &desc), "building for the second device");
    const Queue first = fixture.make_queue({devices[0], context});
    const Queue second = fixture.make_queue({devices[1], context});
    Refused{fixture, first}("a variable on a device that the program is not built for",
                            {PI_ERROR_INVALID_OPERATION}, program, "table");
    require_global(fixture, second, program, "table", first_values(), "the variable on the other");
}

CONFORMANCE_TEST("program", "reading a variable of a program without variables is refused") {
    variables_format(fixture);
    const Program program = make_program(fixture);
    const Queue queue = fixture.make_queue();
    if (kernel_format(fixture) == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        Refused{fixture, queue}("a variable of a native table", {PI_ERROR_UNSUPPORTED_FEATURE},
                                program, "table");
    else
        Refused{fixture, queue}("a variable of a program that has none",
                                {PI_ERROR_INVALID_NAME, PI_ERROR_UNSUPPORTED_FEATURE}, program,
                                "table");
}

CONFORMANCE_TEST("program", "a command that uses a variable keeps the program alive") {
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Bytes bytes = fixture.random_bytes(table_bytes);
    Bytes seen(table_bytes);
    Event last;
    {
        const Program program = make_variables_program(fixture);
        const Event written = fixture.enqueue(
            queue, global_write_desc(program, "table", bytes.data(), 0, table_bytes), {gate});
        last = fixture.enqueue(
            queue, global_read_desc(program, "table", seen.data(), 0, table_bytes), {written});
    }
    fixture.signal(gate);
    fixture.wait(last, "reading a variable of a program that is released");
    require_same_bytes(seen.data(), bytes.data(), table_bytes, "what was read in the end");
}

CONFORMANCE_TEST("program", "many threads write and read parts of a variable") {
    constexpr unsigned threads = 4;
    constexpr uint64_t part = table_bytes / threads;
    const Program program = make_variables_program(fixture);
    const Place place = fixture.place();
    std::vector<Queue> queues;
    std::vector<Bytes> parts;
    for (unsigned i = 0; i < threads; ++i) {
        queues.push_back(fixture.make_queue(place));
        parts.push_back(fixture.random_bytes(part));
    }
    fixture.run_threads(threads, [&](unsigned thread) {
        for (int round = 0; round < 20; ++round) {
            write_global(fixture, queues[thread], program, "table", parts[thread], thread * part);
            const Bytes read =
                read_global(fixture, queues[thread], program, "table", part, thread * part);
            require_same_bytes(read.data(), parts[thread].data(), part, "a thread's part");
        }
    });
}

// ----- addresses -----

// Skips where there are no addresses of variables.
Program make_addressable_program(Fixture &fixture) {
    Program program = make_variables_program(fixture);
    void *pointer = nullptr;
    if (piProgramGetGlobalVariablePointer(program, fixture.device(), "table", &pointer, nullptr) ==
        PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the device has no addresses of variables");
    return program;
}

CONFORMANCE_TEST("program", "kernels may use a variable's address, and its size is reported") {
    const Program program = make_addressable_program(fixture);
    void *pointer = nullptr;
    uint64_t size = 0;
    require_success(piProgramGetGlobalVariablePointer(program, fixture.device(), "second_table",
                                                      &pointer, &size),
                    "the address and size of a variable");
    require_equal(size, table_bytes, "the size of the variable");
    require(pointer != nullptr, "the address of a variable is NULL");
    void *again = nullptr;
    require_success(piProgramGetGlobalVariablePointer(program, fixture.device(), "second_table",
                                                      &again, nullptr),
                    "the address alone");
    require(again == pointer, "a variable's address is another one on the second call");
    uint64_t alone = 0;
    require_success(
        piProgramGetGlobalVariablePointer(program, fixture.device(), "fixed", nullptr, &alone),
        "the size alone");
    require_equal(alone, 16u, "the size of the constant");
    // The kernel finds the variable there, as the commands do.
    const Queue queue = fixture.make_queue();
    const std::vector<uint32_t> words = counting(table_bytes / sizeof(uint32_t));
    write_global(fixture, queue, program, "second_table", bytes_of(words));
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(table_bytes));
    Arguments arguments;
    arguments.pointer(pointer);
    fixture.wait(fixture.enqueue(
        queue, launch_desc(make_kernel(program, "store_table"), arguments, words.size())));
    require_global(fixture, queue, program, "table", bytes_of(words),
                   "what a kernel has read at the variable's address");
}

CONFORMANCE_TEST("program", "the address of an unknown variable is refused") {
    const Program program = make_addressable_program(fixture);
    const Program unbuilt = create_variables_program(fixture, fixture.context());
    const auto refused = [&](const std::string &what, pi_result error, pi_program of,
                             pi_device device, const char *name) {
        require_untouched<void *>(what, {error}, [&](void **out) {
            return piProgramGetGlobalVariablePointer(of, device, name, out, nullptr);
        });
        require_untouched<uint64_t>(what + " (its size)", {error}, [&](uint64_t *out) {
            return piProgramGetGlobalVariablePointer(of, device, name, nullptr, out);
        });
    };
    for (const char *name : {"no_such_variable", "", "load_table", "environ", "stdout"})
        refused(join("the address of the variable \"", name, "\""), PI_ERROR_INVALID_NAME, program,
                fixture.device(), name);
    refused("the address of a variable without a name", PI_ERROR_INVALID_NULL_POINTER, program,
            fixture.device(), nullptr);
    refused("the address of a variable on no device", PI_ERROR_INVALID_DEVICE, program, nullptr,
            "table");
    refused("the address of a variable of a program that is not built", PI_ERROR_INVALID_OPERATION,
            unbuilt, fixture.device(), "table");
    refused("the address of a variable of no program", PI_ERROR_INVALID_PROGRAM, nullptr,
            fixture.device(), "table");
    require_error(
        piProgramGetGlobalVariablePointer(program, fixture.device(), "table", nullptr, nullptr),
        PI_ERROR_INVALID_NULL_POINTER, "piProgramGetGlobalVariablePointer without outputs");
}

} // namespace
} // namespace pi::suite
