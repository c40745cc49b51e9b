//! The published JSON schemas, generated from the types that are written and read.

use crate::commands::root;
use anyhow::{Context, Result, ensure};
use caret_protocol::stream_json::input::InputLine;
use caret_protocol::stream_json::lines::Line;
use std::fs;
use std::path::PathBuf;

/// Each schema with its file.
fn schemas() -> Result<Vec<(PathBuf, String)>> {
    let folder = root().join("schema");
    let text = |schema: &schemars::Schema| serde_json::to_string_pretty(schema).map(|text| text + "\n");
    Ok(vec![
        (folder.join("stream-json.output.schema.json"), text(&schemars::schema_for!(Line))?),
        (folder.join("stream-json.input.schema.json"), text(&schemars::schema_for!(InputLine))?),
    ])
}

/// Writes the schemas.
pub(crate) fn write() -> Result<()> {
    for (file, text) in schemas()? {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&file, text).with_context(|| file.display().to_string())?;
        println!("wrote {}", file.display());
    }
    Ok(())
}

/// Compares the schemas with the files.
pub(crate) fn check() -> Result<()> {
    for (file, text) in schemas()? {
        let kept = fs::read_to_string(&file).unwrap_or_default();
        ensure!(kept == text, "{} is not what the types say; run `cargo xtask schema`", file.display());
    }
    println!("== schema: up to date");
    Ok(())
}
