//! Tokens in the words of people, and the sentence for a slip that no rule knows.

use super::error;
use super::scene::Scene;
use crate::diagnostics::Diagnostic;
use crate::syntax::cxl::token::{Tok, Token};

/// How a message names a token.
pub(super) fn describe(token: &Token<'_>) -> String {
    const LONGEST: usize = 24;
    if token.tok == Tok::Block {
        return "`{`".to_owned();
    }
    if token.text.chars().count() <= LONGEST {
        return format!("`{}`", token.text);
    }
    let start: String = token.text.chars().take(LONGEST - 1).collect();
    format!("`{start}…`")
}

/// "expected …, found …"
pub(super) fn plain(scene: &Scene<'_, '_>) -> Diagnostic {
    let expected = expectation(scene);
    let behind = scene.before().map(|token| format!(" after {}", describe(token))).unwrap_or_default();
    let message = match (scene.found(), expected) {
        (Some(found), Some(expected)) => format!("expected {expected}{behind}, found {}", describe(found)),
        (Some(found), None) => format!("{} can't stand here", describe(found)),
        (None, Some(expected)) => format!("expected {expected}{behind}, but the {} ends", whole(scene)),
        (None, None) => format!("the {} is not complete", whole(scene)),
    };
    error(message, scene.span())
}

/// What is read, as people call it.
pub(super) fn whole(scene: &Scene<'_, '_>) -> &'static str {
    if scene.statement { "statement" } else { "expression" }
}

/// What could have stood there. Tokens that are rarely meant are left out.
fn expectation(scene: &Scene<'_, '_>) -> Option<String> {
    if scene.wants_value() {
        return Some(if scene.expects("statement") { "a statement" } else { "a value" }.to_owned());
    }
    let mut words = Vec::new();
    if scene.wants_operator() && scene.expects("=>") {
        return Some("`=>`".to_owned());
    }
    if scene.wants_operator() {
        words.push("an operator".to_owned());
    } else if scene.expects("string") {
        words.push("a key".to_owned());
    } else if scene.expects("name") {
        words.push("a name".to_owned());
    }
    const TOKENS: &[&str] = &["then", "=", "=>", ":", ",", ")", "]", "}", "in", "by", "match {", "block", "as"];
    let only_operators = |name: &str| matches!(name, ":" | "as") && words.len() == 1 && !scene.wants_operator();
    let shown = |name: &&&str| scene.expects(name) && !only_operators(name);
    let tokens: Vec<&str> = TOKENS.iter().filter(shown).copied().collect();
    words.extend(tokens.iter().map(|name| match *name {
        "match {" | "block" => "`{`".to_owned(),
        name => format!("`{name}`"),
    }));
    if scene.statement && scene.bracket().is_none() && scene.wants_operator() && tokens.is_empty() {
        words.push("a new line".to_owned());
    }
    either(words)
}

/// `a`, `a or b`, `a, b or c`
fn either(mut words: Vec<String>) -> Option<String> {
    let last = words.pop()?;
    Some(if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) })
}
