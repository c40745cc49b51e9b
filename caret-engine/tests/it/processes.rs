//! Looks for processes in `/proc`. The only place where a test waits for something outside of it.

use std::time::{Duration, Instant};

/// The longest that anything real may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Waits until `is_so`, or fails.
pub async fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < DEADLINE, "waited in vain until {what}");
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Text for a command line that no other process has.
pub fn marker() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // A number that `sleep` understands: fractions of a second that nobody else asks for.
    format!("{}.{:06}", 300 + NEXT.fetch_add(1, Ordering::Relaxed), std::process::id())
}

/// How many processes run whose arguments hold one that is exactly `argument`.
pub fn alive(argument: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let has_it = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())
    };
    processes.filter(has_it).count()
}
