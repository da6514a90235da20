/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/* Stands in for the kernel header of this name when libbcc compiles: all that its own helpers need of it. */
