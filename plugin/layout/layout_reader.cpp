// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

// toml++ (3.3, 3.4) states preconditions of its own that malformed text does not keep ("[[["), and then
// reports that text properly. Its assertions must neither end the process, nor (clang, with NDEBUG) be taken
// for granted.
#define TOML_ASSERT(condition) static_cast<void>(0)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "layout/layout_check.h"
#include "layout/layout_file.h"

namespace pyperf {
namespace {

// Walks the parsed tables into a Layout and remembers the first error.
class Reader {
  public:
    explicit Reader(const std::string& file_name) : file_name_(file_name) {}

    Result<Layout> read(const toml::table& root);

  private:
    void fail(const toml::source_region& where, const std::string& what) {
        if (!error_) error_ = Error{fmt::format("{}:{}: {}", file_name_, where.begin.line, what)};
    }
    void only_keys(const toml::table& table, std::string_view name,
                   std::initializer_list<std::string_view> known);
    const toml::table* table(const toml::table& parent, std::string_view key);
    std::string text(const toml::table& table, std::string_view key);
    bool boolean(const toml::table& table, std::string_view key);
    std::optional<uint32_t> number(const toml::node& node, std::string_view key);
    std::vector<std::string> texts(const toml::table& table, std::string_view key);
    PythonVersion version(const toml::table& table, std::string_view key);
    template <typename Rule>
    Rule rule(const toml::table& table, std::string_view key);

    void read_schema(const toml::table& root);
    void read_rules(const toml::table& table);
    void read_provenance(const toml::table& root);
    void read_structure(std::string_view name, const toml::table& table);
    uint32_t line_of(const toml::table& root, const LayoutFault& found) const;

    const std::string& file_name_;
    std::optional<Error> error_;
    Layout layout_;
};

void Reader::only_keys(const toml::table& table, std::string_view name,
                       std::initializer_list<std::string_view> known) {
    for (auto&& [key, node] : table)
        if (std::find(known.begin(), known.end(), key.str()) == known.end())
            fail(key.source(),
                 fmt::format("[{}] has no key \"{}\"; known: {}", name, key.str(), fmt::join(known, ", ")));
}

const toml::table* Reader::table(const toml::table& parent, std::string_view key) {
    const toml::node* node = parent.get(key);
    if (!node)
        fail(parent.source(), fmt::format("[{}] is missing", key));
    else if (!node->is_table())
        fail(node->source(), fmt::format("{} has to be a table", key));
    else
        return node->as_table();
    return nullptr;
}

std::string Reader::text(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (!node)
        fail(table.source(), fmt::format("{} is missing", key));
    else if (!node->is_string())
        fail(node->source(), fmt::format("{} has to be a string", key));
    else if (node->as_string()->get().empty())
        fail(node->source(), fmt::format("{} is empty", key));
    else
        return node->as_string()->get();
    return {};
}

bool Reader::boolean(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (!node)
        fail(table.source(), fmt::format("{} is missing", key));
    else if (!node->is_boolean())
        fail(node->source(), fmt::format("{} has to be true or false", key));
    else
        return node->as_boolean()->get();
    return false;
}

std::optional<uint32_t> Reader::number(const toml::node& node, std::string_view key) {
    if (!node.is_integer()) {
        fail(node.source(), fmt::format("{} has to be an integer", key));
        return std::nullopt;
    }
    const int64_t value = node.as_integer()->get();
    if (value < 0 || value > int64_t{kMaxOffset}) {
        fail(node.source(), fmt::format("{} = {} is out of range (0 to {})", key, value, kMaxOffset));
        return std::nullopt;
    }
    return static_cast<uint32_t>(value);
}

std::vector<std::string> Reader::texts(const toml::table& table, std::string_view key) {
    std::vector<std::string> list;
    const toml::node* node = table.get(key);
    if (!node) {
        fail(table.source(), fmt::format("{} is missing", key));
    } else if (!node->is_array()) {
        fail(node->source(), fmt::format("{} has to be a list of strings", key));
    } else {
        for (const toml::node& element : *node->as_array()) {
            if (element.is_string())
                list.push_back(element.as_string()->get());
            else
                fail(element.source(), fmt::format("{} has to be a list of strings", key));
        }
    }
    return list;
}

PythonVersion Reader::version(const toml::table& table, std::string_view key) {
    const std::string written = text(table, key);
    if (error_) return {};
    const auto parsed = PythonVersion::parse(written);
    if (!parsed) {
        fail(table.get(key)->source(), fmt::format("{}: {}", key, parsed.error().message));
        return {};
    }
    if (!parsed->is_final())
        fail(table.get(key)->source(),
             fmt::format("{}: {} is a pre-release; their layouts differ from the release's", key, written));
    return *parsed;
}

template <typename Rule>
Rule Reader::rule(const toml::table& table, std::string_view key) {
    const std::string written = text(table, key);
    if (error_) return {};
    const auto parsed = parse_rule<Rule>(written);
    if (parsed) return *parsed;
    fail(table.get(key)->source(), fmt::format("{}: {}", key, parsed.error().message));
    return {};
}

void Reader::read_schema(const toml::table& root) {
    const toml::node* node = root.get("schema");
    if (!node)
        fail(root.source(), "schema is missing: is this a layout file?");
    else if (!node->is_integer() || node->as_integer()->get() != kLayoutFileSchema)
        fail(node->source(),
             fmt::format("schema has to be {}: the file is for another version of this program",
                         kLayoutFileSchema));
}

void Reader::read_rules(const toml::table& table) {
    only_keys(table, "rules",
              {"frame_chain", "line_table", "thread_binding", "string_kind", "instruction_unit",
               "executable_tag_mask", "first_shim_owner"});
    layout_.frame_chain = rule<FrameChain>(table, "frame_chain");
    layout_.line_table = rule<LineTable>(table, "line_table");
    layout_.thread_binding = rule<ThreadBinding>(table, "thread_binding");
    layout_.string_kind = rule<StringKind>(table, "string_kind");
    for (const std::string_view key : {"instruction_unit", "executable_tag_mask"}) {
        const toml::node* node = table.get(key);
        if (!node) {
            fail(table.source(), fmt::format("{} is missing", key));
            continue;
        }
        uint32_t& target = key == "instruction_unit" ? layout_.instruction_unit : layout_.executable_tag_mask;
        target = number(*node, key).value_or(0);
    }
    if (const toml::node* node = table.get("first_shim_owner"))
        layout_.first_shim_owner = number(*node, "first_shim_owner");
}

void Reader::read_provenance(const toml::table& root) {
    const toml::node* node = root.get("provenance");
    if (!node) return fail(root.source(), "[[provenance]] is missing: where do the numbers come from?");
    const toml::array* list = node->as_array();
    if (!list) return fail(node->source(), "provenance has to be written as [[provenance]]");
    for (const toml::node& element : *list) {
        const toml::table* entry = element.as_table();
        if (!entry) return fail(element.source(), "provenance has to be written as [[provenance]]");
        only_keys(*entry, "provenance", {"source", "version", "detail", "command", "date"});
        Provenance read{text(*entry, "source"), text(*entry, "version"), text(*entry, "detail"),
                        text(*entry, "command"), text(*entry, "date")};
        if (error_) return;
        if (read.source != "headers" && read.source != "dwarf" && read.source != "binary")
            fail(entry->get("source")->source(), "source has to be headers, dwarf or binary");
        if (const auto parsed = PythonVersion::parse(read.version); !parsed)
            fail(entry->get("version")->source(), "version: " + parsed.error().message);
        const auto is_date = [](std::string_view date) {
            if (date.size() != 10) return false;
            for (size_t i = 0; i < date.size(); i++)
                if (i == 4 || i == 7 ? date[i] != '-' : date[i] < '0' || date[i] > '9') return false;
            return true;
        };
        if (!is_date(read.date)) fail(entry->get("date")->source(), "date has to be YYYY-MM-DD");
        layout_.provenance.push_back(std::move(read));
    }
}

void Reader::read_structure(std::string_view name, const toml::table& table) {
    StructLayout& structure = layout_.structs[std::string(name)];
    for (auto&& [key, node] : table) {
        const auto value = number(node, key.str());
        if (!value) return;
        if (key.str() == "sizeof")
            structure.size = *value;
        else
            structure.members.emplace(std::string(key.str()), *value);
    }
}

// Where in the file is the thing that a check found wrong? The nearest that is there.
uint32_t Reader::line_of(const toml::table& root, const LayoutFault& found) const {
    const toml::table* table = &root;
    if (!found.table.empty() && root.get(found.table) && root.get(found.table)->is_table())
        table = root.get(found.table)->as_table();
    const toml::node* node = found.key.empty() ? nullptr : table->get(found.key);
    return node ? node->source().begin.line : table->source().begin.line;
}

Result<Layout> Reader::read(const toml::table& root) {
    read_schema(root);
    if (error_) return *error_;
    layout_.name = text(root, "name");
    if (const auto* versions = table(root, "versions")) {
        only_keys(*versions, "versions", {"first", "last"});
        layout_.first = version(*versions, "first");
        layout_.last = version(*versions, "last");
    }
    if (const auto* abi = table(root, "abi")) {
        only_keys(*abi, "abi", {"architectures", "c_libraries", "free_threaded", "trace_refs"});
        layout_.architectures = texts(*abi, "architectures");
        layout_.c_libraries = texts(*abi, "c_libraries");
        layout_.free_threaded = boolean(*abi, "free_threaded");
        layout_.trace_refs = boolean(*abi, "trace_refs");
    }
    if (const auto* rules = table(root, "rules")) read_rules(*rules);
    read_provenance(root);
    for (auto&& [key, node] : root) {
        const std::string_view name = key.str();
        if (name == "schema" || name == "name" || name == "versions" || name == "abi" || name == "rules" ||
            name == "provenance")
            continue;
        if (const toml::table* structure = node.as_table())
            read_structure(name, *structure);
        else
            fail(key.source(), fmt::format("there is no key \"{}\"", name));
    }
    if (error_) return *error_;

    std::string_view stem = file_name_;
    if (const size_t slash = stem.rfind('/'); slash != std::string_view::npos) stem.remove_prefix(slash + 1);
    if (stem.ends_with(".toml")) stem.remove_suffix(5);
    if (layout_.name != stem)
        fail(root.get("name")->source(),
             fmt::format("name is \"{}\", but the file is called {}", layout_.name, stem));
    if (const auto found = find_fault(layout_); found && !error_) {
        const std::string place = found->key.empty() || found->table.empty()
                                      ? found->table + found->key
                                      : found->table + "." + found->key;
        return Error{fmt::format("{}:{}: {}{}{}", file_name_, line_of(root, *found), place,
                                 place.empty() ? "" : " ", found->what)};
    }
    if (error_) return *error_;
    return std::move(layout_);
}

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) close(fd_);
    }
    int get() const { return fd_; }

  private:
    int fd_;
};

// The line with the first byte that is not ASCII; 0: there is none. toml++ (3.3) takes it for impossible that
// certain letters stand where white space may (unicode_autogenerated.h, TOML_UNREACHABLE), so it gets to see
// none.
size_t line_of_other_than_ascii(std::string_view text) {
    size_t line = 1;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) > 0x7f) return line;
        if (c == '\n') line++;
    }
    return 0;
}

Error system_error(const std::string& path, std::string_view what, int code) {
    return {fmt::format("{}: {}: {}", path, what, std::strerror(code)), -code};
}

}  // namespace

Result<Layout> parse_layout(std::string_view text, const std::string& file_name) {
    if (text.size() > kLayoutFileMaxBytes)
        return Error{fmt::format("{}: is larger than {} bytes", file_name, kLayoutFileMaxBytes), -EFBIG};
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
    if (const size_t line = line_of_other_than_ascii(text))
        return Error{fmt::format("{}:{}: has to be ASCII; in strings write other characters as \\uXXXX",
                                 file_name, line)};
    const toml::parse_result parsed = toml::parse(text);
    if (!parsed)
        return Error{fmt::format("{}:{}: {}", file_name, parsed.error().source().begin.line,
                                 parsed.error().description())};
    return Reader(file_name).read(parsed.table());
}

Result<Layout> read_layout_file(const std::string& path) {
    // O_NONBLOCK: opening a FIFO must not wait for a writer; O_NOCTTY: nor a terminal become ours.
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file.get() < 0) return system_error(path, "cannot be opened", errno);
    struct stat status {};
    if (fstat(file.get(), &status) != 0) return system_error(path, "cannot be examined", errno);
    if (!S_ISREG(status.st_mode)) return Error{path + ": is no regular file"};
    if (status.st_size > static_cast<off_t>(kLayoutFileMaxBytes))
        return Error{fmt::format("{}: is larger than {} bytes", path, kLayoutFileMaxBytes), -EFBIG};

    // One byte more than allowed: a file that grows meanwhile is found too large instead of being cut.
    std::string text(kLayoutFileMaxBytes + 1, '\0');
    size_t used = 0;
    while (used < text.size()) {
        const ssize_t got = read(file.get(), text.data() + used, text.size() - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(path, "cannot be read", errno);
        if (got == 0) break;
        used += static_cast<size_t>(got);
    }
    text.resize(used);
    return parse_layout(text, path);
}

}  // namespace pyperf
