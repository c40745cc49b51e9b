//! Steps that words answer: the conversation, the model itself, sums and canned verse.

use crate::model::offline::arithmetic;
use crate::model::offline::step::{Recall, Step};
use crate::model::offline::words::Line;

const ABOUT: &str = include_str!("../about.md");
const HELP: &str = include_str!("../help.md");
const HAIKU: &str = include_str!("../haiku.md");
const JOKES: &str = include_str!("../jokes.md");

/// Questions about what was said before.
pub(in crate::model::offline) fn recall(line: &mut Line<'_>) -> Option<Vec<Step>> {
    line.phrase(&["do you remember", "can you tell me", "tell me", "remind me"]);
    let keys = line.keys();
    let words: Vec<&str> = keys.split(' ').collect();
    let recall = match words.as_slice() {
        [
            "what",
            "was" | "is" | "were",
            "my",
            which,
            "question" | "message" | "prompt" | "request" | "questions",
        ]
        | ["what", "my", which, "question" | "message" | "prompt" | "request", "was"]
        | ["what's", "my", which, "question" | "message" | "prompt" | "request"]
        | ["repeat" | "show", "my", which, "question" | "message" | "prompt" | "request"]
        | ["what", "was", "the", which, "question" | "message" | "prompt" | "thing", ..] => match *which {
            "last" | "previous" | "latest" | "prior" => Recall::LastPrompt,
            "first" => Recall::FirstPrompt,
            _ => return None,
        },
        ["what", "did", "i", "just" | "last", "ask" | "say" | "type" | "write", ..]
        | ["what", "did", "i", "ask" | "say" | "type" | "write"]
        | ["what", "did", "i", "ask" | "say", "last" | "before" | "you" | "earlier", ..]
        | ["what", "i", "just" | "last", "asked" | "said", ..]
        | ["what", "i", "asked" | "said", ..] => Recall::LastPrompt,
        ["what", "have", "i", "asked" | "said", ..]
        | ["list" | "show", "my", "questions" | "prompts" | "messages"]
        | ["what", "did", "i", "ask" | "say", "so", "far"] => Recall::AllPrompts,
        ["repeat", "that" | "yourself"]
        | ["say", "that"]
        | ["what", "did", "you", "say" | "answer" | "reply", ..]
        | ["what", "did", "you", "just", "say" | "answer", ..]
        | ["what", "was", "your", "last" | "previous", "answer" | "reply" | "response" | "message"]
        | ["repeat", "your", "last" | "previous", "answer" | "reply" | "response"] => Recall::LastAnswer,
        ["continue"] | ["go", "on"] | ["carry", "on"] | ["keep", "going"] | ["proceed"] => Recall::Continue,
        _ => return None,
    };
    Some(vec![Step::Recall(recall)])
}

/// Greetings, thanks, and questions about the model.
pub(in crate::model::offline) fn about(line: &mut Line<'_>) -> Option<Vec<Step>> {
    let keys = line.keys();
    let text = match keys.as_str() {
        "hello" | "hi" | "hey" | "hello there" | "hi there" | "hey there" | "good morning"
        | "good evening" | "good afternoon" | "greetings" | "yo" | "howdy" | "hello caret" | "hi caret"
        | "hello world" | "how are you" | "what's up" | "ping" | "test" => {
            "Hello! I am the offline model: no account, no network. Say `help` to see what I understand."
        }
        "thanks"
        | "thank you"
        | "thank you very much"
        | "thanks a lot"
        | "thx"
        | "great"
        | "nice"
        | "cool"
        | "good job"
        | "well done"
        | "great thanks"
        | "ok thanks" => "You are welcome.",
        "bye" | "goodbye" | "good bye" | "see you" => "Goodbye.",
        "who are you"
        | "what are you"
        | "who is this"
        | "what model are you"
        | "which model are you"
        | "what model is this"
        | "which model is this"
        | "what is your name"
        | "what's your name"
        | "introduce yourself"
        | "are you an ai"
        | "are you chatgpt"
        | "are you a real model"
        | "who made you"
        | "about"
        | "tell me about yourself" => ABOUT,
        "help"
        | "what can you do"
        | "what can i ask"
        | "what can i say"
        | "what can i do"
        | "how do you work"
        | "what do you understand"
        | "how does this work"
        | "what can you do for me"
        | "what commands are there"
        | "commands"
        | "?"
        | "help me"
        | "what should i do"
        | "how do i use this"
        | "show help" => HELP,
        _ => return None,
    };
    Some(vec![Step::Say(text.trim_end().to_owned())])
}

/// A sum, with or without a question around it.
pub(in crate::model::offline) fn sum(line: &mut Line<'_>) -> Option<Vec<Step>> {
    line.phrase(&["tell me", "do you know"]);
    line.phrase(&[
        "what is the result of",
        "what's the result of",
        "what is the value of",
        "what is",
        "what's",
        "whats",
        "calculate",
        "compute",
        "how much is",
        "how much are",
        "evaluate",
        "solve",
        "work out",
        "what are",
        "what does",
    ]);
    let text = line.rest();
    let text = text.trim().trim_end_matches(['?', '=']).trim_end();
    let text = text.strip_suffix(" equal").or(text.strip_suffix(" equals")).unwrap_or(text);
    Some(vec![Step::Say(arithmetic::answer(text)?)])
}

/// Verse and jokes: fixed texts, and said to be so.
pub(in crate::model::offline) fn canned(line: &mut Line<'_>) -> Option<Vec<Step>> {
    if !line
        .phrase(&["write me", "write", "tell me", "tell", "compose", "make up", "give me", "make me", "sing"])
    {
        return None;
    }
    let prompt = line.keys();
    line.skip(&["a", "an", "another", "one", "short", "nice", "funny", "little", "good"]);
    let texts = match line.key() {
        "haiku" | "poem" | "verse" | "limerick" | "song" | "sonnet" | "rhyme" => HAIKU,
        "joke" | "pun" => JOKES,
        _ => return None,
    };
    let keys = line.keys();
    // A poem that is to go into a file would have to be written, and these are not.
    if [" to ", " into ", " file", " in "].iter().any(|word| keys.contains(word)) {
        return None;
    }
    let texts: Vec<&str> = texts.split("\n---\n").map(str::trim).collect();
    let text = texts[crate::model::offline::hash(&[&prompt]) as usize % texts.len()];
    Some(vec![Step::Say(format!(
        "{text}\n\n(Canned: I am the offline model and picked this from a short list; I do not compose.)"
    ))])
}
