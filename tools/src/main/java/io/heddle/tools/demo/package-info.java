/**
 * {@code heddle demo}: all-reduces with every byte checked, on planes of one machine or on a fabric
 * of routers, while planes fail and weights change. The demo measures and plots the shares of the
 * planes. Runs on the command's thread; another thread samples the shares.
 */
@NullMarked
package io.heddle.tools.demo;

import org.jspecify.annotations.NullMarked;
