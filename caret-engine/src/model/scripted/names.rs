//! Tool names in scripts: any case, and the names that other agents use.

const ALIASES: &[(&str, &str)] = &[
    ("readfile", "read"),
    ("cat", "read"),
    ("writefile", "write"),
    ("createfile", "write"),
    ("edit", "strreplace"),
    ("searchreplace", "strreplace"),
    ("editfile", "strreplace"),
    ("deletefile", "delete"),
    ("search", "grep"),
    ("rg", "grep"),
    ("find", "glob"),
    ("globfilesearch", "glob"),
    ("list", "ls"),
    ("listdir", "ls"),
    ("bash", "shell"),
    ("terminal", "shell"),
    ("runterminalcmd", "shell"),
    ("todo", "todowrite"),
    ("todos", "todowrite"),
    ("updatetodos", "todowrite"),
    ("subagent", "task"),
    ("agent", "task"),
    ("fetch", "webfetch"),
    ("ask", "askquestion"),
];

/// The offered name that `written` means; unknown names stay as they are.
pub(super) fn offered(written: &str, tools: &[&str]) -> String {
    if tools.contains(&written) {
        return written.to_owned();
    }
    let plain = plain(written);
    let alias = ALIASES.iter().find(|(alias, _)| *alias == plain).map(|(_, name)| *name);
    let named = |name: &str| tools.iter().find(|tool| self::plain(tool) == name);
    match named(&plain).or_else(|| alias.and_then(named)) {
        Some(tool) => (*tool).to_owned(),
        None => written.to_owned(),
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(|char| !"_- ".contains(*char)).flat_map(char::to_lowercase).collect()
}
