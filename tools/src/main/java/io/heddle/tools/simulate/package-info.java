/**
 * {@code heddle simulate}: converts options to settings of {@code io.heddle.sim}, and outcomes to
 * tables, JSON and an HTML page. Runs on the command's thread.
 */
@NullMarked
package io.heddle.tools.simulate;

import org.jspecify.annotations.NullMarked;
