#include "report_stacks.h"
#include "report_folded.h"
namespace pyperf::tool { std::string report_stacks(pyperf_session* s, const Options& o) { return report_folded(s, o); } }
