/**
 * Multicast groups: their names in each kind of fabric, their lookup by address, and the filter of
 * sources. Tables and rules are immutable; a storm guard belongs to the data thread.
 */
@NullMarked
package io.heddle.bridge.group;

import org.jspecify.annotations.NullMarked;
