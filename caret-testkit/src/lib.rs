//! For tests: a recording host, temporary workspaces, recorded sessions. Never a normal dependency.
