// SPDX-License-Identifier: Apache-2.0
// Which layout is this interpreter's, and by which evidence? In: what its file says (elf/) and the database.
// Out: a layout or a refusal by name. Nothing is taken from a neighbouring version, and what the file says of
// its own structures must agree with the layout.
#pragma once

#include <string>

#include "elf/interpreter_image.h"
#include "layout/database.h"
#include "layout/layout.h"

namespace pyperf {

struct Resolution {
    const Layout* layout = nullptr;  // owned by the database; null: refused
    std::string evidence;            // how the layout was chosen, for people
    std::string refusal;             // what is missing and which command helps; "" when there is a layout
};

// c_library: "glibc", "musl", or "" when it is not known: then only a layout for whichever it is will do.
Resolution resolve_layout(const Database& database, const InterpreterImage& image,
                          std::string_view c_library);

// What the file's own tables (tp_members of PyCode_Type and PyFrame_Type, tp_basicsize) say against a layout;
// "" when nothing.
std::string contradictions(const InterpreterImage& image, const Layout& layout);

}  // namespace pyperf
