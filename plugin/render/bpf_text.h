// SPDX-License-Identifier: Apache-2.0
// The files of bpf/, compiled in (made by CMake from the files themselves).
#pragma once

#include <string_view>

namespace pyperf::bpf_text {

extern const std::string_view records;
extern const std::string_view scratch;
extern const std::string_view dialect_bcc;
extern const std::string_view tick;
extern const std::string_view entry;
extern const std::string_view process_events;
extern const std::string_view thread_state;
extern const std::string_view code_identity;
extern const std::string_view first_argument;
extern const std::string_view gil;
extern const std::string_view walk;
extern const std::string_view code_object;

}  // namespace pyperf::bpf_text
