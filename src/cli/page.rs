//! A page of the manual as text for a terminal: no marks but backticks, tables as lists, lines of at most [`WIDTH`]
//! characters.
//!
//! It knows the Markdown that the pages of diagnostics are written in: paragraphs, headings of the second level, fenced
//! blocks, lists with `-`, tables, and links.

use std::iter::Peekable;
use std::str::Lines;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The most characters of a line. Fenced blocks are shown as they are.
pub const WIDTH: usize = 100;

/// What stands in front of a line of a fenced block, and of whatever belongs to the first cell of a table's row.
const INDENT: &str = "    ";

/// A part of a page.
enum Block {
    Heading(String),
    Fenced(Vec<String>),
    Item(String),
    /// The cells of the head, and those of each row.
    Table(Vec<String>, Vec<Vec<String>>),
    Paragraph(String),
}

/// A page, without its title, as text.
pub fn for_terminals(markdown: &str) -> String {
    let mut text = String::new();
    let mut behind_item = false;
    for block in blocks(markdown) {
        let is_item = matches!(block, Block::Item(_));
        let stays_close = text.is_empty() || (behind_item && is_item);
        if !stays_close {
            text.push('\n');
        }
        behind_item = is_item;
        print(&block, &mut text);
    }
    text
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            blocks.push(Block::Heading(plain(heading)));
        } else if line.starts_with("```") {
            blocks.push(Block::Fenced(lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect()));
        } else if line.starts_with('|') {
            blocks.push(table(line, &mut lines));
        } else if let Some(item) = line.strip_prefix("- ") {
            blocks.push(Block::Item(paragraph(item, &mut lines)));
        } else if !line.trim().is_empty() {
            blocks.push(Block::Paragraph(paragraph(line, &mut lines)));
        }
    }
    blocks
}

/// A paragraph on one line: its first line, and all up to the next block.
fn paragraph(first: &str, lines: &mut Peekable<Lines<'_>>) -> String {
    let mut text = first.to_owned();
    let goes_on = |line: &&str| {
        let begins_block = ["## ", "```", "|", "- "].iter().any(|mark| line.starts_with(mark));
        !line.trim().is_empty() && !begins_block
    };
    while let Some(line) = lines.next_if(goes_on) {
        text.push(' ');
        text.push_str(line.trim());
    }
    plain(&text)
}

fn table(head: &str, lines: &mut Peekable<Lines<'_>>) -> Block {
    let mut rows = Vec::new();
    while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
        rows.push(cells(line));
    }
    let is_rule = |row: &Vec<String>| row.iter().all(|cell| cell.chars().all(|mark| matches!(mark, '-' | ':')));
    rows.retain(|row| !is_rule(row));
    Block::Table(cells(head), rows)
}

/// The cells of a table's line. A `|` inside of a cell is written as `\|`.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|');
    let line = line.strip_suffix('|').unwrap_or(line).replace("\\|", "\u{0}");
    line.split('|').map(|cell| plain(cell.trim()).replace('\u{0}', "|")).collect()
}

/// A text with the words of its links only.
fn plain(markdown: &str) -> String {
    /// A span of code, which is left as it is, or a link, whose words are the group.
    static CODE_OR_LINK: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"`[^`]*`|\[((?:[^\]`]|`[^`]*`)*)\]\([^)]*\)").expect("the pattern is valid"));
    let words = |found: &Captures<'_>| found.get(1).map_or(&found[0], |words| words.as_str()).to_owned();
    CODE_OR_LINK.replace_all(markdown, words).into_owned()
}

fn print(block: &Block, text: &mut String) {
    match block {
        Block::Heading(heading) => wrap(&format!("{heading}:"), "", "", text),
        Block::Fenced(lines) => {
            for line in lines {
                text.push_str(format!("{INDENT}{line}").trim_end());
                text.push('\n');
            }
        }
        Block::Item(item) => wrap(item, "- ", "  ", text),
        Block::Table(head, rows) => print_table(head, rows, text),
        Block::Paragraph(paragraph) => wrap(paragraph, "", "", text),
    }
}

/// A table as a list of its rows: the first cell, and below it the others, each behind the head of its column.
fn print_table(head: &[String], rows: &[Vec<String>], text: &mut String) {
    for row in rows {
        let Some((first, others)) = row.split_first() else { continue };
        wrap(first, "- ", "  ", text);
        for (head, cell) in head.iter().skip(1).zip(others) {
            let labelled = if head.is_empty() { cell.clone() } else { format!("{head}: {cell}") };
            wrap(&labelled, INDENT, &format!("{INDENT}  "), text);
        }
    }
}

/// Adds a text in lines of at most [`WIDTH`] characters, as far as its words allow, with `first` in front of the first
/// one and `other` in front of the others.
fn wrap(words: &str, first: &str, other: &str, text: &mut String) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in words.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = other.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    text.push_str(&line);
    text.push('\n');
}
