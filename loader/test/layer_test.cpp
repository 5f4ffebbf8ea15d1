// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chain of layers, with a layer that counts calls.

#include "fixture.hpp"

#include "error.hpp"
#include "functions.hpp"
#include "loader.hpp"

#include <atomic>
#include <string>

#include <dlfcn.h>

using namespace pi::loader;
using loader_test::CapturedLog;
using loader_test::Description;
using loader_test::plugin_file;

namespace {

struct Counter {
    std::atomic<int> calls{0};
};
std::atomic<int> counters_alive{0};

// One layer per position, all alike: Layer objects are distinguished by their address.
template <int Id>
struct Counting {
    static const Layer layer;

    static pi_result PI_CALL context_create(pi_platform platform, const pi_context_desc *desc,
                                            pi_context *out_context) {
        const TableChain &chain = TableChain::of(dispatch_of(platform));
        ++static_cast<Counter *>(chain.data(layer))->calls;
        return chain.next(layer).piContextCreate(platform, desc, out_context);
    }
    static void *attach(PluginInstance &, pi_dispatch &table) {
        table.piContextCreate = context_create;
        ++counters_alive;
        return new Counter();
    }
    static void detach(void *data) noexcept {
        --counters_alive;
        delete static_cast<Counter *>(data);
    }
};
template <>
const Layer Counting<0>::layer = {"outer", attach, detach};
template <>
const Layer Counting<1>::layer = {"inner", attach, detach};

// A layer that cannot be attached.
const Layer throwing = {"throwing",
                        [](PluginInstance &, pi_dispatch &) -> void * {
                            throw std::runtime_error("an injected failure of a layer");
                        },
                        [](void *) noexcept {}};

constexpr const Layer *known[] = {&Counting<0>::layer, &Counting<1>::layer, &throwing};

struct Wrapped {
    loader_test::Loader loader;
    explicit Wrapped(const Description &description)
        : loader(description.create_with([](const pi_loader_desc *desc, pi_loader *out_loader) {
              return create_loader(desc, known, out_loader);
          })) {}

    const PluginInstance &instance(std::size_t i) const { return *loader.get()->instances.at(i); }
    int calls(std::size_t i, const Layer &layer) const {
        return static_cast<Counter *>(instance(i).chain().data(layer))->calls;
    }
    void make_context(std::size_t i) const { piContextRelease(loader.context(i)); }
};

// The file that contains a function.
template <typename Function>
std::string file_of(Function function) {
    Dl_info info = {};
    REQUIRE(::dladdr(reinterpret_cast<void *>(function), &info) != 0);
    return info.dli_fname;
}

} // namespace

TEST_CASE("without layers the plugin's own functions are in the table of its handles") {
    const Wrapped wrapped({.plugins = {plugin_file("small_good")}});
    const PluginInstance &instance = wrapped.instance(0);
    CHECK(instance.chain().layer_count == 0);
    CHECK(&instance.chain().base() == &instance.table());
    CHECK(dispatch_of(wrapped.loader.platform()) == &instance.table());
    CHECK(file_of(instance.table().piContextCreate).find("small_good") != std::string::npos);
}

TEST_CASE("layers count separately for each of two plugins, outermost first") {
    const Wrapped wrapped({.plugins = {plugin_file("small_good"), plugin_file("small_old")},
                           .layers = {"outer", "inner"}});
    for (std::size_t i = 0; i < 2; ++i) {
        const TableChain &chain = wrapped.instance(i).chain();
        REQUIRE(chain.layer_count == 4); // with hold and guard around them
        CHECK(chain.tables[0].piContextRelease != chain.tables[1].piContextRelease);
        CHECK(chain.tables[0].piContextCreate == Counting<0>::context_create);
        CHECK(chain.tables[1].piContextCreate == Counting<0>::context_create);
        CHECK(chain.tables[2].piContextCreate == Counting<1>::context_create);
        CHECK(file_of(chain.tables[3].piContextCreate).find("small_") != std::string::npos);
        // Slots that no layer wraps hold the plugin's function.
        CHECK(chain.tables[0].piDevicesGet == chain.tables[3].piDevicesGet);
    }
    wrapped.make_context(0);
    wrapped.make_context(1);
    wrapped.make_context(1);
    CHECK(wrapped.calls(0, Counting<0>::layer) == 1);
    CHECK(wrapped.calls(0, Counting<1>::layer) == 1);
    CHECK(wrapped.calls(1, Counting<0>::layer) == 2);
    CHECK(wrapped.calls(1, Counting<1>::layer) == 2);
}

TEST_CASE("two loaders wrap one plugin file differently") {
    const Wrapped with({.plugins = {plugin_file("small_good")}, .layers = {"inner"}});
    const Wrapped without({.plugins = {plugin_file("small_good")}});
    with.make_context(0);
    without.make_context(0);
    CHECK(with.calls(0, Counting<1>::layer) == 1);
    CHECK(without.instance(0).chain().data(Counting<1>::layer) == nullptr);
}

TEST_CASE("layers' data is freed with the instance") {
    REQUIRE(counters_alive == 0);
    {
        const Wrapped wrapped({.plugins = {plugin_file("small_good")}, .layers = {"outer"}});
        CHECK(counters_alive == 1);
    }
    CHECK(counters_alive == 0);
}

TEST_CASE("repeated and unknown layers are ignored with a warning") {
    CapturedLog log;
    const Wrapped wrapped({.plugins = {plugin_file("small_good")},
                           .layers = {"outer", "nonsense", "outer"},
                           .log = &log});
    CHECK(wrapped.instance(0).chain().layer_count == 3); // it, hold and guard
    CHECK(log.count("layer \"nonsense\" does not exist", PI_LOG_WARNING) == 1);
    CHECK(log.count("the layers are: outer, inner, throwing") == 1);
    CHECK(log.count("layer \"outer\" is named twice", PI_LOG_WARNING) == 1);
}

TEST_CASE("a layer that cannot be attached refuses the plugin and leaks nothing") {
    REQUIRE(counters_alive == 0);
    CapturedLog log;
    const Wrapped wrapped(
        {.plugins = {plugin_file("small_good")}, .layers = {"throwing", "inner"}, .log = &log});
    CHECK(wrapped.loader.report().status == PI_PLUGIN_REFUSED);
    CHECK(wrapped.loader.report().reason.find("an injected failure of a layer") !=
          std::string::npos);
    CHECK(log.count("teardown", PI_LOG_INFO) == 1);
    CHECK(counters_alive == 0);
}
