/** Files of the controller: its configuration, and a snapshot for dry runs. */
@NullMarked
package io.heddle.controller.file;

import org.jspecify.annotations.NullMarked;
