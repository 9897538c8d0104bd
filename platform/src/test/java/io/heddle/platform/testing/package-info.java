/**
 * Support for the tests of all modules: time limits for a busy machine ({@link
 * io.heddle.platform.testing.Deadline} for a wait, {@link io.heddle.platform.testing.EndsWithin}
 * for a test), marks of long tests, network namespaces, and separate JVMs.
 */
@NullMarked
package io.heddle.platform.testing;

import org.jspecify.annotations.NullMarked;
