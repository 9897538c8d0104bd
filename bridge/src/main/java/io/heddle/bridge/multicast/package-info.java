/**
 * Multicast groups: their settings, their names in each kind of fabric, and the detection of loops.
 * Settings and rules are immutable; a storm guard belongs to the data thread.
 */
@NullMarked
package io.heddle.bridge.multicast;

import org.jspecify.annotations.NullMarked;
