/**
 * Flow specifications as values: matching, and precedence between two rules (RFC 8955 §4 and §5,
 * RFC 8956). Owns no thread and parses no bytes; {@code io.heddle.flowspec.wire} does.
 */
@NullMarked
package io.heddle.flowspec.rule;

import org.jspecify.annotations.NullMarked;
