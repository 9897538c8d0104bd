/**
 * The configuration: lines of a keyword, words and {@code key=value} pairs, and what is wrong with
 * them. Control path only.
 */
@NullMarked
package io.heddle.bridge.config;

import org.jspecify.annotations.NullMarked;
