//! The rich form: the first line, the source lines with their places underlined, then notes, help, fix and where to
//! read more. `ariadne` draws the source lines.
//!
//! ```text
//! error[E203]: transform `parse` reads `order_idd`, which is not a column of `orders`
//!    ╭─[ orders.yaml:24:31 ]
//! 24 │         emit order_id = order_idd
//!    │                         ────┬────
//!    │                             ╰────── not known
//!    = help: did you mean `order_id`?
//!    = see: clinker explain --code E203
//! ```

use std::cmp::Reverse;
use std::fmt::Write;
use std::ops::Range;

use ariadne::{Color, Config, Fmt, IndexType, Label as DrawnLabel, Report, ReportKind, Source};

use super::excerpt::Excerpt;
use super::text;
use crate::diagnostics::{Diagnostic, FileId, Label, Severity, SourceMap};

/// Renders findings with their source lines, one empty line between two.
pub fn rich(sources: &SourceMap, diagnostics: &[Diagnostic], colour: bool) -> String {
    let mut drawing = Drawing { cache: Cache::new(sources), excerpts: Vec::new(), sources, colour };
    let drawn: Vec<_> = diagnostics.iter().map(|diagnostic| drawing.draw(diagnostic)).collect();
    drawn.join("\n")
}

/// A range of characters in a file.
type CharSpan = (FileId, Range<usize>);

struct Drawing<'a> {
    cache: Cache<'a>,
    /// The files of the finding that have lines too long to be shown.
    excerpts: Vec<(FileId, Excerpt)>,
    sources: &'a SourceMap,
    colour: bool,
}

impl Drawing<'_> {
    fn draw(&mut self, diagnostic: &Diagnostic) -> String {
        let mut out = self.first_line(diagnostic);
        self.cut_long_lines(diagnostic);
        let labels = self.labels(diagnostic);
        let frame = match labels.is_empty() {
            true => String::new(),
            false => self.frame(diagnostic, labels),
        };
        out.push_str(&frame);
        self.footer(diagnostic, margin(&frame), &mut out);
        out
    }

    fn first_line(&self, diagnostic: &Diagnostic) -> String {
        let kind = format!("{}[{}]", text::severity_name(diagnostic.severity), diagnostic.code);
        let colour = self.colour.then_some(severity_colour(diagnostic.severity));
        format!("{}: {}\n", kind.fg(colour), text::one_line(&diagnostic.message))
    }

    /// The source lines in their frame.
    fn frame(&mut self, diagnostic: &Diagnostic, labels: Vec<DrawnLabel<CharSpan>>) -> String {
        let primary = &diagnostic.labels[0];
        let config = Config::new()
            .with_color(self.colour)
            .with_index_type(IndexType::Char)
            .with_cross_gap(false)
            .with_tab_width(4);
        let report = Report::build(ReportKind::Error, (primary.span.file, self.characters(primary)))
            .with_config(config)
            .with_labels(labels)
            .finish();
        let mut drawn = Vec::new();
        report.write(&mut self.cache, &mut drawn).expect("writing to memory does not fail");
        tighten(&self.true_columns(&String::from_utf8_lossy(&drawn)))
    }

    /// Prepares the files of a finding that have lines too long to be shown whole.
    fn cut_long_lines(&mut self, diagnostic: &Diagnostic) {
        self.excerpts.clear();
        self.cache.excerpts.clear();
        let mut files: Vec<_> = diagnostic.labels.iter().map(|label| label.span.file).collect();
        files.sort_unstable();
        files.dedup();
        files.retain(|file| self.sources.contains(*file) && self.cache.has_long_lines(*file));
        for file in files {
            let labels = diagnostic.labels.iter().filter(|label| label.span.file == file);
            let points = labels.flat_map(|label| {
                let whole = self.whole_characters(label);
                [whole.start, whole.end]
            });
            let points = points.collect();
            let excerpt = Excerpt::new(&drawable(self.sources.text(file)), points);
            self.cache.excerpts.push((file, Source::from(excerpt.text().to_owned())));
            self.excerpts.push((file, excerpt));
        }
    }

    /// What was drawn, with the columns that places have in whole lines.
    fn true_columns(&self, drawn: &str) -> String {
        drawn.lines().flat_map(|line| [self.true_column(line), "\n".to_owned()]).collect()
    }

    fn true_column(&self, line: &str) -> String {
        let heads_frame = |line: &str| plain(line).trim_start().starts_with(['╭', '├']);
        let found = self.excerpts.iter().find_map(|(file, excerpt)| {
            let name = text::one_line(self.sources.name(*file));
            let (head, place) = line.rsplit_once(&format!("{name}:"))?;
            let (number, column) = place.split_once(':')?;
            let (column, tail) = column.split_at(column.find(|c: char| !c.is_ascii_digit())?);
            let column = excerpt.column(number.parse().ok()?, column.parse().ok()?);
            Some(format!("{head}{name}:{number}:{column}{tail}"))
        });
        found.filter(|_| heads_frame(line)).unwrap_or_else(|| line.to_owned())
    }

    /// The labels as `ariadne` wants them: by file, the primary one's first, then by line; on one line from right to
    /// left, so that arrows don't cross. A label that can't be drawn is left out.
    fn labels(&self, diagnostic: &Diagnostic) -> Vec<DrawnLabel<CharSpan>> {
        let primary_file = diagnostic.span().map(|span| span.file);
        let mut labels: Vec<_> = diagnostic
            .labels
            .iter()
            .enumerate()
            .filter(|(_, label)| self.sources.contains(label.span.file))
            .map(|(index, label)| {
                let file = label.span.file;
                let end = self.sources.line_column(file, label.span.end.saturating_sub(1).max(label.span.start));
                let key = (Some(file) != primary_file, file, end.line, Reverse(end.column), index);
                (key, label)
            })
            .collect();
        labels.sort_by_key(|(key, _)| *key);
        let severity = severity_colour(diagnostic.severity);
        labels.iter().enumerate().map(|(order, (key, label))| self.label(label, order, key.4 == 0, severity)).collect()
    }

    fn label(&self, label: &Label, order: usize, primary: bool, severity: Color) -> DrawnLabel<CharSpan> {
        let drawn = DrawnLabel::new((label.span.file, self.characters(label)))
            .with_order(order as i32)
            .with_priority(primary as i32)
            .with_message(if label.text.is_empty() { "here".to_owned() } else { text::one_line(&label.text) });
        // `ariadne` paints what a label's colour says even when the report has none.
        if self.colour { drawn.with_color(if primary { severity } else { Color::Blue }) } else { drawn }
    }

    /// The characters to underline, where the shown text has them.
    fn characters(&self, label: &Label) -> Range<usize> {
        let whole = self.whole_characters(label);
        match self.excerpts.iter().find(|(file, _)| *file == label.span.file) {
            Some((_, excerpt)) => excerpt.shown(whole.start)..excerpt.shown(whole.end),
            None => whole,
        }
    }

    /// The characters to underline: at least one, which always exists because drawn texts end with a blank.
    fn whole_characters(&self, label: &Label) -> Range<usize> {
        let text = self.sources.text(label.span.file);
        let bytes = text::fit(label.span, text);
        let start = text[..bytes.start].chars().count();
        let length = text[bytes].trim_end_matches(['\n', '\r']).chars().count();
        start..start + length.max(1)
    }

    fn footer(&self, diagnostic: &Diagnostic, margin: usize, out: &mut String) {
        for note in &diagnostic.notes {
            self.remark("note", note, margin, out);
        }
        if let Some(help) = &diagnostic.help {
            self.remark("help", help, margin, out);
        }
        if let Some(fix) = diagnostic.fix.as_ref().filter(|fix| !tells(diagnostic.help.as_deref(), &fix.replacement)) {
            self.remark("fix", &text::fix_in_words(fix, self.sources), margin, out);
        }
        self.remark("see", &format!("clinker explain --code {}", diagnostic.code), margin, out);
    }

    fn remark(&self, kind: &str, remark: &str, margin: usize, out: &mut String) {
        let lines = text::lines(remark);
        let Some((first, rest)) = lines.split_first() else { return };
        let colour = self.colour.then_some(Color::Cyan);
        let _ = writeln!(out, "{:margin$}= {}: {first}", "", kind.fg(colour));
        for line in rest {
            let _ = writeln!(out, "{:width$}{line}", "", width = margin + kind.len() + 4);
        }
    }
}

/// Whether the help already spells the replacement, so that the fix would repeat it.
fn tells(help: Option<&str>, replacement: &str) -> bool {
    help.is_some_and(|help| help.contains(&format!("`{replacement}`")))
}

/// What `ariadne` drew without its first line, its closing line, and the lines that only hold the frame's edge.
fn tighten(drawn: &str) -> String {
    let lines: Vec<_> = drawn.lines().collect();
    let [_first, frame @ .., _closing] = lines.as_slice() else { return String::new() };
    let kept = frame.iter().filter(|line| !matches!(plain(line).trim(), "│" | "┆"));
    kept.flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// How far remarks are indented: to below the frame's edge, where there is a frame.
fn margin(frame: &str) -> usize {
    frame.lines().next().and_then(|line| plain(line).find('╭')).unwrap_or(2)
}

/// A drawn line without its colours.
fn plain(line: &str) -> String {
    let mut pieces = line.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |plain, piece| plain + piece.split_once('m').map_or("", |(_, text)| text))
}

fn severity_colour(severity: Severity) -> Color {
    match severity {
        Severity::Error => Color::Red,
        Severity::Warning => Color::Yellow,
    }
}

/// The texts as they are drawn, made when they are first needed.
struct Cache<'a> {
    sources: &'a SourceMap,
    drawn: Vec<(FileId, Source<String>)>,
    /// Shown in place of the whole texts.
    excerpts: Vec<(FileId, Source<String>)>,
    long: Vec<(FileId, bool)>,
}

impl<'a> Cache<'a> {
    fn new(sources: &'a SourceMap) -> Self {
        Self { sources, drawn: Vec::new(), excerpts: Vec::new(), long: Vec::new() }
    }

    fn has_long_lines(&mut self, file: FileId) -> bool {
        if let Some((_, long)) = self.long.iter().find(|(known, _)| *known == file) {
            return *long;
        }
        let long = Excerpt::is_needed(self.sources.text(file));
        self.long.push((file, long));
        long
    }
}

impl ariadne::Cache<FileId> for Cache<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &FileId) -> Result<&Source<String>, impl std::fmt::Debug> {
        if let Some(position) = self.excerpts.iter().position(|(file, _)| file == id) {
            return Ok(&self.excerpts[position].1);
        }
        let position = match self.drawn.iter().position(|(file, _)| file == id) {
            Some(position) => position,
            None => {
                self.drawn.push((*id, Source::from(drawable(self.sources.text(*id)))));
                self.drawn.len() - 1
            }
        };
        Ok::<_, std::convert::Infallible>(&self.drawn[position].1)
    }

    fn display<'b>(&self, id: &'b FileId) -> Option<impl std::fmt::Display + 'b> {
        Some(text::one_line(self.sources.name(*id)))
    }
}

/// A text that `ariadne` splits into the lines that the source map counts, character for character, with a blank
/// behind it so that the place at its end can be underlined.
fn drawable(text: &str) -> String {
    let mut drawn = String::with_capacity(text.len() + 1);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let kept = matches!(c, '\n' | '\t') || (c == '\r' && characters.peek() == Some(&'\n'));
        drawn.push(if kept { c } else { text::visible(c) });
    }
    drawn.push(' ');
    drawn
}
