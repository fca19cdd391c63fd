/* abi.h: the rules every other header of the plugin ABI follows, and its version.
 *
 * Reading order, which is the order in which a host uses them:
 *   abi.h  status.h  host.h  plugin.h  device.h  types.h  graph.h  ops.h  model.h  kv.h  program.h
 *
 * Version. While the major is 0, host and plugin must have the same minor; anything else is refused with both versions named.
 *
 * Structs. Each begins with `struct_size`, set by whoever fills the struct to sizeof of the struct it was compiled with.
 * Structs only grow at the end; a missing tail reads as zero, and zero always means "absent" or "default". A longer struct
 * whose unknown tail is not all zero is refused with GAINZ_STATUS_UNSUPPORTED, never ignored. Arrays of structs travel with a
 * stride in bytes. Reserved fields are zero.
 *
 * Threads. Every function carries one tag:
 *   [any-thread]     may be called from any thread at any time, also concurrently with itself.
 *   [loading]        called while plugins or devices are listed or opened; the host never calls two of these of one plugin at
 * once. [device-thread]  the host calls functions with this tag one at a time for each opened device; successive calls may come
 * from different threads, with a happens-before edge between them. A plugin creates no thread of its own unless an option asks
 * for it; it borrows the host's through gainz_host.parallel_for.
 *
 * Conduct. A plugin never aborts, exits, prints, installs signal handlers or lets an exception cross this border.
 *
 * Ownership. A pointer passed to a function is borrowed until the function returns unless its comment says otherwise. Text is
 * UTF-8.
 *
 * Rationale: C11 with fixed-width fields, no enum types, bool, bit-field or by-value struct, so that any compiler and language
 * agrees on every layout; tests/sdk/layout_test.c holds each size and offset. */
#ifndef GAINZ_SDK_ABI_H
#define GAINZ_SDK_ABI_H

#include <stddef.h>
#include <stdint.h>

#define GAINZ_ABI_MAJOR 0u
#define GAINZ_ABI_MINOR 1u

/* The one symbol a plugin exports. The number is the ABI's major. */
#define GAINZ_PLUGIN_QUERY_SYMBOL "gainz_plugin_query_v0"

#if defined(_WIN32)
#define GAINZ_SDK_EXPORT __declspec(dllexport)
#else
#define GAINZ_SDK_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define GAINZ_SDK_BEGIN extern "C" {
#define GAINZ_SDK_END }
#else
#define GAINZ_SDK_BEGIN
#define GAINZ_SDK_END
#endif

#endif
