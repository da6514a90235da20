// SPDX-License-Identifier: Apache-2.0
// Which CPython will a program run that is not started yet? Its own file, the one that its #! line names, or
// the libpython that it is linked with. What the dynamic linker does is only guessed at here: good for having
// a walker ready in time, and for nothing else. Once the program runs, what it maps is looked at.
#pragma once

#include <memory>
#include <string>

#include "elf/interpreter_image.h"

namespace pyperf {

// program: as for execvp(3). Null: it seems to run none.
std::shared_ptr<const InterpreterImage> expected_interpreter(const std::string& program);

}  // namespace pyperf
