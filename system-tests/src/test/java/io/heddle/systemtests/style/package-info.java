/** What every file of the repository keeps to: architecture, style and live links. */
@NullMarked
package io.heddle.systemtests.style;

import org.jspecify.annotations.NullMarked;
