//! What options mean together, on a made-up machine.

use super::*;
use crate::args::commands::Chosen;
use crate::args::{self, Parsed};
use crate::config::Origin;
use caret_protocol::ids::SessionId;
use std::fs;
use tempfile::TempDir;

const CHAT: &str = "0bae1f09-3bb0-49b8-9b9d-96a70ede533f";

struct Machine {
    folder: TempDir,
    environment: Environment,
}

fn machine(variables: &[(&str, &str)]) -> Machine {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    fs::create_dir_all(&work).unwrap();
    let home = folder.path().to_str().unwrap().to_owned();
    let mut all = vec![("HOME", home.as_str())];
    all.extend(variables);
    let environment = Environment::made_up(&all, &work);
    Machine { folder, environment }
}

impl Machine {
    fn run(&self, words: &[&str]) -> Result<RunSettings, Failure> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match args::parse("caret", &words)? {
            Parsed::Run(options, Chosen::Prompt(words)) => {
                RunSettings::find(Invoked::Caret, &options, &words.prompt, &self.environment, 7)
            }
            other => panic!("{other:?} is no prompt"),
        }
    }

    fn fails(&self, words: &[&str], expected: &str) {
        match self.run(words) {
            Err(Failure::Told { message, .. }) => assert!(message.contains(expected), "{words:?}: {message}"),
            other => panic!("{words:?}: {other:?} does not fail with {expected}"),
        }
    }
}

#[test]
fn everything_that_was_typed_arrives() {
    let machine = machine(&[("CURSOR_API_KEY", "secret")]);
    let settings = machine
        .run(&[
            "-p",
            "--force",
            "--output-format",
            "stream-json",
            "--stream-partial-output",
            "--plan",
            "--max-turns",
            "3",
            "--timeout",
            "5m",
            "--max-tokens",
            "9",
            "--max-cost",
            "0.5",
            "-n",
            "my chat",
            "--resume",
            CHAT,
            "say",
            "hi",
        ])
        .unwrap();
    assert_eq!(settings.prompt, "say hi");
    let expected =
        OutputSettings { format: OutputFormat::StreamJson, partial: true, ..OutputSettings::default() };
    assert_eq!(settings.output, expected);
    let limits =
        Limits { turns: Some(3), time: Some(Duration::from_secs(300)), tokens: Some(9), cost: Some(0.5) };
    assert_eq!(settings.limits, limits);
    assert_eq!(settings.session, SessionChoice::Resume(SessionId::new(CHAT)));
    assert_eq!(
        (settings.mode, settings.force, settings.title.as_deref()),
        (Mode::Plan, true, Some("my chat"))
    );
    assert_eq!((settings.credential, settings.saving), (Credential::Environment, Saving::OnDisk));
    assert_eq!((settings.input, settings.exit_style), (InputFormat::Text, ExitStyle::Plain));
    assert_eq!((settings.allow.len(), settings.deny.len(), settings.fail_on_denied), (1, 0, false));
    assert!(
        !format!("{settings:?}").contains("secret"),
        "a credential is never kept where it can be printed"
    );
}

#[test]
fn sessions_are_chosen_by_one_option_only() {
    let machine = machine(&[]);
    let session = |words: &[&str]| machine.run(&[words, &["-p", "-f", "hi"]].concat()).map(|run| run.session);
    assert_eq!(session(&["--continue"]), Ok(SessionChoice::Latest(1)));
    assert_eq!(session(&["--resume=-3"]), Ok(SessionChoice::Latest(3)));
    assert_eq!(session(&["--new-session-id", CHAT]), Ok(SessionChoice::New(SessionId::new(CHAT))));
    assert_eq!(session(&["--resume", &CHAT.to_uppercase()]), Ok(SessionChoice::Resume(SessionId::new(CHAT))));
    let bad = "Failed to claim persistent session for chat \"x\": Persistent-session chat ID must be a UUID";
    machine.fails(&["-p", "--resume", "x", "hi"], bad);
    machine.fails(&["-p", "hi", "--resume"], "--resume without a chat id");
    machine.fails(&["-p", "hi", "--resume=-0"], "needs a number above 0");
    machine.fails(&["-p", "hi", "--resume=-x"], "needs a number above 0");
    machine
        .fails(&["-p", "hi", "--new-session-id", "0bae1f09-3bb0-19b8-9b9d-96a70ede533f"], "needs a UUIDv4");
    machine.fails(
        &["-p", "hi", "--new-session-id", CHAT, "--continue"],
        "cannot be used with option '--continue'",
    );
    machine.fails(&["-p", "hi", "--resume", CHAT, "--continue"], "cannot be used with option '--continue'");
    machine.fails(&["-p", "hi", "--resume", CHAT, "--no-save"], "cannot be used with option '--resume");
}

#[test]
fn checks_come_in_the_promised_order() {
    let machine = machine(&[]);
    machine.fails(&["--cloud", "--model", "no"], "not available in this version: the option '--cloud'");
    machine.fails(&["--model", "no"], "⚠ Workspace Trust Required");
    machine.fails(&["--model", "no", "-f"], "there is no prompt");
    machine.fails(&["--model", "no", "-f", "hi"], "Cannot use this model: no. Available models: offline");
}

#[test]
fn trust_is_remembered_and_force_is_not() {
    let machine = machine(&[]);
    machine.run(&["-f", "hi"]).unwrap();
    machine.fails(&["hi"], "Pass --trust, --yolo, or -f if you trust this directory");
    machine.run(&["--trust", "hi"]).unwrap();
    machine.run(&["hi"]).unwrap();
    fs::write(machine.folder.path().join("work/AGENTS.md"), "new rules").unwrap();
    machine.fails(&["hi"], "have changed since you trusted it");
}

#[test]
fn options_that_need_each_other_name_each_other() {
    let machine = machine(&[]);
    machine.fails(&["-p", "--stream-partial-output", "hi"], "--print and --output-format stream-json");
    machine.fails(&["-p", "--input-format", "stream-json"], "--print and --output-format stream-json");
    machine.fails(&["-p", "--events", "extended", "hi"], "--output-format json or stream-json");
    machine.fails(
        &["-p", "--plan", "--mode", "ask", "hi"],
        "option '--plan' cannot be used with option '--mode ask'",
    );
}

#[test]
fn nothing_is_written_when_nothing_is_saved() {
    let machine = machine(&[]);
    machine.run(&["--no-save", "--trust", "hi"]).unwrap();
    let left: Vec<_> =
        fs::read_dir(machine.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["work"]);
    let nobody =
        Machine { environment: Environment::made_up(&[], &machine.folder.path().join("work")), ..machine };
    assert_eq!(nobody.run(&["--no-save", "-f", "hi"]).unwrap().common.roots, None);
    nobody.fails(&["-f", "hi"], "set HOME or CARET_HOME, or use --no-save");
}

#[test]
fn the_workspace_is_a_real_folder() {
    let machine = machine(&[]);
    let work = machine.folder.path().join("work").canonicalize().unwrap();
    std::os::unix::fs::symlink(&work, machine.folder.path().join("link")).unwrap();
    fs::write(machine.folder.path().join("file"), "").unwrap();
    assert_eq!(machine.run(&["-f", "--workspace", "../link/", "hi"]).unwrap().common.workspace, work);
    assert_eq!(machine.run(&["-f", "--workspace", "~/link", "hi"]).unwrap().common.workspace, work);
    assert_eq!(machine.run(&["-f", "--add-dir", "..", "hi"]).unwrap().additional, [work.parent().unwrap()]);
    machine.fails(&["-f", "--workspace", "nowhere", "hi"], "the workspace does not exist: ");
    machine.fails(&["-f", "--workspace", "../file", "hi"], "the workspace is a file, not a directory: ");
    machine.fails(&["-f", "--add-dir", "nowhere", "hi"], "the directory does not exist: ");
}

#[test]
fn command_line_wins_over_environment_wins_over_files() {
    let machine = machine(&[("CARET_SCRIPT", "a.toml")]);
    let run = |words: &[&str]| machine.run(&[&["-f", "hi"], words].concat()).unwrap();
    assert_eq!(run(&[]).model, ModelChoice::Script("a.toml".to_owned()));
    let offline = ModelChoice::Listed { id: "offline".to_owned(), parameters: Vec::new() };
    assert_eq!(run(&["--model", "offline"]).model, offline);
    let origin = run(&["--model", "offline"]).common.config.get("selectedModel.modelId").unwrap().1.clone();
    assert_eq!(origin, Origin::Flag("--model"));
}

#[test]
fn a_model_of_the_documented_program_is_no_mistake_of_the_user() {
    let machine = machine(&[]);
    let file = machine.folder.path().join(".cursor/cli-config.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, r#"{"model":{"modelId":"claude-4.5-sonnet"}}"#).unwrap();
    let offline = ModelChoice::Listed { id: "offline".to_owned(), parameters: Vec::new() };
    assert_eq!(machine.run(&["-f", "hi"]).unwrap().model, offline);
}

#[test]
fn colours_follow_the_usual_variables() {
    let color = |wanted, variables: &[(&str, &str)]| super::color(wanted, &machine(variables).environment);
    assert!(color(Color::Always, &[("NO_COLOR", "1")]));
    assert!(!color(Color::Auto, &[("NO_COLOR", "1"), ("FORCE_COLOR", "1")]));
    assert!(color(Color::Auto, &[("FORCE_COLOR", "1")]));
    assert!(!color(Color::Auto, &[("FORCE_COLOR", "0")]));
    assert!(!color(Color::Never, &[("FORCE_COLOR", "1")]));
    assert!(!color(Color::Auto, &[]));
}

#[test]
fn print_mode_is_inferred_unless_a_person_is_at_both_ends() {
    let is_print = |words: &[&str], stdin, stdout_is_terminal| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let Ok(Parsed::Run(options, _)) = args::parse("caret", &words) else { panic!("{words:?}") };
        let mut environment = Environment::made_up(&[], std::path::Path::new("/"));
        environment.stdin = stdin;
        environment.stdout_is_terminal = stdout_is_terminal;
        (super::is_print(&options, &environment), check_screen_options(&options).is_ok())
    };
    assert_eq!(is_print(&["hi"], Stdin::Terminal, true), (false, true));
    assert_eq!(is_print(&["hi"], Stdin::Terminal, false), (true, true));
    assert_eq!(is_print(&["hi"], Stdin::Pipe, true), (true, true));
    assert_eq!(is_print(&["-p", "hi"], Stdin::Terminal, true), (true, true));
    assert_eq!(is_print(&["--output-format", "json", "hi"], Stdin::Terminal, true), (false, false));
}
