//! The marked block, and how it goes into a file and out of it again. Bytes only; no files here.
//!
//! The block is put at the end, after one line end of its own. A file that we made ourselves begins with the
//! block instead, so that taking it out knows that the whole file was ours.

use crate::args::commands::KnownShell;

const BEGIN: &[u8] = b"# >>> caret shell integration >>>\n";
const END: &[u8] = b"# <<< caret shell integration <<<\n";

/// What is left when the block is taken out.
#[derive(Debug, PartialEq, Eq)]
pub enum Removed {
    /// The file as it was before.
    Rest(Vec<u8>),
    /// Nothing: the file was made for the block.
    Everything,
    /// There was no block.
    NotThere,
    /// The block begins and does not end.
    Broken,
}

/// The lines for a shell.
pub fn text(shell: KnownShell, name: &str) -> String {
    let inner = match shell {
        KnownShell::Zsh => {
            format!("(( $+commands[{name}] && $+functions[compdef] )) && source <({name} completions zsh)")
        }
        KnownShell::Bash => format!("command -v {name} >/dev/null 2>&1 && source <({name} completions bash)"),
        KnownShell::Fish => format!("type -q {name}; and {name} completions fish | source"),
    };
    let remark = format!("# Completions. To take these lines out: {name} uninstall-shell-integration");
    format!("{}{remark}\n{inner}\n{}", String::from_utf8_lossy(BEGIN), String::from_utf8_lossy(END))
}

/// The file with the block; nothing if it is there already.
pub fn insert(before: Option<&[u8]>, block: &str) -> Option<Vec<u8>> {
    let Some(before) = before else { return Some(block.as_bytes().to_vec()) };
    match position(before, BEGIN) {
        Some(_) => None,
        None => Some([before, b"\n", block.as_bytes()].concat()),
    }
}

/// The file without the block.
pub fn remove(with: &[u8]) -> Removed {
    let Some(begin) = position(with, BEGIN) else { return Removed::NotThere };
    let Some(length) = position(&with[begin..], END) else { return Removed::Broken };
    let rest = &with[begin + length + END.len()..];
    match begin {
        0 if rest.is_empty() => Removed::Everything,
        0 => Removed::Rest(rest.to_vec()),
        _ => Removed::Rest([&with[..begin - 1], rest].concat()),
    }
}

/// Where some bytes begin, at the beginning of a line.
fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    (0..bytes.len())
        .filter(|at| *at == 0 || bytes[at - 1] == b'\n')
        .find(|at| bytes[*at..].starts_with(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_the_block_out_gives_back_every_byte() {
        let block = text(KnownShell::Zsh, "caret");
        for before in [&b""[..], b"a\n", b"a", b"\n\n", b"a\r\nb\r\n", b"\xff\xfe no text", b"\n"] {
            let with = insert(Some(before), &block).unwrap();
            assert_eq!(remove(&with), Removed::Rest(before.to_vec()), "{before:?}");
            assert_eq!(insert(Some(&with), &block), None, "twice changes nothing");
            let more = [&with[..], b"added later\n"].concat();
            assert_eq!(remove(&more), Removed::Rest([before, b"added later\n"].concat()));
        }
    }

    #[test]
    fn a_file_that_was_made_for_the_block_goes_with_it() {
        let with = insert(None, &text(KnownShell::Fish, "caret")).unwrap();
        assert_eq!(remove(&with), Removed::Everything);
    }

    #[test]
    fn half_a_block_is_left_alone() {
        assert_eq!(remove(&[b"x\n", BEGIN, b"y\n"].concat()), Removed::Broken);
        assert_eq!(remove(b"# >>> caret shell integration >>> or so\n"), Removed::NotThere);
    }
}
