//! The driver of a run under `--input-format stream-json`: its lines, and the questions it answers.

use caret_protocol::ask::{Answer, Ask};
use caret_protocol::content::ToolCall;
use caret_protocol::ids::CallId;
use caret_protocol::stream_json::input::{InputLine, read};
use caret_protocol::stream_json::lines::QueryResponse;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// The longest line that is read.
const LONGEST_LINE: u64 = 64 << 20;
/// What the model is told when the driver has gone.
const NOBODY: &str = "nobody is there to answer any more";

/// Lines on their way from stdin.
pub(super) type Lines = mpsc::Receiver<Result<InputLine, String>>;

/// Reads stdin line by line on a thread of its own, since a read of stdin cannot be cancelled.
///
/// The thread ends with the input or with the process.
pub(super) fn lines(stdin: impl Read + Send + 'static) -> Lines {
    let (sender, lines) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut input = BufReader::new(stdin);
        let mut line = Vec::new();
        loop {
            line.clear();
            let heard = match (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(count) if count as u64 == LONGEST_LINE && line.last() != Some(&b'\n') => {
                    line = Vec::new();
                    match input.skip_until(b'\n') {
                        Ok(_) => Err(format!("it has more than {} MiB", LONGEST_LINE >> 20)),
                        Err(error) => Err(error.to_string()),
                    }
                }
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => match std::str::from_utf8(&line) {
                    Ok(text) => read(text),
                    Err(error) => Err(format!("invalid UTF-8: {error}")),
                },
                Err(error) => {
                    // What cannot be read once cannot be read again: that is the end of the input.
                    sender.blocking_send(Err(error.to_string())).ok();
                    return;
                }
            };
            if sender.blocking_send(heard).is_err() {
                return;
            }
        }
    });
    lines
}

/// The questions that wait for the driver.
#[derive(Clone, Default)]
pub(super) struct Questions(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    /// The number that the output gave to each question.
    numbers: HashMap<CallId, u64>,
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<Answer>>,
    closed: bool,
}

impl Questions {
    /// Gives a question the number under which it is written.
    pub(super) fn announce(&self, ask: &Ask) {
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        if let Some(call) = call(ask) {
            waiting.numbers.insert(call.id.clone(), number);
        }
    }

    /// Waits for the driver's answer.
    pub(super) async fn answer(&self, ask: &Ask) -> Answer {
        let answered = {
            let mut waiting = self.lock();
            let number = call(ask).and_then(|call| waiting.numbers.get(&call.id).copied());
            match number {
                Some(number) if !waiting.closed => {
                    let (answer, answered) = oneshot::channel();
                    waiting.waiting.insert(number, answer);
                    answered
                }
                _ => return gone(ask),
            }
        };
        answered.await.unwrap_or_else(|_| gone(ask))
    }

    /// Hands an answer to whoever waits for it.
    pub(super) fn resolve(&self, response: QueryResponse) -> Result<(), String> {
        let number = response.id;
        let Some(answer) = response.into_answer() else {
            return Err(format!("the response to question {number} holds no answer"));
        };
        match self.lock().waiting.remove(&number) {
            // The turn may have been cancelled meanwhile.
            Some(asked) => {
                asked.send(answer).ok();
                Ok(())
            }
            None => Err(format!("no question {number} is open")),
        }
    }

    /// The driver has gone: what is open is answered by nobody, and so is what comes.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        waiting.waiting.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn call(ask: &Ask) -> Option<&ToolCall> {
    match ask {
        Ask::Permission { call, .. } | Ask::Question { call, .. } => Some(call),
        _ => None,
    }
}

fn gone(ask: &Ask) -> Answer {
    match ask {
        Ask::Permission { .. } => Answer::Reject { reason: NOBODY.into() },
        _ => Answer::Skipped { reason: NOBODY.into() },
    }
}
