//! Where the prompt comes from: the words on the command line, or stdin.
//!
//! Invariant: a run that was given words never waits for stdin, because callers often leave it open. A prompt
//! has a limit, so that a mistaken pipe can neither hang the program nor eat its memory.

use crate::environment::Stdin;
use crate::exit::{Exit, Failure};
use std::io::{self, Read};

/// The longest prompt in bytes: 10 MiB.
const MOST_BYTES: usize = 10 << 20;

/// Makes the prompt. `stdin` says what `input` is; nothing is read unless it must be.
pub fn make(words: &[String], stdin: Stdin, input: impl Read) -> Result<String, Failure> {
    let (words, asks_for_stdin) = match words {
        [words @ .., last] if last == "-" => (words, true),
        words => (words, false),
    };
    let typed = words.join(" ");
    let prompt = match (typed.is_empty(), stdin) {
        (false, Stdin::File) => with_context(typed, &read(input)?),
        (false, Stdin::Pipe) if asks_for_stdin => with_context(typed, &read(input)?),
        (false, _) => typed,
        (true, Stdin::File | Stdin::Pipe) => read(input)?,
        (true, Stdin::Terminal | Stdin::Nothing) => return Err(no_prompt()),
    };
    if prompt.len() > MOST_BYTES {
        return Err(too_long());
    }
    match prompt.trim().is_empty() {
        true => Err(Failure::new(Exit::Usage, "the prompt is empty: give some words or pipe them in")),
        false => Ok(prompt),
    }
}

fn with_context(typed: String, context: &str) -> String {
    match context.trim().is_empty() {
        true => typed,
        false => format!("{typed}\n\n{context}"),
    }
}

fn read(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() > MOST_BYTES {
        return Err(too_long());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let remedy = "convert it to UTF-8, or name a file in the prompt";
        Failure::new(Exit::Usage, format!("stdin is not valid UTF-8 at byte {at}: {remedy}"))
    })
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::new(Exit::Usage, format!("stdin cannot be read: {error}"))
}

fn too_long() -> Failure {
    let remedy = "put the text into a file and name the file in the prompt";
    Failure::new(Exit::Usage, format!("the prompt is longer than 10 MiB: {remedy}"))
}

fn no_prompt() -> Failure {
    let remedy = "give it after the options or pipe it in, as in: -p \"list files\"";
    Failure::new(Exit::Usage, format!("there is no prompt: {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reading it is the failure.
    struct Open;

    impl Read for Open {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("a pipe that may stay open for ever was read")
        }
    }

    fn check(words: &[&str], stdin: Stdin, input: &[u8], expected: Result<&str, &str>) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let made = make(&words, stdin, input);
        match (made, expected) {
            (Ok(prompt), Ok(expected)) => assert_eq!(prompt, expected),
            (Err(Failure::Told { message, .. }), Err(part)) => assert!(message.contains(part), "{message}"),
            (made, expected) => panic!("{made:?} is not {expected:?}"),
        }
    }

    #[test]
    fn words_win_over_pipes_and_files_are_context() {
        check(&["say", "hi"], Stdin::Terminal, b"", Ok("say hi"));
        check(&["say"], Stdin::File, b"the file\n", Ok("say\n\nthe file\n"));
        check(&["say"], Stdin::File, b"", Ok("say"));
        check(&[], Stdin::Pipe, b"from the pipe\n", Ok("from the pipe\n"));
        check(&["-"], Stdin::Pipe, b"asked for", Ok("asked for"));
        check(&["look", "-"], Stdin::Pipe, b"at this", Ok("look\n\nat this"));
        check(&["3", "-", "2"], Stdin::Pipe, b"not read", Ok("3 - 2"));
    }

    #[test]
    fn a_pipe_is_never_waited_for_when_there_are_words() {
        assert_eq!(make(&["say".to_owned()], Stdin::Pipe, Open), Ok("say".to_owned()));
        assert!(make(&[], Stdin::Terminal, Open).is_err());
    }

    #[test]
    fn what_cannot_be_a_prompt_is_named() {
        check(&[], Stdin::Pipe, b"", Err("the prompt is empty"));
        check(&[""], Stdin::Nothing, b"", Err("there is no prompt"));
        check(&["  "], Stdin::Nothing, b"", Err("the prompt is empty"));
        check(&[], Stdin::Pipe, b"abc\xff", Err("not valid UTF-8 at byte 3"));
        check(&[], Stdin::Pipe, &vec![b'x'; MOST_BYTES + 1], Err("longer than 10 MiB"));
    }

    #[test]
    fn an_endless_pipe_ends_at_the_limit() {
        let failure = make(&[], Stdin::Pipe, io::repeat(b'x')).unwrap_err();
        assert_eq!(failure, too_long());
    }
}
