/**
 * The devices of libibverbs behind {@link io.heddle.verbs.VerbsProvider}: hardware, and the
 * kernel's Soft-RoCE (rxe).
 *
 * <p>{@link io.heddle.verbs.libibverbs.Verb} names every function that is called on the control
 * path, captures errno, and turns the library's four ways of reporting a failure into one. Posting
 * and polling go through the function pointers of the context's ops, as verbs.h's inline functions
 * do: {@link io.heddle.verbs.libibverbs.DataPath}. Layouts and constants are jextract's; the
 * library is opened at run time, and where it is absent there are no devices.
 *
 * <p>Objects are wrapped in {@code Native…} classes. Any thread may create and close; a parent's
 * close waits for calls on its children and then closes them ({@link
 * io.heddle.verbs.libibverbs.OwnershipLock}). Calls into the library are made outside of any
 * exclusive lock, since a registration or an address resolution may take long.
 */
@NullMarked
package io.heddle.verbs.libibverbs;

import org.jspecify.annotations.NullMarked;
