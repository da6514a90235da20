// SPDX-License-Identifier: Apache-2.0
#include "api/errors.h"

namespace pyperf::api {
namespace {

std::string& message() {
    thread_local std::string text;
    return text;
}

}  // namespace

int fail(const Error& error) {
    message() = error.message;
    return error.code < 0 ? error.code : -EIO;
}

const char* last_error() {
    return message().c_str();
}

}  // namespace pyperf::api
