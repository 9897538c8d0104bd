/** Test support: the contract of every provider, a provider in memory, and ends of connections. */
@NullUnmarked
package io.heddle.verbs.testing;

import org.jspecify.annotations.NullUnmarked;
