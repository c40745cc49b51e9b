//! The supervisor's side: start one command, own all its descendants, end them when told or left alone.
//!
//! Invariant: when this returns, no descendant of the command is alive.

use super::request::{Report, Request, receive, send};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, kill_process_group, pidfd_open, set_child_subreaper,
    setsid, wait,
};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long processes get to end by themselves.
const GRACE: Duration = Duration::from_secs(2);

/// Runs the command that the program asks for on fd 0, and ends with it or with the program.
///
/// # Errors
/// When the program that started us cannot be talked to.
pub fn supervise() -> io::Result<()> {
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let request: Request = receive(&mut control)?;
    // Already a session leader when a terminal started us by hand; nothing depends on it then.
    setsid().ok();
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let child = Command::new(&request.program)
        .args(&request.args)
        .current_dir(&request.cwd)
        .env_clear()
        .envs(request.environment)
        .stdin(Stdio::null())
        .process_group(0)
        .spawn();
    let child = match child {
        Ok(child) => child,
        Err(error) => return send(&mut control, &Report::NotStarted(error.to_string())),
    };
    let Some(leader) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return Ok(()) };
    // From here on nothing may end us but the end of the command, or the sweep.
    match tell_and_watch(&mut control, leader) {
        Ok(true) => Ok(()),
        // The program said stop, or is gone, or cannot be told any more: nobody is to be left.
        Ok(false) | Err(_) => {
            sweep(leader);
            Ok(())
        }
    }
}

fn tell_and_watch(control: &mut UnixStream, leader: Pid) -> io::Result<bool> {
    let_go_of_output()?;
    send(control, &Report::Started(leader.as_raw_nonzero().get().unsigned_abs()))?;
    watch(control, leader)
}

/// The pipes must close when the command's processes close them, not when we end.
fn let_go_of_output() -> io::Result<()> {
    let null = fs::OpenOptions::new().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}

/// Waits until nothing is left (true) or until everything has to end (false).
fn watch(control: &mut UnixStream, leader: Pid) -> io::Result<bool> {
    let leader_fd = pidfd_open(leader, PidfdFlags::empty())?;
    if wait_for(&[control.as_fd(), leader_fd.as_fd()], None)? == Some(0) {
        return Ok(false);
    }
    let mut status = None;
    let mut left = reap(leader, &mut status);
    // The leader was seen to end, so the first reap finds it.
    let status = status.unwrap_or(ExitStatus::from_raw(0));
    let report = match status.signal() {
        Some(signal) => Report::Signalled { signal, left },
        None => Report::Exited { code: status.code().unwrap_or_default(), left },
    };
    send(control, &report)?;
    while left {
        if wait_for(&[control.as_fd()], Some(Duration::from_secs(1)))?.is_some() {
            return Ok(false);
        }
        left = reap(leader, &mut None);
    }
    Ok(true)
}

/// Which of the descriptors is ready first; none when the time passed.
fn wait_for(fds: &[BorrowedFd<'_>], patience: Option<Duration>) -> io::Result<Option<usize>> {
    let timeout = patience.map(|patience| Timespec {
        tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: patience.subsec_nanos().into(),
    });
    let mut polled: Vec<PollFd<'_>> =
        fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    loop {
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) => return Ok(polled.iter().position(|fd| !fd.revents().is_empty())),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Takes the statuses of all children that ended; says whether others are left.
fn reap(leader: Pid, status: &mut Option<ExitStatus>) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) => {
                if pid == leader {
                    *status = Some(ExitStatus::from_raw(ended.as_raw()));
                }
            }
            Ok(None) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Ends every descendant: asks, waits, and then does not ask.
fn sweep(leader: Pid) {
    // The group may be gone already; its members are found below all the same.
    kill_process_group(leader, Signal::TERM).ok();
    signal_all(Signal::TERM);
    let deadline = Instant::now() + GRACE;
    while reap(leader, &mut None) {
        let late = Instant::now() >= deadline;
        if late {
            signal_all(Signal::KILL);
        }
        // There is no descriptor that tells of the end of any child: look again in a moment.
        wait_for(&[], Some(Duration::from_millis(if late { 2 } else { 10 }))).ok();
    }
}

/// Sends a signal to every descendant.
fn signal_all(signal: Signal) {
    let parents = parents();
    let own = rustix::process::getpid();
    for pid in parents.keys() {
        let mut ancestor = *pid;
        // Bounded: a chain of parents is never longer than the table.
        for _ in 0..parents.len() {
            match parents.get(&ancestor) {
                Some(parent) if *parent == own.as_raw_nonzero().get() => {
                    if let Some(pid) = Pid::from_raw(*pid) {
                        // It may have ended since the table was read.
                        kill_process(pid, signal).ok();
                    }
                    break;
                }
                Some(parent) => ancestor = *parent,
                None => break,
            }
        }
    }
}

/// Every process with its parent.
fn parents() -> HashMap<i32, i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name stands in brackets and may hold anything, brackets too.
            let after_name = stat.rsplit_once(')')?.1;
            Some((pid, after_name.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect()
}
