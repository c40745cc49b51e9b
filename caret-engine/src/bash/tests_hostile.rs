//! Hostile input: size, depth, time, noise, and the comparison with bash.

use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use super::tests_tables::{SNIPPETS, corpus};
use super::{MAX_NESTING, MAX_SOURCE_BYTES, Reason, parse, summary};

fn bash_accepts(source: &str) -> bool {
    Process::new("/bin/bash")
        .args(["--norc", "-n", "-c", "--", source])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[test]
fn the_snippets_are_accepted() {
    for source in SNIPPETS {
        assert!(parse(source).is_ok(), "{source:?}: {:?}", parse(source));
    }
}

#[test]
fn what_is_accepted_is_accepted_by_bash() {
    if !Path::new("/bin/bash").exists() {
        return;
    }
    let corpus = corpus();
    let accepted: Vec<_> = corpus.iter().filter(|source| parse(source).is_ok()).collect();
    assert!(accepted.len() > 150, "{}", accepted.len());
    for source in accepted {
        assert!(bash_accepts(source), "{source:?}");
    }
}

const REPEATED: &[&str] = &[
    "$(",
    "\"",
    "'",
    "{",
    "{ ",
    "((",
    "( ",
    "(",
    "`",
    "\\`",
    "<<a ",
    "<<a\n",
    "<<a <<b\n",
    "${x:-",
    "${x",
    "$((",
    "$[",
    "\"$(",
    "\"${x:-",
    "`$(",
    "<(",
    "a<(",
    "if ",
    "while ",
    "case x in ",
    "case x in a) ",
    "f() { ",
    "f()",
    "function f ",
    "[[ ",
    "[[ ( ",
    "! ",
    "time ",
    "a|",
    "a&&",
    "a;",
    "a\n",
    "\n",
    " ",
    "\\\n",
    "#",
    "#\n",
    "x=(",
    "x=(a ",
    "x[",
    "x=",
    "{a,",
    "[",
    "]",
    "*",
    "~",
    "$'",
    "$'\\",
    "$\"",
    "\\",
    "a\\",
    "1",
    "1>",
    "{a}>",
    "é",
    "\u{a0}",
    "$",
    "$$",
    "${",
    "&",
    ">",
    "<",
    "a<<a\na\n",
    "a $(a <<b\nb\n)",
    "a \"$x\" ",
    "a 'b' ",
    "`a`",
    "$(a)",
    "((1))\n",
    "((",
    "(1",
    "else ",
    "elif a; then ",
    "a\t",
    "-",
    "for x in ",
    "<<-a\n\t",
    "a <<a\n\\\n",
    "[[ a && ",
];

fn repeated(unit: &str) -> String {
    unit.repeat(MAX_SOURCE_BYTES / unit.len())
}

/// Texts that are as long as allowed and nested as deeply as allowed.
fn deep_and_long() -> Vec<String> {
    let wrap = |open: &str, close: &str, levels: usize| {
        let room = MAX_SOURCE_BYTES - levels * (open.len() + close.len());
        format!("{}{}{}", open.repeat(levels), "a b;".repeat(room / 4), close.repeat(levels))
    };
    vec![
        wrap("a $(", ")", 62),
        wrap("a \"$(", ")\"", 31),
        wrap("( ", " )", 62),
        wrap("{ ", " }; ", 62),
        wrap("a ${x:-$(", ")}", 31),
        wrap("a <(", ")", 62),
        format!("a `{}`", "\\`".repeat(30_000)),
        format!("{}\n", "a <<b; ".repeat(9_000)),
    ]
}

fn time_of(source: &str) -> Duration {
    let start = Instant::now();
    drop(parse(source));
    start.elapsed()
}

#[test]
fn time_is_linear_for_texts_of_the_greatest_length() {
    let allowed = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 100 });
    let units = REPEATED.iter().map(|unit| repeated(unit));
    for source in units.chain(deep_and_long()) {
        // Other programs share the processor, so one slow run proves nothing.
        let fast = (0..5).any(|_| time_of(&source) < allowed);
        let opening: String = source.chars().take(20).collect();
        assert!(fast, "{opening:?} took longer than {allowed:?}");
    }
}

#[test]
fn a_stack_of_two_mebibytes_is_enough() {
    let thread = std::thread::Builder::new()
        .stack_size(2 * 1024 * 1024)
        .spawn(|| {
            for unit in REPEATED {
                drop(summary(&repeated(unit)));
            }
            for source in deep_and_long() {
                let parsed = parse(&source);
                assert!(parsed.is_ok() || source.contains("<<"));
                let copied = parsed.clone();
                assert_eq!(parsed, copied);
                assert!(!format!("{parsed:?}").is_empty());
            }
        })
        .expect("a thread can be started");
    assert!(thread.join().is_ok());
}

#[test]
fn limits_are_typed_errors() {
    let reason = |source: &str| parse(source).map_err(|error| error.reason).err();
    assert_eq!(reason(&"a".repeat(MAX_SOURCE_BYTES)), None);
    assert_eq!(reason(&"a".repeat(MAX_SOURCE_BYTES + 1)), Some(Reason::TooLong));
    let nested = |levels: usize| format!("{}a{}", "( ".repeat(levels), " )".repeat(levels));
    assert_eq!(reason(&nested(MAX_NESTING - 1)), None);
    assert_eq!(reason(&nested(MAX_NESTING + 1)), Some(Reason::TooDeep));
}

/// A small generator of noise; the seed makes a failure repeatable.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(1).max(1);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices.get(self.below(choices.len())).copied().unwrap_or_default()
    }
}

const TOKENS: &[&str] = &[
    "a",
    "b",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "!",
    "(",
    ")",
    "{",
    "}",
    "((",
    "))",
    "[[",
    "]]",
    "if ",
    "then ",
    "fi",
    "do ",
    "done",
    "case ",
    "in ",
    "esac",
    ";;",
    "for ",
    "x=",
    "x+=",
    "x[",
    "]=",
    "=(",
    "$x",
    "${x",
    "${x:-",
    "}",
    "$(",
    "`",
    "\\`",
    "<(",
    ">(",
    "$((",
    "$[",
    "]",
    "'",
    "\"",
    "$'",
    "$\"",
    "\\",
    "\\\n",
    "<",
    ">",
    ">>",
    "<<E",
    "<<'E'",
    "<<-E",
    "\nE\n",
    "<<<",
    ">&",
    "2>",
    "{v}>",
    "#",
    "*",
    "?",
    "[",
    "~",
    "{a,b}",
    "1",
    "é",
    "=~",
    "==",
    "-f ",
    "time ",
    "function ",
    "f() ",
    "$",
    "@",
];

#[test]
fn noise_never_panics_and_spans_stay_in_the_source() {
    let mut noise = Noise(0x2545_f491_4f6c_dd1d);
    for round in 0..20_000 {
        let length = noise.below(24);
        let source: String = if round % 4 == 0 {
            let bytes: Vec<u8> = (0..length * 4).map(|_| noise.next().to_le_bytes()[0]).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            (0..length).map(|_| noise.pick(TOKENS)).collect()
        };
        match parse(&source) {
            Ok(script) => {
                for found in super::simple_commands(&script) {
                    let span = found.command.span;
                    assert!(source.get(span.start..span.end).is_some(), "{source:?}");
                }
            }
            Err(error) => assert!(error.at <= source.len(), "{source:?}"),
        }
    }
}
