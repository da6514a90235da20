// SPDX-License-Identifier: Apache-2.0
// How --help looks: the usage lines of two forms, and the examples.
#pragma once

#include <CLI/CLI.hpp>

namespace pyperf::tool {

class HelpFormatter final : public CLI::Formatter {
  public:
    HelpFormatter() { column_width(31); }
    std::string make_usage(const CLI::App* app, std::string name) const override;
    std::string make_positionals(const CLI::App* app) const override;
    std::string make_option_opts(const CLI::Option* option) const override;
};

extern const char* const help_description;
extern const char* const help_examples;

}  // namespace pyperf::tool
