//! The program as a user meets it: arguments, texts, exit codes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use clinker::cli::analysis::analysis;
use clinker::cli::page::{WIDTH, for_terminals};
use clinker::cli::summary::summary;
use clinker::diagnostics::Code;
use clinker::exec::spill::Volume;
use clinker::exec::{ConsumerReport, NodeReport, PublishedFile, Report};
use clinker::plan::explain::Estimate;
use clinker::syntax::pipeline::size::parse_size;

use crate::support::{assert_snapshot, root};

#[test]
fn sizes() {
    for (text, bytes) in [
        ("0", 0),
        ("1048576", 1 << 20),
        ("64k", 64 << 10),
        ("512M", 512 << 20),
        (" 2g\t", 2 << 30),
        ("18446744073709551615", u64::MAX),
        ("017", 17),
    ] {
        assert_eq!(parse_size(text), Ok(bytes), "{text:?}");
    }
    for text in
        ["", " ", "M", "4GB", "1.5G", "64 M", "-1", "+1", "1e3", "٣", "18446744073709551616", "17179869184G", "1é"]
    {
        assert!(parse_size(text).is_err(), "{text:?}");
    }
}

/// What the program did.
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Outcome {
    /// Everything in one text, for snapshots.
    fn transcript(&self) -> String {
        let code = self.code.map_or("killed".to_owned(), |code| code.to_string());
        format!("exit code {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }
}

/// Runs the program in the crate's folder.
fn clinker(args: &[&str]) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_clinker"))
        .args(args)
        .current_dir(root())
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn help_texts() {
    for (name, args) in [
        ("help", &["--help"][..]),
        ("help-check", &["check", "--help"]),
        ("help-run", &["run", "--help"]),
        ("help-explain", &["explain", "--help"]),
    ] {
        let outcome = clinker(args);
        assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""), "{args:?}");
        assert_snapshot(&format!("cli/{name}"), &outcome.stdout);
    }
    let version = clinker(&["--version"]);
    assert_eq!((version.code, version.stdout), (Some(0), format!("clinker {}\n", env!("CARGO_PKG_VERSION"))));
}

/// Wrong usage ends with 1, says why on standard error, and does nothing.
#[test]
fn usage_errors() {
    let mut transcript = String::new();
    for args in [
        &[][..],
        &["bogus"],
        &["chekc", "a.yaml"],
        &["sort.yaml"],
        &["run"],
        &["run", "a.yaml", "b.yaml"],
        &["run", "a.yaml", "--bogus"],
        &["run", "a.yaml", "--memory-limt", "1G"],
        &["run", "a.yaml", "--env=prod"],
        &["run", "a.yaml", "--format", "short"],
        &["run", "a.yaml", "-q"],
        &["run", "a.yaml", "-n", "5"],
        &["run", "a.yaml", "--explain", "analyze"],
        &["run", "--explain", "json", "a.yaml"],
        &["--threads", "2", "run", "a.yaml"],
        &["run", "a.yaml", "--threads", "-1"],
        &["run", "a.yaml", "--memory-limit", "-1"],
        &["run", "a.yaml", "--threads", "0"],
        &["run", "a.yaml", "--threads", "many"],
        &["run", "a.yaml", "--memory-limit", "4GB"],
        &["run", "a.yaml", "--memory-limit=-1"],
        &["run", "a.yaml", "--explain=dot"],
        &["run", "a.yaml", "--explain=xml"],
        &["run", "a.yaml", "--explain", "--dry-run"],
        &["run", "a.yaml", "--log-level", "loud"],
        &["run", "a.yaml", "--error-threshold", "0.1"],
        &["run", "a.yaml", "--base-dir", "no/such/folder"],
        &["run", "a.yaml", "--spill-dir", "Cargo.toml"],
        &["check", "a.yaml", "--format", "xml"],
        &["check", "a.yaml", "--memory-limit", "1G"],
        &["check", "a.yaml", "--explain", "json"],
        &["check", "a.yaml", "--base-dir", "no/such/folder"],
        &["explain"],
        &["explain", "--code", "E203", "--list"],
        &["explain", "--code", "E23"],
        &["explain", "--code", "nonsense"],
        &["explain", "nonsense"],
        &["explain", "a.yaml"],
    ] {
        let outcome = clinker(args);
        assert_eq!((outcome.code, &*outcome.stdout), (Some(1), ""), "{args:?}\n{}", outcome.stderr);
        transcript += &format!("$ clinker {}\n{}\n", args.join(" "), outcome.stderr);
    }
    assert_snapshot("cli/usage-errors", &transcript);
}

#[test]
fn a_pipeline_file_that_cannot_be_read() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let latin = folder.path().join("latin.yaml");
    std::fs::write(&latin, b"pipeline:\n  name: caf\xe9\n").expect("the file is written");
    let latin = latin.to_str().expect("the folder's name is text");
    let mut transcript = String::new();
    for args in [&["check", "no.yaml"][..], &["check", "src"], &["check", latin], &["run", "no.yaml"]] {
        let outcome = clinker(args);
        assert_eq!(outcome.code, Some(1), "{args:?}");
        transcript += &format!("$ clinker {}\n{}\n", args.join(" "), outcome.transcript());
    }
    assert_snapshot("cli/unreadable", &transcript.replace(latin, "latin.yaml"));
    let json = clinker(&["check", "no.yaml", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    assert_eq!((json.code, &*json.stderr, &found[0]["code"]), (Some(1), "", &"E000".into()));
}

#[test]
fn explains_every_code() {
    let pages = ["E203", "E310"].map(|code| clinker(&["explain", "--code", code]).transcript());
    assert_snapshot("cli/explain-code", &pages.join("\n"));
    for small in [&["explain", "E203"][..], &["explain", "e203"], &["explain", "--code", "e203"]] {
        assert_eq!(clinker(small).stdout, clinker(&["explain", "--code", "E203"]).stdout);
    }
    let list = clinker(&["explain", "--list"]);
    assert_snapshot("cli/explain-list", &list.transcript());
    for (line, code) in list.stdout.lines().zip(Code::ALL) {
        assert!(line.starts_with(code.as_str()) && line.ends_with(code.title()), "{line}");
    }
    assert_eq!(list.stdout.lines().count(), Code::ALL.len());
}

/// Whatever a page holds, nobody has to scroll to the right, or to read marks that only a browser shows.
#[test]
fn pages_fit_a_terminal() {
    for code in Code::ALL {
        let text = for_terminals(code.page());
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{code}: {line}");
            assert!(!line.contains("](") && !line.starts_with('|') && !line.starts_with("```"), "{code}: {line}");
        }
    }
}

#[test]
fn markdown_becomes_text() {
    let word = "w".repeat(WIDTH + 20);
    for (markdown, text) in [
        ("", ""),
        ("## Two\n\n\none\nline", "Two:\n\none line\n"),
        ("see [`cull`](../nodes/cull.md), [all](a.md#b)", "see `cull`, all\n"),
        ("`a[0](b)` and [b](c", "`a[0](b)` and [b](c\n"),
        ("Text:\n- one\n  more\n- two\n\nend", "Text:\n\n- one more\n- two\n\nend\n"),
        ("```yaml,check=E000\na:\n\n  [b](c)\n```", "    a:\n\n      [b](c)\n"),
        ("| a | b | |\n| --- | :-: | --- |\n| `x\\|y` | | [z](z) |", "- `x|y`\n    b:\n    z\n"),
        (&format!("a {word} b"), &format!("a\n{word}\nb\n")),
    ] {
        assert_eq!(for_terminals(markdown), text, "{markdown}");
    }
    let item = for_terminals(&format!("- {}", "word ".repeat(40)));
    assert!(item.starts_with("- word") && item.lines().skip(1).all(|line| line.starts_with("  word")), "{item}");
}

/// What was asked for and can't be written is an error, as on a full disk; a reader that goes away is not.
#[test]
#[cfg(target_os = "linux")]
fn standard_output_fails() {
    let (folder, _) = sorting(10);
    for line in
        ["explain --list", "explain E203", "check p.yaml --format json", "run p.yaml --explain", "run p.yaml --dry-run"]
    {
        let full = shell(folder.path(), &format!("clinker {line} > /dev/full"));
        assert_eq!(full.code, Some(4), "{line}");
        let said = "error: can't write to standard output: No space left on device";
        assert!(full.stderr.contains(said), "{line}: {}", full.stderr);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_clinker"));
        command.args(line.split(' ')).current_dir(folder.path()).stdout(writer).stderr(Stdio::piped());
        let gone = command.output().expect("the program starts");
        let stderr = String::from_utf8_lossy(&gone.stderr);
        assert_eq!(gone.status.code(), Some(0), "{line}: {stderr}");
        assert!(!stderr.contains("standard output"), "{line}: {stderr}");
    }
    assert!(!folder.path().join("o.csv").exists(), "nothing was run");
}

/// What is listed is what a run then writes, also where names are taken.
#[test]
#[cfg(target_os = "linux")]
fn a_dry_run_lists_the_files_that_a_run_would_write() {
    let (folder, _) = sorting(3);
    let pipeline = folder.path().join("p.yaml");
    let text = std::fs::read_to_string(&pipeline).expect("it is there");
    let text = text.replace("sort_order: [n]", "if_exists: unique_suffix")
        + "error_handling: { strategy: continue, dlq: { path: bad.csv } }\n";
    std::fs::write(&pipeline, text).expect("it is written");
    let listed = |path: &str| format!("A run would write:\n  {path}  (sink o)\n  bad.csv  (dead letters)\n");
    for path in ["o.csv", "o-1.csv", "o-2.csv"] {
        assert_eq!(shell(folder.path(), "clinker run p.yaml --dry-run").stdout, listed(path));
        assert!(!folder.path().join(path).exists(), "nothing was run");
        assert_eq!(shell(folder.path(), "clinker run p.yaml --quiet").code, Some(0));
        assert!(folder.path().join(path).exists(), "{path}");
    }
}

/// The outputs are there, so the exit code is that of the run.
#[test]
#[cfg(target_os = "linux")]
fn a_summary_that_cannot_be_written_is_warned_of() {
    let said = "warning: the run completed and its outputs are published, but the summary can't be written to standard \
                output: No space left on device (os error 28)\n";
    for flags in ["", "--explain=analyze"] {
        let (folder, _) = sorting(10);
        let full = shell(folder.path(), &format!("clinker run p.yaml {flags} > /dev/full"));
        assert_eq!((full.code, &*full.stderr), (Some(0), said), "{flags}");
        assert!(folder.path().join("o.csv").exists());
    }
    let (folder, _) = sorting(10);
    let quiet = shell(folder.path(), "clinker run p.yaml --quiet > /dev/full");
    assert_eq!((quiet.code, &*quiet.stderr), (Some(0), ""));
    let text = std::fs::read_to_string(folder.path().join("p.yaml")).expect("it is there");
    let text = text + "error_handling: { strategy: continue, dlq: { path: bad.csv } }\n";
    std::fs::write(folder.path().join("p.yaml"), text).expect("it is written");
    std::fs::write(folder.path().join("s.csv"), "n\n1\nx\n").expect("it is written");
    let rejected = shell(folder.path(), "clinker run p.yaml > /dev/full");
    assert_eq!((rejected.code, &*rejected.stderr), (Some(2), said));
}

fn node(label: &str, counts: [u64; 6]) -> NodeReport {
    let [rows_in, rows_out, rejected, filtered, duplicates, warned] = counts;
    NodeReport {
        label: label.to_owned(),
        rows_in,
        rows_out,
        removed: None,
        rejected,
        filtered,
        duplicates,
        warned,
        bytes: 0,
        busy: Duration::ZERO,
        peak_reserved: 0,
        spilled: Volume::default(),
    }
}

fn spilling(name: &str, stored: u64, raw: u64) -> ConsumerReport {
    ConsumerReport { name: name.to_owned(), peak_reserved: 0, spilled: Volume { raw, stored } }
}

fn published(path: &str, rows: u64, dead_letters: bool) -> PublishedFile {
    PublishedFile { path: path.to_owned(), rows, dead_letters }
}

#[test]
fn closing_summary() {
    let busy = Report {
        total: 3_367_760,
        ok: 3_279_013,
        made: 24,
        written: 3_300_000,
        dlq: 3,
        nodes: vec![
            node("source.flights", [3_367_760, 3_367_758, 2, 0, 0, 0]),
            node("transform.clean", [3_367_758, 3_300_000, 1, 67_757, 0, 12]),
            node("route.by_delay", [3_300_000, 3_300_000, 0, 0, 0, 0]),
            NodeReport { removed: Some(1_200_000), ..node("cull.gate", [3_300_000, 3_299_990, 10, 0, 0, 0]) },
            node("output.late", [300_000, 300_000, 0, 0, 0, 0]),
            node("output.on_time", [3_000_000, 3_000_000, 0, 0, 0, 0]),
        ],
        outputs: vec![
            published("out/late.csv", 300_000, false),
            published("out/on_time.csv", 3_000_000, false),
            published("dlq.csv", 3, true),
        ],
        warnings: Vec::new(),
        bytes_read: 310 << 20,
        elapsed: Duration::from_millis(1_234),
        peak_reserved: 0,
        consumers: Vec::new(),
    };
    let quiet = Report {
        total: 1,
        ok: 0,
        made: 1,
        written: 0,
        dlq: 1,
        nodes: vec![node("source.s", [1, 1, 0, 0, 0, 0]), node("transform.t", [1, 0, 1, 0, 0, 0])],
        outputs: vec![published("ü.csv", 0, false)],
        bytes_read: 12,
        elapsed: Duration::from_micros(1_530),
        peak_reserved: 2_048,
        consumers: vec![
            spilling("sort.a", 1_234_567, 2_345_678),
            spilling("cull.b", 0, 0),
            spilling("aggregation.long_name", 900, 1_000),
        ],
        ..busy.clone()
    };
    let text =
        format!("{}\n\n{}", summary(&busy, Path::new("jobs"), Some(24 << 20)), summary(&quiet, Path::new("."), None));
    assert_snapshot("cli/summary", &text);
}

/// A run beside its plan: with and without anything on disk, with sizes that were not known.
#[test]
fn run_and_plan() {
    let measured = |label, rows_out, bytes, busy, peak_reserved, raw| NodeReport {
        rows_out,
        bytes,
        busy: Duration::from_micros(busy),
        peak_reserved,
        spilled: Volume { raw, stored: raw / 3 },
        ..node(label, [0; 6])
    };
    let report = Report {
        total: 69_000,
        ok: 100,
        made: 0,
        written: 100,
        dlq: 0,
        nodes: vec![
            measured("source.trips", 69_000, 3_200_000, 120_500, 0, 0),
            measured("sort.__sink_out", 69_000, 5_000_000, 2_300_000, 4 << 20, 5_000_000),
            measured("output.out", 69_000, 0, 0, 0, 0),
        ],
        outputs: Vec::new(),
        warnings: Vec::new(),
        bytes_read: 3_200_000,
        elapsed: Duration::from_secs(1),
        peak_reserved: 4 << 20,
        consumers: Vec::new(),
    };
    let estimate = |rows, at_most, peak, spilled| Estimate {
        rows,
        at_most,
        peak,
        peak_at_most: at_most,
        spilled,
        spilled_at_most: at_most,
    };
    let known = [
        estimate(Some(70_000), false, Some(0), Some(0)),
        estimate(Some(70_000), true, Some(6_000_000), Some(6_000_000)),
        estimate(Some(70_000), true, Some(0), Some(0)),
    ];
    let unknown = [estimate(None, false, Some(0), Some(0)), estimate(None, true, None, None), known[2]];
    let mut resident = report.clone();
    resident.nodes[1].spilled = Volume::default();
    let fits = [known[0], estimate(Some(70_000), true, Some(6_000_000), Some(0)), known[2]];
    let mut removing = resident.clone();
    removing.nodes[1] = NodeReport { label: "cull.gate".into(), removed: Some(1_234), ..removing.nodes[1].clone() };
    let tables = [
        analysis(&report, &known),
        analysis(&report, &unknown),
        analysis(&resident, &fits),
        analysis(&removing, &fits),
    ];
    assert_snapshot("cli/run-and-plan", &tables.concat());
}

/// Rejected rows change the exit code, so something says why, however little is asked for.
#[test]
fn without_a_summary_one_line_still_tells_of_dead_letters() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let file = |name: &str| folder.path().join(name).to_str().expect("its name is text").to_owned();
    let pipeline = |letters: &str| {
        let text = format!(
            "pipeline: {{ name: p }}\nnodes:\n\
             - {{ type: source, name: s, config: {{ type: csv, path: s.csv, schema: [{{ name: n, type: int }}] }} }}\n\
             - {{ type: sink, name: o, input: s, config: {{ type: csv, path: o.csv }} }}\n\
             error_handling: {{ strategy: continue{letters} }}\n"
        );
        std::fs::write(file("p.yaml"), text).expect("the file is written");
    };
    let run = |flags: &[&str]| clinker(&[&["run", &file("p.yaml")], flags].concat());
    pipeline(", dlq: { path: bad.csv }");
    std::fs::write(file("s.csv"), "n\n1\nx\ny\n").expect("the file is written");
    let line = format!("2 rows rejected, see {}\n", file("bad.csv"));
    for (flags, expected) in [
        (&["--quiet"][..], line.as_str()),
        (&["--log-level", "warn"], &line),
        (&["--quiet", "--log-level", "warn"], &line),
        (&["--log-level", "error"], ""),
    ] {
        let outcome = run(flags);
        assert_eq!((outcome.code, &*outcome.stdout, &*outcome.stderr), (Some(2), "", expected), "{flags:?}");
    }
    let full = run(&[]);
    assert!(full.stderr.is_empty() && full.stdout.contains(&line), "{}", full.transcript());
    std::fs::write(file("s.csv"), "n\n1\n").expect("the file is written");
    assert_eq!(run(&["--quiet"]).transcript(), "exit code 0\n--- stdout\n--- stderr\n");
    pipeline("");
    std::fs::write(file("s.csv"), "n\n1\nx\n").expect("the file is written");
    let nowhere = run(&["--quiet"]).stderr;
    let said = "\n1 row rejected, written nowhere: the pipeline has no `error_handling.dlq.path`\n";
    assert!(nowhere.starts_with("warning[W318]") && nowhere.ends_with(said), "{nowhere}");
}

#[test]
fn explain_analyze_runs_and_shows_both() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let pipeline = folder.path().join("p.yaml");
    let text = "pipeline: { name: p, memory: { backpressure: spill } }\nnodes:\n\
        - { type: source, name: s, config: { type: csv, path: s.csv, schema: [{ name: n, type: int }] } }\n\
        - { type: sink, name: o, input: s, config: { type: csv, path: o.csv, sort_order: [n] } }\n";
    std::fs::write(&pipeline, text).expect("the file is written");
    let rows: String = (0..20_000).map(|n| format!("{}\n", n * 7919 % 20_000)).collect();
    std::fs::write(folder.path().join("s.csv"), format!("n\n{rows}")).expect("the file is written");
    let outcome = clinker(&["run", pipeline.to_str().expect("its name is text"), "--explain=analyze"]);
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""));
    let sorted = std::fs::read_to_string(folder.path().join("o.csv")).expect("the run wrote it");
    assert_eq!(sorted.lines().count(), 20_001);
    assert!(outcome.stdout.starts_with("Pipeline complete: 20000 total"), "{}", outcome.stdout);
    let (_, table) = outcome.stdout.split_once("=== Run and Plan ===").expect("it is shown");
    let cells = |label: &str| -> Vec<&str> {
        let line = table.lines().find(|line| line.trim().starts_with(label)).expect("every operator is there");
        line.split_whitespace().collect()
    };
    assert_eq!(&cells("source.s")[1..5], ["20,000", "~", "20,000", "106.3K"], "rows, expected rows, bytes");
    assert!(cells("sort.__sink_o").len() >= 8, "also what it held, and what was expected: {table}");
    let small =
        clinker(&["run", pipeline.to_str().expect("its name is text"), "--explain=analyze", "--memory-limit", "256K"]);
    assert_eq!((small.code, &*small.stderr), (Some(0), ""));
    let (_, spilled) = small.stdout.split_once("=== Spill Volume (actual, per stage) ===\n").expect("it did not fit");
    let lines: Vec<_> = spilled.lines().take(3).collect();
    assert!(lines[0].starts_with("  sort.__sink_o  ") && lines[1].starts_with("  total  "), "{spilled}");
    assert!(small.stdout.contains("spilled  expected"), "{}", small.stdout);
    assert_eq!(std::fs::read_to_string(folder.path().join("o.csv")).expect("the run wrote it"), sorted);
    let quiet = clinker(&["run", pipeline.to_str().expect("its name is text"), "--explain=analyze", "--quiet"]);
    assert_eq!((quiet.code, &*quiet.stderr), (Some(0), ""));
    assert!(quiet.stdout.starts_with("=== Run and Plan ===\n"), "what was asked for, alone: {}", quiet.stdout);
}

/// A pipeline that sorts, in a folder of its own with its input.
#[cfg(target_os = "linux")]
fn sorting(rows: usize) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let pipeline = folder.path().join("p.yaml");
    let text = "pipeline: { name: p, memory: { backpressure: spill } }\nnodes:\n\
        - { type: source, name: s, config: { type: csv, path: s.csv, schema: [{ name: n, type: int }] } }\n\
        - { type: sink, name: o, input: s, config: { type: csv, path: o.csv, sort_order: [n] } }\n";
    std::fs::write(&pipeline, text).expect("the file is written");
    let rows: String = (0..rows).map(|n| format!("{}\n", n * 7919 % rows)).collect();
    std::fs::write(folder.path().join("s.csv"), format!("n\n{rows}")).expect("the file is written");
    let name = pipeline.to_str().expect("its name is text").to_owned();
    (folder, name)
}

/// Runs a line of the shell, in which `clinker` is the program. The folder is named the same in what it gives.
#[cfg(target_os = "linux")]
fn shell(folder: &Path, line: &str) -> Outcome {
    let output = Command::new("sh")
        .args(["-c", &line.replace("clinker", env!("CARGO_BIN_EXE_clinker"))])
        .current_dir(folder)
        .output()
        .expect("there is a shell");
    let text = |bytes| String::from_utf8_lossy(bytes).replace(&folder.display().to_string(), "<folder>");
    Outcome { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// A plan that may put rows on disk needs a folder for them, whether or not it comes to that.
#[test]
#[cfg(target_os = "linux")]
fn a_spill_folder_is_tried_before_the_run() {
    let (folder, _) = sorting(10);
    let missing = shell(folder.path(), "TMPDIR=no/such/folder clinker run p.yaml");
    assert_eq!((missing.code, &*missing.stdout), (Some(4), ""));
    let named = shell(folder.path(), "clinker run p.yaml --spill-dir /proc");
    assert_eq!((named.code, &*named.stdout), (Some(4), ""));
    assert_snapshot("cli/spill-folder", &(missing.stderr + &named.stderr));
    let unnamed = shell(folder.path(), "TMPDIR= clinker run p.yaml --explain");
    assert!(unnamed.stdout.contains("in /tmp, "), "{}", unnamed.stdout);
    assert!(!folder.path().join("o.csv").exists(), "nothing was written");
    let streaming = std::fs::read_to_string(folder.path().join("p.yaml")).expect("it is there");
    std::fs::write(folder.path().join("p.yaml"), streaming.replace(", sort_order: [n]", "")).expect("it is written");
    assert_eq!(shell(folder.path(), "TMPDIR=no/such/folder clinker run p.yaml").code, Some(0), "nothing can spill");
}

/// What the system doesn't let a process do says which of its limits that is.
#[test]
#[cfg(target_os = "linux")]
fn limits_of_the_system_are_named() {
    let (folder, _) = sorting(200_000);
    let run = "clinker run p.yaml --threads 1 --memory-limit 256K";
    let large = shell(folder.path(), &format!("ulimit -f 100; {run}"));
    assert_eq!(large.code, Some(4));
    assert!(large.stderr.starts_with("error[E320]: ") && large.stderr.contains(": File too large"), "{}", large.stderr);
    assert!(large.stderr.contains("`ulimit -f`"), "{}", large.stderr);
    let sink = |n| format!("- {{ type: sink, name: o{n}, input: s, config: {{ type: csv, path: o{n}.csv }} }}\n");
    let text = std::fs::read_to_string(folder.path().join("p.yaml")).expect("it is there");
    std::fs::write(folder.path().join("p.yaml"), text + &(0..60).map(sink).collect::<String>()).expect("written");
    let many = shell(folder.path(), &format!("ulimit -n 40; {run}"));
    assert_eq!(many.code, Some(4));
    for part in
        ["error[E394]: o", "Too many open files", "62 files are open at once to be written: 61 outputs", "`ulimit -n`"]
    {
        assert!(many.stderr.contains(part), "{part}: {}", many.stderr);
    }
}

/// A limit that no run can keep is refused wherever it is met, always in the same words.
#[test]
#[cfg(target_os = "linux")]
fn a_limit_that_is_too_low_is_always_refused() {
    let (folder, _) = sorting(10);
    let text = std::fs::read_to_string(folder.path().join("p.yaml")).expect("it is there");
    std::fs::write(folder.path().join("p.yaml"), text.replace("backpressure: spill", "limit: 1K")).expect("written");
    let figures =
        |text: &str| regex::Regex::new(r"own size of \d+M").expect("valid").replace(text, "own size of <n>M").into();
    let transcript = |line: &str| {
        let outcomes: Vec<Outcome> = (0..5).map(|_| shell(folder.path(), line)).collect();
        assert!(outcomes.iter().all(|outcome| outcome.code == Some(1)), "{line}");
        assert!(outcomes.windows(2).all(|pair| pair[0].stderr == pair[1].stderr), "{line}: {}", outcomes[0].stderr);
        let shown: String = figures(&outcomes[0].stderr);
        format!("$ {line}\n{shown}\n")
    };
    let lines = [
        "clinker check p.yaml",
        "clinker run p.yaml --dry-run",
        "clinker run p.yaml",
        "clinker run p.yaml --memory-limit 0",
    ];
    assert_snapshot("cli/limit-too-low", &lines.map(transcript).concat());
}
