//! What the parser claims about texts it accepts, and which it refuses.

use std::path::Path;
use std::process::Command as Process;

use super::tests_tables::{IN_COMPOUNDS, IN_HEREDOCS, IN_LISTS, IN_WORDS, QUOTED, REFUSED};
use super::{
    Arg, ArgKind, Command, Descriptor, Executable, Part, RedirectOp, RedirectText, Simple, Word, parse,
    simple_commands, summary,
};

/// The names of all simple commands, joined by blanks; `!` if refused.
fn names(source: &str) -> String {
    let summary = summary(source);
    if summary.parsing_failed {
        return "!".to_owned();
    }
    summary.simple_commands.join(" ")
}

fn check_names(table: &[(&str, &str)]) {
    for (source, expected) in table {
        assert_eq!(names(source), *expected, "{source:?}: {:?}", parse(source));
    }
}

fn first_simple(source: &str) -> Simple {
    match parse(source) {
        Ok(script) => simple_commands(&script)
            .first()
            .map(|found| found.command.clone())
            .expect("the test text has a simple command"),
        Err(error) => panic!("{source:?}: {error}"),
    }
}

fn argument(source: &str) -> Word {
    let simple = first_simple(&format!("c {source}"));
    assert_eq!(simple.words.len(), 2, "{source:?} is one word");
    simple.words.last().cloned().expect("there are two words")
}

#[test]
fn quote_removal_gives_what_the_command_receives() {
    for (source, expected) in QUOTED {
        assert_eq!(argument(source).literal().as_deref(), Some(*expected), "{source:?}");
    }
}

#[test]
fn quote_removal_agrees_with_bash() {
    if !Path::new("/bin/bash").exists() {
        return;
    }
    for (source, expected) in QUOTED {
        let output = Process::new("/bin/bash")
            .args(["--norc", "-c", &format!("printf '%s.' {source}")])
            .env("LC_ALL", "C.UTF-8")
            .output()
            .expect("bash can be started");
        let received = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(received, format!("{expected}."), "{source:?}");
    }
}

#[test]
fn a_word_with_any_expansion_is_not_literal() {
    let words = [
        "$x",
        "\"$x\"",
        "${x}",
        "a$(b)",
        "`b`",
        "\"`b`\"",
        "$((1))",
        "$[1]",
        "*",
        "a?",
        "[ab]",
        "{a,b}",
        "{1..3}",
        "a{b,c}d",
        "{a,\"b\"}",
        "~",
        "~/x",
        "--x=~/y",
        "a:~",
        "<(b)",
        "$\"a\"",
        "$1",
        "$@",
        "$#",
        "$$",
        "$?",
        "$!",
        "$-",
        "$_",
    ];
    for source in words {
        assert_eq!(argument(source).literal(), None, "{source:?}");
    }
}

#[test]
fn a_word_knows_whether_it_was_quoted() {
    for (source, expected) in [
        ("a", false),
        ("$x", false),
        ("$(a 'b')", false),
        ("a'b'", true),
        ("\"$x\"", true),
        ("\\a", true),
        ("$'a'", true),
        ("$\"a\"", true),
        ("''", true),
    ] {
        assert_eq!(argument(source).was_quoted(), expected, "{source:?}");
    }
}

#[test]
fn commands_are_found_in_lists_and_pipelines() {
    check_names(IN_LISTS);
}

#[test]
fn commands_are_found_in_compound_commands() {
    check_names(IN_COMPOUNDS);
}

#[test]
fn commands_are_found_in_words() {
    check_names(IN_WORDS);
}

#[test]
fn commands_are_found_in_here_documents() {
    check_names(IN_HEREDOCS);
}

#[test]
fn what_is_not_understood_is_refused() {
    for source in REFUSED {
        assert!(parse(source).is_err(), "{source:?}: {:?}", parse(source));
        assert!(summary(source).parsing_failed);
    }
}

#[test]
fn redirections_of_every_kind_are_read() {
    let table = [
        ("a <f", RedirectOp::Read, "f"),
        ("a >f", RedirectOp::Write, "f"),
        ("a >>f", RedirectOp::Append, "f"),
        ("a >|f", RedirectOp::Clobber, "f"),
        ("a <>f", RedirectOp::ReadWrite, "f"),
        ("a >&2", RedirectOp::DuplicateWrite, "2"),
        ("a <&-", RedirectOp::DuplicateRead, "-"),
        ("a &>f", RedirectOp::WriteBoth, "f"),
        ("a &>>f", RedirectOp::AppendBoth, "f"),
        ("a <<<f", RedirectOp::HereString, "f"),
        ("a << f\nf", RedirectOp::Heredoc, "f"),
        ("a <<- 'f'\nf", RedirectOp::HeredocStripped, "f"),
        (">'f' a", RedirectOp::Write, "f"),
        ("a>f b", RedirectOp::Write, "f"),
    ];
    for (source, op, target) in table {
        let simple = first_simple(source);
        let redirect = simple.redirects.first().expect("there is a redirection");
        assert_eq!(redirect.op, op, "{source:?}");
        assert_eq!(redirect.target.literal().as_deref(), Some(target), "{source:?}");
    }
}

#[test]
fn a_descriptor_belongs_to_the_redirection_only_if_it_touches_it() {
    let touching = first_simple("a 2>f {out}<g");
    let descriptors: Vec<_> = touching.redirects.iter().map(|redirect| redirect.fd.clone()).collect();
    let expected = [Some(Descriptor::Number(2)), Some(Descriptor::Variable("out".to_owned()))];
    assert_eq!(descriptors, expected);
    assert_eq!(touching.words.len(), 1);
    let apart = first_simple("a 2 >f x2>&1>g");
    assert_eq!(apart.words.len(), 3);
    assert!(apart.redirects.iter().all(|redirect| redirect.fd.is_none()));
}

#[test]
fn the_body_of_a_here_document_is_attached() {
    let simple = first_simple("a <<'E'\nx $y\nE\n");
    let heredoc = simple.redirects.first().and_then(|redirect| redirect.heredoc.clone());
    let heredoc = heredoc.expect("there is a here-document");
    assert!(heredoc.quoted);
    assert_eq!(heredoc.body().map(|body| body.text.as_str()), Some("x $y\n"));
}

#[test]
fn spans_are_ranges_of_the_source() {
    let source = "é; git  'log x' >f -n # c";
    let script = parse(source).expect("the text is valid");
    let found = simple_commands(&script);
    let simple = found.last().expect("there are two commands").command;
    assert_eq!(source.get(simple.span.start..simple.span.end), Some("git  'log x' >f -n"));
    assert_eq!(simple.text, "git  'log x' -n");
    for word in &simple.words {
        assert_eq!(source.get(word.span.start..word.span.end), Some(word.text.as_str()));
    }
}

#[test]
fn everything_in_backticks_has_their_span() {
    let source = "a x`b \\`c\\``";
    let script = parse(source).expect("the text is valid");
    let texts: Vec<_> = simple_commands(&script)
        .iter()
        .map(|found| (found.command.text.clone(), found.command.span.start))
        .collect();
    let expected = [("a x`b \\`c\\``", 0), ("b `c`", 3), ("c", 3)];
    assert_eq!(texts, expected.map(|(text, start)| (text.to_owned(), start)));
}

#[test]
fn the_place_of_a_command_is_known() {
    let script = parse("a; f() { b $(c); }; d <(e)").expect("the text is valid");
    let places: Vec<_> = simple_commands(&script)
        .iter()
        .map(|found| (found.command.text.clone(), found.in_substitution, found.in_function))
        .collect();
    let expected = [
        ("a", false, false),
        ("b $(c)", false, true),
        ("c", true, true),
        ("d <(e)", false, false),
        ("e", true, false),
    ];
    assert_eq!(places, expected.map(|(text, inner, function)| (text.to_owned(), inner, function)));
}

#[test]
fn parameters_keep_their_text() {
    for (source, name, raw, simple) in [
        ("$x", "x", "x", true),
        ("${x}", "x", "x", true),
        ("$10", "1", "1", true),
        ("${10}", "10", "10", true),
        ("${#x}", "x", "#x", false),
        ("${!x}", "x", "!x", false),
        ("${x[@]}", "x", "x[@]", false),
        ("${x%.*}", "x", "x%.*", false),
        ("${#}", "#", "#", true),
        ("${x:-a b}", "x", "x:-a b", false),
        ("${x: -1}", "x", "x: -1", false),
        ("${!x@}", "x", "!x@", false),
        ("${x@Q}", "x", "x@Q", false),
        ("$?", "?", "?", true),
    ] {
        match argument(source).parts.first() {
            Some(Part::Parameter(parameter)) => {
                assert_eq!((parameter.name.as_str(), parameter.raw.as_str()), (name, raw));
                assert_eq!(parameter.simple, simple, "{source:?}");
            }
            other => panic!("{source:?}: {other:?}"),
        }
    }
}

#[test]
fn functions_and_assignments_are_no_commands_of_their_own() {
    let script = parse("f() { :; }").expect("the text is valid");
    let stage = script.list.items.first().and_then(|item| item.pipeline.stages.first());
    assert!(matches!(stage.map(|stage| &stage.command), Some(Command::Function { name, .. }) if name == "f"));
    let simple = first_simple("x=1 y+='a b' z[2]= a");
    let assigned: Vec<_> = simple
        .assignments
        .iter()
        .map(|assignment| (assignment.name.clone(), assignment.append, assignment.value.literal()))
        .collect();
    let expected = [("x", false, "1"), ("y", true, "a b"), ("z", false, "")];
    assert_eq!(
        assigned,
        expected.map(|(name, append, value)| (name.to_owned(), append, Some(value.to_owned())))
    );
}

#[test]
fn the_summary_tells_words_strings_and_numbers_apart() {
    let source = "git log -n 3 \"--format=%h\" $x 2>&1 >out <in";
    let arg = |kind, value: &str| Arg { kind, value: value.to_owned() };
    let summary = summary(source);
    let expected = Executable {
        name: "git".to_owned(),
        args: vec![
            arg(ArgKind::Word, "log"),
            arg(ArgKind::Word, "-n"),
            arg(ArgKind::Number, "3"),
            arg(ArgKind::String, "--format=%h"),
            arg(ArgKind::Word, "$x"),
        ],
        full_text: "git log -n 3 \"--format=%h\" $x".to_owned(),
    };
    assert_eq!(summary.commands, [expected]);
    assert!(summary.has_redirects && summary.has_input_redirect && summary.has_output_redirect);
    assert!(!summary.has_command_substitution && !summary.parsing_failed);
    let redirects = [(">&", "1"), (">", "out"), ("<", "in")]
        .map(|(op, target)| RedirectText { op: op.to_owned(), target: target.to_owned() });
    assert_eq!(summary.redirects, redirects);
}
