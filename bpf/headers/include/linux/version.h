/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/* Stands in for the kernel header of this name when libbcc compiles: all that its own helpers need of it. */
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + ((c) > 255 ? 255 : (c)))
/* The text asks for no version; libbcc's helpers do, and get the oldest kernel that pyperf supports. */
#ifndef LINUX_VERSION_CODE
#define LINUX_VERSION_CODE KERNEL_VERSION(5, 5, 0)
#endif
