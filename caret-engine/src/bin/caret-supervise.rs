//! The supervisor as a program of its own, for users of the library who have no program to run again.

fn main() -> std::io::Result<()> {
    caret_engine::process::supervise()
}
