// SPDX-License-Identifier: Apache-2.0
#include "unit/decode/line_table_cases.h"

#include <charconv>
#include <sstream>

namespace pyperf::test {
namespace {

std::optional<LineTable> format_of(const std::string& name) {
    if (name == "lnotab_unsigned") return LineTable::lnotab_unsigned;
    if (name == "lnotab_signed") return LineTable::lnotab_signed;
    if (name == "pep626_pairs") return LineTable::pep626_pairs;
    if (name == "locations") return LineTable::locations;
    return {};
}

template <typename Number>
bool parse(std::string_view text, Number& number, int base = 10) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return error == std::errc() && end == text.data() + text.size();
}

bool parse_table(const std::string& hex, std::vector<uint8_t>& table) {
    if (hex == "-") return true;
    if (hex.size() % 2 != 0) return false;
    for (size_t at = 0; at < hex.size(); at += 2) {
        uint8_t byte = 0;
        if (!parse(std::string_view(hex).substr(at, 2), byte, 16)) return false;
        table.push_back(byte);
    }
    return true;
}

bool parse_run(const std::string& run, std::vector<std::optional<int32_t>>& lines) {
    const size_t cross = run.find('x');
    if (cross == std::string::npos) return false;
    size_t count = 0;
    if (!parse(std::string_view(run).substr(0, cross), count)) return false;
    std::optional<int32_t> line;
    const std::string_view text = std::string_view(run).substr(cross + 1);
    if (text != "-" && !parse(text, line.emplace())) return false;
    lines.insert(lines.end(), count, line);
    return true;
}

bool read_case(std::istream& in, const std::string& code_line, LineTableCase& read) {
    std::istringstream head(code_line);
    std::string word;
    std::string format;
    head >> word >> read.name >> format >> read.first_line >> read.step;
    const std::optional<LineTable> known = format_of(format);
    if (!head || word != "code" || !known || read.step < 1) return false;
    read.format = *known;

    std::string line;
    std::string hex;
    if (!std::getline(in, line)) return false;
    std::istringstream table(line);
    table >> word >> hex;
    if (word != "table" || !parse_table(hex, read.table)) return false;

    if (!std::getline(in, line)) return false;
    std::istringstream runs(line);
    runs >> word;
    if (word != "lines") return false;
    while (runs >> word) {
        if (!parse_run(word, read.lines)) return false;
    }
    return true;
}

}  // namespace

std::optional<LineTableCase> read_line_table_case(std::istream& in, bool& failed) {
    std::string line;
    while (std::getline(in, line)) {
        if (line.empty() || line[0] == '#') continue;
        LineTableCase read;
        if (read_case(in, line, read)) return read;
        failed = true;
        return {};
    }
    return {};
}

}  // namespace pyperf::test
