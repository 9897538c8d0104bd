/**
 * The verbs API that the transport is written against, and the seam ({@link
 * io.heddle.verbs.VerbsProvider}) behind which a libibverbs device and the user-space soft RoCE
 * device look the same.
 *
 * <p>Ownership is a tree: device context → protection domain → memory region and queue pair; device
 * context → completion queue. Closing a parent closes its children first; closing twice is allowed.
 * Creation, state changes and close are control path and throw {@link
 * io.heddle.verbs.VerbsException}; posting and polling are data path, allocate nothing and answer
 * with negative errno values. A queue pair is posted to by one thread at a time, a completion queue
 * is polled by one thread at a time; the two may be different threads.
 */
@NullMarked
package io.heddle.verbs;

import org.jspecify.annotations.NullMarked;
