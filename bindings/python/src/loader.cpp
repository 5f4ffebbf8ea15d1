// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <pybind11/stl.h>

#include <map>

namespace pi_python {

using rt::check;

LoaderHolder::~LoaderHolder() {
    const WithoutGil released; // it waits for work in flight
    piLoaderRelease(loader);
}

const std::shared_ptr<LoaderHolder> &Loader::holder() const {
    if (holder_ == nullptr) {
        throw rt::Error(PI_ERROR_INVALID_OPERATION, "the loader is closed");
    }
    return holder_;
}

void Loader::close() {
    holder_.reset();
}

Topology::~Topology() {
    const WithoutGil released;
    topology.reset();
    loaders.clear();
}

namespace {

/// In C a NUL character would end the text.
const char *pointer_to(const char *argument, const std::string &text) {
    if (text.find('\0') != std::string::npos) {
        throw py::value_error("Loader: " + std::string(argument) + ": " +
                              std::string(py::repr(py::str(text))) + " has a NUL character");
    }
    return text.c_str();
}

std::vector<const char *> pointers_to(const char *argument, const std::vector<std::string> &texts) {
    std::vector<const char *> pointers;
    pointers.reserve(texts.size());
    for (const std::string &text : texts) {
        pointers.push_back(pointer_to(argument, text));
    }
    return pointers;
}

std::shared_ptr<Loader> make_loader(const std::vector<std::string> &plugins,
                                    const std::vector<std::string> &directories,
                                    const std::vector<std::string> &layers,
                                    const std::map<std::string, std::string> &options,
                                    bool default_search, bool environment) {
    const auto plugin_names = pointers_to("plugins", plugins);
    const auto directory_names = pointers_to("directories", directories);
    const auto layer_names = pointers_to("layers", layers);
    std::vector<pi_loader_option> option_list;
    option_list.reserve(options.size());
    for (const auto &[name, value] : options) {
        option_list.push_back({pointer_to("options", name), pointer_to("options", value)});
    }
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = (default_search ? 0 : PI_LOADER_NO_DEFAULT_SEARCH) |
                 (environment ? 0 : PI_LOADER_IGNORE_ENVIRONMENT);
    desc.plugins = plugin_names.data();
    desc.plugin_count = static_cast<uint32_t>(plugin_names.size());
    desc.directories = directory_names.data();
    desc.directory_count = static_cast<uint32_t>(directory_names.size());
    desc.layers = layer_names.data();
    desc.layer_count = static_cast<uint32_t>(layer_names.size());
    desc.options = option_list.data();
    desc.option_count = static_cast<uint32_t>(option_list.size());
    const WithoutGil released;
    auto holder = std::make_shared<LoaderHolder>();
    check(piLoaderCreate(&desc, &holder->loader), "piLoaderCreate");
    return std::make_shared<Loader>(std::move(holder));
}

std::vector<std::shared_ptr<Device>> devices_of(const Loader &self,
                                                const std::optional<std::string> &selector) {
    const std::shared_ptr<LoaderHolder> &holder = self.holder();
    const char *text = selector ? pointer_to("selector", *selector) : nullptr;
    std::vector<std::shared_ptr<Device>> devices;
    const WithoutGil released;
    uint32_t count = 0;
    check(piLoaderSelectDevices(holder->loader, text, 0, nullptr, &count), "piLoaderSelectDevices");
    std::vector<pi_device> raw(count);
    check(piLoaderSelectDevices(holder->loader, text, count, raw.data(), &count),
          "piLoaderSelectDevices");
    raw.resize(std::min<size_t>(raw.size(),
                                count)); // a plugin may report fewer devices in the second call
    devices.reserve(raw.size());
    for (pi_device device : raw) {
        devices.push_back(std::make_shared<Device>(Device{holder, rt::Device::share(device)}));
    }
    return devices;
}

std::vector<std::tuple<std::string, std::string, uint32_t, std::string>>
reports_of(const Loader &self) {
    const std::shared_ptr<LoaderHolder> &holder = self.holder();
    std::vector<std::tuple<std::string, std::string, uint32_t, std::string>> result;
    const WithoutGil released;
    uint32_t count = 0;
    check(piLoaderGetReports(holder->loader, 0, nullptr, &count), "piLoaderGetReports");
    std::vector<pi_plugin_report> reports(count);
    check(piLoaderGetReports(holder->loader, count, reports.data(), &count), "piLoaderGetReports");
    result.reserve(reports.size());
    for (const pi_plugin_report &report : reports) {
        result.emplace_back(report.name, report.path, report.status, report.reason);
    }
    return result;
}

std::string text_of(pi_device device, pi_device_info name) {
    uint64_t size = 0;
    if (piDeviceGetInfo(device, name, 0, nullptr, &size) != PI_SUCCESS || size == 0) {
        return {};
    }
    std::string text(size, '\0');
    check(piDeviceGetInfo(device, name, size, text.data(), nullptr), "piDeviceGetInfo");
    text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
    return text;
}

template <class T>
T number_of(pi_device device, pi_device_info name) {
    T value{};
    check(piDeviceGetInfo(device, name, sizeof value, &value, nullptr), "piDeviceGetInfo");
    return value;
}

std::string selector_of(const Device &self) {
    uint64_t size = 0;
    check(piLoaderGetDeviceSelector(self.loader->loader, self.device.get(), 0, nullptr, &size),
          "piLoaderGetDeviceSelector");
    std::string text(size, '\0');
    check(piLoaderGetDeviceSelector(self.loader->loader, self.device.get(), size, text.data(),
                                    nullptr),
          "piLoaderGetDeviceSelector");
    text.pop_back();
    return text;
}

std::shared_ptr<Topology>
make_topology(const std::vector<std::vector<std::shared_ptr<Device>>> &groups,
              const std::vector<std::string> &names) {
    auto result = std::make_shared<Topology>();
    std::vector<std::vector<pi_device>> raw;
    for (const auto &group : groups) {
        raw.emplace_back();
        for (const auto &device : group) {
            raw.back().push_back(device->device.get());
            result->loaders.push_back(device->loader);
        }
    }
    const WithoutGil released;
    result->topology = rt::Topology::from_groups(raw, names);
    return result;
}

const rt::PlaceInfo &info_of(const Topology &self, rt::PlaceIndex place) {
    if (place >= self.topology->size()) {
        throw rt::Error(PI_ERROR_INVALID_VALUE, "no place " + std::to_string(place) +
                                                    ": the topology has places 0 to " +
                                                    std::to_string(self.topology->size() - 1));
    }
    return self.topology->info(place);
}

py::dict place_of(const Topology &self, rt::PlaceIndex place) {
    const rt::PlaceInfo &info = info_of(self, place);
    py::list scopes;
    for (const pi_memory_scope &scope : info.scopes) {
        scopes.append(py::make_tuple(std::string(scope.name), scope.capacity));
    }
    py::dict result;
    result["name"] = info.name;
    result["key"] = info.key;
    result["type"] = info.type;
    result["integrated"] = info.integrated;
    result["scopes"] = scopes;
    return result;
}

py::dict connection_of(const Topology &self, rt::PlaceIndex source, rt::PlaceIndex destination) {
    info_of(self, source);
    info_of(self, destination);
    const rt::Connection &connection = self.topology->description().buffer(source, destination);
    py::dict result;
    result["kind"] = connection.connection;
    result["coherence"] = connection.coherence;
    result["residency"] = connection.residency;
    result["link"] = connection.link_kind;
    result["bandwidth"] = connection.bandwidth;
    result["latency"] = connection.latency;
    result["reason"] = connection.reason;
    return result;
}

} // namespace

void bind_loader(py::module_ &module) {
    py::class_<Loader, std::shared_ptr<Loader>>(module, "Loader")
        .def(py::init(&make_loader), py::arg("plugins"), py::arg("directories"), py::arg("layers"),
             py::arg("options"), py::arg("default_search"), py::arg("environment"))
        .def("devices", &devices_of, py::arg("selector"))
        .def("reports", &reports_of)
        .def("close", &Loader::close)
        .def_property_readonly("closed", &Loader::closed);
    py::class_<Device, std::shared_ptr<Device>>(module, "Device")
        .def_property_readonly("selector", &selector_of)
        .def_property_readonly(
            "name",
            [](const Device &self) { return text_of(self.device.get(), PI_DEVICE_INFO_NAME); })
        .def_property_readonly(
            "vendor",
            [](const Device &self) { return text_of(self.device.get(), PI_DEVICE_INFO_VENDOR); })
        .def_property_readonly("type",
                               [](const Device &self) {
                                   return number_of<pi_device_type>(self.device.get(),
                                                                    PI_DEVICE_INFO_TYPE);
                               })
        .def_property_readonly("memory_bytes", [](const Device &self) -> std::optional<uint64_t> {
            uint64_t size = 0;
            const pi_result asked = piDeviceGetInfo(
                self.device.get(), PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE, sizeof size, &size, nullptr);
            if (asked == PI_ERROR_UNSUPPORTED_FEATURE) {
                return std::nullopt; // the plugin does not report it
            }
            check(asked, "piDeviceGetInfo(GLOBAL_MEMORY_SIZE)");
            return size;
        });
    py::class_<Topology, std::shared_ptr<Topology>>(module, "Topology")
        .def(py::init(&make_topology), py::arg("groups"), py::arg("names"))
        .def_property_readonly("size", [](const Topology &self) { return self.topology->size(); })
        .def("place", &place_of, py::arg("place"))
        .def("connection", &connection_of, py::arg("source"), py::arg("destination"))
        .def("same_device",
             [](const Topology &self, rt::PlaceIndex a, rt::PlaceIndex b) {
                 info_of(self, a);
                 info_of(self, b);
                 return static_cast<int>(self.topology->same_device(a, b));
             })
        .def("text", [](const Topology &self) { return self.topology->to_string(); })
        .def("save",
             [](const Topology &self, const std::string &path) { self.topology->save(path); })
        .def("dlpack_device", [](const Topology &self, rt::PlaceIndex place) {
            const pi_dlpack_device device = rt::dlpack_device(*self.topology, place);
            return std::pair(device.device_type, device.device_id);
        });
}

} // namespace pi_python
