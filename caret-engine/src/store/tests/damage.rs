//! Files that are not what they should be, and disks that refuse.

use super::*;
use crate::store::events::{Entry, Journal, Survives};
use crate::store::sqlite::Make;
use crate::store::{StoreError, Which};
use std::fs;

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    for name in ["caret.db", "store.db"] {
        let fixture = fixture();
        run(&*fixture.chat(), turn("t1", "hi"));
        let path = fixture.chat_folder().join(name);
        rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
        let error = fixture.chat().state().unwrap_err();
        let expected =
            format!("{} was written by a newer version (format 7); update caret to open it", path.display());
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_file_that_is_no_database_is_reported_and_left_alone() {
    for name in ["caret.db", "store.db"] {
        let fixture = fixture();
        fs::create_dir_all(fixture.chat_folder()).unwrap();
        let path = fixture.chat_folder().join(name);
        fs::write(&path, "this is a letter, not a database, and it is long enough to be looked at").unwrap();
        let error = fixture.chat().state().unwrap_err();
        assert!(
            matches!(&error, StoreError::Damaged { path: named, .. } if Path::new(named) == path),
            "{error:?}"
        );
        assert!(fs::read_to_string(&path).unwrap().starts_with("this is a letter"));
    }
}

#[test]
fn a_database_of_another_program_is_not_taken_for_ours() {
    let fixture = fixture();
    fs::create_dir_all(fixture.chat_folder()).unwrap();
    let path = fixture.chat_folder().join("caret.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE x (y); PRAGMA user_version = 1").unwrap();
    assert!(matches!(fixture.chat().state(), Err(StoreError::Damaged { .. })));
}

#[test]
fn mutated_and_cut_files_never_panic() {
    let fixture = fixture();
    run(&*fixture.chat(), [turn("t1", "one"), turn("t2", "two")].concat());
    for name in ["caret.db", "store.db"] {
        let path = fixture.chat_folder().join(name);
        // Everything into the file itself.
        let file = rusqlite::Connection::open(&path).unwrap();
        file.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).unwrap();
        drop(file);
        let whole = fs::read(&path).unwrap();
        let cuts = (0..whole.len()).step_by(whole.len() / 23).map(|end| whole[..end].to_vec());
        let mutations = (0..whole.len()).step_by(whole.len() / 97).map(|place| {
            let mut bytes = whole.clone();
            bytes[place] ^= 0xff;
            bytes
        });
        for bytes in cuts.chain(mutations) {
            fs::write(&path, &bytes).unwrap();
            let chat = fixture.chat();
            for result in
                [chat.messages(u64::MAX).map(|_| ()), chat.state().map(|_| ()), chat.events(0).map(|_| ())]
            {
                let kind = matches!(
                    result,
                    Ok(())
                        | Err(StoreError::Damaged { .. } | StoreError::TooNew { .. } | StoreError::Io { .. })
                );
                assert!(kind, "{result:?}");
            }
            drop(chat);
            fixture.store.list(Which::All, 9).unwrap();
            fixture.store.search("one", Which::All, 9).unwrap();
            assert!(path.exists());
            for rest in ["-wal", "-shm", "-journal"] {
                fs::remove_file(fixture.chat_folder().join(format!("{name}{rest}"))).ok();
            }
        }
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn a_full_disk_is_said_and_what_was_recorded_stays() {
    let fixture = fixture();
    run(&*fixture.chat(), turn("t1", "hi"));
    let session = SessionId::new(CHAT);
    let journal = Journal::open(&fixture.chat_folder(), &session, Make::Never).unwrap().unwrap();
    journal.limit_pages(1);
    let events = stamped(7, vec![started("t2"), prompted(&"long ".repeat(4_000))]);
    let error =
        journal.write(&Entry { events: &events, ..Entry::default() }, Survives::PowerLoss).unwrap_err();
    let path = fixture.chat_folder().join("caret.db");
    let expected = format!(
        "the disk is full: {} could not be written; free some space and resume, or use --no-save",
        path.display(),
    );
    assert_eq!(error.to_string(), expected);
    drop(journal);
    assert_eq!(fixture.chat().events(0).unwrap().len(), 7);
    fixture.chat().append(&events).unwrap();
    assert_eq!(fixture.chat().events(0).unwrap().len(), 9, "when there is space again it goes on");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config"), "a file is in the way").unwrap();
    let chat = store_at(folder.path(), true).open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    for result in [chat.hold().map(|_| ()), chat.append(&stamped(0, turn("t", "x")))] {
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with(&folder.path().join("config/chats").display().to_string()), "{error}");
    }
}

#[test]
fn ids_that_lead_elsewhere_are_refused() {
    let fixture = fixture();
    for id in ["", ".", "..", "../x", "a/b", "/etc", ".hidden", "a\0b", "a b"] {
        let session = SessionId::new(id);
        assert!(matches!(fixture.store.open(Path::new(CWD), &session), Err(StoreError::BadId(_))), "{id:?}");
        assert!(matches!(fixture.store.remove(&session), Err(StoreError::BadId(_))), "{id:?}");
    }
}
