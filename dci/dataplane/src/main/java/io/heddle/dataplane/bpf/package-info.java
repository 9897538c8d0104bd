/**
 * The data plane as a tc BPF program (dci/dataplane/src/main/c/gateway.bpf.c) and its maps, which
 * outlive the process: the next one adopts them.
 */
@NullMarked
package io.heddle.dataplane.bpf;

import org.jspecify.annotations.NullMarked;
