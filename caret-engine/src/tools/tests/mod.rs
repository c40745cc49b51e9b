//! The tools as a session calls them, on real files.

mod changing;
mod inputs;
mod reading;
mod searching;
mod todos;
