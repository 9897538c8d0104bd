/**
 * {@code heddle bench}: runs every measurement of the project by the commands that users have for
 * them, reads their JSON, judges it by {@link io.heddle.tools.bench.Targets}, and keeps and draws
 * what came out. Measures nothing itself. One thread.
 */
@NullMarked
package io.heddle.tools.bench;

import org.jspecify.annotations.NullMarked;
