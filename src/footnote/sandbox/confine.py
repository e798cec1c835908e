"""The confinement of a process that parses an untrusted document: limits on memory and time, no network, no other
programs, no files of this machine. It needs no privilege, and cannot be undone.

Each layer is applied where the system has it; the others do not depend on it.
"""

import ctypes
import os
import platform
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None


class ProcessLimits(Struct, frozen=True):
    """`memory` is of address space, in bytes; `seconds` are of processor time."""

    memory: int
    seconds: int = 20
    file_bytes: int = 100_000_000
    open_files: int = 64


_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITIES = 0x20080522
"""The version of the `capset` system call."""

_EPERM = 1
_ENOSYS = 38
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000
"""The lower half holds the error number."""

_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in the structure that the kernel passes to the filter."""
_X32 = 0x40000000
"""The first system call of the x32 ABI, which repeats those of x86_64 for 32-bit pointers."""
_CLONE_THREAD = 0x10000

_NEW_CALLS = (*range(424, 435), 438, 440, 442)
"""The same on all architectures: signals by descriptor, io_uring, mounts, descriptors of other processes."""
_CLONE3 = 435


class _Syscalls(Struct, frozen=True):
    """The numbers of system calls, which differ between architectures."""

    architecture: int
    clone: int
    tgkill: int
    blocked: tuple[int, ...]


_CALLS = {
    "x86_64": _Syscalls(
        architecture=0xC000003E,
        clone=56,
        tgkill=234,
        blocked=(
            # socket connect accept sendto recvfrom sendmsg recvmsg bind listen socketpair accept4 recvmmsg sendmmsg
            *(41, 42, 43, 44, 45, 46, 47, 49, 50, 53, 288, 299, 307),
            # fork vfork execve execveat kill tkill rt_sigqueueinfo rt_tgsigqueueinfo
            *(57, 58, 59, 322, 62, 200, 129, 297),
            # ptrace process_vm_readv process_vm_writev kcmp perf_event_open bpf userfaultfd
            *(101, 310, 311, 312, 298, 321, 323),
            # pivot_root chroot mount umount2 unshare setns open_by_handle_at init_module delete_module finit_module
            *(155, 161, 165, 166, 272, 308, 304, 175, 176, 313),
            # add_key request_key keyctl kexec_load shmget msgget semget setrlimit
            *(248, 249, 250, 246, 29, 68, 64, 160),
        ),
    ),
    "aarch64": _Syscalls(
        architecture=0xC00000B7,
        clone=220,
        tgkill=131,
        blocked=(
            *(198, 203, 202, 206, 207, 211, 212, 200, 201, 199, 242, 243, 269),
            *(221, 281, 129, 130, 138, 240),
            *(117, 270, 271, 272, 241, 280, 282),
            *(41, 51, 40, 39, 97, 268, 265, 105, 106, 273),
            *(217, 218, 219, 104, 194, 186, 190, 164),
        ),
    ),
}

_RULESET, _ADD_RULE, _RESTRICT = 444, 445, 446
_READ_FILE, _WRITE_FILE, _READ_FOLDER = 1 << 2, 1 << 1, 1 << 3
_READ = _READ_FILE | _READ_FOLDER
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights on files each version of Landlock knows."""
_SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/usr/share/zoneinfo")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


class Confinement:
    """No network, no new processes, no writing outside one folder; the process can read what Python and the system need
    to run, and the folders that are `readable`.

    Prepared once by a parent and applied by each of its children, so that a child does little more than a few system
    calls. The parent is not confined itself."""

    def __init__(self, readable: Iterable[str] = ()) -> None:
        self._libc: ctypes.CDLL | None = ctypes.CDLL(None, use_errno=True) if platform.system() == "Linux" else None
        self._readable: list[tuple[int, int]] = []
        """Descriptors of folders that may be read, each with the rights on it."""
        if self._libc is not None:
            rights = dict.fromkeys(filter(None, (*_python_folders(), *_SYSTEM, *readable)), _READ)
            self._readable = [*_open_paths({**rights, **dict.fromkeys(_DEVICES, _READ_FILE | _WRITE_FILE)})]
        self._filter = _compile_filter()

    def close(self) -> None:
        for descriptor, _ in self._readable:
            os.close(descriptor)
        self._readable.clear()

    def exit_with_parent(self, parent: int) -> None:
        """Ends this process when its parent, the process with this id, is gone; at once if it is gone already."""
        if self._libc is not None:
            _prctl(self._libc, _PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    def apply(self, limits: ProcessLimits, folder: Path) -> None:
        """Confines this process for good. `folder` is the only one in which it may write."""
        if self._libc is None or _prctl(self._libc, _PR_SET_NO_NEW_PRIVS, 1):
            apply_limits(limits)
            return
        # In this order: descriptors are still open that the limits do not allow, and nothing may follow the filter.
        _restrict_files(self._libc, self._readable, folder)
        self.close()
        apply_limits(limits)
        _drop_capabilities(self._libc)
        if self._filter is not None:
            _install_filter(self._libc, self._filter)


def apply_limits(limits: ProcessLimits) -> None:
    if resource is None:
        return
    limits_by_kind = (
        (resource.RLIMIT_AS, limits.memory, limits.memory),
        # At the soft limit the process gets a signal; the hard limit kills a process that ignores it.
        (resource.RLIMIT_CPU, limits.seconds, limits.seconds + 1),
        (resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        (resource.RLIMIT_CORE, 0, 0),
    )
    for kind, soft, hard in limits_by_kind:
        # macOS refuses RLIMIT_AS, and the hard limits of a system may be lower.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (soft, hard))


def _prctl(library: ctypes.CDLL, option: int, *arguments: int) -> int:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return library.prctl(ctypes.c_int(option), *(ctypes.c_ulong(argument) for argument in padded))


def _drop_capabilities(library: ctypes.CDLL) -> None:
    """Gives up the capabilities of a server that runs as root, such as raising a limit or changing the owner of a
    file."""
    # Not every C library has this function.
    with suppress(AttributeError):
        library.capset((ctypes.c_uint32 * 2)(_CAPABILITIES, 0), (ctypes.c_uint32 * 6)())


# System calls ---------------------------------------------------------------------------------------------------------


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("true", ctypes.c_uint8),
        ("false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Instruction)))


class _Filter(Struct, frozen=True):
    """The instructions of a filter; `own` is the index of the one that holds the process id, unknown to the parent."""

    instructions: ctypes.Array[_Instruction]
    own: int


_PID_PLACEHOLDER = 0xFFFFFFFF
"""Placeholder for the process id in a filter that is compiled before the process exists."""


def _compile_filter() -> _Filter | None:
    calls = _CALLS.get(platform.machine())
    if calls is None or sys.platform != "linux" or sys.maxsize < 2**32:
        return None
    listed = list(_filter_instructions(calls, _PID_PLACEHOLDER))
    instructions = (_Instruction * len(listed))(*(_Instruction(*one) for one in listed))
    return _Filter(instructions, next(at for at, one in enumerate(listed) if one[3] == _PID_PLACEHOLDER))


def _install_filter(library: ctypes.CDLL, compiled: _Filter) -> None:
    compiled.instructions[compiled.own].value = os.getpid()
    program = _Program(len(compiled.instructions), compiled.instructions)
    _prctl(library, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))


def _filter_instructions(calls: _Syscalls, own: int) -> Iterable[tuple[int, int, int, int]]:
    """Instructions as code, two jumps and value. The jumps are the numbers of instructions to skip if a test is true,
    and if it is false."""
    refuse = (_RETURN, 0, 0, _REFUSE | _EPERM)
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, calls.architecture
    yield refuse
    yield _LOAD, 0, 0, _NUMBER
    yield _AT_LEAST, 0, 1, _X32
    yield refuse
    for number in calls.blocked + _NEW_CALLS:
        yield _EQUAL, 0, 1, number
        yield refuse
    # A filter cannot read the flags of clone3, which lie in memory; without it the C library falls back to clone.
    yield _EQUAL, 0, 1, _CLONE3
    yield _RETURN, 0, 0, _REFUSE | _ENOSYS
    # Threads, but no processes.
    yield _EQUAL, 0, 4, calls.clone
    yield _LOAD, 0, 0, _FIRST_ARGUMENT
    yield _HAS_BITS, 1, 0, _CLONE_THREAD
    yield refuse
    yield _RETURN, 0, 0, _ALLOW
    # A process may abort itself, and signal no other process.
    yield _EQUAL, 0, 3, calls.tgkill
    yield _LOAD, 0, 0, _FIRST_ARGUMENT
    yield _EQUAL, 1, 0, own
    yield refuse
    yield _RETURN, 0, 0, _ALLOW


# Files ----------------------------------------------------------------------------------------------------------------


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def _python_folders() -> Sequence[str]:
    """The folders of Python and its packages. The module path may also hold the folder in which the program was
    started, which can contain anything."""
    ours = tuple(f"{prefix}/lib" for prefix in (sys.prefix, sys.base_prefix))
    packages = (entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages", ".zip")))
    return tuple(dict.fromkeys((*ours, *packages)))


def _restrict_files(library: ctypes.CDLL, readable: Iterable[tuple[int, int]], folder: Path) -> None:
    version: int = library.syscall(_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return
    all_rights = (1 << _RIGHTS.get(version, max(_RIGHTS.values()))) - 1
    # A version without network rules or scopes accepts a structure that is cut off before those fields.
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _Ruleset(all_rights, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    ruleset_fd: int = library.syscall(_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset_fd < 0:
        return
    own = [*_open_paths({str(folder): all_rights & ~1})]
    for descriptor, rights in (*readable, *own):
        rule = _Beneath(rights & all_rights, descriptor)
        library.syscall(_ADD_RULE, ctypes.c_int(ruleset_fd), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0))
    library.syscall(_RESTRICT, ctypes.c_int(ruleset_fd), ctypes.c_uint32(0))
    for descriptor in (ruleset_fd, *(one for one, _ in own)):
        os.close(descriptor)


def _open_paths(allowed: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    for path, rights in allowed.items():
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        if os.path.isdir(path):  # noqa: PTH112 - the path is a string
            yield descriptor, rights
        else:
            yield descriptor, rights & (_READ_FILE | _WRITE_FILE)
