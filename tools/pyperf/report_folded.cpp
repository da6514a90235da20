#include "report_folded.h"
#include "report_stacks.h"
#include "report_summary.h"
#include <fmt/format.h>
#include <map>
namespace pyperf::tool {
std::string report_folded(pyperf_session* s, const Options&) {
    std::map<std::string, uint64_t> lines;
    pyperf_session_samples(s, [](void* c, const pyperf_sample* x) {
        std::string l = x->comm;
        for (size_t i = x->frame_count; i-- > 0;) l += fmt::format(";{} ({}:{})", x->frames[i].name, x->frames[i].file, x->frames[i].line);
        if (!x->frame_count) l += fmt::format(";[{}]", pyperf_class_name(x->tick_class)) + (x->reason ? x->reason : "");
        for (size_t i = x->kernel_count; i-- > 0;) l += fmt::format(";{}_[k]", x->kernel[i].name ? x->kernel[i].name : "?");
        (*static_cast<std::map<std::string, uint64_t>*>(c))[l] += x->count; return 0; }, &lines);
    std::string out; for (auto& [l, n] : lines) out += fmt::format("{} {}\n", l, n); return out; }
}
