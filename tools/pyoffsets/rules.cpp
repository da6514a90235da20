// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "layout/structures.h"

namespace pyperf::offsets {
namespace {

struct Row {
    uint16_t minor;
    Rules rules;
};

using enum FrameChain;
using enum LineTable;
using enum ThreadBinding;
using enum StringKind;

// Sources, all of CPython at the tag of that minor's releases:
// - frame chain: Python/ceval.c (2.7 - 3.12), Include/internal/pycore_tstate.h and Include/cpython/pystate.h
// (3.13+)
// - line table: Objects/lnotab_notes.txt (2.7 - 3.10: unsigned deltas in 2.7, signed line deltas from 3.6,
// ranges with
//   -128 for "no line" in 3.10); Objects/locations.md, later InternalDocs/code_objects.md (3.11+)
// - thread binding: Python/thread.c find_key() over keyhead (2.7); Python/pystate.c autoTLSkey (3.6),
// autoTSSkey in
//   _PyRuntime (3.7 - 3.14), the thread-local _Py_tss_gilstate (3.15)
// - instruction unit: Include/cpython/frameobject.h of 3.10: f_lasti counts instructions of two bytes;
// before, bytes;
//   from 3.11 on the frame has a pointer and the difference of pointers is in bytes
// - tag mask: Include/internal/pycore_stackref.h: Py_TAG_BITS is 3 from 3.14 on; 3.13's f_executable is a
// plain pointer
constexpr Row kRows[] = {
    {version_key(2, 7), {frame_object, lnotab_unsigned, key_list, bytes, 1, 0}},
    {version_key(3, 6), {frame_object, lnotab_signed, pthread_key, unicode, 1, 0}},
    {version_key(3, 7), {frame_object, lnotab_signed, runtime_key, unicode, 1, 0}},
    {version_key(3, 8), {frame_object, lnotab_signed, runtime_key, unicode, 1, 0}},
    {version_key(3, 9), {frame_object, lnotab_signed, runtime_key, unicode, 1, 0}},
    {version_key(3, 10), {frame_object, pep626_pairs, runtime_key, unicode, 2, 0}},
    {version_key(3, 11), {cframe, locations, runtime_key, unicode, 1, 0}},
    {version_key(3, 12), {cframe, locations, runtime_key, unicode, 1, 0}},
    {version_key(3, 13), {current_frame, locations, runtime_key, unicode, 1, 0}},
    {version_key(3, 14), {current_frame, locations, runtime_key, unicode, 1, 3}},
    {version_key(3, 15), {current_frame, locations, thread_local_, unicode, 1, 3}},
};

}  // namespace

Result<Rules> rules_for(const PythonVersion& version) {
    const auto* row = std::ranges::find(kRows, version_key(version.major, version.minor), &Row::minor);
    if (row != std::end(kRows)) return row->rules;
    return Error{fmt::format(
        "the rules of {}.{} are not known: read that version's sources and add a row to rules.cpp",
        version.major, version.minor)};
}

}  // namespace pyperf::offsets
