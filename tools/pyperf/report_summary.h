#pragma once
#include <pyperf/pyperf.h>
#include <string>
namespace pyperf::tool { struct OwnCost { double cpu_seconds = 0; uint64_t rss_anon_kib = 0; };
std::string summary_text(const pyperf_totals&, const OwnCost&); std::string summary_json(const pyperf_totals&, const OwnCost&); }
