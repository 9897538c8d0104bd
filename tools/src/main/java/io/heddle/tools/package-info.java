/**
 * The {@code heddle} command: {@code demo} runs the main job on planes that it sets up itself,
 * {@code planes} says what this host has, {@code perf plugin} measures the plugin beside kernel
 * TCP.
 *
 * <p>Each command is one class with picocli's annotations; what it prints, {@code --json} prints as
 * one document.
 */
@NullMarked
package io.heddle.tools;

import org.jspecify.annotations.NullMarked;
