/**
 * {@code heddle demo}: two ranks and an all-reduce with every byte checked, on planes of one
 * machine or on a fabric of routers, while planes fail and weights change. Measures what each plane
 * carried, and draws it. Runs on the command's thread; one more samples the planes' shares.
 */
@NullMarked
package io.heddle.cli.demo;

import org.jspecify.annotations.NullMarked;
