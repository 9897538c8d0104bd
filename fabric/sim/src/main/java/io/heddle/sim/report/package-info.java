/** Outcomes as pictures, and pictures on one page that needs nothing else. No plotting library. */
@NullMarked
package io.heddle.sim.report;

import org.jspecify.annotations.NullMarked;
