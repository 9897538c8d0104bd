/** Which network interfaces and addresses this host has, what state they are in, and which plane each address belongs to. Runs on the control thread. */
@NullMarked
package io.heddle.addr;

import org.jspecify.annotations.NullMarked;
