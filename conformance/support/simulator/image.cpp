// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <stdexcept>

namespace pi::drivers {

namespace {

std::string listed(const Words &words) {
    std::string list;
    for (const auto &[name, word] : words)
        list += name + ", ";
    return list;
}

Parameter read_parameter(const std::string &word, const Words &words, std::size_t offset) {
    Parameter parameter;
    if (const auto found = words.find(word); found != words.end()) {
        parameter.pass = found->second.pass;
        parameter.size = found->second.size;
    } else {
        parameter.size = std::strtoul(word.c_str(), nullptr, 10);
        if (parameter.size == 0 || parameter.size > 4096)
            throw std::runtime_error("'" + word + "' is not a parameter: " + listed(words) +
                                     "or a size");
    }
    const bool power = (parameter.size & (parameter.size - 1)) == 0;
    const std::size_t alignment =
        power ? std::clamp<std::size_t>(parameter.size, 1, 16) : std::size_t{8};
    parameter.offset = (offset + alignment - 1) / alignment * alignment;
    return parameter;
}

std::vector<Parameter> read_parameters(std::istream &line, const Words &words) {
    std::vector<Parameter> parameters;
    for (std::string word; line >> word;) {
        if (!parameters.empty() && parameters.back().pass == Pass::area)
            throw std::runtime_error("'" + word + "' is behind the last parameter");
        parameters.push_back(read_parameter(
            word, words,
            parameters.empty() ? 0 : parameters.back().offset + parameters.back().size));
    }
    return parameters;
}

void read_line(Image &image, const std::string &text, const Words &words) {
    std::istringstream line(text);
    std::string kind, name, other;
    std::size_t number = 0;
    if (!(line >> kind))
        return;
    if (kind == "library") {
        std::getline(line >> std::ws, image.emplace_back().library);
        return;
    }
    if (image.empty())
        throw std::runtime_error("no library line comes before: " + text);
    Part &part = image.back();
    line >> name;
    if (kind == "function" && line)
        part.functions.emplace_back(name, read_parameters(line, words));
    else if (kind == "variable" && line >> number)
        part.variables.emplace_back(name, number);
    else if (kind == "export" && line)
        part.exports.push_back(name);
    else if (kind == "import" && line >> other)
        part.imports.emplace_back(name, other);
    else if (kind == "constant" && line >> number)
        part.constants.emplace_back(name, number);
    else if (std::array<unsigned, 3> size{}; kind == "group" &&
                                             line >> size[0] >> size[1] >> size[2] && size[0] &&
                                             size[1] && size[2])
        part.requirements[name].group = size;
    else if (kind == "sub_group" && line >> number)
        part.requirements[name].sub_group = static_cast<unsigned>(number);
    else
        throw std::runtime_error("not understood: " + text);
}

} // namespace

Image read_image(const std::string &lines, const Words &words) {
    Image image;
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);)
        read_line(image, line, words);
    if (image.empty())
        throw std::runtime_error("the image names no library");
    return image;
}

void check_names(const Image &image) {
    std::set<std::string> names, exports;
    const auto define = [&](const std::string &name) {
        if (!names.insert(name).second)
            throw std::runtime_error("error   : Multiple definition of '" + name + "'");
    };
    for (const Part &part : image) {
        for (const auto &[name, parameters] : part.functions)
            define(name);
        for (const auto &[name, size] : part.variables)
            define(name);
        for (const std::string &name : part.exports) {
            define(name);
            exports.insert(name);
        }
    }
    for (const Part &part : image)
        for (const auto &[name, pointer] : part.imports)
            if (exports.count(name) == 0)
                throw std::runtime_error("error   : Undefined reference to '" + name + "'");
}

} // namespace pi::drivers
