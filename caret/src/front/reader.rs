//! Hears that whoever read stdout has gone, also while there is nothing to write.
//!
//! A driver that dies while a command runs must not leave the command running until it says something.

use std::io;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Waits until nobody can read stdout any more; for ever where that cannot be told, as with files.
#[expect(deprecated, reason = "stdout stays open as long as the process; what replaces this is unsafe code")]
pub(super) async fn gone() {
    // Errors and hang-ups are told without being asked for; to be told when there is room would cost a
    // wake-up for every line.
    if let Ok(stdout) = AsyncFd::with_interest(io::stdout(), Interest::ERROR)
        && stdout.ready(Interest::WRITABLE | Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
