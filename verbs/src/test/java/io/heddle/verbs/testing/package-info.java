/**
 * What a provider's tests stand on: the contract that every provider must keep, and one end of a
 * connection.
 */
@NullUnmarked
package io.heddle.verbs.testing;

import org.jspecify.annotations.NullUnmarked;
