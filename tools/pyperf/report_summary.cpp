#include "report_summary.h"
#include <fmt/format.h>
namespace pyperf::tool {
std::string summary_text(const pyperf_totals& t, const OwnCost& c) { std::string o = fmt::format("ticks {} expected {}", t.ticks, t.expected_ticks); uint64_t sum=0;
 for (unsigned i = 0; i < PYPERF_CLASS_COUNT; i++) { sum += t.classes[i]; if (t.classes[i]) o += fmt::format(" {} {}", pyperf_class_name(i), t.classes[i]); }
 o += fmt::format(" sum {} stacks {} codes {} runs {} ns/run {} frames/run {:.1f} resent {} cfull {} dropped {} routes {} {} {} {} {} cpu {:.2f} rss {}\n", sum, t.stacks, t.code_objects, t.runs, t.runs ? t.run_ns / t.runs : 0, t.runs ? double(t.frames) / double(t.runs) : 0., t.stacks_resent, t.counts_full, t.records_dropped, t.routes[0], t.routes[1], t.routes[2], t.routes[3], t.routes[4], c.cpu_seconds, c.rss_anon_kib); return o; }
std::string summary_json(const pyperf_totals&, const OwnCost&) { return "{}"; }
}
