/** The gateway's configuration: its text, and what it means. */
@NullMarked
package io.heddle.gateway.config;

import org.jspecify.annotations.NullMarked;
