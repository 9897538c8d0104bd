/** {@code heddle paths check}: predictions of links compared with those in a lab. */
@NullMarked
package io.heddle.tools.paths;

import org.jspecify.annotations.NullMarked;
