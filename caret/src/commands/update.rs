//! `update`: tells the right command for how this copy was installed. It changes nothing and opens no connection.

use super::Call;
use crate::exit::{Exit, Failure};
use std::path::Path;

/// Tells how to update.
pub fn run(call: Call<'_>) -> Result<Exit, Failure> {
    let file = call.environment.executable.clone();
    let file = file.map(|path| path.canonicalize().unwrap_or(path));
    let (how, remedy) = installation(file.as_deref());
    let place = file.map_or_else(|| "an unknown place".to_owned(), |path| path.display().to_string());
    call.output.write(&format!("caret {} at {place}: {how}\n{remedy}\n", crate::version::DATE))?;
    Ok(Exit::Success)
}

/// How a copy was installed, and how to update it.
pub fn installation(file: Option<&Path>) -> (&'static str, &'static str) {
    let text = file.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let has = |part: &str| text.contains(part);
    if has("/target/debug/") || has("/target/release/") || has("/target/x86_64") || has("/target/aarch64") {
        ("built from a checkout", "To update: git pull && cargo build --release")
    } else if has("/.cargo/bin/") {
        ("installed with cargo", "To update: run `cargo install --path caret --force` in an updated checkout")
    } else if has("/node_modules/") {
        ("installed with npm", "To update: npm update, in the place where it was installed")
    } else if has("/Cellar/") || has("/homebrew/") || has("/linuxbrew/") {
        ("installed with Homebrew", "To update: brew upgrade caret")
    } else if has("/nix/store/") {
        ("installed with Nix", "To update: update the input that provides it")
    } else if text.starts_with("/usr/bin/") || text.starts_with("/bin/") {
        ("installed by the system's packages", "To update: use the system's package manager")
    } else {
        ("copied by hand", "To update: replace this file with a newer one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_tells_how_it_was_installed() {
        for (path, how) in [
            ("/home/u/caret/target/release/caret", "built from a checkout"),
            ("/home/u/.cargo/bin/caret", "installed with cargo"),
            ("/usr/bin/caret", "installed by the system's packages"),
            ("/opt/x/node_modules/caret/bin/caret", "installed with npm"),
            ("/home/u/bin/caret", "copied by hand"),
        ] {
            assert_eq!(installation(Some(Path::new(path))).0, how, "{path}");
        }
    }
}
