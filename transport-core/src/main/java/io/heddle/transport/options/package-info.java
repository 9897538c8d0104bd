/** All settings of the plugin, as tables of options, and how the longest of them is read. */
@NullMarked
package io.heddle.transport.options;

import org.jspecify.annotations.NullMarked;
