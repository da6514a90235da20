#pragma once
#include <pyperf/pyperf.h>
#include <string>
#include "options.h"
namespace pyperf::tool { std::string report_stacks(pyperf_session*, const Options&); }
