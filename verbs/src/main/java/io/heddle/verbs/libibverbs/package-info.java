/**
 * Provider for libibverbs devices: hardware, and the kernel's Soft-RoCE (rxe).
 *
 * <p>{@link io.heddle.verbs.libibverbs.Verb} names every function of the control path, captures
 * errno, and maps the library's four forms of error report to one. Posting and polling go through
 * the function pointers of the context's ops, as verbs.h's inline functions do: {@link
 * io.heddle.verbs.libibverbs.DataPath}. Layouts and constants come from jextract. The library is
 * opened at run time; without it there are no devices.
 *
 * <p>Objects are wrapped in {@code Native…} classes. Any thread may create and close. A parent's
 * close waits for calls on its children, then closes them ({@link
 * io.heddle.verbs.libibverbs.OwnershipLock}). Only a parent's close calls the library with the lock
 * held exclusively: other calls may take long, such as registration and address resolution.
 */
@NullMarked
package io.heddle.verbs.libibverbs;

import org.jspecify.annotations.NullMarked;
