//! The offline model as a table of prompts, and through a small stand-in for the loop.
