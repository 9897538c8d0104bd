/**
 * Multicast groups: how they are called in each kind of fabric, how they are found by address, and
 * whose packets are taken. Tables and rules are immutable; a storm guard is the data thread's.
 */
@NullMarked
package io.heddle.bridge.group;

import org.jspecify.annotations.NullMarked;
