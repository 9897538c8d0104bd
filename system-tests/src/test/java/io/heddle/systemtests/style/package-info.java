/** Rules for every file of the repository: architecture, style and live links. */
@NullMarked
package io.heddle.systemtests.style;

import org.jspecify.annotations.NullMarked;
