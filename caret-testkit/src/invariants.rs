//! What must be true of the events and of the history of any session, whatever happened in it.

use caret_protocol::event::{Event, Stamped};
use caret_protocol::ids::{CallId, TurnId};
use caret_protocol::transcript::Message;
use std::collections::HashMap;

/// How far a call was heard of.
#[derive(Debug, PartialEq)]
enum Known {
    Called,
    Started,
    Ended,
}

/// Turns begin and end once and one after the other, and every call of every reply is started and ended
/// once inside its turn.
///
/// # Panics
/// When it is not so.
pub fn check_turns(events: &[Stamped]) {
    let mut open: Option<TurnId> = None;
    let mut calls: HashMap<CallId, Known> = HashMap::new();
    for stamped in events {
        match &stamped.event {
            Event::TurnStarted { turn } => {
                assert_eq!(open, None, "a turn started inside another");
                open = Some(turn.clone());
                calls.clear();
            }
            Event::TurnEnded { turn, .. } => {
                assert_eq!(open.as_ref(), Some(turn), "a turn ended that was not open");
                let left: Vec<_> = calls.iter().filter(|(_, known)| **known != Known::Ended).collect();
                assert!(left.is_empty(), "the turn ended with open calls: {left:?}");
                open = None;
            }
            Event::Opened { .. } | Event::Configured { .. } => {}
            other => {
                assert!(open.is_some(), "an event outside of a turn: {other:?}");
                check_call(&mut calls, other);
            }
        }
    }
    assert_eq!(open, None, "the last turn did not end");
}

fn check_call(calls: &mut HashMap<CallId, Known>, event: &Event) {
    match event {
        Event::Replied { reply } => {
            for call in reply.calls() {
                let before = calls.insert(call.id.clone(), Known::Called);
                assert_eq!(before, None, "the id {} was used twice in a turn", call.id);
            }
        }
        Event::ToolStarted { call } => {
            let before = calls.insert(call.id.clone(), Known::Started);
            assert_eq!(before, Some(Known::Called), "{} started out of order", call.id);
        }
        Event::ToolUpdated { id, .. } => {
            assert_eq!(calls.get(id), Some(&Known::Started), "{id} wrote when it did not run");
        }
        Event::ToolEnded { call, .. } => {
            let before = calls.insert(call.id.clone(), Known::Ended);
            assert_eq!(before, Some(Known::Started), "{} ended out of order", call.id);
        }
        _ => {}
    }
}

/// Every call of a history has one result, before anybody speaks again: providers refuse anything else.
///
/// # Panics
/// When it is not so.
pub fn check_history(messages: &[Message]) {
    let mut open: Vec<&CallId> = Vec::new();
    for message in messages {
        match message {
            Message::Tool { call, .. } => {
                let at = open.iter().position(|id| *id == call);
                let at = at.unwrap_or_else(|| panic!("a result of {call}, which is not open"));
                open.remove(at);
            }
            Message::Assistant { reply } => {
                assert!(open.is_empty(), "the model spoke before {open:?} had results");
                open = reply.calls().map(|call| &call.id).collect();
            }
            _ => assert!(open.is_empty(), "the user spoke before {open:?} had results"),
        }
    }
    assert!(open.is_empty(), "calls without results at the end: {open:?}");
}
