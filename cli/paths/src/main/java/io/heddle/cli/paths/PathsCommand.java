package io.heddle.cli.paths;

import picocli.CommandLine.Command;

/** Which links of a fabric flows take. */
@Command(
    name = "paths",
    description = "Which links of a fabric the flows of RoCEv2 take, by their source ports.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      PathsMeasureCommand.class,
      PathsFitCommand.class,
      PathsPickCommand.class,
      PathsPredictCommand.class,
      PathsCheckCommand.class
    })
public final class PathsCommand {}
