//! A run of the program that is watched while it goes on: its lines as they come, signals, survivors.
//!
//! Nothing here waits for a fixed time: tests wait for a line, for an end, or for the table of processes,
//! each with a deadline after which the test fails and says what it saw.

use crate::program::{Ended, Home};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// After this, a test that waits has failed.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The published schema of what the program prints.
static OUTPUT: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| schema(include_str!("../../../schema/stream-json.output.schema.json")));
/// The published schema of what a driver says.
static INPUT: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| schema(include_str!("../../../schema/stream-json.input.schema.json")));

fn schema(text: &str) -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

/// Looks again and again until something is true; says whether it became so in time.
pub fn within(time: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + time;
    loop {
        if is_true() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes, other than zombies, that have a word in their arguments.
pub fn processes(word: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let arguments = std::fs::read(entry.path().join("cmdline")).ok()?;
            let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
            (pid != std::process::id() && arguments.contains(word)).then(|| format!("{pid}: {arguments}"))
        })
        .collect()
}

/// A word that no other process has among its arguments.
pub fn unique_word() -> String {
    format!("unique-{}", uuid::Uuid::new_v4().simple())
}

/// A line of the stream, held against the published schema and against our own reader.
pub fn parsed(line: &str) -> Value {
    let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let problems: Vec<String> = OUTPUT.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}: {line}");
    let read: caret_protocol::stream_json::lines::Line = serde_json::from_str(line).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), line, "what is read back is written the same");
    value
}

/// All lines of a stream.
pub fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(parsed).collect()
}

/// The values of `type` and `subtype`, such as `tool_call/started`.
pub fn kind(line: &Value) -> String {
    let word = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    match word("subtype") {
        subtype if subtype.is_empty() => word("type"),
        subtype => format!("{}/{subtype}", word("type")),
    }
}

/// Ids, times and process numbers as fixed words, so that what is left can be compared.
pub fn settled(line: &Value, home: &Home) -> String {
    let workspace = home.path("work").to_str().unwrap().to_owned();
    let folder = home.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let words: Vec<&str> =
        workspace.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let project = words.join("-");
    let session = line["session_id"].as_str().unwrap_or("no session").to_owned();
    let mut line = line.clone();
    settle("", &mut line);
    let text = line.to_string().replace(&workspace, "/ws").replace(&folder, "/home");
    text.replace(&session, "<session>").replace(&project, "<project>")
}

fn settle(key: &str, value: &mut Value) {
    const TIMES: [&str; 10] = [
        "timestamp_ms",
        "duration_ms",
        "duration_api_ms",
        "startedAtMs",
        "completedAtMs",
        "executionTime",
        "localExecutionTimeMs",
        "createdAt",
        "updatedAt",
        "pid",
    ];
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| settle(key, value)),
        Value::Array(items) => items.iter_mut().for_each(|item| settle("", item)),
        Value::Number(_) if TIMES.contains(&key) => *value = json!(1),
        Value::String(_) if TIMES.contains(&key) => *value = json!("1"),
        Value::String(id) if key == "model_call_id" => {
            let (step, _) = id.rsplit_once('-').unwrap();
            *value = json!(format!("<request>{}-xxxx", &step[36..]));
        }
        Value::String(id) if ["request_id", "requestId"].contains(&key) => {
            assert_eq!(id.len(), 36);
            *value = json!("<request>");
        }
        _ => {}
    }
}

/// A prompt from a driver.
pub fn user(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

/// A run that goes on.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    complained: Arc<Mutex<String>>,
    listener: Option<JoinHandle<()>>,
    /// What was printed so far.
    pub seen: Vec<String>,
}

impl Home {
    /// Starts the program with a pipe on each of its three streams.
    pub fn start(&self, words: &[&str]) -> Running {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().unwrap();
        let (sender, stdout) = channel();
        let reader = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in reader.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut complaints = child.stderr.take().unwrap();
        let complained = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&complained);
        let listener = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = complaints.read(&mut bytes) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        let stdin = child.stdin.take();
        Running { child, stdin, stdout, complained, listener: Some(listener), seen: Vec::new() }
    }

    /// Starts a conversation with a driver.
    pub fn drive(&self, words: &[&str]) -> Running {
        let driven = ["-p", "--trust", "--output-format", "stream-json", "--input-format", "stream-json"];
        self.start(&[&driven, words].concat())
    }
}

impl Running {
    /// Sends one line of input; the program may have gone.
    pub fn say(&mut self, line: &Value) {
        assert!(INPUT.is_valid(line), "not as the published schema says: {line}");
        self.say_text(&line.to_string());
    }

    pub fn say_text(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").ok();
    }

    /// Nothing more is said.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// The next line; none at the end of the output.
    pub fn next_line(&mut self) -> Option<Value> {
        match self.stdout.recv_timeout(PATIENCE) {
            Ok(line) => {
                let value = parsed(&line);
                self.seen.push(line);
                Some(value)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line came after {:#?}", self.seen),
        }
    }

    /// Waits for a line that is of a kind.
    pub fn until(&mut self, wanted: &str) -> Value {
        loop {
            match self.next_line() {
                Some(line) if kind(&line) == wanted => return line,
                Some(_) => {}
                None => panic!("the output ended without {wanted} after {:#?}", self.seen),
            }
        }
    }

    /// Waits for words on stderr.
    pub fn until_complained(&self, words: &str) {
        let said = within(PATIENCE, || self.complained.lock().unwrap().contains(words));
        assert!(said, "no `{words}` after {:#?}", self.seen);
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end; stdin stays as it is.
    pub fn end(mut self) -> Ended {
        while self.next_any().is_some() {}
        let mut code = None;
        let ended = within(PATIENCE, || {
            code = self.child.try_wait().unwrap();
            code.is_some()
        });
        assert!(ended, "the program did not end after {:#?}", self.seen);
        let stdout = self.seen.iter().map(|line| format!("{line}\n")).collect();
        self.listener.take().unwrap().join().unwrap();
        let stderr = self.complained.lock().unwrap().clone();
        Ended { stdout, stderr, code: code.and_then(|code| code.code()).unwrap_or(-1) }
    }

    fn next_any(&mut self) -> Option<()> {
        match self.stdout.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.seen.push(line);
                Some(())
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line came after {:#?}", self.seen),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind; one that went well has waited already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn the_schemas_refuse_what_is_not_a_line() {
    let result = json!({"type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1,
        "is_error": false, "result": "", "session_id": "s", "request_id": "r"});
    assert!(OUTPUT.is_valid(&result));
    for (field, value) in [("type", json!("dance")), ("subtype", json!("maybe")), ("duration_ms", json!("1"))]
    {
        let mut line = result.clone();
        line[field] = value;
        assert!(!OUTPUT.is_valid(&line), "{line}");
        line.as_object_mut().unwrap().remove(field);
        assert!(!OUTPUT.is_valid(&line), "{line}");
    }
    let started = json!({"type": "tool_call", "subtype": "started", "call_id": "c", "model_call_id": "m",
        "session_id": "s", "timestamp_ms": 1, "tool_call": {"readToolCall": {"args": {"path": "/a"}},
        "hookAdditionalContexts": [], "toolCallId": "c", "startedAtMs": "1"}});
    assert!(OUTPUT.is_valid(&started));
    let mut unknown = started.clone();
    unknown["tool_call"] = json!({"toolCallId": "c"});
    assert!(!OUTPUT.is_valid(&unknown), "a call without a tool");
    let mut wrong = started;
    wrong["tool_call"]["readToolCall"]["args"]["path"] = json!(3);
    assert!(!OUTPUT.is_valid(&wrong), "a path that is a number");
    assert!(INPUT.is_valid(&user("hi")));
    assert!(!INPUT.is_valid(&json!({"type": "user"})) && !INPUT.is_valid(&json!({"type": "dance"})));
}
