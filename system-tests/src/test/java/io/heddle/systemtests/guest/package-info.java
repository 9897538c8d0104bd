/**
 * Tests that need a kernel with RDMA. They run in an emulated guest, which {@code
 * system-tests/guest/run.sh} starts, with Debian's kernel, its Soft RoCE (rxe) and stock programs.
 *
 * <p>The calling thread waits for the guest. On a machine that can't run a guest, the tests are
 * skipped, and the reason is printed.
 */
@NullMarked
package io.heddle.systemtests.guest;

import org.jspecify.annotations.NullMarked;
