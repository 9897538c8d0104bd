/** Configuration of a bridge, and the parser of its file. Control path only. */
@NullMarked
package io.heddle.bridge.config;

import org.jspecify.annotations.NullMarked;
