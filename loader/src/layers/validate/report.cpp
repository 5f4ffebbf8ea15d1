// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The texts of the layer's messages.

#include "layers/leaks.hpp"
#include "layers/validate/validator.hpp"
#include "plugin.hpp"

namespace pi::loader::validate {
namespace {

// "a queue", "an event".
std::string one(pi_kind kind) {
    return fmt::format("{} {}", kind == PI_KIND_EVENT ? "an" : "a", kind_name(kind));
}

std::string made_by(const Object &object) {
    return loader::made_by(object.creator, object.call);
}

} // namespace

std::string Validator::explanation(const void *handle, pi_kind kind, const Where &where,
                                   bool releasing) {
    std::string text = fmt::format("{}: ", where.function);
    if (where.argument[0] != '\0')
        text += where.index >= 0 ? fmt::format("{}[{}]: ", where.argument, where.index)
                                 : fmt::format("{}: ", where.argument);
    if (handle == nullptr)
        return text + fmt::format("NULL; {} is needed", one(kind));
    const Object object = find(handle);
    if (object.handle == nullptr)
        return text + fmt::format("{} {} is not an object of this instance of plugin \"{}\"; it "
                                  "belongs to another instance, is not a handle, or was released",
                                  kind_name(kind), handle, instance_.name());
    if (object.kind != kind)
        return text + fmt::format("{} is {}{} ({}); {} is needed", handle, one(object.kind),
                                  object.usable() ? "" : " that was already released",
                                  made_by(object), one(kind));
    return text +
           fmt::format(
               "{} {} was already released ({}){}", kind_name(kind), handle, made_by(object),
               releasing && where.argument[0] == '\0' ? "; release each reference once" : "");
}

pi_result Validator::explain(const void *handle, pi_kind kind, pi_result code, const Where &where,
                             bool releasing) noexcept {
    return guarded(where.function,
                   [&] { return refuse(code, explanation(handle, kind, where, releasing)); });
}

pi_result Validator::refuse(pi_result code, const std::string &text) {
    instance_.log().write(PI_LOG_ERROR, "plugin {}: {}", instance_.name(), text);
    return fail_text(code, text);
}

void Validator::report() noexcept {
    guarded("piLoaderRelease", [&] {
        std::vector<Leak> left;
        registry_.for_each([&](const Object &object) {
            if (object.references != 0)
                left.push_back({object.handle, kind_name(object.kind), object.creator, object.call,
                                object.serial, object.references});
        });
        report_leaks(instance_, std::move(left));
        return PI_SUCCESS;
    });
}

} // namespace pi::loader::validate
