// SPDX-License-Identifier: Apache-2.0
// What the kernel's own type information (BTF) says of the members that the BPF programs need.
#pragma once

#include "render/kernel_facts.h"
#include "result.h"

namespace pyperf {

// Reads /sys/kernel/btf/vmlinux (or where libbpf looks besides). Fails with what to do when there is none.
Result<KernelFacts> read_kernel_facts();

}  // namespace pyperf
