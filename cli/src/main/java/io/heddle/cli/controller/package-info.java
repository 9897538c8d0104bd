/** {@code heddle controller}: the daemon between data centres, its queries, and its dry run. */
@NullMarked
package io.heddle.cli.controller;

import org.jspecify.annotations.NullMarked;
