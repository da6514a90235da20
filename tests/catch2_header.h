// SPDX-License-Identifier: Apache-2.0
// The one place that knows where Catch2's header is in version 2 and in version 3.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
