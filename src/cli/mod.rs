//! The command line: arguments in, text and exit codes out. The only place that prints or exits.
//!
//! | file | does |
//! | --- | --- |
//! | `args` | what can be typed |
//! | `check`, `run`, `explain` | one subcommand each |
//! | `page` | the manual's pages of diagnostics, for terminals |
//! | `compile` | reads and compiles the pipeline file |
//! | `summary` | the closing screen of a run |
//! | `progress`, `signals` | what happens while it runs |
//! | `output` | writing to the two standard streams |
//! | `usage` | what is said about arguments that there are not |

pub mod analysis;
mod args;
mod check;
mod compile;
mod explain;
mod output;
pub mod page;
mod progress;
mod run;
mod signals;
pub mod summary;
mod usage;

use std::env;
use std::panic;
use std::process::ExitCode;

use clap::Parser;

use args::{Command, CommandLine};

/// Exit code of a completed run without dead letters, and of everything else that went well.
const OK: u8 = 0;
/// Exit code for usage, compile and plan errors, missing inputs, memory that does not suffice, and bugs.
const REFUSED: u8 = 1;
/// Exit code of a completed run with dead letters.
const DEAD_LETTERS: u8 = 2;
/// Exit code for failing IO.
const IO: u8 = 4;

/// Runs the program with the process's arguments and gives its exit code.
pub fn main() -> ExitCode {
    panic::set_hook(Box::new(|panic| {
        output::error_line(&format!("internal error: {panic}\nThis is a bug in clinker; please report it."));
    }));
    ExitCode::from(panic::catch_unwind(dispatch).unwrap_or(REFUSED))
}

fn dispatch() -> u8 {
    match CommandLine::try_parse() {
        Ok(CommandLine { command: Command::Check(args) }) => check::check(&args),
        Ok(CommandLine { command: Command::Run(args) }) => run::run(&args),
        Ok(CommandLine { command: Command::Explain(args) }) => explain::explain(&args),
        // Help and version arrive here too. That they can't be printed is no reason to fail.
        Err(error) => {
            let words: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            match usage::message(&error, &words) {
                Some(message) => output::error_line(&message),
                None => drop(error.print()),
            }
            if error.use_stderr() { REFUSED } else { OK }
        }
    }
}

/// Whether a word looks like the name of a pipeline file.
fn is_pipeline(word: &str) -> bool {
    [".yaml", ".yml"].iter().any(|suffix| word.ends_with(suffix))
}
