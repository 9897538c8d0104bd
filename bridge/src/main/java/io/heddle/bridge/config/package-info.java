/**
 * Configuration of a bridge, and the parser of its file, whose lines consist of a keyword, words
 * and {@code key=value} pairs. Control path only.
 */
@NullMarked
package io.heddle.bridge.config;

import org.jspecify.annotations.NullMarked;
