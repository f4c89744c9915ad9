//! Methods of strings. Text is counted in Unicode scalar values.

use crate::analysis::functions::Function;
use crate::exec::batch::Column;
use crate::exec::eval::datum::Datum;
use crate::exec::eval::error::check_size;
use crate::exec::eval::functions::list;
use crate::exec::eval::operands::{Ints, Pieces, Strings, append_text};
use crate::exec::eval::rows::Rows;

/// `receiver.function(args)`, null where the receiver is.
pub fn call(function: Function, receiver: &Datum, args: &[Datum], rows: &mut Rows<'_>) -> Datum {
    use Function::*;
    let text = Strings::of(receiver);
    Datum::Column(match function {
        Upper => append(&text, rows, upper),
        Lower => append(&text, rows, lower),
        Trim => append(&text, rows, |s, out| out.push_str(s.trim())),
        TrimStart => append(&text, rows, |s, out| out.push_str(s.trim_start())),
        TrimEnd => append(&text, rows, |s, out| out.push_str(s.trim_end())),
        Reverse => append(&text, rows, |s, out| out.extend(s.chars().rev())),
        StartsWith => test(&text, &args[0], rows, |s, part| s.starts_with(part)),
        EndsWith => test(&text, &args[0], rows, |s, part| s.ends_with(part)),
        Contains => test(&text, &args[0], rows, |s, part| s.contains(part)),
        Replace => replace(&text, args, rows),
        Substring => substring(&text, args, rows),
        Left => part(&text, &args[0], rows, |s, n| &s[..offset(s, n)]),
        Right => part(&text, &args[0], rows, |s, n| &s[offset(s, s.chars().count().saturating_sub(n))..]),
        PadLeft => pad(&text, args, rows, true),
        PadRight => pad(&text, args, rows, false),
        Repeat => repeat(&text, &args[0], rows),
        Length => list::length(receiver, rows),
        Split => list::split(&text, &args[0], rows),
        Join => list::join(receiver, &args[0], rows),
        _ => concat(&text, args, rows),
    })
}

/// Appends a text for each text.
fn append(text: &Strings<'_>, rows: &mut Rows<'_>, append: impl Fn(&str, &mut String)) -> Column {
    rows.texts(|row, out| {
        let Some(s) = text.get(row) else { return Ok(false) };
        append(s, out);
        Ok(true)
    })
}

fn upper(s: &str, out: &mut String) {
    if !s.is_ascii() {
        return out.push_str(&s.to_uppercase());
    }
    let start = out.len();
    out.push_str(s);
    out[start..].make_ascii_uppercase();
}

fn lower(s: &str, out: &mut String) {
    if !s.is_ascii() {
        return out.push_str(&s.to_lowercase());
    }
    let start = out.len();
    out.push_str(s);
    out[start..].make_ascii_lowercase();
}

fn test(text: &Strings<'_>, part: &Datum, rows: &mut Rows<'_>, holds: impl Fn(&str, &str) -> bool) -> Column {
    let part = Strings::of(part);
    rows.bools(|row| Ok(text.get(row).zip(part.get(row)).map(|(s, part)| holds(s, part))))
}

fn replace(text: &Strings<'_>, args: &[Datum], rows: &mut Rows<'_>) -> Column {
    let (find, replacement) = (Strings::of(&args[0]), Strings::of(&args[1]));
    rows.texts(|row, out| {
        let (Some(s), Some(find), Some(replacement)) = (text.get(row), find.get(row), replacement.get(row)) else {
            return Ok(false);
        };
        let (start, mut done) = (out.len(), 0);
        for (position, found) in s.match_indices(find) {
            out.push_str(&s[done..position]);
            out.push_str(replacement);
            done = position + found.len();
            check_size(out.len() - start, s.len())?;
        }
        out.push_str(&s[done..]);
        Ok(true)
    })
}

/// The byte offset behind the first `n` characters; the length if there are fewer.
fn offset(s: &str, n: usize) -> usize {
    if s.is_ascii() { n.min(s.len()) } else { s.char_indices().nth(n).map_or(s.len(), |(at, _)| at) }
}

/// A count, if it isn't negative.
fn count(n: i64) -> Option<usize> {
    usize::try_from(n).ok()
}

fn substring(text: &Strings<'_>, args: &[Datum], rows: &mut Rows<'_>) -> Column {
    let (start, len) = (Ints::of(&args[0]), args.get(1).map(Ints::of));
    rows.texts(|row, out| {
        let Some(s) = text.get(row) else { return Ok(false) };
        let rest = &s[offset(s, start.get(row).and_then(count).unwrap_or(0))..];
        let end = len.as_ref().and_then(|len| len.get(row)).and_then(count).map_or(rest.len(), |n| offset(rest, n));
        out.push_str(&rest[..end]);
        Ok(true)
    })
}

fn part(text: &Strings<'_>, n: &Datum, rows: &mut Rows<'_>, cut: impl Fn(&str, usize) -> &str) -> Column {
    let n = Ints::of(n);
    rows.texts(|row, out| {
        let Some((s, n)) = text.get(row).zip(n.get(row).and_then(count)) else { return Ok(false) };
        out.push_str(cut(s, n));
        Ok(true)
    })
}

fn pad(text: &Strings<'_>, args: &[Datum], rows: &mut Rows<'_>, left: bool) -> Column {
    let (width, fill) = (Ints::of(&args[0]), args.get(1).map(Strings::of));
    rows.texts(|row, out| {
        let fill = fill.as_ref().map_or(Some(" "), |fill| fill.get(row));
        let (Some(s), Some(width), Some(fill)) = (text.get(row), width.get(row).and_then(count), fill) else {
            return Ok(false);
        };
        let fill = fill.chars().next().unwrap_or(' ');
        let missing = width.saturating_sub(s.chars().count());
        check_size(s.len().saturating_add(missing.saturating_mul(fill.len_utf8())), s.len())?;
        let padding = std::iter::repeat_n(fill, missing);
        if left {
            out.extend(padding);
            out.push_str(s);
        } else {
            out.push_str(s);
            out.extend(padding);
        }
        Ok(true)
    })
}

fn repeat(text: &Strings<'_>, n: &Datum, rows: &mut Rows<'_>) -> Column {
    let n = Ints::of(n);
    rows.texts(|row, out| {
        let Some((s, n)) = text.get(row).zip(n.get(row).and_then(count)) else { return Ok(false) };
        check_size(s.len().saturating_mul(n), s.len())?;
        // An empty text may be repeated any number of times.
        let times = if s.is_empty() { 0 } else { n };
        (0..times).for_each(|_| out.push_str(s));
        Ok(true)
    })
}

/// The texts of all, nothing for null arguments.
fn concat(text: &Strings<'_>, args: &[Datum], rows: &mut Rows<'_>) -> Column {
    rows.texts(|row, out| {
        let Some(s) = text.get(row) else { return Ok(false) };
        let mut pieces = Pieces::new(out);
        pieces.append(|out| out.push_str(s))?;
        for arg in args {
            pieces.append(|out| append_text(arg, row, out))?;
        }
        Ok(true)
    })
}
