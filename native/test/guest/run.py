"""Runs small host programs with and without the plugin, and compares them: the plugin must not change a host.

Usage: run.py [--plugin LIBRARY] [--programs FOLDER] [--case NAME] PROGRAM...

A program is a file beside this one, a C or C++ program (built as FOLDER/guest_NAME) or a Python program. It lists its
cases, a line each:

    GUEST CASE name [argument...] [-- key=value...]

A backslash at a line's end continues it.

Both runs must agree in exit status, standard output, standard error and files left behind. Lines of standard output that
begin with "# " are notes and may differ. Keys:

    env.NAME=VALUE    environment of both runs
    with.NAME=VALUE   environment of the run with the plugin
    under="COMMAND"   launcher of the program, such as strace -f; COMMAND's first word must be installed
    build=asan        the program as built with that sanitizer, or tsan; skipped where it wasn't built
    stack=KIB         soft limit of the first thread's stack; or unlimited
    needs=A,B         commands, files or root: if one is missing, the case is skipped
    log=REGEX         expected in the plugin's log (NCCL's logger, or standard error)
    status=N          exit status of both runs; -N: by a signal
    with_status=N     exit status of the run with the plugin
    report=1          Java must have left a report beside the statistics; otherwise it must not
    differs=A,B       excluded from the comparison: status, stdout, stderr, files
    repeat=N          runs with the plugin
    seconds=N         time limit of a run; default 60
"""

import argparse
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
# Exit status for a failed check of the program itself (guest.h), which both runs might share.
COMPLAINED = 99
CASE = re.compile(r"GUEST CASE (.*)")
# Addresses and pids differ each time.
VOLATILE = re.compile(r"0x[0-9a-fA-F]+|\b\d{3,}\b")


class Case:
    def __init__(self, program, line):
        words = shlex.split(line)
        split = words.index("--") if "--" in words else len(words)
        self.program = program
        self.name = words[0]
        self.arguments = words[1:split]
        self.keys = dict(word.split("=", 1) for word in words[split + 1 :])

    def list_of(self, key):
        return [word for word in self.keys.get(key, "").split(",") if word]

    def environment(self, prefix):
        return {key[len(prefix) :]: value for key, value in self.keys.items() if key.startswith(prefix)}

    def suffix(self):
        """Returns the end of the program's file name for the case's build."""
        return "_" + self.keys["build"] if "build" in self.keys else ""

    def missing(self):
        """Returns the first missing requirement of the case, or None."""
        needed = self.list_of("needs")
        if "under" in self.keys:
            needed.append(shlex.split(self.keys["under"])[0])
        if "root" in needed and os.geteuid() != 0:
            return "root"
        for name in needed:
            if name != "root" and shutil.which(name) is None and not Path(name).exists():
                return name
        return None


def cases_of(program):
    joined = re.sub(r"\\\n[ */#]*", "", program.read_text())
    found = [CASE.search(line) for line in joined.splitlines()]
    return [Case(program, match.group(1).removesuffix("*/").strip()) for match in found if match]


def command_of(case, programs):
    if case.program.suffix == ".py":
        command = [sys.executable, str(case.program)]
    else:
        command = [str(programs / ("guest_" + case.program.stem + case.suffix()))]
    return shlex.split(case.keys.get("under", "")) + command + case.arguments


def limits_of(case):
    stack = case.keys.get("stack")

    def apply():
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if stack is not None:
            soft = resource.RLIM_INFINITY if stack == "unlimited" else int(stack) * 1024
            resource.setrlimit(resource.RLIMIT_STACK, (soft, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    return apply


class Outcome:
    def __init__(self, case, programs, plugin):
        environment = dict(os.environ, HEDDLE_PROVIDER="soft", HEDDLE_PLANES="127.0.0.1=loopback", PYTHONPATH=str(HERE))
        environment.update(PYTHONDONTWRITEBYTECODE="1", GUEST_LIBRARY=str(programs / "libguest.so"))
        environment.update(case.environment("env."))
        # Each run has its own folder: files there afterwards were left behind.
        self.folder = tempfile.mkdtemp(prefix="guest-")
        os.chmod(self.folder, 0o777)
        stats = tempfile.mkdtemp(prefix="guest-stats-")
        os.chmod(stats, 0o777)
        self.logged = ""
        try:
            if plugin is not None:
                environment.update(GUEST_PLUGIN=str(plugin), GUEST_LOG=stats + "/log", HEDDLE_STATS_DIR=stats)
                environment.update(case.environment("with."))
            child = subprocess.run(
                command_of(case, programs),
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=int(case.keys.get("seconds", 60)),
                preexec_fn=limits_of(case),
            )
            self.status = child.returncode
            self.stdout = child.stdout.decode(errors="replace")
            self.stderr = child.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired as late:
            self.status = f"none after {late.timeout} s"
            self.stdout = (late.stdout or b"").decode(errors="replace")
            self.stderr = (late.stderr or b"").decode(errors="replace")
        finally:
            self.files = sorted(path.name for path in Path(self.folder).iterdir())
            log = Path(stats, "log")
            self.logged = log.read_text(errors="replace") if log.exists() else ""
            self.reports = sorted(path.name for path in Path(stats).glob("hs_err*"))
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(stats, ignore_errors=True)

    def compared(self, what):
        if what == "status":
            return self.status
        if what == "stdout":
            return "\n".join(line for line in self.stdout.splitlines() if not line.startswith("# "))
        if what == "stderr":
            return VOLATILE.sub("…", self.stderr)
        return " ".join(self.files)

    def describe(self):
        return (
            f"    status: {self.status}\n    files: {self.files} reports: {self.reports}\n"
            f"    stdout: {self.stdout}\n    stderr: {self.stderr}\n    log: {self.logged}"
        )


def name_of(status):
    if isinstance(status, int) and status < 0:
        return signal.Signals(-status).name
    return str(status)


def faults_of(case, alone, guest):
    faults = []
    differs = case.list_of("differs")
    for what in ("status", "stdout", "stderr", "files"):
        one, other = alone.compared(what), guest.compared(what)
        if what not in differs and one != other:
            faults.append(f"{what} without the plugin: {one!r}; with it: {other!r}")
    for run, name in ((alone, "without the plugin"), (guest, "with it")):
        if run.status == COMPLAINED or not isinstance(run.status, int):
            faults.append(f"status {name} is {run.status}")
    if "status" in case.keys:
        for run, name in ((alone, "without the plugin"), (guest, "with it")):
            if str(run.status) != case.keys["status"]:
                faults.append(f"status {name} is {name_of(run.status)}, expected {case.keys['status']}")
    if str(guest.status) != case.keys.get("with_status", str(guest.status)):
        faults.append(f"status with the plugin is {name_of(guest.status)}, expected {case.keys['with_status']}")
    if bool(guest.reports) != ("report" in case.keys):
        faults.append(f"reports of Java's: {guest.reports}")
    if "log" in case.keys and re.search(case.keys["log"], guest.logged + guest.stderr) is None:
        faults.append(f"the log doesn't match {case.keys['log']!r}")
    return faults


def run(case, programs, plugin):
    """Returns True, False, or None if the case was skipped."""
    missing = case.missing()
    if missing is None and case.suffix() and not Path(command_of(case, programs)[-1 - len(case.arguments)]).exists():
        missing = "a build with " + case.keys["build"]
    if missing is not None:
        print(f"skipped: {case.program.name} {case.name}: {missing} isn't here", flush=True)
        return None
    alone = Outcome(case, programs, None)
    if alone.status == SKIPPED:
        print(f"skipped: {case.program.name} {case.name}: {alone.stdout.strip()}", flush=True)
        return None
    for number in range(int(case.keys.get("repeat", 1))):
        guest = Outcome(case, programs, plugin)
        faults = faults_of(case, alone, guest)
        if faults:
            print(f"FAILED: {case.program.name} {case.name}, run {number + 1}", flush=True)
            for fault in faults:
                print("  " + fault)
            print("  without the plugin:\n" + alone.describe())
            print("  with it:\n" + guest.describe(), flush=True)
            return False
    print(f"ok: {case.program.name} {case.name}: {name_of(alone.status)}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugin", type=Path, default=os.environ.get("PLUGIN_UNDER_TEST"))
    parser.add_argument("--programs", type=Path, default=Path("."))
    parser.add_argument("--case")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    if options.plugin is None or not options.plugin.exists():
        sys.exit("no plugin: --plugin or PLUGIN_UNDER_TEST must name the library")
    outcomes = []
    for name in options.program:
        for case in cases_of(HERE / name):
            if options.case in (None, case.name):
                outcomes.append(run(case, options.programs.resolve(), options.plugin.resolve()))
    if not outcomes:
        sys.exit("no such case")
    if False in outcomes:
        sys.exit(1)
    sys.exit(0 if True in outcomes else SKIPPED)


if __name__ == "__main__":
    main()
