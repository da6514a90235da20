// SPDX-License-Identifier: Apache-2.0
// How errors leave through the C interface: a negative errno, and one line that pyperf_last_error() gives.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "result.h"

namespace pyperf::api {

// Remembers the line for this thread; returns the code.
int fail(const Error& error);
const char* last_error();

// Runs a body that returns int; no exception gets out.
template <typename Body>
int guarded(Body&& body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return fail({"out of memory", -ENOMEM});
    } catch (const std::exception& exception) {
        return fail({exception.what(), -EIO});
    }
}

}  // namespace pyperf::api
