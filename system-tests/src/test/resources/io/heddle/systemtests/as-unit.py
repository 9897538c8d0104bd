"""Runs a command under the restrictions of a systemd unit, without systemd: as-unit.py UNIT UID RUNTIME COMMAND...

Must run as root, in a network namespace that the caller has entered. Imitates ProtectSystem=strict, ProtectHome,
PrivateTmp, PrivateDevices, ProtectProc and ProtectKernelTunables (by mounts), the user, both sets of capabilities and
NoNewPrivileges (by setpriv), RestrictAddressFamilies, RestrictNamespaces, SystemCallArchitectures and SystemCallFilter
(by seccomp). UID stands for the unit's user, and RUNTIME for its RuntimeDirectory, which stays writable. Prints the
unit's restrictions that it doesn't imitate to standard error.
"""
import ctypes
import os
import re
import struct
import subprocess
import sys

IMITATED = """User Group RuntimeDirectory RuntimeDirectoryMode RuntimeDirectoryPreserve CapabilityBoundingSet AmbientCapabilities
NoNewPrivileges RestrictAddressFamilies SystemCallArchitectures SystemCallFilter SystemCallErrorNumber RestrictNamespaces
ProtectSystem ProtectHome ProtectKernelTunables ProtectProc PrivateTmp PrivateDevices PrivateMounts UMask""".split()
NO_RESTRICTIONS = """ExecStart ExecStartPre ExecReload SuccessExitStatus Restart RestartSec Nice
Type NotifyAccess TimeoutStartSec WatchdogSec""".split()
NAMESPACES = 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x00020000
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
DEVICES = "null zero full random urandom tty".split()
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
AUDIT_ARCH_X86_64 = 0xC000003E
libc = ctypes.CDLL(None, use_errno=True)


def settings(unit):
    found = {}
    for line in open(unit):
        match = re.fullmatch(r"(\w+)=(.*)\n", line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    return found


def mount(*words):
    subprocess.check_call(["mount", "-n", *words])


def is_needed(place):
    """Returns whether the command, or the Python that runs this script, is below this folder."""
    return any(each.startswith(place + "/") for each in [*sys.argv, os.path.realpath(sys.executable)])


def devices():
    """Mounts a /dev that has only the devices that every program may use, and shared memory."""
    mount("-t", "tmpfs", "-o", "mode=755", "none", "/mnt")
    for each in DEVICES:
        open("/mnt/" + each, "w").close()
        mount("--bind", "/dev/" + each, "/mnt/" + each)
    os.mkdir("/mnt/shm")
    mount("--bind", "/dev/shm", "/mnt/shm")
    for name, target in ("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"):
        os.symlink("/proc/self/" + target, "/mnt/" + name)
    mount("--move", "/mnt", "/dev")


def mounts(unit, runtime):
    """Mounts everything read-only except the runtime directory, /proc, /sys and /dev, and hides what the unit hides."""
    if libc.unshare(0x00020000) != 0:
        sys.exit("no mount namespace: " + os.strerror(ctypes.get_errno()))
    mount("--make-rprivate", "/")
    mount("--bind", runtime, runtime)
    if unit.get("ProtectSystem") == ["strict"]:
        for line in open("/proc/self/mountinfo").readlines():
            place = line.split()[4].encode().decode("unicode_escape")
            kept = ("/proc", "/sys", "/dev")
            if place != runtime and not any(place == each or place.startswith(each + "/") for each in kept):
                mount("-o", "remount,bind,ro", place)
    if unit.get("ProtectHome") == ["yes"]:
        for home in "/home", "/root":
            if not is_needed(home):
                mount("-t", "tmpfs", "-o", "ro,mode=000", "none", home)
    if unit.get("PrivateTmp") == ["yes"]:
        for place in "/tmp", "/var/tmp":
            if not is_needed(place):
                mount("-t", "tmpfs", "-o", "mode=1777", "none", place)
    if unit.get("PrivateDevices") == ["yes"]:
        devices()
    if unit.get("ProtectProc") == ["invisible"]:
        mount("-t", "proc", "-o", "hidepid=invisible", "proc", "/proc")
    if unit.get("ProtectKernelTunables") == ["yes"]:
        mount("--bind", "/proc/sys", "/proc/sys")
        mount("-o", "remount,bind,ro", "/proc/sys")


def as_user(unit, uid, command):
    def capabilities(key):
        return "-all" + "".join(",+" + each[4:].lower() for value in unit.get(key, []) for each in value.split())

    ambient = capabilities("AmbientCapabilities")
    return [
        "setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "--no-new-privs",
        "--bounding-set", capabilities("CapabilityBoundingSet"), "--inh-caps", ambient, "--ambient-caps", ambient,
        *command,
    ]


def members(group, known):
    if not group.startswith("@"):
        return {group}
    if group not in known:
        known[group] = set()
        for line in subprocess.check_output(["systemd-analyze", "syscall-filter", group], text=True).splitlines()[1:]:
            word = line.strip()
            if word and not word.startswith("#"):
                known[group] |= members(word, known)
    return known[group]


def allowed(unit):
    """Returns the names of the allowed system calls. A list adds calls; a list with the prefix ~ removes calls."""
    names, known = set(), {}
    for line in unit["SystemCallFilter"]:
        words = line.lstrip("~").split()
        chosen = set().union(*(members(word, known) for word in words))
        names = names - chosen if line.startswith("~") else names | chosen
    # System calls that systemd always permits, since no program could start without them.
    return names | members("@default", known) | {"execve", "exit", "exit_group", "rt_sigreturn"}


def numbers():
    for header in "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h":
        if os.path.exists(header):
            return {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", open(header).read())}
    sys.exit("no asm/unistd_64.h: apt-get install linux-libc-dev")


def statement(code, k):
    return struct.pack("HBBI", code, 0, 0, k)


def equal(k, when, otherwise):
    return struct.pack("HBBI", 0x15, when, otherwise, k)


def argument(index):
    return statement(0x20, 16 + 8 * index)


def filter_program(unit):
    number = numbers()
    call = statement(0x20, 0)
    program = [statement(0x20, 4), equal(AUDIT_ARCH_X86_64, 1, 0), statement(0x06, KILL), call]
    families = [FAMILIES[each] for value in unit["RestrictAddressFamilies"] for each in value.split()]
    program += [equal(number["socket"], 0, len(families) + 3), argument(0)]
    program += [equal(each, len(families) - i, 0) for i, each in enumerate(families)]
    program += [statement(0x06, ERRNO | EAFNOSUPPORT), statement(0x06, ALLOW)]
    # Calls with a flag for a new namespace are refused. clone3 always is, since a filter can't read its flags.
    program += [equal(number["clone3"], 0, 1), statement(0x06, ERRNO | ENOSYS)]
    for name in "clone", "unshare":
        program += [
            equal(number[name], 0, 3), argument(0), struct.pack("HBBI", 0x45, 0, 1, NAMESPACES),
            statement(0x06, ERRNO | EPERM), call,
        ]
    program += [call]
    for name in sorted(allowed(unit) & number.keys()):
        program += [equal(number[name], 0, 1), statement(0x06, ALLOW)]
    program += [statement(0x06, ERRNO | EPERM)]
    return b"".join(program), len(program)


def confine(unit):
    code, count = filter_program(unit)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", count, ctypes.addressof(buffer))
    if libc.prctl(22, 2, program, 0, 0) != 0:
        sys.exit("no seccomp filter: " + os.strerror(ctypes.get_errno()))


def main():
    if sys.argv[1] == "--confine":
        confine(settings(sys.argv[2]))
        os.execvp(sys.argv[3], sys.argv[3:])
    path, uid, runtime, *command = sys.argv[1:]
    unit = {key: value for key, value in settings(path).items() if key[0].isupper()}
    service = re.search(r"\[Service\]\n(.*?)(\n\[|$)", open(path).read(), re.S)[1]
    keys = dict.fromkeys(re.findall(r"^(\w+)=", service, re.M))
    others = [each for each in keys if each not in IMITATED + NO_RESTRICTIONS]
    print("as-unit: not imitated:", *others, file=sys.stderr, flush=True)
    mounts(unit, os.path.realpath(runtime))
    os.umask(int(unit["UMask"][0], 8))
    again = [sys.executable, os.path.realpath(__file__), "--confine", path]
    os.execvp("setpriv", as_user(unit, uid, again + command))


main()
