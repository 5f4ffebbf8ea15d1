// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "terminal.hpp"

#include <algorithm>
#include <langinfo.h>
#include <locale.h>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace pi_info {
namespace {

/// Where the second column of a line begins, or where its first one would continue.
size_t second_column(std::string_view line) {
    const size_t first = std::min(line.find_first_not_of(' '), line.size());
    const size_t gap = line.find("  ", first);
    const size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
    return second == std::string_view::npos ? first + 2 : width_of(line.substr(0, second));
}

bool may_break(std::string_view line, size_t blank) {
    return blank > 0 && line[blank - 1] != ' ' && blank + 1 < line.size() && line[blank + 1] != ' ';
}

void append_fitted(std::string &out, std::string_view line, size_t columns) {
    // On a terminal too narrow for both columns, the second one is under the first.
    const size_t indent = std::min(second_column(line), columns / 3);
    size_t used = 0;
    size_t begin = 0; // of the piece that is not broken
    for (size_t i = 1; i <= line.size(); ++i) {
        if (i < line.size() && (line[i] != ' ' || !may_break(line, i))) {
            continue;
        }
        std::string_view piece = line.substr(begin, i - begin);
        if (used > indent && used + width_of(piece) > columns) {
            piece.remove_prefix(1); // the blank
            out += "\n" + std::string(indent, ' ');
            used = indent;
        }
        out += piece;
        used += width_of(piece);
        begin = i;
    }
}

} // namespace

size_t width_of(std::string_view text) {
    size_t width = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\033') {
            i = std::min(text.find('m', i), text.size());
        } else {
            width += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 ? 1 : 0;
        }
    }
    return width;
}

bool terminal_has_utf8() {
    if (isatty(STDOUT_FILENO) == 0) {
        return false;
    }
    const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
    if (locale == nullptr) {
        return false;
    }
    const bool utf8 = std::string_view(nl_langinfo_l(CODESET, locale)) == "UTF-8";
    freelocale(locale);
    return utf8;
}

size_t terminal_columns() {
    winsize size{};
    if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) {
        return 0;
    }
    return size.ws_col;
}

std::string fitted(const std::string &text, size_t columns) {
    if (columns == 0) {
        return text;
    }
    std::string out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        append_fitted(out, line, columns);
        out += '\n';
    }
    return out;
}

} // namespace pi_info
