//! Where the user's configuration and data are, depending on the name the program was called by.
//!
//! Called `agent` or `cursor-agent` the program stands in for the documented one and uses its folders.
//! Invariant: called `caret` it never writes below `~/.cursor`; that folder is only a lower layer to read.

use crate::environment::Environment;
use crate::exit::{Exit, Failure};
use std::path::PathBuf;

/// The name that the program was called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invoked {
    /// Under its own name.
    Caret,
    /// As `agent`.
    Agent,
    /// As `cursor-agent`.
    CursorAgent,
}

impl Invoked {
    /// Understands a program name; any unknown name is our own.
    pub fn from_name(name: &str) -> Self {
        match name {
            "agent" => Self::Agent,
            "cursor-agent" => Self::CursorAgent,
            _ => Self::Caret,
        }
    }

    /// The name, as it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Caret => "caret",
            Self::Agent => "agent",
            Self::CursorAgent => "cursor-agent",
        }
    }
}

/// The folders of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// `cli-config.json`, `mcp.json` and `chats/` are here.
    pub config: PathBuf,
    /// `projects/` and the trust records are here.
    pub data: PathBuf,
    /// A folder that is read below the configuration and never written.
    pub below: Option<PathBuf>,
}

impl Roots {
    /// Finds the folders.
    pub fn find(invoked: Invoked, environment: &Environment) -> Result<Self, Failure> {
        let home = environment.home();
        let documented = home.as_ref().map(|home| home.join(".cursor"));
        let config = config_root(invoked, environment).ok_or_else(no_home)?;
        let follows_config = environment.path("CARET_HOME").is_some() || invoked == Invoked::Caret;
        let data = match (environment.path("CURSOR_DATA_DIR"), &documented) {
            (Some(data), _) => data,
            (None, Some(documented)) if !follows_config => documented.clone(),
            _ => config.clone(),
        };
        let below = documented.filter(|folder| invoked == Invoked::Caret && *folder != config);
        Ok(Self { config, data, below })
    }

    /// The user's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("cli-config.json")
    }

    /// The folder of all chats.
    pub fn chats(&self) -> PathBuf {
        self.config.join("chats")
    }

    /// The folder of one workspace's own things, such as transcripts.
    pub fn project(&self, workspace: &str) -> PathBuf {
        self.data.join("projects").join(slug(workspace))
    }
}

fn config_root(invoked: Invoked, environment: &Environment) -> Option<PathBuf> {
    if let Some(root) = environment.path("CARET_HOME").or_else(|| environment.path("CURSOR_CONFIG_DIR")) {
        return Some(root);
    }
    let (in_config, in_home) = match invoked {
        Invoked::Caret => ("caret", ".caret"),
        Invoked::Agent | Invoked::CursorAgent => ("cursor", ".cursor"),
    };
    match environment.path("XDG_CONFIG_HOME") {
        Some(root) => Some(root.join(in_config)),
        None => environment.home().map(|home| home.join(in_home)),
    }
}

fn no_home() -> Failure {
    Failure::new(
        Exit::Configuration,
        "there is no home directory: set HOME or CARET_HOME, or use --no-save to keep nothing on disk",
    )
}

/// A workspace path as a folder name: runs of anything but ASCII letters and digits become one dash.
pub fn slug(path: &str) -> String {
    path.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn check(invoked: Invoked, variables: &[(&str, &str)], config: &str, data: &str, below: Option<&str>) {
        let environment = Environment::made_up(variables, Path::new("/cwd"));
        let expected = Roots { config: config.into(), data: data.into(), below: below.map(PathBuf::from) };
        assert_eq!(Roots::find(invoked, &environment), Ok(expected), "{invoked:?} {variables:?}");
    }

    #[test]
    fn the_name_and_the_variables_decide_the_folders() {
        use Invoked::{Agent, Caret, CursorAgent};
        let home = ("HOME", "/h");
        check(Caret, &[home], "/h/.caret", "/h/.caret", Some("/h/.cursor"));
        check(Agent, &[home], "/h/.cursor", "/h/.cursor", None);
        check(CursorAgent, &[home, ("XDG_CONFIG_HOME", "/x")], "/x/cursor", "/h/.cursor", None);
        check(Caret, &[home, ("XDG_CONFIG_HOME", "/x")], "/x/caret", "/x/caret", Some("/h/.cursor"));
        check(Agent, &[home, ("CARET_HOME", "/c")], "/c", "/c", None);
        check(
            Caret,
            &[home, ("CARET_HOME", "/c"), ("CURSOR_CONFIG_DIR", "/d")],
            "/c",
            "/c",
            Some("/h/.cursor"),
        );
        check(Caret, &[home, ("CURSOR_CONFIG_DIR", "/d")], "/d", "/d", Some("/h/.cursor"));
        check(Agent, &[home, ("CURSOR_CONFIG_DIR", "d")], "/cwd/d", "/h/.cursor", None);
        check(Agent, &[("CURSOR_CONFIG_DIR", "/d")], "/d", "/d", None);
        check(Agent, &[home, ("CURSOR_DATA_DIR", "/data")], "/h/.cursor", "/data", None);
        check(Caret, &[home, ("CARET_HOME", "")], "/h/.caret", "/h/.caret", Some("/h/.cursor"));
        check(Caret, &[home, ("CARET_HOME", "/h/.cursor")], "/h/.cursor", "/h/.cursor", None);
    }

    #[test]
    fn without_a_home_the_message_says_what_to_set() {
        let environment = Environment::made_up(&[], Path::new("/cwd"));
        let failure = Roots::find(Invoked::Caret, &environment).unwrap_err();
        assert_eq!(failure.exit(), Exit::Configuration);
    }

    #[test]
    fn slugs_are_the_documented_ones() {
        assert_eq!(slug("/home/user/my.app"), "home-user-my-app");
        assert_eq!(slug("/a/.scratch/x_y"), "a-scratch-x-y");
    }
}
