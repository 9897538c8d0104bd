/** {@code heddle controller}: what the controller between data centres would do, and why. */
@NullMarked
package io.heddle.cli.controller;

import org.jspecify.annotations.NullMarked;
