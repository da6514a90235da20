// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "layout/database.h"
#include "process/image_cache.h"

// The opaque handle of the C interface.
struct pyperf_db {
    pyperf::Database database;
    pyperf::ImageCache images;
    // Texts of the last pyperf_examine().
    std::string image, build_id, version, layout, evidence, reason;
};
