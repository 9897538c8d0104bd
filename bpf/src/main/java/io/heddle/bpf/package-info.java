/**
 * BPF programs and maps of the kernel, through {@code libbpf.so.1}: loads an object from bytes,
 * attaches a program to an interface's ingress, reads and writes maps in batches. An attached
 * program outlives the process, and the next process finds it with its maps ({@link
 * io.heddle.bpf.TcIngress#find}). C programs include {@code bpf/src/main/c/heddle_bpf.h} and are
 * compiled by {@code bpf/compile.sh}.
 *
 * <p>The package has no thread of its own. Its objects are used by one thread at a time, except
 * {@link io.heddle.bpf.BpfMap}, which any thread may call.
 */
@NullMarked
package io.heddle.bpf;

import org.jspecify.annotations.NullMarked;
