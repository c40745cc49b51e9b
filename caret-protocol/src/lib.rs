//! The words every part of Caret speaks, and how they cross a process boundary.
//!
//! A front end prompts an [`Agent`](agent::Agent); the agent answers with
//! [`Event`](event::Event)s; every output is a [`Projection`](projection::Projection) of those events.
//!
//! Invariant: no files, no network, no clock in here. Stamps are given.
#![warn(missing_docs)]

pub mod agent;
pub mod ask;
pub mod claim;
pub mod content;
pub mod details;
pub mod event;
pub mod ids;
pub mod inbox;
pub mod plain_text;
pub mod projection;
pub mod stream_json;
pub mod transcript;
pub mod workspace;
