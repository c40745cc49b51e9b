//! Writing to whoever reads stdout: a reader that pauses makes the turn pause, a reader that goes ends it.
//!
//! Invariant: a write never blocks the thread, so that signals and the driver are heard all the same. The
//! descriptor stays as we got it, since others may share it.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio_util::sync::CancellationToken;

/// A pipe that has room has room for this much.
const ROOM: usize = 4096;
/// How long a reader may pause.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long it may pause when the run has to end.
const LAST_CHANCE: Duration = Duration::from_secs(1);

/// Writes all of it, when there is room; gives up when the reader pauses for too long.
pub(super) async fn write(mut bytes: &[u8], hurry: &CancellationToken) -> io::Result<()> {
    while !bytes.is_empty() {
        if !has_room()? {
            room(hurry).await?;
        }
        match rustix::io::write(io::stdout(), &bytes[..bytes.len().min(ROOM)]) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Waits until nobody can read stdout any more; for ever where that cannot be told, as with files.
pub(super) async fn gone() {
    // Errors and hang-ups are told without being asked for; to be told when there is room would cost a
    // wake-up for every line.
    if let Ok(stdout) = watch(Interest::ERROR)
        && stdout.ready(Interest::WRITABLE | Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// Whether something can be written now, or would be refused now.
fn has_room() -> io::Result<bool> {
    let stdout = io::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::OUT)];
    match poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

async fn room(hurry: &CancellationToken) -> io::Result<()> {
    // Where waiting is not possible, a write does not wait either.
    let Ok(stdout) = watch(Interest::WRITABLE) else { return Ok(()) };
    let last_chance = async {
        hurry.cancelled().await;
        tokio::time::sleep(LAST_CHANCE).await;
    };
    tokio::select! {
        biased;
        ready = stdout.writable() => ready.map(drop),
        () = last_chance => Err(paused()),
        () = tokio::time::sleep(PATIENCE) => Err(paused()),
    }
}

fn paused() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "its reader does not read")
}

/// A descriptor of its own, so that several can be watched at once.
#[expect(deprecated, reason = "the descriptor is owned; what replaces this is unsafe code")]
fn watch(interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(io::stdout().as_fd().try_clone_to_owned()?, interest)
}
