//! Turns what a call would touch into allow, ask or deny.
//!
//! Judging is pure: policy, mode, claim and facts go in, a verdict comes out. Asking the host is the
//! turn's work, so this file can be tested as a table. Deny beats mode, mode beats allow, allow beats
//! ask; what is not understood is asked for.
//!
//! Invariant: [`Grant`] is made nowhere else.

use caret_protocol::claim::{Claim, CommandLine, SimpleCommand};
use caret_protocol::event::Mode;
use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Proof that a call was allowed. Its field is private: only this module makes one.
#[derive(Debug)]
pub struct Grant(());

impl Grant {
    /// For the tests of tools, which stand below the permission gate.
    #[cfg(test)]
    pub(crate) fn for_test() -> Self {
        Self(())
    }
}

/// What the policy says of a claim.
#[derive(Debug)]
pub enum Verdict {
    /// It runs.
    Allow(Grant),
    /// Somebody has to decide.
    Ask {
        /// Why, in one sentence.
        reason: String,
        /// The narrowest rule that would have allowed it, if there is one.
        always: Option<String>,
    },
    /// It does not run, whoever says so.
    Deny {
        /// Which rule or mode forbids it.
        reason: String,
    },
}

impl Verdict {
    /// The grant of a host that decided to let an asked-for call run.
    pub(crate) fn granted_by_host() -> Grant {
        Grant(())
    }
}

/// What is known of the file system around a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The physical workspace root.
    pub root: PathBuf,
    /// Further folders that the user works in.
    pub additional: Vec<PathBuf>,
    /// Where the claim's paths really lead, links followed, one for each.
    pub physical: Vec<PathBuf>,
    /// The user's home, for rules that begin with `~/`.
    pub home: Option<PathBuf>,
}

impl Facts {
    /// A path relative to the folder that the user works in and that it is below.
    fn inside<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let mut roots = std::iter::once(&self.root).chain(&self.additional);
        roots.find_map(|root| path.strip_prefix(root).ok())
    }
}

/// The paths that no listing and no search may show, because reading them is denied.
#[derive(Clone, Debug, Default)]
pub struct Hidden(Option<Arc<GlobSet>>);

impl Hidden {
    /// Whether a path must not be shown.
    pub fn hides(&self, path: &Path) -> bool {
        self.0.as_ref().is_some_and(|globs| globs.is_match(path.to_string_lossy().to_lowercase()))
    }
}

/// The rules of a session.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    allow: Vec<Rule>,
    deny: Vec<Rule>,
    /// Everything runs that is not denied.
    pub force: bool,
}

/// Commands that run another command, change the shell, or read code: their name alone says nothing.
const WRAPPERS: &[&str] = &[
    ".", "alias", "awk", "bash", "builtin", "busybox", "command", "coproc", "csh", "dash", "declare", "doas",
    "enable", "env", "eval", "exec", "export", "fish", "flock", "hash", "ionice", "ksh", "let", "local",
    "mapfile", "nice", "nohup", "parallel", "read", "readonly", "script", "set", "setsid", "sh", "shopt",
    "source", "stdbuf", "su", "sudo", "time", "timeout", "trap", "typeset", "unset", "watch", "xargs", "zsh",
];

/// Folders whose content changes what other programs do, at any depth.
const PROTECTED: &[&str] =
    &[".git", ".cursor", ".caret", ".claude", ".vscode", ".idea", ".husky", ".devcontainer"];

impl Policy {
    /// A policy of these rules; those that make no sense come back as warnings and match nothing.
    pub fn new(allow: &[String], deny: &[String], force: bool) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let mut read = |rules: &[String]| {
            let mut read = Vec::new();
            for rule in rules {
                match Rule::parse(rule) {
                    Ok(rule) => read.push(rule),
                    Err(problem) => {
                        warnings.push(format!("the permission rule `{rule}` is ignored: {problem}"))
                    }
                }
            }
            read
        };
        let (allow, deny) = (read(allow), read(deny));
        (Self { allow, deny, force }, warnings)
    }

    /// Adds a rule that the user chose to keep.
    pub fn allow(&mut self, rule: &str) {
        self.allow.extend(Rule::parse(rule));
    }

    /// Says whether a claim may come true.
    pub fn judge(&self, mode: Mode, claim: &Claim, facts: &Facts) -> Verdict {
        if let Some(rule) = self.denied(claim, facts) {
            return Verdict::Deny { reason: format!("`{rule}` denies this") };
        }
        if mode != Mode::Agent && !claim.only_reads() && !matches!(claim, Claim::Ask { .. }) {
            return Verdict::Deny { reason: "this mode only reads; nothing was changed".into() };
        }
        match claim {
            Claim::Nothing | Claim::Ask { .. } => Verdict::Allow(Grant(())),
            Claim::Read { .. } => self.judge_paths(Kind::Read, facts),
            Claim::Write { .. } => self.judge_paths(Kind::Write, facts),
            Claim::Execute { command } => self.judge_command(command),
            Claim::Fetch { url } => self.judge_rest(Kind::WebFetch, url),
            Claim::Mcp { server, tool } => self.judge_rest(Kind::Mcp, &format!("{server}:{tool}")),
            _ => Verdict::Deny { reason: "this kind of call is not known".into() },
        }
    }

    /// What searches and listings have to leave out.
    pub fn hidden(&self, root: &Path, home: Option<&Path>) -> Hidden {
        let facts = Facts { root: root.to_owned(), home: home.map(Path::to_owned), ..Facts::default() };
        let rules = self.deny.iter().filter(|rule| rule.kind == Kind::Read);
        let patterns: Vec<String> = rules.flat_map(|rule| rule.denied_patterns(&facts)).collect();
        if patterns.is_empty() {
            return Hidden::default();
        }
        let mut globs = GlobSetBuilder::new();
        for pattern in patterns {
            if let Ok(glob) = GlobBuilder::new(&pattern).literal_separator(true).build() {
                globs.add(glob);
            }
        }
        Hidden(globs.build().ok().map(Arc::new))
    }

    fn denied(&self, claim: &Claim, facts: &Facts) -> Option<&str> {
        let rule = match claim {
            Claim::Read { path } => self.path_denied(Kind::Read, std::slice::from_ref(path), facts),
            Claim::Write { paths } => self.path_denied(Kind::Write, paths, facts),
            Claim::Execute { command } => self.deny.iter().find(|rule| {
                rule.kind == Kind::Shell
                    && command.parsed.commands.iter().any(|simple| rule.denies_command(simple))
            }),
            Claim::Fetch { url } => {
                self.deny.iter().find(|rule| rule.kind == Kind::WebFetch && rule.matches(url))
            }
            Claim::Mcp { server, tool } => {
                let name = format!("{server}:{tool}");
                self.deny.iter().find(|rule| rule.kind == Kind::Mcp && rule.matches(&name))
            }
            _ => None,
        };
        rule.map(|rule| rule.text.as_str())
    }

    fn path_denied(&self, kind: Kind, paths: &[PathBuf], facts: &Facts) -> Option<&Rule> {
        let both = || paths.iter().chain(&facts.physical);
        self.deny.iter().find(|rule| rule.kind == kind && both().any(|path| rule.denies_path(path, facts)))
    }

    fn judge_paths(&self, kind: Kind, facts: &Facts) -> Verdict {
        for path in &facts.physical {
            let ruled = self.allow.iter().any(|rule| rule.kind == kind && rule.allows_path(path, facts));
            if ruled {
                continue;
            }
            let Some(inside) = facts.inside(path) else {
                if kind == Kind::Read && self.force {
                    continue;
                }
                let reason = format!("{} is outside the workspace", path.display());
                return Verdict::Ask { reason, always: None };
            };
            if kind == Kind::Write && is_protected(inside) {
                return Verdict::Ask { reason: format!("{} is protected", inside.display()), always: None };
            }
        }
        Verdict::Allow(Grant(()))
    }

    fn judge_command(&self, line: &CommandLine) -> Verdict {
        let parsed = &line.parsed;
        let any_deny = self.deny.iter().any(|rule| rule.kind == Kind::Shell);
        if self.force {
            let hidden = parsed.failed || parsed.commands.iter().any(is_wrapper);
            if any_deny && hidden {
                let reason = "what it would run cannot be told, and there are commands that are denied";
                return Verdict::Ask { reason: reason.into(), always: None };
            }
            return Verdict::Allow(Grant(()));
        }
        if parsed.failed {
            return Verdict::Ask { reason: "the command was not understood".into(), always: None };
        }
        let missing: Vec<&str> = parsed
            .commands
            .iter()
            .filter(|simple| !self.allow.iter().any(|rule| rule.allows_command(simple)))
            .map(|simple| simple.name.as_str())
            .collect();
        let plain =
            !parsed.substitution && !parsed.input_redirect && !parsed.output_redirect && !parsed.assignment;
        if missing.is_empty() && plain && !parsed.commands.is_empty() {
            return Verdict::Allow(Grant(()));
        }
        let always = match parsed.commands.as_slice() {
            [simple] if plain && !is_wrapper(simple) => Some(exact_rule(simple)),
            _ => None,
        };
        let reason = if missing.is_empty() {
            "substitutions, redirections and assignments need approval".into()
        } else {
            format!("Not in allowlist: {}", missing.join(", "))
        };
        Verdict::Ask { reason, always }
    }

    fn judge_rest(&self, kind: Kind, what: &str) -> Verdict {
        if self.force || self.allow.iter().any(|rule| rule.kind == kind && rule.matches(what)) {
            return Verdict::Allow(Grant(()));
        }
        Verdict::Ask { reason: format!("Not in allowlist: {what}"), always: None }
    }
}

/// Whether the name does not tell what runs: it runs another program, or it is computed.
fn is_wrapper(simple: &SimpleCommand) -> bool {
    let base = simple.name.rsplit('/').next().unwrap_or(&simple.name);
    let runs_others = |option: &str| {
        ["-exec", "-ok", "-delete", "-x", "-X", "--exec"].iter().any(|other| option.starts_with(other))
    };
    base.is_empty()
        || WRAPPERS.contains(&base)
        || simple.name.contains(['$', '`', '*', '?', '[', '{', '~'])
        || (matches!(base, "find" | "fd") && simple.args.iter().any(|(_, arg)| runs_others(arg)))
}

fn is_protected(inside: &Path) -> bool {
    inside.components().any(|part| {
        let part = part.as_os_str().to_string_lossy().to_lowercase();
        PROTECTED.contains(&part.as_str())
    })
}

fn words(simple: &SimpleCommand) -> String {
    let words: Vec<&str> = simple.args.iter().map(|(_, value)| value.as_str()).collect();
    words.join(" ")
}

fn exact_rule(simple: &SimpleCommand) -> String {
    if simple.args.is_empty() {
        return format!("Shell({})", simple.name);
    }
    format!("Shell({}:{})", simple.name, words(simple))
}

/// What a rule speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Shell,
    Read,
    Write,
    WebFetch,
    Mcp,
}

/// One rule, such as `Shell(git diff)`.
#[derive(Clone, Debug)]
struct Rule {
    kind: Kind,
    text: String,
    body: String,
    glob: Option<GlobMatcher>,
}

impl Rule {
    fn parse(text: &str) -> Result<Self, String> {
        let shape = "write it as Shell(…), Read(…), Write(…), WebFetch(…) or Mcp(…)";
        let (kind, body) = text.split_once('(').ok_or(shape)?;
        let body = body.strip_suffix(')').ok_or("its closing bracket is missing")?.trim();
        let kind = match kind {
            "Shell" => Kind::Shell,
            "Read" => Kind::Read,
            "Write" => Kind::Write,
            "WebFetch" => Kind::WebFetch,
            "Mcp" => Kind::Mcp,
            _ => return Err(shape.into()),
        };
        if body.is_empty() {
            return Err("nothing stands in its brackets".into());
        }
        let pattern = match kind {
            Kind::Shell => body.split_once(':').map(|(_, pattern)| pattern),
            _ => Some(body),
        };
        let separate = matches!(kind, Kind::Read | Kind::Write);
        let glob = pattern
            .map(|pattern| {
                GlobBuilder::new(pattern).literal_separator(separate).backslash_escape(true).build()
            })
            .transpose()
            .map_err(|error| error.to_string())?
            .map(|glob| glob.compile_matcher());
        Ok(Self { kind, text: text.into(), body: body.into(), glob })
    }

    fn matches(&self, what: &str) -> bool {
        self.glob.as_ref().is_some_and(|glob| glob.is_match(what))
    }

    /// Narrow: the name as it is written, then exactly these words, then anything.
    fn allows_command(&self, simple: &SimpleCommand) -> bool {
        if self.kind != Kind::Shell || is_wrapper(simple) {
            return false;
        }
        if let Some((name, _)) = self.body.split_once(':') {
            return simple.name == name && self.matches(&words(simple));
        }
        let mut expected = self.body.split_whitespace();
        expected.next() == Some(simple.name.as_str())
            && expected
                .zip(simple.args.iter().map(Some).chain(std::iter::repeat(None)))
                .all(|(word, arg)| arg.is_some_and(|(_, value)| value == word))
    }

    /// Wide: the last part of the name in any case, the words at any place.
    fn denies_command(&self, simple: &SimpleCommand) -> bool {
        let base = simple.name.rsplit('/').next().unwrap_or(&simple.name).to_lowercase();
        if let Some((name, pattern)) = self.body.split_once(':') {
            let all = words(simple);
            let starts = std::iter::once(0).chain(all.match_indices(' ').map(|(at, _)| at + 1));
            return base == name.to_lowercase()
                && (pattern == "*" || starts.into_iter().any(|at| self.matches(&all[at..])));
        }
        let mut expected = self.body.split_whitespace();
        let name = expected.next().unwrap_or_default().to_lowercase();
        let mut args = simple.args.iter();
        base == name && expected.all(|word| args.any(|(_, value)| value == word))
    }

    fn allows_path(&self, path: &Path, facts: &Facts) -> bool {
        match self.absolute(facts) {
            Some(rule) => glob(&rule).is_some_and(|glob| glob.is_match(path)),
            None => path
                .strip_prefix(&facts.root)
                .is_ok_and(|inside| self.glob.as_ref().is_some_and(|glob| glob.is_match(inside))),
        }
    }

    fn denies_path(&self, path: &Path, facts: &Facts) -> bool {
        let path = path.to_string_lossy().to_lowercase();
        let mut patterns = self.denied_patterns(facts).into_iter();
        patterns.any(|pattern| glob(&pattern).is_some_and(|matcher| matcher.is_match(&path)))
    }

    /// Wide: a pattern without a slash counts at any depth, a folder's pattern for the folder too, and one of a
    /// folder for what is in it; all in lower case, since case is ignored.
    fn denied_patterns(&self, facts: &Facts) -> Vec<String> {
        let rule = self.absolute(facts).unwrap_or_else(|| {
            let any_depth = if self.body.contains('/') { "" } else { "**/" };
            format!("{}/{any_depth}{}", facts.root.display(), self.body.trim_start_matches("./"))
        });
        let rule = rule.to_lowercase();
        let folder = rule.strip_suffix("/**").map(str::to_owned);
        let below = format!("{rule}/**");
        [Some(rule), folder, Some(below)].into_iter().flatten().collect()
    }

    /// The pattern, if it is not relative to the workspace.
    fn absolute(&self, facts: &Facts) -> Option<String> {
        if self.body.starts_with('/') {
            return Some(self.body.clone());
        }
        let rest = self.body.strip_prefix("~/")?;
        Some(format!("{}/{rest}", facts.home.as_ref()?.display()))
    }
}

fn glob(pattern: &str) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().ok()?;
    Some(glob.compile_matcher())
}

#[cfg(test)]
mod tests;
