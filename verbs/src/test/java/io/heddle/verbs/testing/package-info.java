/** Test support for providers: the contract of every provider, and the end of a connection. */
@NullUnmarked
package io.heddle.verbs.testing;

import org.jspecify.annotations.NullUnmarked;
