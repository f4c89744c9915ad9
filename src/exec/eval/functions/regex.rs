//! Methods that take a regex. A literal pattern is compiled once for the run; others are compiled when they are
//! first met, and kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use regex::Regex;

use super::Prepared;
use crate::analysis::functions::Function;
use crate::exec::batch::Column;
use crate::exec::eval::datum::Datum;
use crate::exec::eval::error::Error;
use crate::exec::eval::operands::{Ints, Strings};
use crate::exec::eval::rows::Rows;

/// Most patterns that a call keeps.
const KEPT: usize = 256;

/// The pattern of a call.
#[derive(Debug)]
pub struct Pattern {
    /// Whether it must match the whole text.
    whole: bool,
    /// Set if the pattern is a literal.
    fixed: Option<Arc<Regex>>,
    /// What was compiled for patterns that rows name.
    kept: Mutex<HashMap<String, Arc<Regex>>>,
}

impl Pattern {
    /// Prepares a call whose pattern is `literal`, or named by each row if there is none.
    pub fn new(literal: Option<&str>, whole: bool) -> Self {
        let fixed = literal.and_then(|literal| compile(literal, whole).ok()).map(Arc::new);
        Self { whole, fixed, kept: Mutex::default() }
    }

    /// The regex of a pattern that a row names.
    fn named(&self, pattern: &str) -> Result<Arc<Regex>, Error> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(regex) = kept.get(pattern) {
            return Ok(regex.clone());
        }
        let regex = Arc::new(compile(pattern, self.whole)?);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(pattern.to_owned(), regex.clone());
        Ok(regex)
    }

    /// The regex for a row.
    fn at(&self, source: &Strings<'_>, row: usize) -> Result<Option<Arc<Regex>>, Error> {
        match (&self.fixed, source.get(row)) {
            (Some(regex), _) => Ok(Some(regex.clone())),
            (None, Some(pattern)) => self.named(pattern).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// Compiles a pattern; `whole` makes it match whole texts only.
fn compile(pattern: &str, whole: bool) -> Result<Regex, Error> {
    let regex = Regex::new(pattern).map_err(|error| invalid(pattern, &error))?;
    if !whole {
        return Ok(regex);
    }
    // In verbose mode a comment at the end would swallow the bracket; there, a line end means nothing.
    Regex::new(&format!(r"\A(?:{pattern})\z"))
        .or_else(|_| Regex::new(&format!("\\A(?:{pattern}\n)\\z")))
        .map_err(|error| invalid(pattern, &error))
}

/// The last line of the library's report says what is wrong; those in front of it draw the pattern.
fn invalid(pattern: &str, error: &regex::Error) -> Error {
    let report = error.to_string();
    let reason = report.lines().last().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason).to_owned();
    Error::Regex { pattern: pattern.to_owned(), reason }
}

/// `receiver.function(pattern, …)`, null where one of them is.
pub fn call(function: Function, receiver: &Datum, args: &[Datum], prepared: &Prepared, rows: &mut Rows<'_>) -> Datum {
    let Prepared::Pattern(pattern) = prepared else { unreachable!("regex methods are prepared with a pattern") };
    let (text, source) = (Strings::of(receiver), Strings::of(&args[0]));
    Datum::Column(match function {
        Function::Capture => capture(&text, pattern, &source, args.get(1), rows),
        _ => rows.bools(|row| match text.get(row) {
            Some(text) => Ok(pattern.at(&source, row)?.map(|regex| regex.is_match(text))),
            None => Ok(None),
        }),
    })
}

fn capture(
    text: &Strings<'_>,
    pattern: &Pattern,
    source: &Strings<'_>,
    group: Option<&Datum>,
    rows: &mut Rows<'_>,
) -> Column {
    let group = group.map(Ints::of);
    rows.texts(|row, out| {
        let group = group.as_ref().map_or(Some(0), |group| group.get(row));
        let (Some(text), Some(group)) = (text.get(row), group.and_then(|group| usize::try_from(group).ok())) else {
            return Ok(false);
        };
        let Some(regex) = pattern.at(source, row)? else { return Ok(false) };
        let Some(found) = regex.captures(text).and_then(|captures| captures.get(group)) else { return Ok(false) };
        out.push_str(found.as_str());
        Ok(true)
    })
}
