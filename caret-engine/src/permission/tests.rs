//! The policy as a table: rules and a call go in, a word comes out.

use super::*;
use caret_protocol::claim::{ArgKind, Parsed};

fn command(text: &str) -> Claim {
    let commands = text
        .split("&&")
        .map(|part| {
            let mut words = part.split_whitespace().map(str::to_owned);
            let name = words.next().unwrap_or_default();
            SimpleCommand {
                name,
                args: words.map(|word| (ArgKind::Word, word)).collect(),
                text: part.trim().into(),
            }
        })
        .collect();
    let parsed = Parsed { failed: text.contains('"'), commands, ..Parsed::default() };
    Claim::Execute {
        command: Box::new(CommandLine { command: text.into(), parsed, ..CommandLine::default() }),
    }
}

/// Rules as `allow: A, B; deny: C`, a call as `Shell(…)`, `Read(…)` or `Write(…)`.
fn judge(rules: &str, mode: Mode, call: &str) -> &'static str {
    let list = |name: &str| -> Vec<String> {
        let part = rules.split(';').find_map(|part| part.trim().strip_prefix(name));
        part.into_iter().flat_map(|part| part.split(',')).map(|rule| rule.trim().to_owned()).collect()
    };
    let force = rules.contains("force");
    let (policy, warnings) = Policy::new(&list("allow:"), &list("deny:"), force);
    assert_eq!(warnings, Vec::<String>::new());
    let (kind, body) = call.strip_suffix(')').unwrap().split_once('(').unwrap();
    let path = Path::new("/ws").join(body);
    let claim = match kind {
        "Shell" => command(body),
        "Read" => Claim::Read { path: path.clone() },
        "Write" => Claim::Write { paths: vec![path.clone()] },
        other => panic!("{other}"),
    };
    let facts = Facts {
        root: "/ws".into(),
        additional: vec!["/more".into()],
        physical: vec![path],
        home: Some("/home/u".into()),
    };
    match policy.judge(mode, &claim, &facts) {
        Verdict::Allow(_) => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

#[test]
fn the_table_of_commands_holds() {
    for (rules, call, expected) in [
        ("", "Shell(ls)", "ask"),
        ("allow: Shell(ls)", "Shell(ls -la)", "allow"),
        ("allow: Shell(ls)", "Shell(lsof)", "ask"),
        ("allow: Shell(ls)", "Shell(./ls)", "ask"),
        ("allow: Shell(ls)", "Shell(ls && id)", "ask"),
        ("allow: Shell(ls), Shell(id)", "Shell(ls && id)", "allow"),
        ("allow: Shell(git diff)", "Shell(git diff --stat)", "allow"),
        ("allow: Shell(git diff)", "Shell(git push)", "ask"),
        ("allow: Shell(git diff)", "Shell(git)", "ask"),
        ("allow: Shell(curl:*)", "Shell(curl -s http://x)", "allow"),
        ("allow: Shell(npm:run *)", "Shell(npm run build)", "allow"),
        ("allow: Shell(npm:run *)", "Shell(npm install)", "ask"),
        ("allow: Shell(sudo)", "Shell(sudo rm x)", "ask"),
        ("allow: Shell(ls)", "Shell(ls \")", "ask"),
        ("allow: Shell(git); deny: Shell(git push)", "Shell(git -v push origin)", "deny"),
        ("force", "Shell(rm -r target)", "allow"),
        ("force; deny: Shell(rm)", "Shell(/bin/RM -r target)", "deny"),
        ("force; deny: Shell(rm)", "Shell(ls && rm x)", "deny"),
        ("force; deny: Shell(rm)", "Shell(sudo ls)", "ask"),
        ("force; deny: Shell(rm)", "Shell(ls \")", "ask"),
        ("force; deny: Shell(git:push*)", "Shell(git -C x push)", "deny"),
        ("force; deny: Shell(git push)", "Shell($g push)", "ask"),
        ("force; deny: Shell(git push)", "Shell($(echo git) push)", "ask"),
        ("force; deny: Shell(rm)", "Shell(find . -exec rm x)", "ask"),
        ("allow: Shell(find)", "Shell(find . -name x)", "allow"),
        ("allow: Shell(find)", "Shell(find . -delete)", "ask"),
    ] {
        assert_eq!(judge(rules, Mode::Agent, call), expected, "{rules} {call}");
    }
}

#[test]
fn the_table_of_paths_holds() {
    for (rules, call, expected) in [
        ("", "Read(src/main.rs)", "allow"),
        ("", "Read(/etc/passwd)", "ask"),
        ("force", "Read(/etc/passwd)", "allow"),
        ("allow: Read(/etc/*)", "Read(/etc/passwd)", "allow"),
        ("allow: Read(**)", "Read(/etc/passwd)", "ask"),
        ("deny: Read(.env*)", "Read(config/.ENV.local)", "deny"),
        ("force; deny: Read(secrets/**)", "Read(secrets)", "deny"),
        ("deny: Read(~/.ssh)", "Read(/home/u/.ssh/id)", "deny"),
        ("", "Read(/more/a.txt)", "allow"),
        ("", "Write(/more/a.txt)", "allow"),
        ("", "Write(/more/.git/config)", "ask"),
        ("", "Write(src/main.rs)", "allow"),
        ("", "Write(/tmp/x)", "ask"),
        ("force", "Write(/tmp/x)", "ask"),
        ("force", "Write(.git/hooks/pre-commit)", "ask"),
        ("", "Write(sub/.Cursor/mcp.json)", "ask"),
        ("force; deny: Write(*.lock)", "Write(deep/Cargo.lock)", "deny"),
    ] {
        assert_eq!(judge(rules, Mode::Agent, call), expected, "{rules} {call}");
    }
}

#[test]
fn modes_that_only_read_refuse_everything_else_whatever_the_rules_say() {
    for mode in [Mode::Plan, Mode::Ask] {
        assert_eq!(judge("force; allow: Shell(ls)", mode, "Shell(ls)"), "deny");
        assert_eq!(judge("force", mode, "Write(a.txt)"), "deny");
        assert_eq!(judge("", mode, "Read(a.txt)"), "allow");
    }
}

#[test]
fn a_rule_that_makes_no_sense_is_reported_and_matches_nothing() {
    let rules: Vec<String> =
        ["shell(ls)", "Shell(ls", "Shell()", "ls", "Read([)"].iter().map(ToString::to_string).collect();
    let (policy, warnings) = Policy::new(&rules, &[], false);
    assert_eq!(warnings.len(), rules.len(), "{warnings:?}");
    assert!(policy.allow.is_empty());
}

#[test]
fn always_offers_the_narrowest_rule_and_only_for_one_plain_command() {
    let (policy, _) = Policy::new(&[], &[], false);
    let always = |text: &str| match policy.judge(Mode::Agent, &command(text), &Facts::default()) {
        Verdict::Ask { always, .. } => always,
        other => panic!("{other:?}"),
    };
    assert_eq!(always("git status -s").as_deref(), Some("Shell(git:status -s)"));
    assert_eq!(always("make").as_deref(), Some("Shell(make)"));
    assert_eq!(always("make && make test"), None);
    assert_eq!(always("sudo make"), None);
}

#[test]
fn what_read_denies_is_hidden_from_searches() {
    let deny = ["Read(**/*.key)", "Read(secret/**)", "Read(.env*)"].map(str::to_owned);
    let (policy, _) = Policy::new(&[], &deny, true);
    let hidden = policy.hidden(Path::new("/ws"), None);
    for (path, expected) in [
        ("/ws/a.key", true),
        ("/ws/deep/B.KEY", true),
        ("/ws/secret", true),
        ("/ws/secret/k", true),
        ("/ws/config/.env.local", true),
        ("/ws/keys.txt", false),
        ("/ws/secrets.md", false),
    ] {
        assert_eq!(hidden.hides(Path::new(path)), expected, "{path}");
    }
    assert!(!Policy::default().hidden(Path::new("/ws"), None).hides(Path::new("/ws/a.key")));
}
