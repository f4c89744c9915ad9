//! The manual holds together: its table of contents lists every page, and every link leads somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::pages;
use crate::support;

#[test]
fn the_summary_lists_every_page_once() {
    let summary = support::path("docs/src/SUMMARY.md");
    let listed: Vec<PathBuf> = links(&summary).into_iter().map(|(path, _)| path).collect();
    let once: BTreeSet<&PathBuf> = listed.iter().collect();
    assert_eq!(listed.len(), once.len(), "a page is listed twice");
    let manual = support::path("docs/src");
    let pages = pages();
    let wanted = pages.iter().filter(|page| page.starts_with(&manual) && **page != summary);
    let missing: Vec<_> = wanted.filter(|page| !once.contains(page)).collect();
    assert!(missing.is_empty(), "docs/src/SUMMARY.md does not list {missing:?}");
}

/// mdBook makes `index.html` of a `README.md`, but leaves the links to it as they are.
#[test]
fn no_page_of_the_manual_links_to_the_first_page_of_a_chapter() {
    let manual = support::path("docs/src");
    for page in pages().iter().filter(|page| page.starts_with(&manual) && !page.ends_with("SUMMARY.md")) {
        let leads_nowhere = links(page).iter().any(|(target, _)| target.ends_with("README.md"));
        assert!(!leads_nowhere, "{} links to a README.md", page.display());
    }
}

#[test]
fn every_link_leads_somewhere() {
    for page in pages() {
        for (target, anchor) in links(&page) {
            assert!(target.exists(), "{}: there is no {}", page.display(), target.display());
            let is_there = anchor.is_empty() || anchors(&target).contains(&anchor);
            assert!(is_there, "{}: {} has no heading #{anchor}", page.display(), target.display());
        }
    }
}

/// The files that a page links to, and the headings in them; without those on the web.
fn links(page: &Path) -> Vec<(PathBuf, String)> {
    let text = prose(page);
    let link = Regex::new(r"\]\(([^)\s]+)\)").expect("the pattern is valid");
    let targets = link.captures_iter(&text).map(|found| found[1].to_owned());
    let mut links = Vec::new();
    for target in targets.filter(|target| !target.contains("://")) {
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let folder = page.parent().expect("a page lies in a folder");
        let file = if file.is_empty() { page.to_path_buf() } else { without_dots(&folder.join(file)) };
        links.push((file, anchor.to_owned()));
    }
    links
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path {
        match part.to_str() {
            Some("..") => assert!(plain.pop(), "{} leads out of the project", path.display()),
            _ => plain.push(part),
        }
    }
    plain
}

/// A page without its fenced blocks and spans of code.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(page).expect("a page is text");
    let code = Regex::new(r"(?ms)^ *```.*?^ *```$|`[^`\n]*`").expect("the pattern is valid");
    code.replace_all(&text, "").into_owned()
}

/// The anchors of a page's headings, as mdBook makes them.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).expect("a page is text");
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|mark| mark.is_alphanumeric() || matches!(mark, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
