/** Settings of the plugin, as tables of options, and the parser of the device selection. */
@NullMarked
package io.heddle.transport.options;

import org.jspecify.annotations.NullMarked;
