//! The documented encodings, byte for byte.

use crate::store::layout::{path_of, project_id, slug, uri};
use crate::store::nodes::{Root, Turn, address, hex, reference_of, unhex};
use crate::store::protobuf::Writer;
use std::path::Path;

const USER_MESSAGE: &str = "8f2aeadd5da3f043c745c864bb39e2a3d0b6ebea7d573ddc61453cdd5022390e";
const ASSISTANT_MESSAGE: &str = "b4e96c45243c8a30f2fb4df29d0e83a09a6ff306b6486a5b4cf47810e94cf7c5";
const USER: &str = "912a8e12b197b4606026dfa327a7df44d0bee6c3a73e939c15b07415384b1743";
const THINKING: &str = "fdbb66f97af044e4b88b0bb0a4789f8f014f98b53f5fe11102bd19f45d53c45b";
const SAID: &str = "ecbffdea9811a4fcf7f8e303d57d587475d73f8026eeeaf06ae7f37021a8a146";
const OLD_TURN: &str = "0a9b50157761f1d60f03f081170aef77ceca049c8816238337a6b604ec818173";
const NEW_TURN: &str = "0121f41cb01ec54feb5579a8414841cf8fe395cdb9f276d092cefc6f2ad7b41f";
const OLD_ROOT: &str = "b71c01abb392b35d272c0c882f588c8987463e30525ad8730b751dcba6a9bd93";
const NEW_ROOT: &str = "b13c94675a3439815db5907d21b24721c977b3a6463f0b5e1e6689511d9e105e";

fn check(bytes: &[u8], expected_hex: &str, expected_id: &str) {
    assert_eq!((hex(bytes).as_str(), hex(&address(bytes)).as_str()), (expected_hex, expected_id));
}

#[test]
fn a_project_is_named_by_the_md5_of_its_path() {
    let table = [
        ("/private/tmp/cursor-test", "ca5afc7ffac8223694b6d5b22b279392"),
        ("/home/user/project", "90722f2638004be06d790eaac9ac1f8a"),
        ("/home/user/project/", "90722f2638004be06d790eaac9ac1f8a"),
        ("/tmp/x", "7ae3976faedb45a92335f73e4d7bb9e5"),
        ("/", "6666cd76f96956469e7be39d750cc7d9"),
    ];
    for (path, id) in table {
        assert_eq!(project_id(Path::new(path)), id, "{path}");
    }
}

#[test]
fn a_slug_has_letters_digits_and_single_dashes() {
    let table = [
        ("/home/user/my.app", "home-user-my-app"),
        ("/a/.scratch/x_y", "a-scratch-x-y"),
        ("/", ""),
        ("/ü/", ""),
    ];
    for (path, expected) in table {
        assert_eq!(slug(Path::new(path)), expected, "{path}");
    }
}

#[test]
fn a_workspace_comes_back_from_its_uri() {
    for path in ["/ws", "/with blank", "/ü/100%", "/"] {
        assert_eq!(path_of(&uri(Path::new(path))).as_deref(), Some(Path::new(path)));
    }
    assert_eq!(uri(Path::new("/home/user/project")), "file:///home/user/project");
}

#[test]
fn messages_have_the_address_of_their_json() {
    let user = br#"{"role":"user","content":[{"type":"text","text":"ping"}]}"#;
    assert_eq!(hex(&address(user)), USER_MESSAGE);
    let assistant = br#"{"role":"assistant","content":[{"type":"text","text":"pong"}],"id":"1"}"#;
    assert_eq!(hex(&address(assistant)), ASSISTANT_MESSAGE);
}

#[test]
fn users_and_steps_are_encoded_as_documented() {
    let mut user = Writer::default();
    user.bytes(1, b"ping").bytes(2, b"11111111-1111-4111-8111-111111111111");
    check(
        &user.finish(),
        "0a0470696e67122431313131313131312d313131312d343131312d383131312d313131313131313131313131",
        USER,
    );
    let mut thinking = Writer::default();
    thinking.message(3, |_| {});
    check(&thinking.finish(), "1a00", THINKING);
    let mut said = Writer::default();
    said.message(1, |inner| {
        inner.bytes(1, b"pong");
    });
    check(&said.finish(), "0a060a04706f6e67", SAID);
}

fn turn() -> Turn {
    let steps = [THINKING, SAID].map(|step| reference_of(step).unwrap());
    Turn {
        user: reference_of(USER),
        steps: steps.to_vec(),
        request: Some("22222222-2222-4222-8222-222222222222".into()),
    }
}

#[test]
fn turns_of_both_forms_are_read_and_the_new_form_is_written() {
    let old = format!("0a20{USER}1220{THINKING}1220{SAID}");
    let bytes = unhex(&old).unwrap();
    assert_eq!(hex(&address(&bytes)), OLD_TURN);
    assert_eq!(Turn::decode_old(&bytes), Ok(Turn { request: None, ..turn() }));
    let request = hex(b"22222222-2222-4222-8222-222222222222");
    let new = format!("0a8e01{old}1a24{request}2801");
    check(&turn().encode(), &new, NEW_TURN);
    assert_eq!(Turn::decode(&turn().encode()), Ok(turn()));
}

#[test]
fn roots_of_both_forms_are_read_and_written() {
    let messages = [USER_MESSAGE, ASSISTANT_MESSAGE].map(|id| reference_of(id).unwrap()).to_vec();
    let old = Root { messages, old_turns: vec![reference_of(OLD_TURN).unwrap()], ..Root::default() };
    let listed = format!("0a20{USER_MESSAGE}0a20{ASSISTANT_MESSAGE}");
    check(&old.encode(), &format!("{listed}1220{OLD_TURN}"), OLD_ROOT);
    assert_eq!(Root::decode(&old.encode()), Ok(old.clone()));
    let new = Root {
        old_turns: Vec::new(),
        turns: vec![reference_of(NEW_TURN).unwrap()],
        workspaces: vec!["file:///home/user/project".into()],
        client: Some("cli".into()),
        ..old
    };
    let uri = hex(b"file:///home/user/project");
    check(&new.encode(), &format!("{listed}4220{NEW_TURN}4a19{uri}b20103636c69"), NEW_ROOT);
    assert_eq!(Root::decode(&new.encode()), Ok(new));
}

#[test]
fn fields_of_a_root_that_are_not_ours_are_kept() {
    let mut writer = Writer::default();
    writer.bytes(1, &[7; 32]).bytes(18, b"a/b").bytes(21, b"\x0a\x01x").varint(26, 5).varint(40, 9);
    let bytes = writer.finish();
    assert_eq!(Root::decode(&bytes).unwrap().encode(), bytes);
}

#[test]
fn meta_is_the_hex_of_its_json() {
    assert_eq!(hex(br#"{"agentId":""#), "7b226167656e744964223a22");
    assert_eq!(unhex("7b2"), None);
    assert_eq!(unhex("zz"), None);
    assert_eq!(unhex("é"), None);
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_never_panic_the_decoders(bytes: Vec<u8>) {
        Root::decode(&bytes).ok();
        Turn::decode(&bytes).ok();
        Turn::decode_old(&bytes).ok();
        crate::store::messages::decode(&bytes, 0);
        unhex(&String::from_utf8_lossy(&bytes));
        path_of(&format!("file://{}", String::from_utf8_lossy(&bytes)));
    }

    #[test]
    fn arbitrary_json_never_panics_the_message_decoder(
        role in "user|assistant|tool|system",
        content in json(3),
        options in json(3),
    ) {
        let message = serde_json::json!({"role": role, "content": content, "providerOptions": options});
        crate::store::messages::decode(message.to_string().as_bytes(), 0);
    }
}

fn json(depth: u32) -> impl proptest::strategy::Strategy<Value = serde_json::Value> {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    let keys = "type|text|tool-result|toolCallId|result|cursor|isSummary|content|tool-call|args|image";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        keys.prop_map(Value::from),
    ];
    leaf.prop_recursive(depth, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(keys, inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}
