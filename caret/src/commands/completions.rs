//! `completions` and `man`: what packages ship beside the program, made from the same tree as the help.

use super::Call;
use crate::args;
use crate::exit::{Exit, Failure};
use clap::Command;
use std::path::Path;

/// Prints a completion script.
pub fn run(call: Call<'_>, shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let name = call.invoked.name();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::whole(name), name, &mut script);
    call.output.write(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}

/// Prints the manual page, or writes one page for each command into a folder.
pub fn man(call: Call<'_>, folder: Option<&str>) -> Result<Exit, Failure> {
    let name = call.invoked.name();
    let mut tree = args::whole(name);
    tree.build();
    let Some(folder) = folder else {
        call.output.write(&page(tree)?)?;
        return Ok(Exit::Success);
    };
    let folder = call.environment.absolute(Path::new(folder));
    std::fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    let commands: Vec<Command> =
        tree.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    for command in commands {
        let title = format!("{name}-{}", command.get_name());
        write(&folder, &title, command.name(title.clone()))?;
    }
    write(&folder, name, tree)?;
    Ok(Exit::Success)
}

fn write(folder: &Path, title: &str, command: Command) -> Result<(), Failure> {
    let path = folder.join(format!("{title}.1"));
    std::fs::write(&path, page(command)?).map_err(|error| unwritable(&path, &error))
}

fn page(command: Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Failure::new(Exit::Fault, format!("the manual page cannot be made: {error}")))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("{} cannot be written: {error}", path.display()))
}
