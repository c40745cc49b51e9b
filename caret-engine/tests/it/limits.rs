//! Limits end a turn between two steps, never in the middle of a call.

use crate::support::{Probe, Setup, Talk};
use caret_engine::engine::Limits;
use caret_protocol::content::Outcome;
use caret_protocol::event::{EndReason, Event, Limit};
use caret_testkit::{check_history, check_turns};
use std::sync::Arc;
use std::time::Duration;

/// Runs one turn under limits; says which one ended it.
async fn limited(script: &str, limits: Limits) -> (Talk, Option<Limit>) {
    let mut setup = Setup::script(script);
    setup.folder.put("a.txt", "one\n");
    setup.tools.push(Probe::new());
    setup.limits = limits;
    let mut talk = setup.open().await;
    let end = talk.say("go").await;
    check_turns(&talk.host.heard());
    check_history(&setup.chat().messages(u64::MAX).unwrap());
    let limit = match end.reason {
        EndReason::Limit { limit, .. } => Some(limit),
        _ => None,
    };
    (talk, limit)
}

fn replies(talk: &Talk) -> usize {
    talk.host.events().iter().filter(|event| matches!(event, Event::Replied { .. })).count()
}

const ON_AND_ON: &str = r#"
    [[turn]]
    repeat = 50
    emit = [
      { usage = { input = 90, output = 10 } },
      { call = "Probe", id = "a", input = { n = "{{n}}" } },
      { call = "Probe", id = "w", input = { n = "{{n}}" } },
    ]
"#;

#[tokio::test]
async fn the_number_of_model_calls_is_kept() {
    for most in [1, 2, 7] {
        let limits = Limits { steps: Some(most), ..Limits::default() };
        let (talk, limit) = limited(ON_AND_ON, limits).await;
        assert_eq!((limit, replies(&talk)), (Some(Limit::Turns), most as usize));
        assert!(talk.outcomes().iter().all(|(_, outcome)| matches!(outcome, Outcome::Done { .. })));
        assert_eq!(talk.outcomes().len(), 2 * most as usize);
    }
}

#[tokio::test]
async fn the_number_of_tokens_is_kept() {
    for (most, steps) in [(1, 1), (100, 1), (101, 2), (250, 3)] {
        let limits = Limits { tokens: Some(most), ..Limits::default() };
        let (talk, limit) = limited(ON_AND_ON, limits).await;
        assert_eq!((limit, replies(&talk)), (Some(Limit::Tokens), steps), "at most {most}");
    }
}

#[tokio::test]
async fn the_money_is_kept_over_all_turns_of_a_run() {
    // Each model call costs 0.001.
    let script = format!("price = {{ input = 10.0, output = 10.0 }}\n{ON_AND_ON}");
    for (most, steps) in [(0.0005, 1), (0.001, 1), (0.0011, 2), (0.0035, 4)] {
        let limits = Limits { cost: Some(most), ..Limits::default() };
        let (mut talk, limit) = limited(&script, limits).await;
        assert_eq!((limit, replies(&talk)), (Some(Limit::Cost), steps), "at most {most}");
        let end = talk.say("more").await;
        assert!(matches!(end.reason, EndReason::Limit { limit: Limit::Cost, .. }), "{end:?}");
        assert_eq!((replies(&talk), end.cost_usd), (steps, Some(0.0)), "nothing more is spent");
    }
}

#[tokio::test]
async fn what_a_chat_cost_is_kept_with_it() {
    let mut setup = Setup::script(
        "price = { input = 2.0, output = 4.0, cache_read = 0.2 }\nat_end = \"repeat\"\n[[turn]]\nemit = \
         [{ text = \"a\" }, { usage = { input = 100000, output = 50000, cached = 1000000 } }]",
    )
    .on_disk();
    for _ in 0..2 {
        let end = setup.open().await.say("go").await;
        assert_eq!(end.cost_usd.map(|cost| format!("{cost:.3}")), Some("0.600".into()));
    }
    let state = setup.chat().state().unwrap();
    assert_eq!((format!("{:.3}", state.cost_usd), state.unpriced_turns), ("1.200".into(), 0));
    setup.models = Setup::script("[[turn]]\nemit = [{ text = \"a\" }]").models;
    assert_eq!(setup.open().await.say("go").await.cost_usd, None);
    let state = setup.chat().state().unwrap();
    assert_eq!((format!("{:.3}", state.cost_usd), state.unpriced_turns), ("1.200".into(), 1));
}

#[tokio::test]
async fn a_turn_inside_its_limits_ends_by_itself() {
    let limits =
        Limits { steps: Some(1), tokens: Some(1000), time: Some(Duration::from_secs(100)), cost: Some(1.0) };
    let (talk, limit) = limited("[[turn]]\nemit = [{ text = \"done\" }]", limits).await;
    assert_eq!((limit, replies(&talk)), (None, 1));
}

#[tokio::test(start_paused = true)]
async fn the_time_is_kept_while_a_model_thinks() {
    let limits = Limits { time: Some(Duration::from_secs(5)), ..Limits::default() };
    let began = tokio::time::Instant::now();
    let script = "[[turn]]\nemit = [{ text = \"well\" }, { delay_ms = 600000 }, { text = \"done\" }]";
    let (_, limit) = limited(script, limits).await;
    assert_eq!((limit, began.elapsed().as_secs()), (Some(Limit::Time), 5));
}

#[tokio::test(start_paused = true)]
async fn the_time_is_kept_while_a_tool_runs() {
    let limits = Limits { time: Some(Duration::from_secs(5)), ..Limits::default() };
    let script = r#"
        [[turn]]
        emit = [
          { call = "Probe", id = "a", input = { does = "hang" } },
          { call = "Write", id = "b", input = { path = "b.txt", contents = "b" } },
        ]
    "#;
    let (talk, limit) = limited(script, limits).await;
    assert_eq!(limit, Some(Limit::Time));
    assert_eq!(talk.outcomes()[1], ("b".into(), Outcome::Cancelled));
}

/// Repeats one call; says what the model read of each.
async fn repeated(call: &str) -> (Vec<String>, Option<Limit>) {
    let script = format!("[[turn]]\nrepeat = 9\nemit = [{call}]");
    let (talk, limit) = limited(&script, Limits::default()).await;
    (talk.results().into_iter().map(|(_, text)| text).collect(), limit)
}

#[tokio::test]
async fn the_third_same_call_is_told_and_the_fourth_ends_the_turn() {
    for call in [
        r#"{ call = "Probe", input = { same = 1 } }"#,
        r#"{ call = "Read", input = { path = "not-there.txt" } }"#,
        r#"{ call = "Frobnicate", input = { same = 1 } }"#,
        r#"{ call = "Shell", input = { command = "make" } }"#,
        r#"{ call = "Read", malformed = "{" }"#,
    ] {
        let (results, limit) = repeated(call).await;
        assert_eq!((results.len(), limit), (4, Some(Limit::Loop)), "{call}: {results:?}");
        let told: Vec<bool> = results.iter().map(|text| text.contains("3 times in a row")).collect();
        assert_eq!(told, [false, false, true, false], "{call}: {results:?}");
        assert!(results[3].contains("not run"), "{results:?}");
    }
}

#[tokio::test]
async fn calls_that_differ_are_no_loop() {
    for emit in [
        r#"{ call = "Probe", input = { n = "{{n}}" } }"#,
        r#"{ call = "Probe", input = { a = 1 } }, { call = "Probe", input = { b = 1 } }"#,
    ] {
        let script =
            format!("[[turn]]\nrepeat = 9\nemit = [{emit}]\n[[turn]]\nemit = [{{ text = \"done\" }}]");
        let (talk, limit) = limited(&script, Limits::default()).await;
        assert_eq!((limit, replies(&talk)), (None, 10), "{emit}");
    }
}

#[tokio::test]
async fn a_loop_inside_one_reply_ends_the_turn_whatever_comes_behind_it() {
    let probe = Probe::new();
    let same = r#"{ call = "Probe", input = { same = 1 } },"#.repeat(6);
    let other = r#"{ call = "Probe", input = { other = 1 } }"#;
    let mut setup =
        Setup::script(&format!("[[turn]]\nemit = [{same}{other}]\n[[turn]]\nemit = [{{ text = \"x\" }}]"));
    setup.tools.push(Arc::<Probe>::clone(&probe));
    let mut talk = setup.open().await;
    let end = talk.say("go").await;
    assert!(matches!(end.reason, EndReason::Limit { limit: Limit::Loop, .. }), "{:?}", end.reason);
    assert_eq!(replies(&talk), 1);
}
