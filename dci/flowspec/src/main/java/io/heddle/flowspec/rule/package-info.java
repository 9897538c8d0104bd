/**
 * Flow specifications as values: what a rule matches, and which of two rules comes first (RFC 8955
 * §4 and §5, RFC 8956). Owns no thread and reads no bytes; {@code io.heddle.flowspec.wire} does.
 */
@NullMarked
package io.heddle.flowspec.rule;

import org.jspecify.annotations.NullMarked;
