// SPDX-License-Identifier: Apache-2.0
// Catch2 2 wants its main() compiled once; Catch2 3 brings it as a library and this file is not built.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
