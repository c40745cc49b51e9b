//! Our side of a command: start a supervisor, hear the output, decide when to stop waiting.

use super::capture::{Capture, Pipe, private_folder};
use super::request::{Report, Request, decode, encode};
use super::shell_state;
use crate::mutex::lock;
use caret_protocol::workspace::{Exit, Ran, Run, ShellState};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// A command in the background is ended after a day.
const HARD_LIMIT: Duration = Duration::from_secs(86_400);
/// How long a supervisor may take to end everything; it gives processes two seconds itself.
const STOP_LIMIT: Duration = Duration::from_secs(5);
/// Reads of a pipe that hold all that was in it when a command ended: no pipe is larger than a mebibyte.
const READS_AT_END: usize = 64;

/// How to start a supervisor, and the shell it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Supervisor {
    /// The program to run; it must end up in [`supervise`](super::supervise).
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// The shell; bash keeps its state between commands, others only run them.
    pub shell: PathBuf,
    /// The environment of a chat's first command.
    pub environment: Vec<(String, String)>,
}

/// What goes on after its call has ended. Nothing of it is left after [`close`](Self::close).
#[derive(Debug, Default)]
pub struct Background {
    stop: CancellationToken,
    tasks: Mutex<JoinSet<()>>,
    /// A supervisor that waits for another command.
    idle: Mutex<Option<Link>>,
}

impl Background {
    fn take_over(&self, mut running: Running) {
        let stop = self.stop.clone();
        lock(&self.tasks).spawn(async move { running.until_stopped(&stop).await });
    }

    /// Ends everything and waits for it.
    pub async fn close(&self) {
        self.stop.cancel();
        let idle = lock(&self.idle).take();
        if let Some(idle) = idle {
            idle.stop().await;
        }
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        while tasks.join_next().await.is_some() {}
    }
}

/// Runs a command until it ends, moves to the background, or is cancelled.
///
/// # Errors
/// When it cannot be started.
pub async fn run(
    supervisor: &Supervisor,
    background: &Background,
    run: Run<'_>,
    cancel: &CancellationToken,
) -> io::Result<Ran> {
    let began = Instant::now();
    let state_file = run.output_file.with_extension("state");
    let request = request(supervisor, &run, &state_file)?;
    let capture = Capture::new(run.keep_bytes, run.output_file.clone());
    let idle = lock(&background.idle).take();
    let mut running = Running::start(supervisor, idle, &request, capture).await?;
    let patience = if run.command.background { 0 } else { run.command.timeout_ms };
    let exit = running.foreground(began + Duration::from_millis(patience), cancel, run.output).await?;
    let shell = take_state(&state_file, &exit);
    let mut ran = Ran {
        exit,
        stdout: running.capture.out.bytes(),
        stderr: running.capture.err.bytes(),
        interleaved: running.capture.both.bytes(),
        total_bytes: running.capture.total(),
        output_file: running.capture.file().map(Path::to_owned),
        elapsed_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        shell,
    };
    if let Exit::Background(_) = ran.exit {
        running.capture.spill();
        ran.output_file = running.capture.file().map(Path::to_owned);
        running.forget_state = Some(state_file);
    }
    match (running.link.take(), running.left) {
        (Some(link), false) => *lock(&background.idle) = Some(link),
        (Some(link), true) => background.take_over(Running { link: Some(link), ..running }),
        (None, _) => {}
    }
    Ok(ran)
}

fn request(supervisor: &Supervisor, run: &Run<'_>, state_file: &Path) -> io::Result<Request> {
    let cwd = match run.command.working_directory.as_str() {
        "" => run.shell.cwd.clone(),
        told => run.shell.cwd.join(told),
    };
    if !cwd.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("the working directory {} is not there", cwd.display()),
        ));
    }
    let mut environment = run.shell.environment.clone().unwrap_or_else(|| supervisor.environment.clone());
    environment.retain(|(name, _)| !run.environment.iter().any(|(own, _)| own == name));
    environment.extend_from_slice(run.environment);
    let bash = supervisor.shell.file_name().is_some_and(|name| name == "bash");
    let command = &run.command.command;
    let args = if bash {
        if let Some(folder) = state_file.parent() {
            private_folder(folder)?;
        }
        let keep = format!("builtin declare -px > {} 2>/dev/null", quoted(&state_file.to_string_lossy()));
        let script = format!("trap {} EXIT\n{command}", quoted(&keep));
        vec!["--noprofile".into(), "--norc".into(), "-c".into(), script]
    } else {
        vec!["-c".into(), command.clone()]
    };
    Ok(Request { program: supervisor.shell.clone(), args, cwd, environment })
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Reads what the command left for the next one; a command that goes on leaves nothing yet.
fn take_state(file: &Path, exit: &Exit) -> Option<ShellState> {
    if matches!(exit, Exit::Background(_)) {
        return None;
    }
    let text = std::fs::read(file).ok()?;
    // Whether it can be removed or not, the next command uses another name.
    std::fs::remove_file(file).ok();
    shell_state::read(&String::from_utf8_lossy(&text))
}

/// A supervisor, and how it is heard.
#[derive(Debug)]
struct Link {
    control: UnixStream,
    out: pipe::Receiver,
    err: pipe::Receiver,
    child: Child,
}

impl Link {
    fn start(supervisor: &Supervisor) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let (out, out_theirs) = std::io::pipe()?;
        let (err, err_theirs) = std::io::pipe()?;
        let child = Command::new(&supervisor.program)
            .args(&supervisor.args)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(out_theirs)
            .stderr(err_theirs)
            .spawn()?;
        ours.set_nonblocking(true)?;
        Ok(Self {
            control: UnixStream::from_std(ours)?,
            out: pipe::Receiver::from_owned_fd(out.into())?,
            err: pipe::Receiver::from_owned_fd(err.into())?,
            child,
        })
    }

    /// Lets go of the supervisor, which ends everything below it, and waits for it.
    async fn stop(mut self) {
        // It may be gone already.
        self.control.shutdown().await.ok();
        let mut rest = [0; 256];
        let gone = async { while matches!(self.control.read(&mut rest).await, Ok(1..)) {} };
        if timeout(STOP_LIMIT, gone).await.is_err() {
            // Cannot happen to a supervisor that runs; it may have been stopped by a debugger.
            self.child.kill().ok();
        }
        self.child.wait().ok();
    }
}

/// A command with its supervisor.
struct Running {
    /// The supervisor, until it was stopped.
    link: Option<Link>,
    unread: Vec<u8>,
    group: u32,
    /// The command itself has ended; descendants of it may go on.
    over: bool,
    capture: Capture,
    /// Something of the command still runs.
    left: bool,
    /// The first bytes of a character whose others have not come yet, by pipe.
    unshown: [Vec<u8>; 2],
    /// The last read of the output was full: the other pipe has to be looked at too.
    flooded: bool,
    forget_state: Option<PathBuf>,
}

/// What a running command did next.
enum Happened {
    Wrote(Pipe, Vec<u8>),
    Reported(Report),
    /// The supervisor is gone.
    Vanished,
}

impl Running {
    /// Hands the command to a supervisor that waits for one, or to a new one.
    async fn start(
        supervisor: &Supervisor,
        idle: Option<Link>,
        request: &Request,
        capture: Capture,
    ) -> io::Result<Self> {
        let request = encode(request)?;
        let mut link = match idle {
            Some(idle) => idle,
            None => Link::start(supervisor)?,
        };
        if link.control.write_all(&request).await.is_err() {
            // Somebody killed the one that waited.
            link.stop().await;
            link = Link::start(supervisor)?;
            link.control.write_all(&request).await?;
        }
        Ok(Self {
            link: Some(link),
            unread: Vec::new(),
            group: 0,
            capture,
            over: false,
            left: true,
            unshown: Default::default(),
            flooded: false,
            forget_state: None,
        })
    }

    /// Waits until the command ended, is cancelled, or has taken so long that it goes on by itself.
    async fn foreground(
        &mut self,
        deadline: Instant,
        cancel: &CancellationToken,
        output: &(dyn Fn(&str) + Send + Sync),
    ) -> io::Result<Exit> {
        loop {
            let happened = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    self.stop().await;
                    return Ok(Exit::Cancelled);
                }
                happened = self.next() => happened,
                // Not before the supervisor said that the command was started.
                () = sleep_until(deadline), if self.group != 0 => return Ok(Exit::Background(self.group)),
            };
            match happened {
                Happened::Wrote(pipe, bytes) => {
                    self.capture.push(pipe, &bytes);
                    self.show(pipe, &bytes, output);
                }
                Happened::Reported(Report::Started(group)) => self.group = group,
                Happened::Reported(Report::NotStarted(message)) => {
                    self.stop().await;
                    return Err(io::Error::other(message));
                }
                Happened::Reported(Report::Exited { code, left }) => {
                    self.ended(left, output);
                    return Ok(Exit::Code(code));
                }
                Happened::Reported(Report::Signalled { signal, left }) => {
                    self.ended(left, output);
                    return Ok(Exit::Signal(signal));
                }
                Happened::Vanished => {
                    self.kill_group();
                    self.stop().await;
                    return Err(io::Error::other("the process that watches the command was killed"));
                }
            }
        }
    }

    /// Goes on reading for a command that nobody waits for, until it ends or everything has to.
    async fn until_stopped(&mut self, stop: &CancellationToken) {
        let limit = Instant::now() + HARD_LIMIT;
        loop {
            let happened = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                happened = self.next() => happened,
                () = sleep_until(limit) => break,
            };
            match happened {
                Happened::Wrote(pipe, bytes) => self.capture.push(pipe, &bytes),
                Happened::Reported(
                    Report::Exited { left: true, .. } | Report::Signalled { left: true, .. },
                ) => {}
                Happened::Reported(_) => break,
                Happened::Vanished => {
                    self.kill_group();
                    break;
                }
            }
        }
        self.stop().await;
        if let Some(file) = self.forget_state.take() {
            // Not there when the command was killed.
            std::fs::remove_file(file).ok();
        }
    }

    async fn next(&mut self) -> Happened {
        let Some(link) = &mut self.link else { return Happened::Vanished };
        let mut out_bytes = [0; 16384];
        let mut err_bytes = [0; 4096];
        let mut control_bytes = [0; 256];
        loop {
            // Two reports may have come in one piece.
            match decode(&mut self.unread) {
                Ok(Some(report)) => {
                    self.over |= matches!(report, Report::Exited { .. } | Report::Signalled { .. });
                    return Happened::Reported(report);
                }
                Ok(None) => {}
                Err(_) => return Happened::Vanished,
            }
            if std::mem::take(&mut self.flooded)
                && let Ok(count @ 1..) = rustix::io::read(&link.err, &mut err_bytes)
            {
                return Happened::Wrote(Pipe::Err, err_bytes[..count].to_vec());
            }
            // Nobody can tell which of two pipes was written first; what a command says comes before what it
            // complains, the same in every run.
            let (pipe, read, bytes): (_, _, &[u8]) = tokio::select! {
                biased;
                read = link.control.read(&mut control_bytes) => match read {
                    Ok(count) if count > 0 => {
                        self.unread.extend_from_slice(&control_bytes[..count]);
                        continue;
                    }
                    _ => return Happened::Vanished,
                },
                read = link.out.read(&mut out_bytes) => (Pipe::Out, read, &out_bytes),
                read = link.err.read(&mut err_bytes) => (Pipe::Err, read, &err_bytes),
            };
            self.flooded = pipe == Pipe::Out && matches!(read, Ok(count) if count == bytes.len());
            return match read {
                Ok(count) if count > 0 => Happened::Wrote(pipe, bytes[..count].to_vec()),
                // The supervisor holds the other ends, so they close only with it.
                _ => Happened::Vanished,
            };
        }
    }

    /// Takes what is in the pipes now; a descendant that still holds them is not waited for.
    fn ended(&mut self, left: bool, output: &(dyn Fn(&str) + Send + Sync)) {
        self.left = left;
        for pipe in [Pipe::Out, Pipe::Err] {
            let mut bytes = [0; 16384];
            for _ in 0..READS_AT_END {
                let Some(count @ 1..) = self.read_now(pipe, &mut bytes) else { break };
                self.capture.push(pipe, &bytes[..count]);
                self.show(pipe, &bytes[..count], output);
            }
            let rest = std::mem::take(&mut self.unshown[pipe as usize]);
            if !rest.is_empty() {
                output(&String::from_utf8_lossy(&rest));
            }
        }
    }

    /// The system is asked, not the runtime: that may not have heard yet that there is something.
    fn read_now(&self, pipe: Pipe, bytes: &mut [u8]) -> Option<usize> {
        let link = self.link.as_ref()?;
        rustix::io::read(if pipe == Pipe::Out { &link.out } else { &link.err }, bytes).ok()
    }

    /// Shows bytes as text; a character is shown when all its bytes are there.
    fn show(&mut self, pipe: Pipe, bytes: &[u8], output: &(dyn Fn(&str) + Send + Sync)) {
        let unshown = &mut self.unshown[pipe as usize];
        unshown.extend_from_slice(bytes);
        let rest = unshown.split_off(whole_characters(unshown));
        let whole = std::mem::replace(unshown, rest);
        if !whole.is_empty() {
            output(&String::from_utf8_lossy(&whole));
        }
    }

    /// A command that lost its supervisor has nobody else to end it.
    fn kill_group(&self) {
        let group = i32::try_from(self.group).ok().and_then(Pid::from_raw);
        if let Some(group) = group.filter(|_| !self.over) {
            // It may have ended in the same moment.
            kill_process_group(group, Signal::KILL).ok();
        }
    }

    async fn stop(&mut self) {
        if let Some(link) = self.link.take() {
            link.stop().await;
        }
    }
}

/// How many of the bytes do not belong to a character that is cut off at their end.
fn whole_characters(bytes: &[u8]) -> usize {
    for (behind, byte) in (1..=3).zip(bytes.iter().rev()) {
        let length = match byte {
            0x80..=0xbf => continue,
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        };
        return if length > behind { bytes.len() - behind } else { bytes.len() };
    }
    bytes.len()
}
