//! Calls that only read run together; any other call runs alone, in the order the model gave.

use crate::support::{Probe, Setup};
use caret_protocol::content::Stop;
use caret_protocol::event::EndReason;
use caret_testkit::check_turns;
use expect_test::{Expect, expect};
use std::sync::Arc;
use std::time::Duration;

/// Runs one reply of these calls; compares the order in which they began and ended.
async fn check(calls: &str, expected: Expect) {
    let probe = Probe::new();
    let mut setup =
        Setup::script(&format!("[[turn]]\nemit = [{calls}]\n[[turn]]\nemit = [{{ text = \"done\" }}]"));
    setup.force = true;
    setup.tools.push(Arc::<Probe>::clone(&probe));
    let mut talk = setup.open().await;
    // Calls that wait for each other in vain are found out at once: the clock is paused.
    let end = tokio::time::timeout(Duration::from_secs(60), talk.say("go")).await.unwrap();
    assert_eq!(end.reason, EndReason::Stopped { stop: Stop::EndTurn });
    check_turns(&talk.host.heard());
    expected.assert_eq(&probe.notes.lock().unwrap().join("\n"));
}

#[tokio::test]
async fn a_slow_host_hears_calls_that_run_together_in_the_order_of_their_numbers() {
    let calls = r#"{ call = "Probe", input = { n = "N" } },"#;
    let calls: String = (0..20).map(|n| calls.replace('N', &n.to_string())).collect();
    let mut setup =
        Setup::script(&format!("[[turn]]\nemit = [{calls}]\n[[turn]]\nemit = [{{ text = \"x\" }}]"));
    setup.tools.push(Probe::new());
    let mut talk = setup.open().await;
    talk.host.slow_down();
    talk.say("go").await;
    let heard = talk.host.heard();
    assert!(heard.is_sorted_by_key(|stamped| stamped.seq), "{heard:?}");
    check_turns(&heard);
}

#[tokio::test(start_paused = true)]
async fn two_reads_are_inside_at_the_same_time() {
    let calls = r#"
        { call = "Probe", id = "a", input = { does = "meet" } },
        { call = "Probe", id = "b", input = { does = "meet" } },
    "#;
    check(
        calls,
        expect![[r#"
        a begins
        b begins
        b ends
        a ends"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn writes_run_alone_and_in_order() {
    let calls = r#"
        { call = "Probe", id = "a", input = { writes = true } },
        { call = "Probe", id = "b", input = { writes = true, n = 2 } },
        { call = "Probe", id = "c", input = { writes = true } },
    "#;
    check(
        calls,
        expect![[r#"
        a begins
        a ends
        b begins
        b ends
        c begins
        c ends"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_write_waits_for_the_reads_before_it_and_holds_up_those_behind() {
    let calls = r#"
        { call = "Probe", id = "a", input = { does = "meet" } },
        { call = "Probe", id = "b", input = { does = "meet" } },
        { call = "Probe", id = "w", input = { writes = true } },
        { call = "Probe", id = "c", input = { does = "meet" } },
        { call = "Probe", id = "d", input = { does = "meet" } },
    "#;
    check(
        calls,
        expect![[r#"
        a begins
        b begins
        b ends
        a ends
        w begins
        w ends
        c begins
        d begins
        d ends
        c ends"#]],
    )
    .await;
}
