//! One recorded session through every projection there is.
//!
//! `recorded/tour.jsonl` began as the export of two real turns: thoughts, words, calls of all kinds of outcome,
//! a question, and a turn that fails. Ids, paths and times were then made fixed, and what a store does not
//! keep (deltas, usage, output of a running command) was added by hand where a host would hear it. What each
//! projection makes of the events stands beside it.

use crate::running::parsed;
use caret_protocol::event::Stamped;
use caret_protocol::plain_text::PlainText;
use caret_protocol::projection::Projection;
use caret_protocol::stream_json::lines::Line;
use caret_protocol::stream_json::{StreamJson, StreamJsonSettings, Summary};
use caret_protocol::transcript::Transcript;
use expect_test::{ExpectFile, expect, expect_file};
use serde::Serialize;

fn recorded() -> Vec<Stamped> {
    let lines = include_str!("recorded/tour.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn project<P: Projection>(mut projection: P) -> Vec<P::Out> {
    let mut out = Vec::new();
    recorded().iter().for_each(|event| projection.apply(event, &mut out));
    out
}

fn json_lines<T: Serialize>(values: &[T]) -> String {
    values.iter().map(|value| serde_json::to_string(value).unwrap() + "\n").collect()
}

fn check_stream(settings: StreamJsonSettings, expected: ExpectFile) {
    let text = json_lines(&project(StreamJson::new(settings)));
    text.lines().for_each(|line| drop(parsed(line)));
    expected.assert_eq(&text);
}

#[test]
fn what_was_recorded_is_written_the_same() {
    assert_eq!(json_lines(&recorded()), include_str!("recorded/tour.jsonl"));
}

#[test]
fn as_text() {
    expect![[r#"["All done."]"#]].assert_eq(&format!("{:?}", project(PlainText::default())));
}

#[test]
fn as_json() {
    let results: Vec<Line> = project(Summary::default()).into_iter().map(Line::Result).collect();
    expect_file!["recorded/tour.json.txt"].assert_eq(&json_lines(&results));
}

#[test]
fn as_a_stream() {
    check_stream(StreamJsonSettings::default(), expect_file!["recorded/tour.stream.txt"]);
}

#[test]
fn as_a_stream_with_deltas() {
    let settings = StreamJsonSettings { partial: true, ..StreamJsonSettings::default() };
    check_stream(settings, expect_file!["recorded/tour.stream-partial.txt"]);
}

#[test]
fn as_a_stream_with_our_own_additions() {
    let settings = StreamJsonSettings { extended: true, ..StreamJsonSettings::default() };
    check_stream(settings, expect_file!["recorded/tour.stream-extended.txt"]);
}

#[test]
fn as_a_stream_for_a_driver() {
    let settings = StreamJsonSettings { answered: true, ..StreamJsonSettings::default() };
    check_stream(settings, expect_file!["recorded/tour.stream-driven.txt"]);
}

#[test]
fn as_the_conversation_that_a_model_sees() {
    expect_file!["recorded/tour.transcript.txt"].assert_eq(&json_lines(&project(Transcript::default())));
}
