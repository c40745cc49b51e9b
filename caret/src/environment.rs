//! The machine around the program: variables, home, current folder, terminals.
//!
//! This is the only file that asks for them. Everything else is told, so that it can be tested with a made-up
//! machine and so that no library below depends on where it runs.

use crate::exit::{Exit, Failure};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the machine says about itself.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Shared, as what is told further down is a copy.
    variables: Arc<HashMap<OsString, OsString>>,
    /// The current folder; absent when it was deleted under us.
    pub folder: Option<PathBuf>,
    /// Where the program file is.
    pub executable: Option<PathBuf>,
    /// What stdin is.
    pub stdin: Stdin,
    /// Whether a person sees stdout.
    pub stdout_is_terminal: bool,
    /// Whether a person sees stderr.
    pub stderr_is_terminal: bool,
}

/// What stdin is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// A person types.
    Terminal,
    /// A file: reading it ends.
    File,
    /// A pipe or socket: reading it may never end.
    Pipe,
    /// Nothing can be read.
    #[default]
    Nothing,
}

impl Environment {
    /// Asks the machine.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks")]
    pub fn of_this_machine() -> Self {
        Self {
            variables: Arc::new(std::env::vars_os().collect()),
            folder: std::env::current_dir().ok(),
            executable: std::env::current_exe().ok(),
            stdin: stdin_kind(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// A made-up machine.
    #[cfg(test)]
    pub fn made_up(variables: &[(&str, &str)], folder: &Path) -> Self {
        Self {
            variables: Arc::new(variables.iter().map(|(name, value)| (name.into(), value.into())).collect()),
            folder: Some(folder.to_owned()),
            ..Self::default()
        }
    }

    /// A variable that is set, not empty, and text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.variables.get(&OsString::from(name))?.to_str().filter(|value| !value.is_empty())
    }

    /// A variable that names a path; a relative one is taken against the current folder.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(&OsString::from(name)).filter(|value| !value.is_empty())?;
        Some(self.absolute(Path::new(value)))
    }

    /// The user's home, if there is one.
    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME")
    }

    /// Makes a path absolute against the current folder.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        self.folder.as_deref().unwrap_or(Path::new("/")).join(path)
    }

    /// The user's name.
    pub fn user(&self) -> &str {
        self.text("USER").or_else(|| self.text("LOGNAME")).unwrap_or("user")
    }

    /// Whether a person can be asked something: stdin and stderr are terminals.
    pub fn can_ask(&self) -> bool {
        self.stdin == Stdin::Terminal && self.stderr_is_terminal
    }

    /// Finds a program on `PATH`.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        self.find_programs(name).into_iter().next()
    }

    /// Finds all programs of a name on `PATH`, in order.
    pub fn find_programs(&self, name: &str) -> Vec<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let Some(path) = self.variables.get(&OsString::from("PATH")) else { return Vec::new() };
        std::env::split_paths(path)
            .map(|folder| folder.join(name))
            .filter(|file| {
                file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
            })
            .collect()
    }

    /// The folder that the program was started in.
    pub fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new("/"))
    }

    /// Where temporary files go.
    pub fn temporary(&self) -> PathBuf {
        self.path("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"))
    }

    /// This program, to be started again; also after its file was replaced by an update.
    pub fn own_program(&self) -> PathBuf {
        let running = PathBuf::from("/proc/self/exe");
        if running.exists() { running } else { self.executable.clone().unwrap_or(running) }
    }

    /// The name of the time zone.
    pub fn time_zone(&self) -> String {
        if let Some(zone) = self.text("TZ").filter(|zone| !zone.is_empty()) {
            return zone.trim_start_matches(':').to_owned();
        }
        let linked = std::fs::read_link("/etc/localtime").unwrap_or_default();
        let linked = linked.to_string_lossy();
        linked.split_once("zoneinfo/").map_or_else(|| "UTC".to_owned(), |(_, zone)| zone.to_owned())
    }

    /// All variables that are text, for what is told further down.
    pub fn texts(&self) -> Vec<(String, String)> {
        let mut texts: Vec<_> = self
            .variables
            .iter()
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
            .collect();
        texts.sort();
        texts
    }
}

/// From now on no other program of the user, such as a command of the agent, can read this process's variables
/// and memory, which may hold keys; root still can.
pub fn keep_to_itself() {
    #[cfg(target_os = "linux")]
    // A kernel that does not know this leaves things as they were.
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).ok();
}

/// The arguments without the program's name; all must be text.
pub fn arguments() -> Result<Vec<String>, Failure> {
    std::env::args_os().skip(1).enumerate().map(|(index, word)| as_text(index, word)).collect()
}

fn as_text(index: usize, word: OsString) -> Result<String, Failure> {
    word.into_string().map_err(|word| {
        let shown = crate::output::harmless(&word.to_string_lossy());
        Failure::new(Exit::Usage, format!("argument {} is not valid UTF-8: '{shown}'", index + 1))
    })
}

/// The name that the program was called by, without its folder.
pub fn program_name() -> String {
    std::env::args_os()
        .next()
        .and_then(|word| Path::new(&word).file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_default()
}

fn stdin_kind() -> Stdin {
    if std::io::stdin().is_terminal() {
        return Stdin::Terminal;
    }
    let Ok(stat) = rustix::fs::fstat(std::io::stdin()) else { return Stdin::Nothing };
    match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::RegularFile => Stdin::File,
        rustix::fs::FileType::Fifo | rustix::fs::FileType::Socket => Stdin::Pipe,
        rustix::fs::FileType::CharacterDevice if !is_null_device() => Stdin::Pipe,
        _ => Stdin::Nothing,
    }
}

fn is_null_device() -> bool {
    let null = Path::new("/dev/null").metadata();
    let stdin = rustix::fs::fstat(std::io::stdin());
    match (null, stdin) {
        (Ok(null), Ok(stdin)) => {
            use std::os::unix::fs::MetadataExt;
            null.file_type().is_char_device() && null.rdev() == stdin.st_rdev
        }
        _ => false,
    }
}
