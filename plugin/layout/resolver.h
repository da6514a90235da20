// SPDX-License-Identifier: Apache-2.0
// Which layout is this interpreter's, and by which evidence? In: what its file says (elf/) and the database.
// Out: a layout or a refusal by name. What the file says of its own structures must agree with the layout.
// Nothing is taken from a neighbouring version, but that a micro release newer than every verified range of
// its minor version has that version's newest layout as a candidate: to be proven before it is used.
#pragma once

#include <string>

#include "elf/interpreter_image.h"
#include "layout/database.h"
#include "layout/layout.h"

namespace pyperf {

struct Resolution {
    const Layout* layout = nullptr;  // owned by the database; null: refused
    bool candidate = false;  // the database does not have this build: only to be used when it is proven
    std::string evidence;    // how the layout was chosen, for people
    std::string refusal;     // what is missing and which command helps; "" when there is a layout
};

// c_library: "glibc", "musl", or "" when it is not known: then only a layout for whichever it is will do.
Resolution resolve_layout(const Database& database, const InterpreterImage& image,
                          std::string_view c_library);

// What the file's own tables (tp_members of PyCode_Type and PyFrame_Type, tp_basicsize) say against a layout;
// "" when nothing.
std::string contradictions(const InterpreterImage& image, const Layout& layout);

}  // namespace pyperf
