//! What is said about options and commands that there are not. The argument parser's own tips fit programs that take
//! such words as values; here they would mislead.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::args::{CommandLine, EXPLAIN_FORMATS};

/// The message in place of the parser's own, where there is a better one. `words` are the arguments behind the
/// program's name.
pub(super) fn message(error: &clap::Error, words: &[String]) -> Option<String> {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_word(named(ContextKind::InvalidArg)?, words),
        ErrorKind::InvalidSubcommand => named(ContextKind::InvalidSubcommand).map(unknown_command),
        _ => None,
    }
}

/// What stands where nothing more is expected: an option that there is not, or the format of a plan without its `=`.
fn unknown_word(word: &str, words: &[String]) -> Option<String> {
    if word.starts_with('-') {
        return Some(unknown_option(word, words));
    }
    let pairs = words.iter().zip(words.iter().skip(1));
    let mut format = pairs.filter(|(flag, _)| *flag == "--explain").map(|(_, value)| value.as_str());
    let format = format.next_back().filter(|value| EXPLAIN_FORMATS.contains(value))?;
    Some(text(&format!("`--explain` and its format are one word: `{format}` stands alone"), &write_as_one(format)))
}

fn write_as_one(format: &str) -> String {
    format!("write `--explain={format}`")
}

fn unknown_option(word: &str, words: &[String]) -> String {
    let root = CommandLine::command();
    let before = words.iter().take_while(|other| !other.starts_with(word));
    let command = before.into_iter().find_map(|word| root.find_subcommand(word));
    let name = command.map_or("clinker".to_owned(), |command| format!("clinker {}", command.get_name()));
    let owners = root.get_subcommands().filter(|command| options(command).any(|option| option == word));
    let owners: Vec<_> = owners.map(|command| format!("`clinker {}`", command.get_name())).collect();
    let help = match (owners.as_slice(), near(word, command.unwrap_or(&root))) {
        ([], None) => format!("`{name} --help` lists the options"),
        ([], Some(near)) => format!("did you mean `{near}`?"),
        (owners, _) => format!("it is an option of {}", owners.join(" and ")),
    };
    text(&format!("`{name}` has no option `{}`", word.escape_debug()), &help)
}

/// The options that help texts list.
fn options(command: &Command) -> impl Iterator<Item = String> + '_ {
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    shown.filter_map(|argument| argument.get_long()).map(|name| format!("--{name}"))
}

/// The option that was meant: one with few letters changed. A wrong guess could be one that overwrites files.
fn near(word: &str, command: &Command) -> Option<String> {
    let letters = word.trim_start_matches('-').len();
    let close = options(command).map(|option| (strsim::osa_distance(word, &option), option));
    let (_, option) = close.filter(|(distance, _)| *distance <= (letters / 3).min(2)).min()?;
    Some(option)
}

fn unknown_command(word: &str) -> String {
    let root = CommandLine::command();
    let names = root.get_subcommands().map(Command::get_name);
    let close =
        names.filter(|name| strsim::osa_distance(name, word) <= 2).min_by_key(|name| strsim::osa_distance(name, word));
    let help = match close {
        _ if super::is_pipeline(word) => format!("write `clinker run {word}`, or `clinker check {word}`"),
        Some(name) => format!("did you mean `clinker {name}`?"),
        None => "`clinker --help` lists the commands".to_owned(),
    };
    text(&format!("there is no command `{}`", word.escape_debug()), &help)
}

fn text(problem: &str, help: &str) -> String {
    format!("error: {problem}\n  = help: {help}")
}
