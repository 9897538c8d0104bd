/**
 * {@code heddle perf}: the device tests of perftest, implemented in the module {@code
 * perf-tests/perftest}.
 */
@NullMarked
package io.heddle.cli.perf;

import org.jspecify.annotations.NullMarked;
