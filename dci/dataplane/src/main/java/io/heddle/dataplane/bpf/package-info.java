/**
 * Data plane that is a tc BPF program (dci/dataplane/src/main/c/gateway.bpf.c). The program and its
 * maps outlive the process; the next process adopts them.
 */
@NullMarked
package io.heddle.dataplane.bpf;

import org.jspecify.annotations.NullMarked;
