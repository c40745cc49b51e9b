//! Layers on real files in a temporary folder.

use super::*;
use serde_json::json;
use std::fs;
use tempfile::TempDir;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("work/.git")).unwrap();
        fs::create_dir_all(folder.path().join("work/inner")).unwrap();
        Self { folder }
    }

    fn roots(&self) -> Roots {
        let root = self.folder.path();
        Roots { config: root.join("root"), data: root.join("root"), below: Some(root.join("below")) }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.folder.path().join(path)).ok()
    }

    fn config(&self, trust: ProjectTrust) -> Config {
        let mut config = Config::of_user(Some(&self.roots()), UserFile::Make);
        config.add_project(&self.folder.path().join("work/inner"), trust);
        config
    }
}

fn tokens(rules: &[Rule]) -> Vec<&str> {
    rules.iter().map(|rule| rule.token.as_str()).collect()
}

#[test]
fn the_first_run_writes_a_careful_file() {
    let place = Place::new();
    let config = place.config(ProjectTrust::Trusted);
    assert_eq!(config.warnings, Vec::<String>::new());
    assert_eq!(tokens(&config.rules("allow")), ["Shell(ls)"]);
    let written: Value = serde_json::from_str(&place.read("root/cli-config.json").unwrap()).unwrap();
    assert_eq!(written, Value::Object(value::first_file()));
    assert_eq!(written.get("channel"), None);
}

#[test]
fn only_looking_writes_nothing() {
    let place = Place::new();
    Config::of_user(Some(&place.roots()), UserFile::Leave);
    assert!(!place.folder.path().join("root").exists());
}

#[test]
fn deeper_files_win_and_permission_lists_are_united() {
    let place = Place::new();
    place.write("below/cli-config.json", r#"{"permissions":{"allow":["Shell(git)"]},"hints":false}"#);
    place.write("root/cli-config.json", r#"{"permissions":{"allow":["Shell(ls)"],"deny":["Shell(rm)"]}}"#);
    place.write("work/.cursor/cli.json", r#"{"permissions":{"allow":["Shell(make)"]},"maxMode":true}"#);
    place.write("work/inner/.cursor/cli.json", r#"{"display":{"showLineNumbers":true}}"#);
    place.write("work/inner/.caret/cli.json", r#"{"maxMode":false,"permissions":{"deny":["Shell(make)"]}}"#);
    let config = place.config(ProjectTrust::Trusted);
    assert_eq!(tokens(&config.rules("allow")), ["Shell(git)", "Shell(ls)", "Shell(make)"]);
    assert_eq!(tokens(&config.rules("deny")), ["Shell(rm)", "Shell(make)"]);
    let path = |name: &str| place.folder.path().join(name);
    let value = |key: &str| config.get(key).map(|(value, origin)| (value.clone(), origin.clone()));
    assert_eq!(value("hints"), Some((json!(false), Origin::User(path("below/cli-config.json")))));
    assert_eq!(value("maxMode"), Some((json!(false), Origin::Project(path("work/inner/.caret/cli.json")))));
    assert_eq!(value("display.showLineNumbers").unwrap().0, json!(true));
}

#[test]
fn an_untrusted_project_can_only_deny() {
    let place = Place::new();
    place.write(
        "work/.cursor/cli.json",
        r#"{"permissions":{"allow":["Shell(*)"],"deny":["Shell(curl)"]},"maxMode":true,"approvalMode":"unrestricted"}"#,
    );
    let config = place.config(ProjectTrust::Untrusted);
    assert_eq!(tokens(&config.rules("allow")), ["Shell(ls)"]);
    assert_eq!(tokens(&config.rules("deny")), ["Shell(curl)"]);
    assert_eq!(config.get("maxMode").unwrap().0, &json!(false));
}

#[test]
fn a_project_never_loosens() {
    let loose = r#"{"approvalMode":"unrestricted","sandbox":{"mode":"disabled","networkAccess":"allow_all",
        "networkAllowlist":["evil.example"]},"network":{"proxy":"x"},"statusLine":{"command":"sh evil"},
        "channel":"x","webFetchDomainAllowlist":["evil.example"],"authInfo":{"a":1},"hooks":{},"endpoint":"x"}"#;
    let place = Place::new();
    place.write("work/.cursor/cli.json", loose);
    let config = place.config(ProjectTrust::Trusted);
    let from_project: Vec<Setting> = config
        .effective()
        .into_iter()
        .filter(|setting| setting.origins.iter().any(|origin| matches!(origin, Origin::Project(_))))
        .collect();
    assert_eq!(from_project, []);
}

#[test]
fn a_project_may_tighten() {
    let place = Place::new();
    place.write(
        "root/cli-config.json",
        r#"{"approvalMode":"unrestricted","sandbox":{"mode":"disabled","networkAccess":"allow_all"}}"#,
    );
    place.write(
        "work/.caret/cli.json",
        r#"{"approvalMode":"allowlist","sandbox":{"mode":"enabled","networkAccess":"user_config_only"}}"#,
    );
    let config = place.config(ProjectTrust::Trusted);
    let text = |key| config.text(key).unwrap().0.to_owned();
    assert_eq!(
        (text("approvalMode"), text("sandbox.mode"), text("sandbox.networkAccess")),
        ("allowlist".to_owned(), "enabled".to_owned(), "user_config_only".to_owned())
    );
}

#[test]
fn a_broken_file_is_put_aside_and_allows_nothing() {
    let place = Place::new();
    place.write("below/cli-config.json", r#"{"permissions":{"allow":["Shell(git)"]}}"#);
    for (number, name) in [(1, "root/cli-config.json.bad"), (2, "root/cli-config.json.bad2")] {
        place.write("root/cli-config.json", &format!("{{ broken {number}"));
        let config = place.config(ProjectTrust::Trusted);
        assert_eq!(config.warnings.len(), 1, "{:?}", config.warnings);
        assert_eq!(tokens(&config.rules("allow")), Vec::<&str>::new());
        assert_eq!(place.read(name), Some(format!("{{ broken {number}")));
        assert!(place.read("root/cli-config.json").unwrap().contains("\"allow\": []"));
        // What it denied is not known any more, and that is said until it is mended.
        let again = place.config(ProjectTrust::Trusted).warnings;
        assert!(matches!(again.as_slice(), [only] if only.contains("cli-config.json.bad")), "{again:?}");
    }
}

#[test]
fn every_wrong_form_is_one_warning() {
    for text in
        ["[]", "3", r#"{"permissions":5}"#, r#"{"permissions":{"deny":"x"}}"#, r#"{"approvalMode":"yes"}"#]
    {
        let place = Place::new();
        place.write("work/.cursor/cli.json", text);
        let config = place.config(ProjectTrust::Trusted);
        assert_eq!(config.warnings.len(), 1, "{text}");
        assert_eq!(place.read("work/.cursor/cli.json").unwrap(), text, "a project's file is never touched");
    }
}

#[test]
fn what_cannot_be_read_is_never_written() {
    let place = Place::new();
    fs::create_dir_all(place.folder.path().join("root/cli-config.json")).unwrap();
    let config = place.config(ProjectTrust::Trusted);
    assert_eq!(config.warnings.len(), 1);
    assert!(place.folder.path().join("root/cli-config.json").is_dir());
    let changed = file::change(&place.roots().config_file(), |_| Ok(()));
    assert!(changed.is_err());
}

#[test]
fn changing_keeps_what_we_do_not_know_and_adds_what_must_be_there() {
    let place = Place::new();
    place.write(
        "root/cli-config.json",
        r#"{"zeta":{"a":[1,2]},"permissions":{"allow":["Shell(x)"]},"alpha":1}"#,
    );
    let path = place.roots().config_file();
    file::change(&path, |values| value::set(values, "editor.vimMode", json!(true))).unwrap();
    let written: Value = serde_json::from_str(&place.read("root/cli-config.json").unwrap()).unwrap();
    let expected = json!({
        "zeta": {"a": [1, 2]},
        "permissions": {"allow": ["Shell(x)"], "deny": []},
        "alpha": 1,
        "editor": {"vimMode": true},
        "version": 1,
    });
    assert_eq!(written, expected);
    let refused = file::change(&path, |values| value::set(values, "approvalMode", json!("yes")));
    assert!(refused.unwrap_err().contains("must be one of"));
    assert!(file::change(&path, |values| value::set(values, "alpha.beta", json!(1))).is_err());
}

#[test]
fn outside_of_a_repository_only_the_workspace_counts() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b");
    fs::create_dir_all(&inner).unwrap();
    assert_eq!(project_folders(&inner), std::slice::from_ref(&inner));
    fs::write(folder.path().join("a/.git"), "gitdir: elsewhere").unwrap();
    assert_eq!(project_folders(&inner), [folder.path().join("a"), inner]);
}
