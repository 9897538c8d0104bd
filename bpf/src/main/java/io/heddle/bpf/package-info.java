/**
 * BPF programs and maps of the kernel, through {@code libbpf.so.1}: loads an object from bytes,
 * attaches a program to an interface's ingress, reads and writes maps in batches. An attached
 * program outlives the process, and the next process finds it with its maps ({@link
 * io.heddle.bpf.TcIngress#find}). Independent of any product. The C side's header is {@code
 * bpf/src/main/c/heddle_bpf.h}; {@code bpf/compile.sh} compiles.
 *
 * <p>Owns no thread. Objects are confined to their caller, except {@link io.heddle.bpf.BpfMap},
 * which any thread may call.
 */
@NullMarked
package io.heddle.bpf;

import org.jspecify.annotations.NullMarked;
