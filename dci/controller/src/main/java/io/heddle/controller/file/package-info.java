/** The controller's files: a snapshot for dry runs, and the settings. */
@NullMarked
package io.heddle.controller.file;

import org.jspecify.annotations.NullMarked;
