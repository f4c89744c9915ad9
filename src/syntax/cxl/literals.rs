//! Numbers, texts and dates.

use chrono::NaiveDate;

use super::lexer::{Lexer, word_len};
use super::token::Tok;
use crate::diagnostics::{Code, Diagnostic, Span};

/// Reads the number at the lexer's place.
pub(super) fn number(lexer: &mut Lexer<'_, '_>) {
    let rest = lexer.rest();
    let whole = digits(rest);
    let fraction = rest[whole..].strip_prefix('.').map_or(0, digits);
    let len = if fraction > 0 { whole + 1 + fraction } else { whole };
    let word = word_len(&rest[len..]);
    if word > 0 {
        return bad_number(lexer, len, word);
    }
    match (fraction > 0, rest[..len].parse::<i64>(), rest[..len].parse::<f64>()) {
        (true, _, Ok(value)) if value.is_finite() => lexer.push(Tok::Float(value), len),
        (false, Ok(value), _) => lexer.push(Tok::Int(value), len),
        (false, Err(_), _) if is_magnitude(&rest[..len]) => lexer.push(Tok::Magnitude, len),
        _ => {
            let diagnostic = too_large(&rest[..len], lexer.span(lexer.at, lexer.at + len));
            lexer.refuse(diagnostic, len)
        }
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn is_magnitude(digits: &str) -> bool {
    digits.trim_start_matches('0') == i64::MIN.unsigned_abs().to_string()
}

/// What is said about a number that does not fit.
pub(super) fn too_large(digits: &str, span: Span) -> Diagnostic {
    let shown = if digits.len() > 24 { format!("{}…", &digits[..20]) } else { digits.to_owned() };
    Diagnostic::error(Code::E202, format!("the number `{shown}` is too large"))
        .label(span, "does not fit 64 bits")
        .help("whole numbers go from -9223372036854775808 to 9223372036854775807")
}

/// A number that runs into a word: `1e5`, `1_000`, `0x1f`, `12abc`.
fn bad_number(lexer: &mut Lexer<'_, '_>, len: usize, word: usize) {
    let mut total = len + word;
    let rest = lexer.rest();
    let letters = &rest[len..total];
    let exponent = letters.strip_prefix(['e', 'E']);
    if exponent == Some("") && rest[total..].starts_with(['-', '+']) {
        total += 1 + digits(&rest[total + 1..]);
    }
    let text = &rest[..total];
    let span = lexer.span(lexer.at, lexer.at + total);
    let diagnostic = Diagnostic::error(Code::E202, format!("`{text}` is not a number")).label(span, "");
    let plain = text.replace('_', "");
    let diagnostic = if exponent.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit())) {
        diagnostic.help("write all the digits: numbers have no exponent")
    } else if plain.bytes().all(|b| b.is_ascii_digit()) {
        diagnostic.help("write the digits without `_`").fix(span, plain)
    } else if text.starts_with("0x") || text.starts_with("0b") {
        diagnostic.help("write the number in decimal digits")
    } else {
        diagnostic.help("a name starts with a letter or `_`; a number holds digits only")
    };
    lexer.refuse(diagnostic, total);
}

/// Reads a date if the whole shape `#YYYY-MM-DD#` stands at the lexer's place.
pub(super) fn date(lexer: &mut Lexer<'_, '_>) -> bool {
    const LEN: usize = "#YYYY-MM-DD#".len();
    let Some(shape) = lexer.rest().as_bytes().get(..LEN) else { return false };
    let fits = shape.iter().zip(b"#YYYY-MM-DD#").all(|(byte, form)| match form {
        b'#' | b'-' => byte == form,
        _ => byte.is_ascii_digit(),
    });
    if !fits {
        return false;
    }
    let number = |from: usize, to: usize| shape[from..to].iter().fold(0, |n, byte| n * 10 + u32::from(byte - b'0'));
    let (year, month, day) = (number(1, 5), number(6, 8), number(9, 11));
    let date = NaiveDate::from_ymd_opt(year as i32, month, day).filter(|_| year > 0);
    match date {
        Some(date) => lexer.push(Tok::Date(days_since_epoch(date)), LEN),
        None => {
            let text = &lexer.rest()[..LEN];
            let span = lexer.span(lexer.at, lexer.at + LEN);
            let message = format!("`{text}` is not a day of the calendar");
            lexer.refuse(Diagnostic::error(Code::E202, message).label(span, ""), LEN);
        }
    }
    true
}

fn days_since_epoch(date: NaiveDate) -> i32 {
    (date - NaiveDate::default()).num_days() as i32
}

/// Reads the text at the lexer's place, which starts with `quote`.
pub(super) fn string(lexer: &mut Lexer<'_, '_>, quote: char) {
    let rest = lexer.rest();
    let mut value = String::new();
    let mut sound = true;
    let mut at = 1;
    loop {
        let Some(c) = rest[at..].chars().next().filter(|c| !matches!(c, '\n' | '\r')) else {
            return unclosed(lexer, quote, at);
        };
        if c == quote {
            break;
        }
        if c != '\\' {
            value.push(c);
            at += c.len_utf8();
            continue;
        }
        let Some((len, meant)) = escape(&rest[at..]) else { return unclosed(lexer, quote, at + 1) };
        match meant {
            Ok(c) => value.push(c),
            Err(diagnostic) => {
                let span = lexer.span(lexer.at + at, lexer.at + at + len);
                lexer.report(diagnostic(&rest[at..at + len], span));
                sound = false;
            }
        }
        at += len;
    }
    lexer.push(if sound { Tok::String(value) } else { Tok::Bad }, at + 1);
}

/// Says what is wrong with an escape, which stands at the span.
type Explain = fn(&str, Span) -> Diagnostic;

/// The escape at the start of `text`: the bytes it takes and the character it stands for. `None` at a line's end.
fn escape(text: &str) -> Option<(usize, Result<char, Explain>)> {
    let c = text[1..].chars().next().filter(|c| !matches!(c, '\n' | '\r'))?;
    let simple = match c {
        '\\' | '"' | '\'' => c,
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'u' => return Some(unicode_escape(text)),
        _ => return Some((1 + c.len_utf8(), Err(unknown_escape))),
    };
    Some((2, Ok(simple)))
}

fn unicode_escape(text: &str) -> (usize, Result<char, Explain>) {
    let digits = text[2..].bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
    if digits < 4 {
        return (2 + digits, Err(short_unicode_escape));
    }
    match char::from_u32(code_unit(text)) {
        Some(c) => (6, Ok(c)),
        None if pair(text).is_some() => (12, Err(two_halves)),
        None => (6, Err(half_character)),
    }
}

/// The number of `\uXXXX` at the start of the text.
fn code_unit(text: &str) -> u32 {
    u32::from_str_radix(&text[2..6], 16).expect("four hex digits are a number")
}

/// The character that two escapes at the start of the text stand for together, as JSON writes it.
fn pair(text: &str) -> Option<char> {
    let second = text.get(6..12).filter(|second| second.starts_with("\\u"))?;
    let digits = second[2..].bytes().all(|byte| byte.is_ascii_hexdigit());
    let units = [code_unit(text) as u16, if digits { code_unit(second) as u16 } else { return None }];
    char::decode_utf16(units).next()?.ok()
}

fn unknown_escape(escape: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::E202, format!("`{escape}` is not an escape"))
        .label(span, "")
        .help(r#"write `\\` for a backslash; the escapes are \\ \" \' \n \t \r and \uXXXX"#)
}

fn short_unicode_escape(escape: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::E202, format!("`{escape}` needs four hex digits behind `\\u`")).label(span, "")
}

fn half_character(escape: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(Code::E202, format!("`{escape}` is not a character")).label(span, "");
    diagnostic.help("write the character itself")
}

fn two_halves(escape: &str, span: Span) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(Code::E202, format!("`{escape}` are the halves of one character")).label(span, "");
    match pair(escape) {
        Some(c) if !c.is_control() => diagnostic.help(format!("write the character itself: `{c}`")).fix(span, c),
        _ => diagnostic.help("write the character itself"),
    }
}

/// A text whose closing quote is not on its line. The rest of the line is read as part of it.
fn unclosed(lexer: &mut Lexer<'_, '_>, quote: char, len: usize) {
    let diagnostic = Diagnostic::error(Code::E202, format!("a text that starts with `{quote}` is not closed"))
        .label(lexer.span(lexer.at, lexer.at + 1), "opened here");
    let help = if lexer.rest()[..len].ends_with(&format!("\\{quote}")) {
        format!("`\\{quote}` is a quote inside the text; a backslash is written `\\\\`")
    } else if quote == '\'' {
        "close it with `'` on the same line; a text that holds `'` can stand in `\"`".to_owned()
    } else {
        "close it with `\"` on the same line; a line end inside a text is written `\\n`".to_owned()
    };
    lexer.refuse(diagnostic.help(help), len);
}
