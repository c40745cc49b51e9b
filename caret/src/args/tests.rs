//! What is typed, and what comes of it: the texts are those that scripts look for.

use super::*;
use values::OutputFormat;

fn typed(words: &[&str]) -> Result<Parsed, Failure> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    parse("caret", &words)
}

/// The message, or what was understood in a few words.
fn check(words: &[&str], expected: &str) {
    let shown = match typed(words) {
        Err(Failure::Told { message, exit }) => {
            assert!(matches!(exit, Exit::Usage | Exit::Unavailable), "{exit:?}");
            message
        }
        Err(Failure::NobodyReads) => "quiet".to_owned(),
        Ok(Parsed::Help(text)) => text.lines().next().unwrap_or_default().to_owned(),
        Ok(Parsed::Run(options, Chosen::Prompt(words))) => {
            format!("prompt {:?} print={} resume={:?}", words.prompt.join(" "), options.print, options.resume)
        }
        Ok(Parsed::Run(_, chosen)) => format!("{chosen:?}"),
    };
    assert_eq!(shown, expected, "{words:?}");
}

#[test]
fn wrong_options_get_the_documented_words() {
    check(&["--x"], "error: unknown option '--x'");
    check(&["--forse", "hi"], "error: unknown option '--forse'\n(Did you mean --force?)");
    check(
        &["--output-fromat=json"],
        "error: unknown option '--output-fromat=json'\n(Did you mean --output-format?)",
    );
    let dash = "\n(Put -- before a prompt that starts with a dash.)";
    check(&["-p", "- item one"], &format!("error: unknown option '- item one'{dash}"));
    check(&["-p", "-z"], "error: unknown option '-z'");
    check(&["ls", "--wrong"], "error: unknown option '--wrong'");
    check(&["--format", "json", "ls"], "error: unknown option '--format'\n(Did you mean --force?)");
    check(&["--model"], "error: option '--model <model>' argument missing");
    check(&["--model", "--print"], "error: option '--model <model>' argument missing");
    check(&["--model", "a", "--model", "b"], "error: option '--model <model>' was given more than once");
    check(
        &["--output-format", "xml"],
        "error: option '--output-format <format>' argument 'xml' is invalid. \
         Allowed choices are text, json, stream-json.",
    );
    check(
        &["--max-turns", "0"],
        "error: option '--max-turns <n>' argument '0' is invalid. It must be a whole number above 0.",
    );
    check(&["--print=yes"], "error: option '--print' takes no argument 'yes'");
    check(&["export"], "error: missing required argument 'id'");
    check(&["rm"], "error: missing required argument 'id'");
    check(&["ls", "more"], "error: too many arguments for 'ls': 'more'");
    check(
        &["config", "frob"],
        "error: command-argument value 'frob' is invalid for argument 'action'. \
         Allowed choices are list, get, set, unset, path.",
    );
    check(
        &["-p", "help", "me", "fix", "it"],
        "error: unknown command 'me'\n(Put -- before a prompt that starts with a command's name.)",
    );
    check(&["help", "lss"], "error: unknown command 'lss'\n(Did you mean ls?)");
}

#[test]
fn commands_of_later_versions_are_named_and_not_run() {
    for name in ["mcp", "acp", "sandbox", "generate-rule", "rule", "worker", "plugin"] {
        check(
            &[name, "--what", "ever"],
            &format!("error: not available in this version: the command '{name}'"),
        );
    }
    check(&["-e", "http://x", "acp"], "error: not available in this version: the command 'acp'");
    check(&["--zzzz", "acp"], "error: unknown option '--zzzz'");
}

#[test]
fn only_the_first_word_can_be_a_command() {
    check(&["-p", "fix", "ls"], "prompt \"fix ls\" print=true resume=None");
    check(&["fix", "-p", "ls"], "prompt \"fix ls\" print=true resume=None");
    check(&["--", "ls"], "prompt \"ls\" print=false resume=None");
    check(&["-p", "--", "- item", "--force"], "prompt \"- item --force\" print=true resume=None");
    check(&["agent", "ls"], "prompt \"ls\" print=false resume=None");
    check(&["--model", "ls", "hi"], "prompt \"hi\" print=false resume=None");
    check(&["--model=ls", "create-chat"], "CreateChat(Nothing)");
    check(&["-n", "ls", "create-chat"], "CreateChat(Nothing)");
    check(&["-p", "create-chat", "--workspace", "x"], "CreateChat(Nothing)");
    check(&["3", "-", "2"], "prompt \"3 - 2\" print=false resume=None");
    check(&[], "prompt \"\" print=false resume=None");
}

#[test]
fn resume_takes_a_value_only_if_one_follows() {
    check(&["--resume", "id", "go on"], "prompt \"go on\" print=false resume=Some(\"id\")");
    check(&["--resume=-2", "go on"], "prompt \"go on\" print=false resume=Some(\"-2\")");
    check(&["go on", "--resume", "-p"], "prompt \"go on\" print=true resume=Some(\"\")");
    check(&["--resume", "-p", "ls"], "List(List { format: None, all: false, most: 100 })");
}

#[test]
fn the_same_flag_twice_changes_nothing() {
    check(&["-p", "-p", "-f", "--force", "--yolo", "hi"], "prompt \"hi\" print=true resume=None");
    check(&["-pf", "hi"], "prompt \"hi\" print=true resume=None");
}

#[test]
fn options_may_stand_anywhere() {
    let Ok(Parsed::Run(options, Chosen::Prompt(words))) = typed(&[
        "say",
        "-p",
        "hello",
        "--output-format=stream-json",
        "--add-dir",
        "a",
        "--add-dir",
        "b",
        "world",
    ]) else {
        panic!("a prompt was typed");
    };
    assert_eq!(words.prompt, ["say", "hello", "world"]);
    assert_eq!(options.output_format, Some(OutputFormat::StreamJson));
    assert_eq!(options.add_dir, ["a", "b"]);
}

#[test]
fn help_wins_over_everything_else() {
    check(&["--help"], "Usage: caret [options] [command] [prompt...]");
    check(&["-ph", "--nonsense"], "Usage: caret [options] [command] [prompt...]");
    check(&["help"], "Usage: caret [options] [command] [prompt...]");
    check(&["ls", "-h"], "Usage: caret ls [OPTIONS]");
    check(&["help", "export"], "Usage: caret export [OPTIONS] <id>");
    check(&["help", "mcp"], "error: not available in this version: the command 'mcp'");
}

#[test]
fn the_whole_tree_is_well_formed() {
    whole("caret").debug_assert();
}

#[test]
fn detailed_exit_codes_are_seen_even_in_nonsense() {
    let wants = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        wants_detailed_exit_codes(&words)
    };
    assert!(wants(&["--bad", "--exit-codes", "detailed"]));
    assert!(wants(&["--exit-codes=detailed"]));
    assert!(!wants(&["--exit-codes", "plain"]));
    assert!(!wants(&["--", "--exit-codes=detailed"]));
}
