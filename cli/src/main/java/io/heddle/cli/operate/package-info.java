/**
 * The operator's commands: {@code heddle planes} lists the planes of this host, {@code bgp} runs
 * and queries the route daemon, {@code drain} takes planes out of use, {@code version} prints
 * versions. The daemon's control socket answers on virtual threads; all other code of this package
 * runs on the command's thread.
 */
@NullMarked
package io.heddle.cli.operate;

import org.jspecify.annotations.NullMarked;
