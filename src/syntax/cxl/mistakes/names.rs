//! Slips around names: keywords as names, what stands behind `emit` and `let`, members.

use super::scene::Scene;
use super::vocabulary::{describe, whole};
use super::{Rule, error};
use crate::diagnostics::{Diagnostic, Span};
use crate::syntax::cxl::lexer::word_len;
use crate::syntax::cxl::token::{Tok, Token};

pub(super) const RULES: &[Rule] = &[
    function,
    distinct_inside,
    keyword_as_key,
    number_as_key,
    emit_everything,
    keyword_as_name,
    statement_in_if,
    keyword_as_value,
    no_name,
    quoted_name,
    emit_as,
    emit_several,
    dotted_name,
    wrong_equals,
    no_equals,
    bare_assignment,
    bare_scope,
    distinct_on,
    distinct_by,
];

/// The help for an `emit` that begins with a value.
const NAME_IT: &str = "name the column that the value goes to: `emit name = …`";

/// What to do about a count of distinct values.
pub(crate) const NO_COUNT_OF_DISTINCT: &str = "there is no count of distinct values yet; in a branch of its own, let \
     an aggregate group by this value too, and count its rows in a second one behind it";

/// The help for an `emit` of what goes on without it.
const PASS_BY_THEMSELVES: &str = "columns of the input pass through by themselves";

/// `fn f(x) = …` in a program.
fn function(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Fn && scene.at == 0)?;
    Some(
        error("`fn` can't stand in a program", found.span)
            .help("functions are defined in a module, in a file of its own"),
    )
}

/// `count(distinct x)`
fn distinct_inside(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Distinct && scene.in_arguments())?;
    let (open, _) = scene.bracket()?;
    let counts = scene.tokens[open - 1].text.eq_ignore_ascii_case("count");
    let help = if counts {
        NO_COUNT_OF_DISTINCT
    } else {
        "`distinct` is a statement: in a transform in front, it drops repeated rows"
    };
    Some(error("`distinct` can't stand in a call", found.span).help(help))
}

/// `{ in: 1 }`
fn keyword_as_key(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok.is_keyword())?;
    let key = scene.expects("name") && scene.expects("string") && !scene.wants_value();
    key.then(|| {
        error(format!("`{}` is a keyword and can't be a key", found.text), found.span)
            .help("put the key in quotes")
            .fix(found.span, format!("\"{}\"", found.text))
    })
}

/// `{ 1: 2 }`
fn number_as_key(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| matches!(token.tok, Tok::Int(_) | Tok::Float(_)))?;
    let key = scene.expects("name") && scene.expects("string") && !scene.wants_value();
    key.then(|| {
        error(format!("`{}` can't be a key", found.text), found.span)
            .help("a key is a name, a text, or an expression in `[` and `]`")
    })
}

/// `emit filter = 5`, `let in = 2`
fn keyword_as_name(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok.is_keyword())?;
    let name = scene.expects("name") && !scene.wants_value();
    let what = if scene.last(1) == [&Tok::Emit] { "name a column" } else { "be a name" };
    name.then(|| {
        error(format!("`{}` is a keyword and can't {what}", found.text), found.span).help("choose another name")
    })
}

/// `emit *`
fn emit_everything(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Star && scene.at == 1)?;
    (scene.last(1) == [&Tok::Emit]).then(|| {
        error("`emit` writes one column, not all", found.span).help(format!("leave the line out: {PASS_BY_THEMSELVES}"))
    })
}

/// `if a then emit b = 1`
fn statement_in_if(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let behind = scene.before().filter(|token| matches!(token.tok, Tok::Then | Tok::Else))?;
    let opening = scene.tokens[..scene.at].iter().rposition(|token| token.tok == Tok::If);
    let then = scene.tokens[..scene.at].iter().rposition(|token| token.tok == Tok::Then);
    let (Some(opening), Some(then)) = (opening, then) else { return None };
    let condition = scene.text(opening + 1..then.max(opening + 1));
    let Some(found) = scene.found() else {
        // The statement stands on the next line.
        let diagnostic =
            error(format!("expected a value after `{}`, but the {} ends", behind.text, whole(scene)), scene.span());
        let help =
            format!("an `if` chooses a value, not a statement: write `emit name = if {condition} then … else …`");
        return (scene.statement && opening == 0).then(|| diagnostic.help(help));
    };
    if !matches!(found.tok, Tok::Emit | Tok::Let) {
        return None;
    }
    let name = match scene.tokens.get(scene.at + 1).map(|token| &token.tok) {
        Some(Tok::Ident(name)) => *name,
        _ => "name",
    };
    Some(
        error(format!("`{}` can't stand inside an `if`, which chooses a value", found.text), found.span)
            .help(format!("write `{} {name} = if {condition} then … else …`", found.text)),
    )
}

/// `emit n as a`
fn emit_as(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let [emit, value @ .., word, name] = scene.tokens else { return None };
    let renames = emit.tok == Tok::Emit && word.tok == Tok::As && matches!(name.tok, Tok::Ident(_));
    let plain = |token: &Token<'_>| !matches!(token.tok, Tok::Equal | Tok::As);
    if !renames || value.is_empty() || !value.iter().all(plain) {
        return None;
    }
    let text = scene.text(1..scene.tokens.len() - 2);
    let diagnostic = error("`as` does not name a column", word.span)
        .help(format!("the name comes first: write `emit {} = {text}`", name.text));
    let is_whole = text != "…";
    let place = value[0].span.to(name.span);
    Some(if is_whole { diagnostic.fix(place, format!("{} = {text}", name.text)) } else { diagnostic })
}

/// `emit a, b = 1`
fn emit_several(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let head = scene.head().filter(|_| scene.found_tok() == Some(&Tok::Comma))?;
    let (word, what) = if head.starts_with("let") { ("let", "names one value") } else { ("emit", "writes one column") };
    Some(error(format!("`{word}` {what}"), scene.span()).help(format!("write a line for each: `{head} = …`")))
}

/// `emit x = by + 1`
fn keyword_as_value(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found()?;
    let word =
        found.tok.starts_statement() || matches!(found.tok, Tok::By | Tok::As | Tok::For | Tok::In | Tok::Distinct);
    (word && scene.wants_value() && scene.at > 0).then(|| {
        error(format!("`{0}` is a keyword and can't be a value", found.text), found.span).help(format!(
            "if it is a column, give it another name in the source's schema: `name: …, source_name: {}`",
            found.text
        ))
    })
}

/// `emit = 5`, `let = 5`, `emit each = 5`
fn no_name(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Equal)?;
    match scene.last(2).as_slice() {
        [Tok::Emit, Tok::Each] => Some(
            error("`each` can't name a column: `emit each` starts a loop", scene.before()?.span)
                .help("choose another name"),
        ),
        [Tok::Emit] => Some(error("`emit` needs a column name in front of `=`", found.span)),
        [Tok::Let] => Some(error("`let` needs a name in front of `=`", found.span)),
        _ => None,
    }
}

/// `emit "x" = 5`
fn quoted_name(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found()?;
    let Tok::String(name) = &found.tok else { return None };
    if !scene.expects("name") || scene.wants_value() {
        return None;
    }
    let diagnostic = error("a name is written without quotes", found.span);
    let plain = word_len(name) == name.len() && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty();
    Some(if plain && Tok::keyword(name).is_none() {
        diagnostic.help(format!("write `{name}`")).fix(found.span, name.clone())
    } else {
        diagnostic.help("a name is made of the letters a to z, digits and `_`")
    })
}

/// `emit a.b = 5`
fn dotted_name(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let head = scene.head().filter(|_| scene.found_tok() == Some(&Tok::Dot))?;
    let word = if head.starts_with("let") { "let" } else { "emit" };
    let diagnostic = error(format!("`{word}` takes one plain name, without `.`"), scene.span());
    let names_nothing = word == "emit" && !scene.tokens.iter().any(|token| token.tok == Tok::Equal);
    Some(if names_nothing { diagnostic.help(NAME_IT) } else { diagnostic })
}

/// `emit x == 5`, `emit x: 5`
fn wrong_equals(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let head = scene.head()?;
    let found = scene.found().filter(|token| matches!(token.tok, Tok::EqualEqual | Tok::Colon))?;
    let touches = scene.before().is_some_and(|before| before.span.end == found.span.start);
    Some(
        error(format!("expected `=` after `{head}`, found `{}`", found.text), found.span)
            .help("write `=`")
            .fix(found.span, if touches { " =" } else { "=" }),
    )
}

/// `emit x 5`, `emit x`
fn no_equals(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let head = scene.head().filter(|_| scene.expects("="))?;
    let Some(found) = scene.found() else {
        let message = format!("expected `=` and a value after `{head}`, but the {} ends", whole(scene));
        let passes =
            head.starts_with("emit").then(|| format!("{PASS_BY_THEMSELVES}; a new one is written `{head} = …`"));
        return Some(error(message, scene.span()).help_opt(passes));
    };
    let diagnostic = error(format!("expected `=` after `{head}`, found {}", describe(found)), found.span);
    let value = found.tok.starts_expression() && !matches!(found.tok, Tok::Ident(_) | Tok::LeftParen);
    let place = Span::new(found.span.file, found.span.start, found.span.start);
    Some(if value {
        diagnostic.help("write `=` between name and value").fix(place, "= ")
    } else if head.starts_with("emit") && found.tok.continues_line() {
        diagnostic.help(NAME_IT)
    } else {
        diagnostic
    })
}

/// `x = 5`
fn bare_assignment(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let [first, equal, ..] = scene.tokens else { return None };
    let bare = scene.statement && scene.at == 1 && equal.tok == Tok::Equal && matches!(first.tok, Tok::Ident(_));
    bare.then(|| {
        let name = first.text;
        error(format!("expected `emit` or `let` in front of `{name} =`"), first.span)
            .help(format!("`emit {name} = …` writes a column, `let {name} = …` names a value for the lines below"))
    })
}

/// `$vars`
fn bare_scope(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let scope = scene.before().filter(|token| matches!(token.tok, Tok::Scope(_)))?;
    scene.expects(".").then(|| match scope.text.trim_start_matches('$') {
        "pipeline" | "source" | "vars" => {
            error(format!("expected `.` and a name after `{0}`, as in `{0}.name`", scope.text), scope.span)
        }
        name => error(format!("`{}` is not a variable", scope.text), scope.span).help(format!(
            "a column is read by its plain name: `{name}`; a variable of the pipeline is `$vars.{name}`"
        )),
    })
}

/// `distinct on a`
fn distinct_on(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let [first, on, name, ..] = scene.tokens else { return None };
    let is_on = first.tok == Tok::Distinct && scene.at == 1 && on.text.eq_ignore_ascii_case("on");
    let plain = is_on && scene.tokens.len() == 3 && matches!(name.tok, Tok::Ident(_));
    let diagnostic = || error(format!("expected `by` after `distinct`, found `{}`", on.text), on.span);
    match plain {
        true => Some(diagnostic().help(format!("write `distinct by {}`", name.text)).fix(on.span, "by")),
        false => is_on.then(|| diagnostic().help("write `distinct by` and the name of one column")),
    }
}

/// `distinct a`, `distinct by a, b`
fn distinct_by(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found()?;
    match (scene.tokens, &found.tok) {
        ([first, ..], Tok::Ident(name)) if first.tok == Tok::Distinct && scene.at == 1 => Some(
            error(format!("expected `by` after `distinct`, found `{name}`"), found.span)
                .help(format!("write `distinct by {name}`"))
                .fix(Span::new(found.span.file, found.span.start, found.span.start), "by "),
        ),
        ([first, ..], tok) if first.tok == Tok::Distinct && scene.at == 3 => {
            let help = match tok {
                Tok::Comma | Tok::Ident(_) => "join the columns to one key in a `let` in front of it".to_owned(),
                _ => format!(
                    "compute it in a `let` and name that: `let key = {}`, then `distinct by key`",
                    scene.text(2..scene.tokens.len())
                ),
            };
            Some(error(format!("`distinct by` takes one name, found {}", describe(found)), found.span).help(help))
        }
        _ => None,
    }
}
