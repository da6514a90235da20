// SPDX-License-Identifier: Apache-2.0
// How --help looks: in the order of bcc's tools, usage first, examples last.
#pragma once

#include <CLI/CLI.hpp>

namespace pyperf::tool {

class HelpFormatter final : public CLI::Formatter {
  public:
    HelpFormatter() { column_width(31); }
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
    // Without the types and checks that CLI11 would show.
    std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace pyperf::tool
