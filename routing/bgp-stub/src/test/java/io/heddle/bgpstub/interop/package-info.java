/**
 * The speaker against daemons that no one here wrote, each in a network namespace of its own. What
 * isn't installed, or can't be run without root, is skipped with the reason.
 */
@NullMarked
package io.heddle.bgpstub.interop;

import org.jspecify.annotations.NullMarked;
