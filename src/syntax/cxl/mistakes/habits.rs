//! Words and forms that people bring along from other languages, and values that stand side by side.

use super::scene::Scene;
use super::vocabulary::describe;
use super::{Rule, error};
use crate::diagnostics::suggest::closest;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::syntax::cxl::token::{Tok, Token};

pub(super) const RULES: &[Rule] = &[
    over,
    dashes,
    is_null,
    case,
    else_arm,
    foreign_statement,
    foreign_clause,
    foreign_word,
    membership,
    shouted_keyword,
    trailing_if,
    trailing_not,
    doubled_quote,
    mistyped_keyword,
    side_by_side,
];

/// Words of other languages where an operator would stand: the word, what to write, and a certain replacement.
const WORDS: &[(&str, &str, Option<&str>)] = &[
    ("elif", "write `else if`", Some("else if")),
    ("elsif", "write `else if`", Some("else if")),
    ("elseif", "write `else if`", Some("else if")),
    ("end", "an `if` ends by itself: leave out `end`", None),
    ("endif", "an `if` ends by itself: leave out `endif`", None),
    ("mod", "write `%`", Some("%")),
    ("div", "write `/`", Some("/")),
    ("xor", "write `!=`", Some("!=")),
    ("eq", "write `==`", Some("==")),
    ("ne", "write `!=`", Some("!=")),
    ("like", "a text is searched with `.contains(\"…\")` or `.find(\"pattern\")`", None),
    ("between", "write `x >= low and x <= high`", None),
    ("contains", "write `.contains(…)` behind the text", None),
    ("matches", "write `.matches(…)` behind the text", None),
    ("when", "write `if … then … else …`", None),
    ("where", "rows are chosen with a `filter` statement", None),
];

/// Words that begin statements of other languages, and what to write.
const STATEMENTS: &[(&str, &str)] = &[
    ("def", "a value is named with `let name = …`"),
    ("drop", "columns are left out with `exclude` in the sink"),
    ("from", "a node reads what its `input` names"),
    ("group", "an aggregate groups by the columns that its `group_by` lists"),
    ("having", "emit the value, and put a transform with `filter` behind this node; or let a cull drop the groups"),
    ("join", "rows of two inputs are joined by `combine`, which this version does not run yet"),
    ("limit", NO_LIMIT),
    ("order", SORT),
    ("print", "a column is written with `emit name = …`"),
    ("rename", "columns are renamed with `mapping` in the sink"),
    ("return", "a column is written with `emit name = …`"),
    ("select", "a column is written with `emit name = …`; all others go on by themselves"),
    ("set", "a column is written with `emit name = …`"),
    ("sort", SORT),
    ("top", NO_LIMIT),
    ("unique", "write `distinct by name`"),
    ("var", "a value is named with `let name = …`"),
    ("where", "write `filter` and the condition"),
];

/// What there is in place of windows.
pub(crate) const NO_WINDOWS: &str = "what is known of a whole group is computed by an aggregate, a cull or a reshape";

const NO_LIMIT: &str = "there is no limit on the number of rows yet";
const SORT: &str = "a sink sorts what it writes: `sort_order` in its `config`";

/// Words that stand in front of conditions in other languages, and what to do about them.
const CLAUSES: &[(&str, &str)] = &[
    ("having", "write the condition alone; mind that `HAVING` tells which groups stay, and a cull which groups go"),
    ("where", "write the condition alone"),
    ("when", "write the condition alone"),
];

/// The word that was found behind a value, or that stands as a value in front of what was found.
fn words<'a, 'input>(scene: &Scene<'a, 'input>) -> impl Iterator<Item = &'a Token<'input>> {
    let found = scene.found().filter(|_| scene.wants_operator());
    found.into_iter().chain(scene.before()).filter(|token| matches!(token.tok, Tok::Ident(_)))
}

/// `sum(x) over (partition by y)`
fn over(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.text.eq_ignore_ascii_case("over") && scene.wants_operator())?;
    let called = scene.before().is_some_and(|before| before.tok == Tok::RightParen);
    called.then(|| {
        Diagnostic::error(Code::E199, "windows over rows are not run by this version yet")
            .label(found.span, "not run yet")
            .help(NO_WINDOWS)
    })
}

/// `x is null`, `x IS NOT NULL`
fn is_null(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.text.eq_ignore_ascii_case("is") && scene.wants_operator())?;
    let rest = &scene.tokens[scene.at + 1..];
    let word = |index: usize, word: &str| rest.get(index).is_some_and(|token| token.text.eq_ignore_ascii_case(word));
    let diagnostic = error(format!("`{}` is not an operator", found.text), found.span);
    let (operator, len) = if word(0, "not") { ("!=", 1) } else { ("==", 0) };
    let diagnostic = if word(len, "null") {
        let span = found.span.to(rest[len].span);
        let not = if len == 1 { "not " } else { "" };
        let strings = match name_alone(scene) {
            Some(name) => {
                format!("; a string read from a file is never null, so of one ask `{not}{name}.is_empty()`")
            }
            None => String::new(),
        };
        diagnostic.fix(span, format!("{operator} null")).help(format!("write `{operator} null`{strings}"))
    } else {
        diagnostic.help(format!("write `{operator}`"))
    };
    Some(diagnostic)
}

/// The name in front of what was found, if it is the whole operand of a comparison that could stand there.
fn name_alone<'a>(scene: &Scene<'a, '_>) -> Option<&'a str> {
    let alone = match scene.last(2)[..] {
        [Tok::Ident(_)] => true,
        [before, Tok::Ident(_)] => {
            let opens = matches!(before, Tok::LeftParen | Tok::Comma | Tok::Equal | Tok::Arrow | Tok::Newline);
            let joins = matches!(before, Tok::And | Tok::Or | Tok::Not | Tok::If | Tok::Then | Tok::Else | Tok::Filter);
            opens || joins
        }
        _ => false,
    };
    scene.before().filter(|_| alone).map(|name| name.text)
}

/// `CASE WHEN a THEN b END`
fn case(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let case = scene.tokens[..scene.at].iter().rfind(|token| token.text.eq_ignore_ascii_case("case"))?;
    let directly = scene.before().is_some_and(|before| std::ptr::eq(before, case));
    let when = scene.found().is_some_and(|token| token.text.eq_ignore_ascii_case("when"));
    (directly || when).then(|| {
        error(format!("`{}` is not part of CXL", case.text), case.span)
            .help("write `if a then b else c`, or `match { a => b, _ => c }` for several cases")
    })
}

/// `-- a comment`
fn dashes(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let [first, second, ..] = scene.tokens else { return None };
    let dashes = first.tok == Tok::Minus && second.tok == Tok::Minus && first.span.end == second.span.start;
    let begins = scene.statement && dashes;
    begins.then(|| error("`--` does not begin a comment", first.span.to(second.span)).help("a comment starts with `#`"))
}

/// `match x { 1 => a, else => b }`
fn else_arm(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Else)?;
    let arrow = scene.tokens.get(scene.at + 1).is_some_and(|token| token.text == "=>");
    arrow.then(|| error("`else` can't be a pattern", found.span).help("write `_` for the rest").fix(found.span, "_"))
}

/// `SELECT a`, `where a > 1`
fn foreign_statement(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let first = scene.tokens.first().filter(|token| matches!(token.tok, Tok::Ident(_)))?;
    let (_, help) = STATEMENTS.iter().find(|(word, _)| first.text.eq_ignore_ascii_case(word))?;
    let begins = scene.statement && scene.at == 1;
    begins.then(|| error(format!("`{}` does not begin a statement", first.text), first.span).help(*help))
}

/// `HAVING count(*) > 5` where a condition stands alone
fn foreign_clause(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let first = scene.tokens.first().filter(|token| matches!(token.tok, Tok::Ident(_)))?;
    let (_, help) = CLAUSES.iter().find(|(word, _)| first.text.eq_ignore_ascii_case(word))?;
    let begins = !scene.statement && scene.at == 1;
    begins.then(|| error(format!("`{}` can't stand here, only an expression", first.text), first.span).help(*help))
}

/// `a mod b`, `elif`
fn foreign_word(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| matches!(token.tok, Tok::Ident(_)) && scene.wants_operator())?;
    let (_, help, replacement) = WORDS.iter().find(|(word, ..)| found.text.eq_ignore_ascii_case(word))?;
    let diagnostic = error(format!("`{}` is not an operator", found.text), found.span).help(*help);
    Some(match replacement {
        Some(replacement) => diagnostic.fix(found.span, *replacement),
        None => diagnostic,
    })
}

/// `a AND b`, `NOT a`, `IF a THEN b`
fn shouted_keyword(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let token = words(scene).find(|token| {
        let small = token.text.to_ascii_lowercase();
        small != token.text && Tok::keyword(&small).is_some()
    })?;
    let small = token.text.to_ascii_lowercase();
    let message = format!("`{}` is written in small letters: `{small}`", token.text);
    Some(error(message, token.span).help(format!("write `{small}`")).fix(token.span, small.clone()))
}

/// `if a then b els c`
fn mistyped_keyword(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| matches!(token.tok, Tok::Ident(_)) && scene.wants_operator())?;
    let next = scene.tokens.get(scene.at + 1).filter(|next| next.tok.starts_expression());
    let open = |tok: &Tok<'_>| scene.tokens[..scene.at].iter().filter(|token| token.tok == *tok).count();
    let (ifs, thens, elses) = (open(&Tok::If), open(&Tok::Then), open(&Tok::Else));
    let fits = |keyword: &&str| match *keyword {
        "then" => ifs > thens,
        "else" => thens > elses,
        _ => true,
    };
    let near = |keyword: &&str| found.text.len() > 2 && closest(found.text, [*keyword]).is_some();
    let keyword = ["then", "else", "and", "or"].into_iter().filter(fits).find(near).filter(|_| next.is_some())?;
    Some(
        error(format!("`{}` is not an operator", found.text), found.span)
            .help(format!("did you mean `{keyword}`?"))
            .fix(found.span, keyword),
    )
}

/// `x in [1, 2]`
fn membership(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.text.eq_ignore_ascii_case("in") && scene.wants_operator())?;
    Some(error("`in` does not test membership", found.span).help("compare with each value, as in `x == 1 or x == 2`"))
}

/// `a if b else c`
fn trailing_if(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::If && scene.wants_operator())?;
    Some(error("`if` can't stand behind its value", found.span).help("write `if condition then value else other`"))
}

/// `a not b`
fn trailing_not(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let found = scene.found().filter(|token| token.tok == Tok::Not && scene.wants_operator())?;
    let next = scene.tokens.get(scene.at + 1).map(|token| &token.tok);
    let help = match next {
        Some(Tok::In) => "compare with each value, as in `x != 1 and x != 2`",
        _ => "write `not` in front of the whole comparison, or `!=`",
    };
    Some(error("`not` can't stand behind a value", found.span).help(help))
}

/// `'it''s'`
fn doubled_quote(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let (before, found) = (scene.before()?, scene.found()?);
    let texts = matches!((&before.tok, &found.tok), (Tok::String(_), Tok::String(_)));
    let touching = before.offset + before.text.len() == found.offset;
    let quote = found.text.get(..1).filter(|_| texts && touching && scene.wants_operator())?;
    let place = Span::new(found.span.file, before.span.start, found.span.end);
    Some(error("two texts stand side by side", place).help(format!("inside a text, the quote is written `\\{quote}`")))
}

/// `a b`
fn side_by_side(scene: &Scene<'_, '_>) -> Option<Diagnostic> {
    let (before, found) = (scene.before()?, scene.found()?);
    let values = before.tok.ends_expression() && found.tok.starts_expression() && scene.wants_operator();
    let missing = match (scene.expects(","), scene.bracket()) {
        (true, Some((_, open))) if open.tok == Tok::LeftBrace => "a `,`",
        (true, _) => "an operator or a `,`",
        _ => "an operator",
    };
    values.then(|| {
        error(format!("{missing} is missing between {} and {}", describe(before), describe(found)), found.span)
    })
}
