"""Traces as text with switches of tasks, made up, as perf script, ftrace and trace-cmd print them."""

FSYNC = ("__schedule", "schedule", "io_schedule", "folio_wait_bit_common", "folio_wait_writeback", "vfs_fsync_range")
CALL = ("do_fsync", "__x64_sys_fsync", "do_syscall_64")
STACK = (*FSYNC, *CALL)


def perf(at, out, state, into, stack=()):
    (comm, pid), (other, following) = out, into
    head = f"{comm} {pid} [001] {at:.6f}: sched:sched_switch: prev_comm={comm} prev_pid={pid} prev_prio=120 "
    rows = [f"{head}prev_state={state} ==> next_comm={other} next_pid={following} next_prio=120"]
    rows += [f"\tffffffff8{number:07x} {name}+0x1c ([kernel.kallsyms])" for number, name in enumerate(stack)]
    return [*rows, *(["\t           ee137 fsync+0x7 (/usr/lib/libc.so.6)"] if stack else []), ""]


def old_perf(at, out, state, into, stack=()):
    first, *rest = perf(at, out, state, into, stack)
    said = f"{out[0]}:{out[1]} [120] {state} ==> {into[0]}:{into[1]} [120]"
    return [f"{first.partition('sched:sched_switch: ')[0]}sched:sched_switch: {said}", *rest]


def ftrace(at, out, state, into, stack=()):
    said = perf(at, out, state, into)[0].partition("sched:sched_switch: ")[2]
    head = f"{out[0]:>16}-{out[1]}   [001] d..2. {at:.6f}: "
    trace = [f"{head}<stack trace>", *(f" => {name}" for name in stack)] if stack else []
    return [f"{head}sched_switch: {said}", *trace]


def trace_pipe(at, out, state, into, stack=()):
    return [line.replace("   [001]", "    (    813) [001]") for line in ftrace(at, out, state, into, stack)]


def report(at, out, state, into, stack=()):
    said = f"{out[0]}:{out[1]} [120] {state} ==> {into[0]}:{into[1]} [120]"
    head = f"{out[0]:>16}-{out[1]}  [001] {at:12.6f}: "
    trace = (
        [f"{head}kernel_stack:         <stack trace >", *(f"=> {name} (ffffffff8)" for name in stack)] if stack else []
    )
    return [f"{head}sched_switch:         {said}", *trace]


FORMS = {each.__name__: each for each in (perf, old_perf, ftrace, trace_pipe, report)}


def text(form, *switches):
    """A trace. switches: when, who goes, in which state, who comes, and the stack of who goes."""
    return "\n".join(line for switch in switches for line in FORMS[form](*switch)) + "\n"
