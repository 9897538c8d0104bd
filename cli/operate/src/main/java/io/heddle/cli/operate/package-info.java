/**
 * The operator's commands: {@code heddle planes} says which planes an address makes, {@code bgp}
 * runs the route daemon and asks it, {@code drain} takes planes out of use. The daemon's control
 * socket answers on virtual threads; all else runs on the command's thread.
 */
@NullMarked
package io.heddle.cli.operate;

import org.jspecify.annotations.NullMarked;
