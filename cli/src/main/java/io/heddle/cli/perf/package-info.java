/** {@code heddle perf}: perftest's tests of a device, by the module {@code perf-tests/perftest}. */
@NullMarked
package io.heddle.cli.perf;

import org.jspecify.annotations.NullMarked;
