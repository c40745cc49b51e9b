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
    let options = render(trunk(name), length);
    let commands: String = tree(name)
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| {
            let names: Vec<&str> =
                [command.get_name()].into_iter().chain(command.get_visible_aliases()).collect();
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            format!("  {:<29}{about}\n", names.join(" | "))
        })
        .collect();
    let examples = match length {
        Length::Short => String::new(),
        Length::Long => format!("\n{}\n", examples(name)),
    };
    format!("{options}\nCommands:\n{commands}{examples}")
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
    let help = Command::new("help")
        .about("Display help for command")
        .disable_help_flag(true)
        .arg(Arg::new("command").value_name("command").help("A command"));
    trunk(name)
        .after_long_help(examples(name))
        .subcommands(commands::table().iter().map(branch))
        .subcommand(help)
        .disable_help_subcommand(true)
}

/// The program without its commands.
fn trunk(name: &'static str) -> Command {
    let command = Command::new(name).disable_version_flag(true).help_template(TEMPLATE);
    described(
        commands::Words::augment_args(with_help(Options::augment_args(command))),
        "A coding agent for terminals, editors and scripts, with any model",
    )
    .override_usage(format!("{name} [options] [command] [prompt...]"))
}

fn branch(row: &Row) -> Command {
    let command = Command::new(row.name).help_template(TEMPLATE).disable_version_flag(true);
    let command = described(with_help((row.arguments)(command)), row.about).hide(row.shown == Shown::Hidden);
    match row.alias {
        Some(alias) => command.visible_alias(alias),
        None => command,
    }
}

/// Says what a command is for, instead of what the type of its arguments says about itself. The values that an
/// option takes are in its own words already.
fn described(command: Command, about: &'static str) -> Command {
    command.about(about).long_about(None).mut_args(|argument| match argument.get_action().takes_values() {
        true => argument.hide_possible_values(true).hide_default_value(true),
        false => argument,
    })
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
         \x20 echo \"list files\" | {name} -p                the prompt comes from stdin\n\
         \x20 {name} -p --output-format stream-json \"…\"    JSON lines for programs\n\
         \x20 {name} -p --continue \"and now the tests\"     go on with the latest chat\n\
         \x20 {name} -p -- \"- a prompt with a dash\"        -- ends the options"
    )
}
