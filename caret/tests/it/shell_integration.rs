//! The start-up file comes back as it was, byte for byte.

use crate::program::{Home, bad, good};
use std::os::unix::fs::symlink;

#[test]
fn installing_can_be_undone_byte_for_byte() {
    let home = Home::new();
    for before in ["", "export A=1", "export A=1\n", "\n\n# end\n\n"] {
        home.write(".zshrc", before);
        let installed = good(home.run(&["install-shell-integration"]));
        assert!(installed.starts_with("✓ Shell integration installed in ~/.zshrc\n"));
        assert!(home.read(".zshrc").contains("caret completions zsh"));
        let again = good(home.run(&["install-shell-integration"]));
        assert_eq!(again, "Shell integration is installed already in ~/.zshrc\n");
        good(home.run(&["uninstall-shell-integration"]));
        assert_eq!(home.read(".zshrc"), before);
    }
    let not_there = good(home.run(&["uninstall-shell-integration"]));
    assert_eq!(not_there, "Shell integration is not installed in ~/.zshrc\n");
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    let home = Home::new();
    for (shell, file) in [("zsh", ".zshrc"), ("bash", ".bashrc"), ("fish", ".config/fish/config.fish")] {
        good(home.run(&["install-shell-integration", "--shell", shell]));
        assert!(home.exists(file), "{file}");
        good(home.run(&["uninstall-shell-integration", "--shell", shell]));
        assert!(!home.exists(file), "{file}");
    }
}

#[test]
fn a_linked_start_up_file_stays_linked() {
    let home = Home::new();
    home.write("dotfiles/zshrc", "mine\n");
    symlink("dotfiles/zshrc", home.path(".zshrc")).unwrap();
    good(home.run(&["install-shell-integration"]));
    assert!(home.path(".zshrc").is_symlink());
    assert!(home.read("dotfiles/zshrc").starts_with("mine\n\n# >>> caret"));
    good(home.run(&["uninstall-shell-integration"]));
    assert_eq!(home.read("dotfiles/zshrc"), "mine\n");
}

#[test]
fn an_unknown_shell_is_named() {
    let home = Home::new().with("SHELL", "/bin/tcsh");
    let message = "error: SHELL is 'tcsh', which is not known: use --shell zsh, bash or fish\n";
    assert_eq!(bad(home.run(&["install-shell-integration"])), message);
}
