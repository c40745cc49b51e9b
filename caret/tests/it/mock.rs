//! `mock serve` and `script check`: scripts as a model API for other programs, and what is wrong with them.

use crate::program::{Home, bad, good};
use expect_test::expect;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

const SCRIPT: &str = "version = 1\nmodel = 'demo'\n\n[[turn]]\nwhen = { user = 'go' }\nemit = [\n  { thinking = 'hm' },\n  \
    { call = 'Read', input = { path = 'a' } },\n  { usage = { input = 1 } },\n]\n\n[[turn]]\nrepeat = 2\nemit = \
    [{ error = { status = 429 } }, { text = 'hello {{user}}' }]\n";

fn home() -> Home {
    let home = Home::new();
    home.write("work/s.toml", SCRIPT);
    home
}

fn asked(address: &str, path: &str, body: &str) -> String {
    let mut connection = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(connection, "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_script_is_served_until_a_signal_and_that_is_no_failure() {
    let home = home();
    let calls = [
        ("chat", "/v1/chat/completions", r#"{"stream":true,"messages":[{"role":"user","content":"x"}]}"#),
        ("responses", "/v1/responses", r#"{"stream":true,"input":"x"}"#),
        ("messages", "/v1/messages", r#"{"stream":true,"messages":[{"role":"user","content":"x"}]}"#),
        (
            "gemini",
            "/v1beta/models/demo:streamGenerateContent?alt=sse",
            r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}]}"#,
        ),
    ];
    for ((api, path, body), signal) in
        calls.into_iter().zip([Signal::INT, Signal::TERM, Signal::INT, Signal::HUP])
    {
        let mut child = home.command(&["mock", "serve", "--script", "s.toml", "--api", api]).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").unwrap();
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        let first = asked(address, path, body);
        assert!(first.starts_with("HTTP/1.1 429 "), "{api}: {first}");
        let second = asked(address, path, body);
        assert!(second.starts_with("HTTP/1.1 200 ") && second.contains("hello x"), "{api}: {second}");
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{api}");
    }
}

#[test]
fn what_cannot_be_served_is_told() {
    let home = home();
    home.write("work/bad.toml", "version = 1\n[[turn]]\nemit = [\n  { txt = 'x' },\n]\n");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let serve = |words: &[&str]| bad(home.run(&[&["mock"], words].concat())).replace(&port, "PORT");
    let said = [
        serve(&[]),
        serve(&["stop", "--script", "s.toml", "--api", "chat"]),
        serve(&["serve", "--api", "chat"]),
        serve(&["serve", "--script", "s.toml"]),
        serve(&["serve", "--script", "s.toml", "--api", "soap"]),
        serve(&["serve", "--script", "s.toml", "--api", "chat", "--port", "70000"]),
        serve(&["serve", "--script", "s.toml", "--api", "chat", "--port", &port]),
        serve(&["serve", "--script", "none.toml", "--api", "chat"]),
        serve(&["serve", "--script", "bad.toml", "--api", "chat"]),
    ];
    expect![[r#"
        error: missing required argument '--script <file>'
        error: command-argument value 'stop' is invalid for argument 'action'. Allowed choices are serve.
        error: missing required argument '--script <file>'
        error: missing required argument '--api <format>'
        error: option '--api <format>' argument 'soap' is invalid. Allowed choices are chat, responses, messages, gemini.
        error: option '--port <n>' argument '70000' is invalid. It must be a port from 0 to 65535.
        error: port PORT is taken: choose another with --port, or leave it out to get a free one
        error: the script ~/work/none.toml cannot be read: No such file or directory (os error 2)
        error: bad.toml:4: unknown field `txt`, expected one of `thinking`, `signature`, `text`, `deltas`, `text_repeat`, `chunk`, `call`, `id`, `input`, `malformed`, `delay_ms`, `hang_ms`, `usage`, `error`, `times`, `cut`, `raw`
    "#]].assert_eq(&said.concat());
}

#[test]
fn a_script_is_checked_without_playing_it() {
    let home = home();
    expect![[r#"
        ✓ demo: 3 replies
           1  when `go`: thinking, call Read, usage
           2  error 429, text (2 times)
    "#]]
    .assert_eq(&good(home.run(&["script", "check", "s.toml"])));
    expect![[r#"
        {"model":"demo","replies":3,"tools":["Read"],"turns":["when `go`: thinking, call Read, usage","error 429, text (2 times)"]}
    "#]].assert_eq(&good(home.run(&["script", "check", "s.toml", "--format", "json"])));
    home.write("work/bad.toml", "version = 1\n[[turn]]\nemit = [\n  { txt = 'x' },\n]\n");
    home.write("work/bad.json", "{\"version\": 1,\n \"turn\": [\n  {\"emit\": [{\"text\": 3}]}]}");
    let said =
        ["bad.toml", "bad.json", "none.toml", "."].map(|file| bad(home.run(&["script", "check", file])));
    expect![[r#"
        error: bad.toml:4: unknown field `txt`, expected one of `thinking`, `signature`, `text`, `deltas`, `text_repeat`, `chunk`, `call`, `id`, `input`, `malformed`, `delay_ms`, `hang_ms`, `usage`, `error`, `times`, `cut`, `raw`
        error: bad.json:3: invalid type: integer `3`, expected a string
        error: the script ~/work/none.toml cannot be read: No such file or directory (os error 2)
        error: the script ~/work/. cannot be read: Is a directory (os error 21)
    "#]].assert_eq(&said.concat());
}
