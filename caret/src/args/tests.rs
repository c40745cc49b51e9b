//! Table tests of what is typed.
