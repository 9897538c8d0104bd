/**
 * BPF programs and maps of the kernel's, through {@code libbpf.so.1}: an object is loaded from
 * bytes, a program attached to an interface's ingress, maps are read and written in batches. A
 * program that is attached outlives the process, and the next one finds it with its maps ({@link
 * io.heddle.bpf.TcIngress#find}). Knows no product. The C side's header is {@code
 * bpf/src/main/c/heddle_bpf.h}, and {@code bpf/compile.sh} compiles.
 *
 * <p>Owns no thread. Objects are their caller's alone but for {@link io.heddle.bpf.BpfMap}, whose
 * calls any thread may make.
 */
@NullMarked
package io.heddle.bpf;

import org.jspecify.annotations.NullMarked;
