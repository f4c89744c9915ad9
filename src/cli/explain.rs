//! `clinker explain`: the pages of the diagnostic codes.

use super::args::ExplainArgs;
use super::page::for_terminals;
use super::{IO, OK, REFUSED, output};
use crate::diagnostics::Code;
use crate::diagnostics::codes::Category;

/// Prints a code's page, or all codes. Gives the exit code.
pub(super) fn explain(args: &ExplainArgs) -> u8 {
    let text = match args.named.as_deref().or(args.code.as_deref()).map(|text| (text, text.parse::<Code>())) {
        Some((_, Ok(code))) => page(code),
        Some((text, Err(()))) => {
            output::error_line(&unknown(text));
            return REFUSED;
        }
        None => list(),
    };
    if output::document(&text) { OK } else { IO }
}

fn page(code: Code) -> String {
    let page = code.page();
    let body = page.split_once('\n').map_or("", |(_title, body)| body);
    format!(
        "{code}: {}\n\nseverity: {}   category: {}   status: active\n\n{}",
        code.title(),
        severity(code),
        category(code),
        for_terminals(body)
    )
}

fn list() -> String {
    let width = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or(0);
    let line = |code: &Code| format!("{:width$}  {:7}  {}\n", code.as_str(), severity(*code), code.title());
    Code::ALL.iter().map(line).collect()
}

fn unknown(text: &str) -> String {
    let close: Vec<_> = Code::ALL
        .iter()
        .map(|code| code.as_str())
        .filter(|code| strsim::osa_distance(code, text) <= 1)
        .take(5)
        .map(|code| format!("`{code}`"))
        .collect();
    let help = match close.as_slice() {
        [] if super::is_pipeline(text) => format!("the plan of a pipeline: `clinker run {text} --explain`"),
        [] => "`clinker explain --list` shows all codes".to_owned(),
        close => format!("close to it: {}", close.join(", ")),
    };
    format!("error: there is no code `{}`\n  = help: {help}", text.escape_debug())
}

fn severity(code: Code) -> &'static str {
    if code.as_str().starts_with('W') { "warning" } else { "error" }
}

fn category(code: Code) -> &'static str {
    match code.category() {
        Category::Structure => "the pipeline file",
        Category::Cxl => "CXL and node rules",
        Category::Source => "sources",
        Category::Sink => "sinks",
        Category::Memory => "memory",
        Category::Errors => "error handling",
    }
}
