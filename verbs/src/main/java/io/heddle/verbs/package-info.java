/**
 * Verbs API of the transport. Its seam, {@link io.heddle.verbs.VerbsProvider}, hides whether a
 * device is libibverbs' or the user-space soft RoCE device.
 *
 * <p>Ownership is a tree: device context → protection domain → memory region and queue pair; device
 * context → completion queue. Closing a parent closes its children first; closing twice is allowed.
 * Creation, state changes and close belong to the control path and throw {@link
 * io.heddle.verbs.VerbsException}. Posting and polling belong to the data path: they allocate
 * nothing and return negative errno values. One thread at a time posts to a queue pair, and one
 * thread polls a completion queue; the two threads may differ.
 */
@NullMarked
package io.heddle.verbs;

import org.jspecify.annotations.NullMarked;
