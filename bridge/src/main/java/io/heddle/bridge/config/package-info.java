/**
 * Configuration: lines of a keyword, words and {@code key=value} pairs, and their error messages.
 * Control path only.
 */
@NullMarked
package io.heddle.bridge.config;

import org.jspecify.annotations.NullMarked;
