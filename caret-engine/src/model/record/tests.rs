//! Recording and replaying with scripts as models.

use super::*;
use crate::model::scripted::{Scripted, SourceName};
use crate::model::{Catalogue, Chunk, Model, ModelError, Past, Request};
use caret_protocol::content::Content;
use caret_protocol::event::Mode;
use caret_protocol::ids::{SessionId, TurnId};
use caret_protocol::transcript::Message;
use expect_test::expect;
use futures_util::StreamExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct NoPast;

impl Past for NoPast {
    fn messages(&self) -> Result<&[Message], ModelError> {
        Ok(&[])
    }

    fn bytes(&self) -> u64 {
        0
    }
}

struct Only(Arc<Scripted>);

impl Catalogue for Only {
    fn find(&self, _id: &str) -> Result<Arc<dyn Model>, ModelError> {
        let model: Arc<dyn Model> = Arc::<Scripted>::clone(&self.0);
        Ok(model)
    }
}

const SCRIPT: &str = "version = 1\nmodel = 'demo'\n[[turn]]\nemit = [{ error = { status = 429, retry_after_ms = 5 } }, \
    { thinking = 'hm', signature = 's' }, { text = 'in {{cwd}}', chunk = 3 }, { call = 'Read', id = 'c1', input = \
    { path = '{{cwd}}/a' } }, { usage = { input = 7, output = 2 } }]\n[[turn]]\nemit = [{ text = 'done' }]\n";

fn recorder(path: &Path) -> Result<Recorder, CassetteError> {
    let script = Scripted::from_text(SCRIPT, SourceName::new("s.toml")).unwrap();
    Recorder::new(Arc::new(Only(Arc::new(script))), path)
}

/// What a run in `cwd` gets for these words of the user.
async fn ask(models: &dyn Catalogue, cwd: &str, words: &str) -> Vec<Result<Chunk, ModelError>> {
    let (session, turn) = (SessionId::new(format!("session-of{cwd}")), TurnId::new(format!("turn-of{cwd}")));
    let text = format!("{words} {cwd}/x {session} {turn}");
    let messages = [Message::User { content: vec![Content::text(text)], turn: turn.clone() }];
    let model = models.find("any").unwrap();
    let request = Request {
        session: &session,
        turn: &turn,
        turn_number: 0,
        step: 0,
        cwd: Path::new(cwd),
        mode: Mode::Agent,
        system: "be good",
        tools: &[],
        past: &NoPast,
        messages: &messages,
    };
    model.stream(request).collect().await
}

async fn recorded(folder: &Path) -> (PathBuf, Vec<Vec<Result<Chunk, ModelError>>>) {
    let path = folder.join("a.jsonl");
    let recorder = recorder(&path).unwrap();
    let mut heard = Vec::new();
    for words in ["one", "one", "two"] {
        heard.push(ask(&recorder, "/ws", words).await);
    }
    (path, heard)
}

#[tokio::test]
async fn what_was_recorded_is_played_the_same_also_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let (path, heard) = recorded(folder.path()).await;
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(heard[0][0].is_err() && heard[1].len() > 3, "{heard:?}");
    for cwd in ["/ws", "/somewhere/else"] {
        let player = Player::new(&path).unwrap();
        assert_eq!(
            (player.model(), player.find("x").unwrap().name().to_owned()),
            ("script:s.toml", "demo".into())
        );
        let mut played = Vec::new();
        for words in ["one", "one", "two"] {
            played.push(ask(&player, cwd, words).await);
        }
        let there = |chunks: &Vec<Vec<Result<Chunk, ModelError>>>| format!("{chunks:?}");
        if cwd == "/ws" {
            assert_eq!(played, heard);
        } else {
            assert!(
                there(&played).contains("/somewhere/else/a") && !there(&played).contains("/ws"),
                "{played:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_request_that_was_not_recorded_is_refused_with_a_difference() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = recorded(folder.path()).await;
    let player = Player::new(&path).unwrap();
    let mut said = Vec::new();
    for words in ["three", "two", "two"] {
        let error = ask(&player, "/ws", words).await.pop().unwrap();
        said.push(match error {
            Err(error) => error.to_string().replace(path.to_str().unwrap(), "FILE"),
            Ok(_) => "played".into(),
        });
    }
    let shown: Vec<String> =
        said.iter().flat_map(|text| text.lines()).map(|line| line.trim_end().to_owned()).collect();
    expect![[r#"
        replay_miss: this request is not in FILE; the nearest is exchange 3 (- recorded, + asked now); record again if the change is meant
        @@ -4,3 +4,3 @@

         # user
        -two {{caret:workspace}}/x {{caret:session}} {{caret:turn}}
        +three {{caret:workspace}}/x {{caret:session}} {{caret:turn}}
        played
        replay_miss: this request was recorded 1 time in FILE and is asked once more; record again"#]].assert_eq(&shown.join("\n"));
}

#[test]
fn files_that_are_no_cassettes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.jsonl");
    let mut said = vec![Player::new(&path).err().unwrap().to_string()];
    said.push(Player::new(folder.path()).err().unwrap().to_string());
    for text in ["", "nonsense\n", "{}\n", "{\"version\":2}\n", "\n{\"version\":1}\n"] {
        std::fs::write(&path, text).unwrap();
        said.push(Player::new(&path).err().unwrap().to_string());
    }
    said.push(recorder(&path).err().unwrap().to_string());
    said.push(recorder(&folder.path().join("none/c.jsonl")).err().unwrap().to_string());
    said.push(recorder(folder.path()).err().unwrap().to_string());
    std::fs::write(&path, "").unwrap();
    assert!(recorder(&path).is_ok(), "an empty file is taken");
    let text = said.join("\n").replace(folder.path().to_str().unwrap(), "FOLDER");
    expect![[r#"
        the cassette FOLDER/c.jsonl cannot be read: No such file or directory (os error 2)
        the cassette FOLDER is not a regular file
        the cassette FOLDER/c.jsonl holds nothing: record one with --record
        FOLDER/c.jsonl:1: this is no line of a cassette: expected ident at line 1 column 2
        FOLDER/c.jsonl:1: this is no line of a cassette: it has no `version`
        FOLDER/c.jsonl:1: version 2 is not known; update this program
        FOLDER/c.jsonl:2: this is no line of a cassette: missing field `model`
        FOLDER/c.jsonl is there already and not empty: remove it, or choose another name; --record never overwrites
        the cassette FOLDER/none/c.jsonl cannot be written: No such file or directory (os error 2)
        the cassette FOLDER is not a regular file"#]].assert_eq(&text);
}
