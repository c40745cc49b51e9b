//! Cut and mutated streams: no panic, and never half a call.

use super::{NAMES, Talk, events, named, play, streams, target, user};
use crate::model::ModelError;
use caret_protocol::content::{Reply, Stop, ToolCall};
use proptest::prelude::*;
use serde_json::json;

type Events = Vec<(String, String)>;

thread_local! {
    /// Read once, for a thousand runs.
    static STREAMS: [Vec<(String, String)>; 4] = NAMES.map(streams);
}

fn replay(family: &str, events: &Events) -> Result<Reply, ModelError> {
    let talk = Talk::new(Vec::new(), vec![user("go")]);
    play(named(family).reader(&target(), &talk.request()), events).1
}

/// Ids that we make up are numbered, so a call is compared without its id.
fn bare(reply: &Reply) -> Vec<ToolCall> {
    reply.calls().map(|call| ToolCall { id: caret_protocol::ids::CallId::new(""), ..call.clone() }).collect()
}

#[test]
fn a_stream_cut_anywhere_is_broken_or_has_only_whole_calls() {
    // These are cut at every byte, the others behind every event.
    let thorough = ["two_calls", "call_cut_by_the_cap", "no_ids_at_all"];
    for family in NAMES {
        for (name, text) in streams(family) {
            let Ok(whole) = replay(family, &events(&text)) else { continue };
            let whole = bare(&whole);
            let ends: Vec<usize> = if thorough.contains(&name.as_str()) {
                (0..text.len()).filter(|cut| text.is_char_boundary(*cut)).collect()
            } else {
                text.match_indices("\n\n").map(|(at, _)| at).collect()
            };
            for cut in ends {
                match replay(family, &events(&text[..cut])) {
                    Ok(reply) => {
                        let calls = bare(&reply);
                        assert!(whole.starts_with(&calls), "{family} {name} at {cut}: {calls:?}");
                    }
                    Err(error) => assert!(error.is_passing(), "{family} {name} at {cut}: {error:?}"),
                }
            }
        }
    }
}

#[test]
fn a_stream_cut_before_its_end_marker_is_broken() {
    for (family, name, needed) in [
        ("chat", "two_calls", 3),
        ("responses", "two_calls", 1),
        ("messages", "two_calls", 1),
        ("gemini", "two_calls", 1),
    ] {
        let whole = events(&super::stream(family, name));
        for kept in 0..=whole.len() - needed {
            let cut = whole[..kept].to_vec();
            assert!(
                matches!(replay(family, &cut), Err(ModelError::Broken(_))),
                "{family} with {kept} events"
            );
        }
        assert!(replay(family, &whole).is_ok());
    }
}

#[test]
fn losing_any_one_event_never_makes_another_call() {
    for family in NAMES {
        for (name, text) in streams(family) {
            let whole = events(&text);
            let Ok(reply) = replay(family, &whole) else { continue };
            let known = bare(&reply);
            for lost in 0..whole.len() {
                let mut left = whole.clone();
                left.remove(lost);
                let Ok(reply) = replay(family, &left) else { continue };
                for call in bare(&reply) {
                    // All arguments or a name may be lost without a trace; then the call cannot run as it is.
                    let same = known.iter().any(|one| {
                        one.input == call.input && (one.name == call.name || call.name.is_empty())
                    });
                    let harmless = call.malformed.is_some() || call.input == json!({});
                    assert!(same || harmless, "{family} {name} without {lost}: {call:?}");
                }
            }
        }
    }
}

/// One way to damage a stream; numbers are taken modulo what is there.
#[derive(Clone, Debug)]
enum Damage {
    Lose(usize),
    Repeat(usize),
    Swap(usize, usize),
    Rename(usize, usize),
    Cut(usize, usize),
    Replace(usize, usize, char),
    Value(usize, usize, &'static str),
    Stop(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let any = 0..10_000_usize;
    let values = [
        "null",
        "0",
        "-1",
        "1e400",
        "\"\"",
        "[]",
        "{}",
        "true",
        "[[{}]]",
        "18446744073709551615",
        "\"error\"",
    ];
    prop_oneof![
        any.clone().prop_map(Damage::Lose),
        any.clone().prop_map(Damage::Repeat),
        (any.clone(), any.clone()).prop_map(|(one, other)| Damage::Swap(one, other)),
        (any.clone(), any.clone()).prop_map(|(one, other)| Damage::Rename(one, other)),
        (any.clone(), any.clone()).prop_map(|(at, length)| Damage::Cut(at, length)),
        (any.clone(), any.clone(), proptest::char::any())
            .prop_map(|(at, place, with)| Damage::Replace(at, place, with)),
        (any.clone(), any.clone(), proptest::sample::select(values.to_vec()))
            .prop_map(|(at, place, value)| Damage::Value(at, place, value)),
        any.prop_map(Damage::Stop),
    ]
}

fn apply(events: &mut Events, damage: &Damage) {
    if events.is_empty() {
        return;
    }
    let count = events.len();
    match *damage {
        Damage::Lose(at) => drop(events.remove(at % count)),
        Damage::Repeat(at) => events.insert(at % count, events[at % count].clone()),
        Damage::Swap(one, other) => events.swap(one % count, other % count),
        Damage::Rename(one, other) => events[one % count].0 = events[other % count].0.clone(),
        Damage::Cut(at, length) => {
            let data = &mut events[at % count].1;
            let end = data.floor_char_boundary(length % (data.len() + 1));
            data.truncate(end);
        }
        Damage::Replace(at, place, with) => {
            let data = &mut events[at % count].1;
            let mut letters: Vec<char> = data.chars().collect();
            let length = letters.len();
            if let Some(letter) = letters.get_mut(place % length.max(1)) {
                *letter = with;
            }
            *data = letters.into_iter().collect();
        }
        Damage::Value(at, place, value) => {
            // Some member gets a value that nobody expects there.
            let data = &mut events[at % count].1;
            let colons: Vec<usize> = data.match_indices("\":").map(|(at, _)| at + 2).collect();
            let Some(start) = colons.get(place % colons.len().max(1)).copied() else { return };
            let length = data[start..].find([',', '}', ']']).unwrap_or(data.len() - start);
            data.replace_range(start..start + length, value);
        }
        Damage::Stop(at) => events.truncate(at % count),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_streams_do_no_harm(which in 0..10_000_usize, all in proptest::collection::vec(damage(), 1..5)) {
        for family in NAMES {
            let mut events = STREAMS.with(|streams| {
                let streams = &streams[NAMES.iter().position(|name| *name == family).unwrap()];
                events(&streams[which % streams.len()].1)
            });
            all.iter().for_each(|damage| apply(&mut events, damage));
            let Ok(reply) = replay(family, &events) else { continue };
            for call in reply.calls() {
                prop_assert!(call.input.is_object() && !call.id.0.is_empty());
                let nothing = json!({});
                prop_assert!(call.malformed.is_none() || call.input == nothing);
            }
            prop_assert_eq!(reply.stop == Stop::ToolCalls, reply.calls().next().is_some());
        }
    }
}
