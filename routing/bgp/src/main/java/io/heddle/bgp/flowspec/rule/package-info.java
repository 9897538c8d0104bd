/**
 * Flow specifications as values: matching, and precedence between two rules (RFC 8955 §4 and §5,
 * RFC 8956). The package has no thread. Package {@code io.heddle.bgp.flowspec.wire} parses the
 * bytes.
 */
@NullMarked
package io.heddle.bgp.flowspec.rule;

import org.jspecify.annotations.NullMarked;
