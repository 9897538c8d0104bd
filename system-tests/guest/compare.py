#!/usr/bin/env python3
"""Compares, in the guest, Heddle's perf commands with stock perftest on the same rxe devices, or the plugin's all-reduce
over several planes with that over one plane. The programs run alternately, round by round. Writes BASE.json with every
value, and BASE.txt with a table.

  compare.py perftest BASE ROUNDS TOOLS_JAR [TEST[:BYTES]]...  cables: the devices rxeA0 and rxeB0
  compare.py allreduce BASE ROUNDS DRIVER PLUGIN       planes: the devices rxeA and rxeB
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT_SECONDS = 100
# The script by which ./heddle runs its commands.
START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "start.sh")
ROW = re.compile(r"^ *(\d+)[ \t]+\d+[ \t]+([-\d.]+)[ \t]+([-\d.]+)[ \t]+([-\d.]+)", re.MULTILINE)

# Bandwidth is measured over a time, without its start and end, and latency over many round trips, so that a program's
# start (Java compiles) doesn't count. On two emulated processors, the scheduling of the two ends decides whether a
# program reaches 60 or 150 MiB/s (at 64 KiB). Pinned to different processors, the ends lose packets. So both ends share
# one processor. The kernel moves all bytes in the client's time; in send_bw, the polling server of stock perftest
# wastes half of the processor, and Heddle's sleeps while it waits (IdlePolicy). The server must not yield often: a task
# switch flushes the emulated processor's translation buffers. Ten seconds count: completions are found in sixteens,
# which at 1 MiB are a quarter of a second.
FOR_TEN_SECONDS = ["-D", "16", "-f", "3"]
ROUND_TRIPS = ["-n", "40000"]
# Rows of test, message size, options, target for the ratio of Heddle to perftest, and whether more is better.
PERFTESTS = [
    ("write_bw", 65536, FOR_TEN_SECONDS, 0.95, True),
    ("write_bw", 1048576, FOR_TEN_SECONDS, 0.95, True),
    ("send_bw", 65536, FOR_TEN_SECONDS, 0.95, True),
    ("send_bw", 1048576, FOR_TEN_SECONDS, 0.95, True),
    ("read_bw", 65536, FOR_TEN_SECONDS, 0.95, True),
    ("read_bw", 1048576, FOR_TEN_SECONDS, 0.95, True),
    ("write_lat", 2, ROUND_TRIPS, 1.25, False),
    ("send_lat", 2, ROUND_TRIPS, 1.25, False),
]
ALL_PROCESSORS = os.sched_getaffinity(0)
ALLREDUCE_BYTES = [65536, 1048576, 4194304]
ALLREDUCE_ITERATIONS = 10


def shell(function):
    return subprocess.run(["bash", "-c", function], check=True, capture_output=True, text=True).stdout.strip()


def listening(port):
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name) as table:
            for line in table:
                words = line.split()
                if words[1].endswith(":%04X" % port) and words[3] == "0A":
                    return True
    return False


class Process:
    """A program on the given processors, whose output goes to a temporary file."""

    def __init__(self, words, environment=None, processors=ALL_PROCESSORS):
        self.words = words
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                        env={**os.environ, **(environment or {})},
                                        preexec_fn=lambda: os.sched_setaffinity(0, processors))

    def output(self):
        self.log.seek(0)
        return self.log.read()

    def finish(self):
        try:
            status = self.process.wait(LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "no end"
        output = self.output()
        if status != 0:
            sys.exit("%s: %s\n%s" % (" ".join(self.words), status, output))
        return output


def perftest(program, test, size, options, port):
    """Runs both ends of a test. Returns the client's average bandwidth, or its typical latency."""
    words = program(test) + options + ["-s", str(size), "-p", str(port), "-u", "18"]
    processors = {min(ALL_PROCESSORS)} if test.endswith("_bw") else ALL_PROCESSORS
    server = Process(words + ["-d", "rxeB0", "-x", shell("gid_index rxeB0")], processors=processors)
    for _ in range(LIMIT_SECONDS * 50):
        if listening(port) or server.process.poll() is not None:
            break
        time.sleep(0.02)
    client = Process(words + ["-d", "rxeA0", "-x", shell("gid_index rxeA0"), "127.0.0.1"], processors=processors)
    output = client.finish()
    server.finish()
    row = ROW.search(output)
    if row is None:
        sys.exit("no row in:\n" + output)
    # Columns for bandwidth: size, messages, peak, average. For latency: size, rounds, least, most, typical.
    return float(row.group(3) if test.endswith("_bw") else row.group(4))


def spread(values):
    ordered = sorted(values)
    return {"median": statistics.median(ordered), "least": ordered[0], "most": ordered[-1], "values": values}


def compare_perftest(rounds, jar, *only):
    cases = [case for case in PERFTESTS if not only or case[0] in only or "%s:%d" % case[:2] in only]
    java = ["sh", START, os.environ["HEDDLE_JAVA_HOME"] + "/bin/java", jar, "perf"]
    os.environ["HEDDLE_PROVIDER"] = "libibverbs"
    contestants = {"ours": lambda test: java + [test], "stock": lambda test: ["ib_" + test, "-F"]}
    values = {}
    port = 19000
    for number in range(rounds):
        for test, size, options, _, _ in cases:
            order = sorted(contestants, reverse=number % 2 == 1)
            for name in order:
                port += 1
                found = perftest(contestants[name], test, size, options, port)
                values.setdefault((test, size), {}).setdefault(name, []).append(found)
            print("round %d %s %d" % (number + 1, test, size), {k: v[-1] for k, v in values[test, size].items()},
                  file=sys.stderr)
        yield perftest_document(cases, values, number + 1)


def perftest_document(cases, values, rounds):
    rows = []
    for test, size, options, aim, more in cases:
        ours, stock = values[test, size]["ours"], values[test, size]["stock"]
        ratio = statistics.median(ours) / statistics.median(stock)
        rows.append({"test": test, "bytes": size, "options": " ".join(options), "unit": "MiB/s" if more else "us",
                     "ours": spread(ours), "stock": spread(stock), "ratio_of_medians": ratio,
                     "ratios": spread([a / b for a, b in zip(ours, stock)]),
                     "aim": (">= " if more else "<= ") + str(aim), "met": ratio >= aim if more else ratio <= aim})
    return {"comparison": "heddle perf / perftest", "rounds": rounds, "rows": rows}


def planes(side, count):
    return "HEDDLE_PLANES=" + ",".join("fd00:%s:0:%d::/64=%d" % (side, i, i) for i in range(count))


def all_reduce(driver, plugin, count, size):
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for rank, side in enumerate("AB"):
            key, value = planes(side.lower(), count).split("=", 1)
            ranks.append(Process(
                [driver, "--plugin", plugin, "--rank", str(rank), "--ranks", "2", "--rendezvous", folder, "--quiet",
                 "--min-bytes", str(size), "--max-bytes", str(size), "--iterations", str(ALLREDUCE_ITERATIONS),
                 "--timeout-seconds", str(LIMIT_SECONDS)],
                {"HEDDLE_PROVIDER": "libibverbs", "NCCL_IB_TIMEOUT": "18", "NCCL_IB_HCA": "=rxe" + side, key: value}))
        outputs = [rank.finish() for rank in ranks]
    events = [json.loads(line) for line in outputs[0].splitlines() if line.startswith("{")]
    sizes = [event for event in events if event.get("event") == "size"]
    if len(sizes) != 1 or any(event.get("wrong", 0) for event in events):
        sys.exit("not one right size in:\n" + outputs[0])
    return sizes[0]["time_us"]


def compare_all_reduce(rounds, driver, plugin):
    most = int(os.environ["GUEST_PLANES"])
    counts = sorted({1, 2, most})
    values = {}
    for number in range(rounds):
        for size in ALLREDUCE_BYTES:
            for count in counts if number % 2 == 0 else reversed(counts):
                values.setdefault(size, {}).setdefault(count, []).append(all_reduce(driver, plugin, count, size))
            print("round %d %d bytes" % (number + 1, size), {k: v[-1] for k, v in values[size].items()}, file=sys.stderr)
        yield all_reduce_document(counts, values, number + 1)


def all_reduce_document(counts, values, rounds):
    rows = []
    for size in ALLREDUCE_BYTES:
        one = statistics.median(values[size][1])
        rows.append({"bytes": size, "unit": "us", "planes": [
            {"planes": count, **spread(values[size][count]), "speed_against_1_plane": one / statistics.median(
                values[size][count])} for count in counts]})
    return {"comparison": "all-reduce of 2 ranks, libibverbs provider, one rxe device each", "rounds": rounds, "rows": rows}


def table(document):
    lines = ["# %s, %d rounds in turns, Linux %s" % (document["comparison"], document["rounds"], document["kernel"]),
             "# under emulation: only what is compared within this run means something; median (least to most)"]
    if "planes" in document["rows"][0]:
        for row in document["rows"]:
            cells = ["%d planes %8.0f us (%.0f to %.0f) x %.2f" % (
                each["planes"], each["median"], each["least"], each["most"], each["speed_against_1_plane"])
                for each in row["planes"]]
            lines.append("%8d B | %s" % (row["bytes"], " | ".join(cells)))
        return lines
    lines.append("# bandwidth: both ends on one processor, after three seconds")
    for row in document["rows"]:
        cells = ["%s %8.2f (%.2f to %.2f)" % (name, row[name]["median"], row[name]["least"], row[name]["most"])
                 for name in ("ours", "stock")]
        lines.append("%-9s %8d B | %s %s | ours / stock %.3f, by rounds %.2f to %.2f | aim %s, %s" % (
            row["test"], row["bytes"], " | ".join(cells), row["unit"], row["ratio_of_medians"], row["ratios"]["least"],
            row["ratios"]["most"], row["aim"], "met" if row["met"] else "missed"))
    return lines


def main():
    kind, base, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    text = ""
    # The files are written after each round, so that an interrupted run leaves the results of its finished rounds.
    for document in {"perftest": compare_perftest, "allreduce": compare_all_reduce}[kind](rounds, *sys.argv[4:]):
        document["kernel"] = os.uname().release
        text = "\n".join(table(document)) + "\n"
        with open(base + ".json", "w") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
        with open(base + ".txt", "w") as file:
            file.write(text)
    print(text, end="")


main()
