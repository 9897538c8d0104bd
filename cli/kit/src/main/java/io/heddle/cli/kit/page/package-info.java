/** Outcomes as pictures, and pictures on one page that needs nothing else. No plotting library. */
@NullMarked
package io.heddle.cli.kit.page;

import org.jspecify.annotations.NullMarked;
