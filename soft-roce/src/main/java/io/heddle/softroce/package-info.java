/** A user-space RoCEv2 device over UDP. Reached through the provider look-up only. */
@NullMarked
package io.heddle.softroce;

import org.jspecify.annotations.NullMarked;
