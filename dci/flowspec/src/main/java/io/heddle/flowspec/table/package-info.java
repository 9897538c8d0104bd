/**
 * A gateway's rules: those of all peers in one table, the rule that a flow belongs to, and which
 * rules of which peer are taken at all. One thread: the BGP speaker's.
 */
@NullMarked
package io.heddle.flowspec.table;

import org.jspecify.annotations.NullMarked;
