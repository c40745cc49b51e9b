//! Runs the program in a temporary home with nothing else in its environment.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The program under test: the one that was built with these tests, or another one, such as a release build.
#[expect(clippy::disallowed_methods, reason = "how the tests themselves are told")]
pub fn program() -> PathBuf {
    std::env::var_os("CARET_TEST_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_caret").into()).into()
}

/// A home with one workspace in it.
pub struct Home {
    folder: TempDir,
    variables: Vec<(String, String)>,
    program: PathBuf,
}

/// What came of one call.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Home {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let home = folder.path().to_str().unwrap().to_owned();
        let variables = [
            ("HOME", home),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("USER", "ada".to_owned()),
            ("SHELL", "/bin/zsh".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        Self { folder, variables: variables.to_vec(), program: program() }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(other, _)| other != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.variables.retain(|(other, _)| other != name);
        self
    }

    /// Called by another name.
    pub fn called(mut self, name: &str) -> Self {
        let link = self.folder.path().join(name);
        std::os::unix::fs::symlink(program(), &link).unwrap();
        self.program = link;
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    /// Writes a script of the model's replies, each a list of entries; gives back what `--model` takes.
    pub fn script(&self, replies: &serde_json::Value) -> String {
        let turns: Vec<_> =
            replies.as_array().unwrap().iter().map(|emit| serde_json::json!({ "emit": emit })).collect();
        self.script_file(&serde_json::json!({ "version": 1, "model": "Scripted", "turn": turns }))
    }

    /// Writes a whole script; gives back what `--model` takes.
    pub fn script_file(&self, script: &serde_json::Value) -> String {
        let name = format!("script-{}.json", uuid::Uuid::new_v4().simple());
        self.write(&name, &script.to_string());
        format!("script:{}", self.path(&name).display())
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).env_clear().envs(self.variables.iter().cloned());
        command.current_dir(self.folder.path().join("work"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ended {
        self.ended(self.command(words).output().unwrap())
    }

    /// Runs, and leaves the paths in the output as they are.
    pub fn run_raw(&self, words: &[&str]) -> Ended {
        let output = self.command(words).output().unwrap();
        Ended {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap_or(-1),
        }
    }

    /// Runs with a prompt on stdin. The program may end before it has read everything.
    pub fn pipe(&self, words: &[&str], input: &[u8]) -> Ended {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        self.ended(output)
    }

    fn ended(&self, output: std::process::Output) -> Ended {
        let home = self.path("").to_str().unwrap().trim_end_matches('/').to_owned();
        let raw = self.folder.path().to_str().unwrap();
        let clean = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&home, "~").replace(raw, "~");
        Ended {
            stdout: clean(output.stdout),
            stderr: clean(output.stderr),
            code: output.status.code().unwrap_or(-1),
        }
    }
}

/// Ends well, with nothing on stderr; gives back stdout.
pub fn good(ended: Ended) -> String {
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
    ended.stdout
}

/// Fails, with nothing on stdout; gives back stderr.
pub fn bad(ended: Ended) -> String {
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{}", ended.stderr);
    ended.stderr
}

pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}
