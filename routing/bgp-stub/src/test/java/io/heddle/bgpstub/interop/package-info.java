/**
 * Interoperability tests of the speaker with other BGP daemons, each in its own network namespace.
 * Tests of a missing daemon, or without root, are skipped with the reason.
 */
@NullMarked
package io.heddle.bgpstub.interop;

import org.jspecify.annotations.NullMarked;
