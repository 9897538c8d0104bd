/** Files that people write for the controller: a snapshot to try decisions on, and its settings. */
@NullMarked
package io.heddle.controller.file;

import org.jspecify.annotations.NullMarked;
