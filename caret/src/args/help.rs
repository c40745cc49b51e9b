//! The help texts, and the whole command tree that completions and man pages are made from.
//!
//! `-h` is short; `--help` is long and has examples. Options of features that are not here yet are not shown
//! in the short form.

use super::commands::{self, Row, Shown};
use super::errors;
use super::options::Options;
use super::words::Length;
use crate::exit::Failure;
use clap::{Arg, ArgAction, Args, Command};

const TEMPLATE: &str = "{usage-heading} {usage}\n\n{about-with-newline}\n{all-args}{after-help}";

/// The help of the whole program.
pub fn of_program(name: &'static str, length: Length) -> String {
    render(tree(name), length)
}

/// The help of one command.
pub fn of_command(name: &'static str, row: &Row, length: Length) -> String {
    let after = format!("The options of '{name} --help' can be given as well.");
    render(branch(row).bin_name(format!("{name} {}", row.name)).after_help(after), length)
}

/// The help that `help [command]` shows.
pub fn topic(name: &'static str, words: &[String]) -> Result<String, Failure> {
    match words.iter().find(|word| !word.starts_with('-')) {
        None => Ok(of_program(name, Length::Long)),
        Some(word) if word == "help" => Ok(of_program(name, Length::Long)),
        Some(word) if commands::is_later(word) => {
            Err(Failure::not_available(format!("the command '{word}'")))
        }
        Some(word) => match commands::find(word) {
            Some(row) => Ok(of_command(name, &row, Length::Long)),
            None => Err(errors::unknown_command(word)),
        },
    }
}

/// The whole program as one tree.
pub fn tree(name: &'static str) -> Command {
    let parser = Command::new(name)
        .about("A coding agent for terminals, editors and scripts, with any model")
        .override_usage(format!("{name} [options] [command] [prompt...]"))
        .help_template(format!("{TEMPLATE}\n\nCommands:\n{{subcommands}}"))
        .after_long_help(examples(name))
        .disable_version_flag(true)
        .disable_help_subcommand(true);
    let parser = commands::Words::augment_args(with_help(Options::augment_args(parser)));
    let rows = commands::table();
    let parser = parser.subcommands(rows.iter().map(branch));
    parser.subcommand(
        Command::new("help")
            .about("Display help for command")
            .disable_help_flag(true)
            .arg(Arg::new("command").value_name("command").help("A command")),
    )
}

fn branch(row: &Row) -> Command {
    let command = Command::new(row.name).about(row.about).help_template(TEMPLATE).disable_version_flag(true);
    let command = with_help((row.arguments)(command)).hide(row.shown == Shown::Hidden);
    match row.alias {
        Some(alias) => command.visible_alias(alias),
        None => command,
    }
}

fn with_help(command: Command) -> Command {
    command.disable_help_flag(true).arg(
        Arg::new("help")
            .short('h')
            .long("help")
            .action(ArgAction::HelpShort)
            .help("Display help")
            .long_help("Display help; -h is short, --help has everything"),
    )
}

fn render(mut command: Command, length: Length) -> String {
    command = command.term_width(100);
    let text = match length {
        Length::Short => command.render_help(),
        Length::Long => command.render_long_help(),
    };
    let text = text.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("{}\n", lines.join("\n").trim())
}

fn examples(name: &str) -> String {
    format!(
        "Examples:\n\
         \x20 {name} -p --trust \"read src/main.rs\"         one answer, in a workspace you trust\n\
         \x20 {name} -p --force \"run cargo test\"           run what is not explicitly denied\n\
         \x20 echo \"list files\" | {name} -p               the prompt comes from stdin\n\
         \x20 {name} -p --output-format stream-json \"…\"    JSON lines for programs\n\
         \x20 {name} -p --continue \"and now the tests\"     go on with the latest chat\n\
         \x20 {name} -p -- \"- a prompt with a dash\"        -- ends the options"
    )
}
