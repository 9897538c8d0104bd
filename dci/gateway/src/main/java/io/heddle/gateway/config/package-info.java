/** Configuration of the gateway, and its parser. */
@NullMarked
package io.heddle.gateway.config;

import org.jspecify.annotations.NullMarked;
