//! The offline model as a table of prompts, and through a small stand-in for the loop.

use super::understand::understand;
use super::{Offline, Thinking};
use crate::model::{Chunk, Model as _, ModelError, Past, Request};
use crate::tools::ToolSpec;
use caret_protocol::content::{Content, Reply};
use caret_protocol::event::{DeltaKind, Mode};
use caret_protocol::ids::{SessionId, TurnId};
use caret_protocol::transcript::Message;
use expect_test::{Expect, expect};
use futures_util::StreamExt as _;

use proptest::prelude::*;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

const PROMPTS: &str = include_str!("prompts.txt");

fn steps(prompt: &str) -> String {
    let steps: Vec<String> = understand(prompt).iter().map(ToString::to_string).collect();
    steps.join("\n    ")
}

#[test]
fn prompts_are_understood_as_listed() {
    let prompts = PROMPTS.lines().filter(|line| !line.is_empty());
    let table: String =
        prompts.map(|line| format!("{line}\n    {}\n", steps(&line.replace('⏎', "\n")))).collect();
    expect_test::expect_file!["prompts.snap"].assert_eq(&table);
}

/// A past that counts as given, and says when it is loaded.
struct Before {
    messages: Vec<Message>,
    loads: std::sync::atomic::AtomicUsize,
}

impl Past for Before {
    fn messages(&self) -> Result<&[Message], ModelError> {
        self.loads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(&self.messages)
    }

    fn bytes(&self) -> u64 {
        self.messages.iter().map(|message| caret_protocol::transcript::plain(message).len() as u64).sum()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)], turn: TurnId::new("t") }
}

fn assistant(text: &str) -> Message {
    let blocks = vec![caret_protocol::content::Block::Text { text: text.into() }];
    Message::Assistant { reply: Reply { blocks, ..Reply::default() } }
}

fn tools(names: &[&'static str]) -> Vec<ToolSpec> {
    let reads = ["Read", "Grep", "Glob", "LS"];
    names
        .iter()
        .map(|name| ToolSpec { name, description: "d", input: json!({}), read_only: reads.contains(name) })
        .collect()
}

const ALL: &[&str] = &[
    "Read",
    "Write",
    "StrReplace",
    "Delete",
    "Grep",
    "Glob",
    "LS",
    "Shell",
    "TodoWrite",
    "Task",
    "WebFetch",
];

/// The loop, in small: prompts, tools that answer from a table, and what comes out.
struct Loop {
    tools: Vec<ToolSpec>,
    mode: Mode,
    past: Before,
    model: Offline,
    /// What each call gives back, in order; `Error:` at the front makes it an error.
    results: Vec<&'static str>,
    /// Said by the user after so many replies.
    later: Vec<(usize, &'static str)>,
}

impl Loop {
    fn new(results: &[&'static str]) -> Self {
        let past = Before { messages: Vec::new(), loads: 0.into() };
        let (tools, mode, model) = (tools(ALL), Mode::Agent, Offline::default());
        Self { tools, mode, past, model, results: results.to_vec(), later: Vec::new() }
    }

    fn ask(&self, messages: &[Message]) -> Vec<Chunk> {
        let (session, turn) = (SessionId::new("s"), TurnId::new("t"));
        let request = Request {
            session: &session,
            turn: &turn,
            turn_number: 0,
            step: 0,
            cwd: Path::new("/ws"),
            mode: self.mode,
            system: "system",
            tools: &self.tools,
            past: &self.past,
            messages,
        };
        let chunks: Vec<_> = runtime().block_on(self.model.stream(request).collect());
        chunks.into_iter().map(|chunk| chunk.expect("the offline model does not fail")).collect()
    }

    fn reply(&self, messages: &[Message]) -> Reply {
        let mut chunks = self.ask(messages);
        let Some(Chunk::Done(reply)) = chunks.pop() else { panic!("the last chunk is the reply") };
        let text = chunks.iter().filter_map(|chunk| match chunk {
            Chunk::Delta(DeltaKind::Text, text) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(text.collect::<String>(), reply.text());
        reply
    }

    /// Every call and the words of the turn, one below the other.
    fn run(&self, prompt: &str) -> String {
        let mut messages = vec![user(prompt)];
        let mut results = self.results.iter();
        let mut shown = String::new();
        for step in 0..100 {
            let reply = self.reply(&messages);
            messages.push(Message::Assistant { reply: reply.clone() });
            for call in reply.calls() {
                shown += &format!("{} {} {}\n", call.id, call.name, call.input);
                let text = results.next().copied().unwrap_or("ok");
                messages.push(Message::Tool {
                    call: call.id.clone(),
                    name: call.name.clone(),
                    text: text.trim_start_matches('!').into(),
                    is_error: text.starts_with("Error:") || text.starts_with('!'),
                });
            }
            let more = self.later.iter().filter(|(after, _)| *after == step).map(|(_, text)| user(text));
            let more: Vec<_> = more.collect();
            shown += &if reply.text().is_empty() { String::new() } else { format!("{}\n", reply.text()) };
            if reply.calls().next().is_none() && more.is_empty() {
                return shown;
            }
            messages.extend(more);
        }
        panic!("the turn does not end: {shown}")
    }
}

fn check(prompt: &str, results: &[&'static str], expected: Expect) {
    expected.assert_eq(&Loop::new(results).run(prompt));
}

const THREE: &str = "     1|one\n     2|two\n     3|three";

#[test]
fn one_step_is_one_call_and_a_sentence() {
    check(
        "read the file test.txt",
        &[THREE],
        expect![[r#"
        call_0_d1911b84 Read {"path":"test.txt"}
        `test.txt` has 3 lines:
        ```
        one
        two
        three
        ```
    "#]],
    );
    check(
        "create a file called output.txt with text 'Hello World'",
        &[],
        expect![[r#"
        call_0_d1911b84 Write {"path":"output.txt","contents":"Hello World"}
        Created `output.txt` (11 bytes).
    "#]],
    );
    check(
        "run ls -la",
        &["Exit code: 0\n\n```\na.txt\nb.txt\n```\n"],
        expect![[r#"
            call_0_d1911b84 Shell {"command":"ls -la","description":"Run \"ls -la\"","timeout":600000}
            `ls -la` printed:
            ```
            a.txt
            b.txt
            ```
            Exit code 0.
        "#]],
    );
}

#[test]
fn looking_is_one_call_and_up_to_20_lines() {
    check(
        "search for files containing 'a.b'",
        &["./a.txt"],
        expect![[r#"
        call_0_d1911b84 Grep {"pattern":"a\\.b","output_mode":"files_with_matches"}
        Files containing "a.b":
        ```
        ./a.txt
        ```
    "#]],
    );
    check(
        "search for nothing",
        &["No matches found"],
        expect![[r#"
        call_0_d1911b84 Grep {"pattern":"nothing","output_mode":"content"}
        Nothing contains "nothing".
    "#]],
    );
    check(
        "show the last 2 lines of a.txt",
        &[THREE],
        expect![[r#"
        call_0_d1911b84 Read {"path":"a.txt"}
        `a.txt`, the last 2 lines:
        ```
        two
        three
        ```
    "#]],
    );
}

#[test]
fn lists_and_counts_are_one_call_and_a_sentence() {
    check(
        "todo: a, b",
        &[],
        expect![[r#"
        call_0_d1911b84 TodoWrite {"todos":[{"id":"1","content":"a","status":"pending"},{"id":"2","content":"b","status":"pending"}],"merge":false}
        The task list has 2 items.
    "#]],
    );
    check(
        "how many words are in a.txt?",
        &[THREE],
        expect![[r#"
        call_0_d1911b84 Read {"path":"a.txt"}
        `a.txt` has 3 words.
    "#]],
    );
    check(
        "how many files are in src?",
        &["src/a.rs\nsrc/b.rs\n[the newest 2 of 345 files; narrow the pattern]"],
        expect![[r#"
            call_0_d1911b84 Glob {"glob_pattern":"**/*","target_directory":"src"}
            I count 345 files in `src`.
        "#]],
    );
}

#[test]
fn edits_read_first() {
    check(
        "replace 'one' with 'two' in x.txt",
        &[THREE],
        expect![[r#"
        call_0_d1911b84 Read {"path":"x.txt"}
        call_1_59d24b4e StrReplace {"path":"x.txt","old_string":"one","new_string":"two"}
        Replaced "one" with "two" in `x.txt`.
    "#]],
    );
    check(
        "replace o with 0 in x.txt",
        &[THREE],
        expect![[r#"
        call_0_d1911b84 Read {"path":"x.txt"}
        call_1_59d24b4e StrReplace {"path":"x.txt","old_string":"o","new_string":"0","replace_all":true}
        Replaced "o" with "0" in `x.txt` in 2 places.
    "#]],
    );
}

#[test]
fn appending_holds_on_to_the_end_of_the_file() {
    check(
        "append 'four' to x.txt",
        &[THREE],
        expect![[r#"
        call_0_d1911b84 Read {"path":"x.txt"}
        call_1_59d24b4e StrReplace {"path":"x.txt","old_string":"three","new_string":"three\nfour"}
        Added 1 line to `x.txt`.
    "#]],
    );
    check(
        "append 'four' to x.txt",
        &["     1|a\n     2|a\n     3|a"],
        expect![[r#"
        call_0_d1911b84 Read {"path":"x.txt"}
        call_1_59d24b4e StrReplace {"path":"x.txt","old_string":"a\na\na","new_string":"a\na\na\nfour"}
        Added 1 line to `x.txt`.
    "#]],
    );
}

#[test]
fn appending_to_what_has_no_end_is_a_write_or_is_left_alone() {
    check(
        "append 'four' to x.txt",
        &["[the file is empty]"],
        expect![[r#"
        call_0_d1911b84 Read {"path":"x.txt"}
        call_1_59d24b4e Write {"path":"x.txt","contents":"four"}
        Added 1 line to `x.txt`.
    "#]],
    );
    check(
        "append 'four' to x.txt",
        &["     1|a\n     2|"],
        expect![[r#"
        call_0_d1911b84 Read {"path":"x.txt"}
        call_1_59d24b4e StrReplace {"path":"x.txt","old_string":"a\n","new_string":"a\n\nfour"}
        Added 1 line to `x.txt`.
    "#]],
    );
    check(
        "append 'four' to x.txt",
        &[""],
        expect![[r#"
        call_0_d1911b84 Read {"path":"x.txt"}
        I could not make out how `x.txt` ends, so I left it alone.
    "#]],
    );
    check(
        "append 'four' to x.txt",
        &["something that is no listing"],
        expect![[r#"
        call_0_d1911b84 Read {"path":"x.txt"}
        I could not make out how `x.txt` ends, so I left it alone.
    "#]],
    );
    check(
        "how many lines are in a.txt?",
        &[
            "     1|a\n[lines 1-1 of 2 shown; continue with offset 2]",
            "Error: `offset` 2 is past the end: the file has 1 lines",
        ],
        expect![[r#"
            call_0_d1911b84 Read {"path":"a.txt"}
            call_1_59d24b4e Read {"path":"a.txt","offset":2}
            `a.txt` has 1 line.
        "#]],
    );
    check(
        "append 'z' to long.txt",
        &["     1|a\n     2|b\n[lines 1-2 of 3 shown; continue with offset 3]", "     3|c"],
        expect![[r#"
            call_0_d1911b84 Read {"path":"long.txt"}
            call_1_59d24b4e Read {"path":"long.txt","offset":3}
            call_2_bd127ed6 StrReplace {"path":"long.txt","old_string":"c","new_string":"c\nz"}
            Added 1 line to `long.txt`.
        "#]],
    );
}

#[test]
fn reads_beside_each_other_go_in_one_reply() {
    check(
        "read a.txt and b.txt, then list the files, then run pwd",
        &[],
        expect![[r#"
            call_0_d1911b84 Read {"path":"a.txt"}
            call_0_d1911b84_2 Read {"path":"b.txt"}
            call_0_d1911b84_3 LS {}
            call_1_59d24b4e Shell {"command":"pwd","description":"Run \"pwd\"","timeout":600000}
            `a.txt` says:
            ```
            ok
            ```

            `b.txt` says:
            ```
            ok
            ```

            The files here:
            ```
            ok
            ```

            `pwd` printed nothing. It has not ended yet, and ends with this session.
        "#]],
    );
}

#[test]
fn a_failure_ends_the_chain_and_says_what_was_not_done() {
    check(
        "read a.txt then run ls; delete a.txt",
        &["Error: File not found"],
        expect![[r#"
        call_0_d1911b84 Read {"path":"a.txt"}
        I could not read `a.txt`: File not found.

        Not done because of that: run `ls`; delete `a.txt`.
    "#]],
    );
    check(
        "run false then run ls",
        &["!Exit code: 1\n\n```\noh no\n```"],
        expect![[r#"
            call_0_d1911b84 Shell {"command":"false","description":"Run \"false\"","timeout":600000}
            `false` printed:
            ```
            oh no
            ```
            Exit code 1.

            Not done because of that: run `ls`.
        "#]],
    );
    check(
        "run ls then make it nice",
        &[],
        expect![[r#"
            call_0_d1911b84 Shell {"command":"ls","description":"Run \"ls\"","timeout":600000}
            `ls` printed nothing. It has not ended yet, and ends with this session.

            I did not understand "make it nice"; say `help` for what I do.
        "#]],
    );
    check(
        "delete a.txt",
        &["!The user rejected this call. It was not run."],
        expect![[r#"
        call_0_d1911b84 Delete {"path":"a.txt"}
        I could not delete `a.txt`: The user rejected this call. It was not run.
    "#]],
    );
}

#[test]
fn a_missing_tool_is_said() {
    let mut turn = Loop::new(&[]);
    turn.tools = tools(&["Read"]);
    expect![[r#"
        call_0_d1911b84 Read {"path":"a.txt"}
        `a.txt` says:
        ```
        ok
        ```

        I could not run `ls`: the tool `Shell` is not offered here.

        Not done because of that: delete `a.txt`.
    "#]]
    .assert_eq(&turn.run("read a.txt then run ls then delete a.txt"));
    expect![[r#"
        I need to know the file: say `replace 'a' with 'b' in notes.txt`, for example.
    "#]]
    .assert_eq(&turn.run("replace 'a' with 'b'"));
}

#[test]
fn a_replacement_without_a_file_asks_which() {
    let mut turn = Loop::new(&["Found 2 files\n./a.txt\n./b.txt", "file: b.txt", THREE]);
    turn.tools = tools(&["Read", "StrReplace", "Grep", "AskQuestion"]);
    expect![[r#"
        call_0_d1911b84 Grep {"pattern":"one","output_mode":"files_with_matches"}
        call_1_59d24b4e AskQuestion {"title":"Which file?","questions":[{"id":"file","prompt":"In which file shall I replace \"one\" with \"two\"?","options":[{"id":"a.txt","label":"a.txt"},{"id":"b.txt","label":"b.txt"}],"allow_multiple":false}]}
        call_2_bd127ed6 Read {"path":"b.txt"}
        call_3_e9d8499c StrReplace {"path":"b.txt","old_string":"one","new_string":"two"}
        Replaced "one" with "two" in `b.txt`.
    "#]].assert_eq(&turn.run("replace 'one' with 'two'"));
}

#[test]
fn plan_and_ask_mode_change_nothing() {
    for mode in [Mode::Plan, Mode::Ask] {
        let mut turn = Loop::new(&[THREE]);
        turn.mode = mode;
        assert!(turn.run("read a.txt").starts_with("call_0_"));
        assert!(turn.run("read a.txt then delete a.txt").starts_with("This is what I would do"));
    }
    let mut turn = Loop::new(&[]);
    turn.mode = Mode::Plan;
    expect![[r#"
        This is what I would do; in plan mode I change nothing.

        1. read `a.txt`
        2. delete `a.txt`

        Switch to agent mode to have it done.
    "#]]
    .assert_eq(&turn.run("read a.txt then delete it"));
}

#[test]
fn what_is_said_in_the_middle_is_done_after_what_is_under_way() {
    let mut turn = Loop::new(&[THREE]);
    turn.later = vec![(0, "what is 7+7?"), (1, "run pwd"), (3, "run ls")];
    expect![[r#"
        call_0_d1911b84 Read {"path":"a.txt"}
        call_0_d1911b84_2 LS {}
        `a.txt` has 3 lines:
        ```
        one
        two
        three
        ```

        The files here:
        ```
        ok
        ```

        7 + 7 = 14
        call_1_59d24b4e Shell {"command":"pwd","description":"Run \"pwd\"","timeout":600000}
        `pwd` printed nothing. It has not ended yet, and ends with this session.
        call_2_bd127ed6 Shell {"command":"ls","description":"Run \"ls\"","timeout":600000}
        `ls` printed nothing. It has not ended yet, and ends with this session.
    "#]]
    .assert_eq(&turn.run("read a.txt then list the files"));
}

#[test]
fn the_past_is_loaded_for_questions_about_it_only() {
    let mut turn = Loop::new(&[]);
    turn.past.messages =
        vec![user("hello"), assistant("Hello!"), user("what is 7+7?"), assistant("7 + 7 = 14")];
    let table: String = [
        "what was my last question?",
        "what was my first message?",
        "what did I ask?",
        "repeat that",
        "continue",
        "what have I asked so far?",
    ]
    .iter()
    .map(|prompt| format!("{prompt} -> {}", turn.run(prompt)))
    .collect();
    expect![[r#"
        what was my last question? -> Your last question was "what is 7+7?"
        what was my first message? -> Your first message was "hello"
        what did I ask? -> Your last question was "what is 7+7?"
        repeat that -> 7 + 7 = 14
        continue -> Nothing is under way. Your last question was "what is 7+7?"; say it again to have it done again.
        what have I asked so far? -> You said so far:
        1. hello
        2. what is 7+7?
    "#]].assert_eq(&table);
    turn.past.loads = 0.into();
    turn.run("read a.txt then what is 2+2?");
    assert_eq!(turn.past.loads.into_inner(), 0);
    assert_eq!(
        Loop::new(&[]).run("what was my last question?"),
        "This is the first message of this chat; there is nothing before it.\n"
    );
}

#[test]
fn what_is_not_understood_gets_one_honest_paragraph() {
    check(
        "refactor the parser\nand make it fast",
        &[],
        expect![[r#"
            I am Caret's offline model: a set of fixed rules that runs without an account, so I did not understand that. I can do things like `read README.md`, `search for 'TODO' in src` or `create a file called notes.txt with text 'Hello'`; ask `what can you do?` for all of it. Everything else needs a real model: `caret models` lists what can be reached from here.
        "#]],
    );
}

#[test]
fn deltas_are_short_and_the_same_request_gives_the_same_bytes() {
    let turn = Loop::new(&[]);
    for prompt in ["help", "write a haiku", "read a.txt, b.txt", &"ä".repeat(100)] {
        let chunks = turn.ask(&[user(prompt)]);
        assert_eq!(chunks, turn.ask(&[user(prompt)]));
        for chunk in &chunks {
            assert!(
                !matches!(chunk, Chunk::Delta(_, text) if text.len() > 16 || text.is_empty()),
                "{chunk:?}"
            );
        }
    }
    let words: Vec<&str> = super::deltas("a few words and averyveryveryverylongword end").collect();
    assert_eq!(words, ["a few words and ", "averyveryveryver", "ylongword end"]);
}

#[test]
fn thinking_and_usage_are_shown() {
    let mut turn = Loop::new(&[]);
    turn.model = Offline::new(Duration::ZERO, Thinking::Shown);
    expect![[r#"
        [
            Delta(
                Thinking,
                "Step 1 of 1: read `a.txt`.",
            ),
            Done(
                Reply {
                    id: "",
                    blocks: [
                        Thinking {
                            text: "Step 1 of 1: read `a.txt`.",
                            signature: None,
                        },
                        Call {
                            call: ToolCall {
                                id: CallId(
                                    "call_0_d1911b84",
                                ),
                                name: "Read",
                                input: Object {
                                    "path": String("a.txt"),
                                },
                                claim: None,
                                malformed: None,
                            },
                        },
                    ],
                    stop: ToolCalls,
                    usage: Usage {
                        input: 27,
                        output: 12,
                        cache_read: 0,
                        cache_write: 0,
                        estimated: false,
                    },
                },
            ),
        ]
    "#]]
    .assert_debug_eq(&turn.ask(&[user("read a.txt")]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_prompt_ends_in_a_reply(prompt in "(?s).{0,200}") {
        Loop::new(&[]).run(&prompt);
    }

    #[test]
    fn any_words_end_in_a_reply(words in proptest::collection::vec(
        prop_oneof![
            Just("read"), Just("a.txt"), Just("then"), Just("and"), Just("'x'"), Just("'"), Just("replace"), Just("with"),
            Just("in"), Just("to"), Just("run"), Just(";"), Just("\n"), Just("1."), Just("append"), Just("create"), Just("file"),
            Just("called"), Just(":"), Just("```"), Just("search"), Just("for"), Just("find"), Just("it"), Just("2+2"), Just(", "),
            Just("list"), Just("how many"), Just("lines"), Just("todo"), Just("delete"), Just("everywhere"), Just("."), Just("“"),
        ], 0..24)) {
        Loop::new(&[THREE, "Error: no"]).run(&words.join(" "));
    }
}

#[test]
fn long_prompts_take_little_time() {
    for prompt in ["'a ", "read a.txt, ", "then ", "(", "1 + ", "\"", "`", "x\n", "a.txt and ", "“‘"] {
        Loop::new(&[]).run(&prompt.repeat(20_000));
    }
}
