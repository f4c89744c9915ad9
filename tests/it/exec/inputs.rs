//! Which files a source reads, and what becomes of columns that no schema declares.

use clinker::exec::{self, Mode, Options};
use clinker::plan::explain::{Input, Sample};

use super::lab::{Lab, Meddler};
use crate::support::assert_snapshot;

fn pipeline(matcher: &str) -> String {
    format!(
        r#"
pipeline: {{ name: files }}
nodes:
  - {{ type: source, name: days, config: {{ type: csv, {matcher}, schema: [ {{ name: n, type: int }} ] }} }}
  - type: transform
    name: place
    input: days
    config: {{ cxl: "emit file = $source.file\nemit row = $source.row" }}
  - {{ type: sink, name: all, input: place, config: {{ type: csv, path: out.csv }} }}
"#
    )
}

#[test]
fn matchers_find_files_in_name_order() {
    let cases = [
        ("path: in/b.csv", "n,file,row\n2,in/b.csv,1\n"),
        ("paths: [in/b.csv, ./in/a.csv, in/b.csv]", "n,file,row\n2,in/b.csv,1\n1,./in/a.csv,2\n2,in/b.csv,3\n"),
        ("glob: in/*.csv", "n,file,row\n9,in/B.csv,1\n1,in/a.csv,2\n10,in/a1.csv,3\n2,in/b.csv,4\n"),
        ("glob: './in/[ab].csv'", "n,file,row\n1,in/a.csv,1\n2,in/b.csv,2\n"),
        ("glob: '**/[ac].csv'", "n,file,row\n1,in/a.csv,1\n3,in/deep/c.csv,2\n"),
        (r#"regex: 'in/[a-z]+\.csv'"#, "n,file,row\n1,in/a.csv,1\n2,in/b.csv,2\n"),
        (r#"regex: '(in/)?deep/c\.csv|in/deep/c\.csv'"#, "n,file,row\n3,in/deep/c.csv,1\n"),
    ];
    for (matcher, expected) in cases {
        let lab = Lab::new(&[
            ("in/a.csv", "n\n1\n"),
            ("in/b.csv", "n\n2\n"),
            ("in/B.csv", "n\n9\n"),
            ("in/a1.csv", "n\n10\n"),
            ("in/.hidden.csv", "n\n4\n"),
            ("in/folder.csv/x", ""),
            ("in/deep/c.csv", "n\n3\n"),
        ]);
        lab.run(&pipeline(matcher)).unwrap_or_else(|failure| panic!("{matcher}: {failure:?}"));
        assert_eq!(lab.read("out.csv"), expected, "{matcher}");
    }
}

/// What a run says whose input becomes this text when the first block is done.
fn failure_of_change(lab: &Lab, pipeline: &str, block_size: usize, (name, text): (&str, &str)) -> String {
    let meddle = Meddler::new(|| lab.write(name, text));
    let options = Options { threads: 1, block_size, ..lab.options.clone() };
    let failure = exec::run(&lab.compile(pipeline).0, &options, &meddle).expect_err("stops");
    assert_eq!(failure.exit_code, 4);
    failure.diagnostic.expect("a reason").message
}

/// All headers are looked at before the first row is read; a file that is replaced after that is not read by the columns
/// of the old one.
#[test]
fn a_file_that_gets_other_columns_during_the_run_stops_it() {
    let headers = [("", "x,y", "y,x"), ("options: { has_header: false },", "1,a", "1,a,b")];
    for (options, before, after) in headers {
        let lab = Lab::new(&[("in/a.csv", &format!("{before}\n1,2\n")), ("in/b.csv", &format!("{before}\n3,4\n"))]);
        let pipeline = format!(
            "pipeline: {{ name: p }}\nnodes:\n  - {{ type: source, name: s, config: {{ type: csv, glob: 'in/*', {options} \
             schema: [ {{ name: x, type: string }}, {{ name: y, type: string }} ] }} }}\n  - {{ type: sink, name: o, \
             input: s, config: {{ type: csv, path: out.csv }} }}\n"
        );
        let message =
            failure_of_change(&lab, &pipeline, lab.options.block_size, ("in/b.csv", &format!("{after}\n3,4\n")));
        assert_eq!(message, "in/b.csv was changed during the run: it has other columns than when the run began");
        assert_eq!(lab.names(), ["in"]);
    }
}

/// What was proven about a file doesn't hold for what is written into it later.
#[test]
fn a_file_that_changes_after_its_order_was_checked_stops_the_run() {
    let pipeline = "pipeline: { name: p }\nnodes:\n  - { type: source, name: s, config: { type: csv, path: in.csv, sort_order: [ x ], \
                    schema: [ { name: x, type: int } ] } }\n  - { type: sink, name: o, input: s, config: { type: csv, path: \
                    out.csv } }\n";
    for changed in ["x\n1\n2\n3\n4\n0\n", "x\n1\n2\n3\n"] {
        let lab = Lab::new(&[("in.csv", "x\n1\n2\n3\n4\n")]);
        let message = failure_of_change(&lab, pipeline, 2, ("in.csv", changed));
        assert_eq!(message, "in.csv was changed during the run: its order was checked before that");
        assert_eq!(lab.names(), ["in.csv"]);
    }
}

/// Rows of a file that is cut short or added to while it is read might be halves of rows.
#[test]
fn a_file_that_is_written_to_while_it_is_read_stops_the_run() {
    let pipeline = "pipeline: { name: p }\nnodes:\n  - { type: source, name: s, config: { type: csv, path: in.csv, schema: \
                    [ { name: x, type: int } ] } }\n  - { type: sink, name: o, input: s, config: { type: csv, path: out.csv } }\n";
    let text = (100..400).fold("x\n".to_owned(), |text, n| text + &format!("{n}\n"));
    for changed in [text[..600].to_owned(), text.clone() + "5"] {
        let lab = Lab::new(&[("in.csv", &text)]);
        let message = failure_of_change(&lab, pipeline, 20, ("in.csv", &changed));
        assert_eq!(message, "in.csv was changed during the run: it was written to while it was read");
        assert_eq!(lab.names(), ["in.csv"]);
    }
}

/// Names that aren't text are names like others, two that look alike are two files, and links count as what they lead
/// to, but for `**`, which could go round in a circle.
#[test]
fn any_name_can_be_matched() {
    use std::os::unix::ffi::OsStrExt;
    let lab = Lab::new(&[("in/deep/a.csv", "n\n1\n"), ("we [ird/b.csv", "n\n2\n")]);
    for (name, text) in [(&b"in/\xff.csv"[..], "n\n3\n"), (b"in/\xfe.csv", "n\n4\n")] {
        std::fs::write(lab.options.base_dir.join(std::ffi::OsStr::from_bytes(name)), text).expect("written");
    }
    std::os::unix::fs::symlink("..", lab.path("in/up")).expect("a link");
    std::os::unix::fs::symlink("deep", lab.path("in/link")).expect("a link");
    std::os::unix::fs::symlink("nowhere.csv", lab.path("in/broken.csv")).expect("a link");
    for (matcher, expected) in [
        ("glob: in/*.csv", "4,3"),
        (r"regex: 'in/[^/]*\.csv'", "4,3"),
        ("glob: in/*/*.csv", "1,1"),
        ("glob: 'in/**/*.csv'", "1,4,3"),
        ("glob: '**/**/?.csv'", "1,4,3,2"),
        ("glob: '*[[]ird/b.csv'", "2"),
    ] {
        lab.run(&pipeline(matcher)).unwrap_or_else(|failure| panic!("{matcher}: {failure:?}"));
        let out = lab.read("out.csv");
        let rows: Vec<_> = out.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        assert_eq!(rows.join(","), expected, "{matcher}: {out}");
        std::fs::remove_file(lab.path("out.csv")).expect("it is there");
    }
}

/// What can't be listed can't be told from what is not there, so it is not passed over in silence.
#[test]
fn folders_that_cannot_be_listed_are_reported() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new(&[("in/a.csv", "n\n1\n"), ("in/closed/b.csv", "n\n2\n")]);
    std::os::unix::fs::symlink("circle", lab.path("circle")).expect("a link");
    assert_snapshot("exec/unlisted_folder", &lab.failure(&pipeline("glob: circle/*.csv")));

    let closed = lab.path("in/closed");
    let permit = |mode| std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    permit(0o000);
    // To some users nothing is closed.
    let is_closed = std::fs::read_dir(&closed).is_err();
    let said = ["glob: 'in/**/*.csv'", "glob: in/closed/*.csv", r"regex: 'in/.*\.csv'", "regex: nothing"]
        .map(|matcher| lab.preflight(&pipeline(matcher), Mode::Run));
    permit(0o755);
    if is_closed {
        let first_words = said.map(|text| text.split(':').next().unwrap_or_default().to_owned());
        assert_eq!(first_words, ["error[E216]", "error[E216]", "warning[W216]", "warning[W216]"]);
    }
}

#[test]
fn missing_inputs_are_warned_of_in_a_check_and_refused_before_a_run() {
    let lab = Lab::new(&[("orders.csv", ""), ("in/x.csv", "")]);
    let mut text = String::new();
    for matcher in [
        "path: order.csv",
        "paths: [in, gone/a.csv]",
        // Short names are all alike, and a name that is asked for already is not another's.
        "paths: [in/y.csv, in/zz.csv, ordres.csv, orders.csv]",
        "path: $HOME/a.csv",
        "path: '${HOME}/a.csv'",
        "path: ~/a.csv",
        "path: cost$.csv",
        "glob: '~/*.csv'",
        "glob: 'in/{x,y}.csv'",
        "glob: 'in/*.txt'",
        "regex: 'nothing'",
    ] {
        for mode in [Mode::Check, Mode::Run] {
            text += &format!("--- {mode:?} {matcher}\n{}\n", lab.preflight(&pipeline(matcher), mode));
        }
        assert_eq!(lab.run(&pipeline(matcher)).expect_err("refused").exit_code, 1);
    }
    assert_snapshot("exec/missing_inputs", &text);
}

/// Estimates rest on the first rows of the largest file; where none can be read, on the sizes alone.
#[test]
fn the_first_rows_of_inputs_are_looked_at() {
    let lab = Lab::new(&[("in/a.csv", "n,x\n1,a\n"), ("in/b.csv", "x,n\n\"b,b\",22\n,3\n")]);
    let look = |matcher: &str| exec::inputs(&lab.compile(&pipeline(matcher)).0, &lab.options).remove("days");
    let sample = Sample { rows: 2, bytes: 12, columns: vec![3], fields: 2, headers: 8 };
    assert_eq!(look("glob: in/*.csv"), Some(Input { bytes: 24, sample: Some(sample.clone()) }));
    let without = Sample { columns: vec![4], headers: 0, rows: 3, bytes: 16, ..sample };
    let input = Input { bytes: 16, sample: Some(without) };
    assert_eq!(look("path: in/b.csv, options: { has_header: false }"), Some(input));
    for unlike in ["n,x\n", "other,x\n1,2\n", "n,x\n\"1,2\n", "\r\n"] {
        lab.write("c.csv", unlike);
        assert_eq!(look("path: c.csv"), Some(Input { bytes: unlike.len() as u64, sample: None }), "{unlike:?}");
    }
    // But for the mark of gzip at its beginning, the file could be read.
    let latin = "path: c.csv, options: { encoding: latin-1 }";
    lab.write("c.csv", b"\x1f\x8c\x08,n\n1,2\n");
    assert!(look(latin).is_some_and(|input| input.sample.is_some()));
    lab.write("c.csv", b"\x1f\x8b\x08,n\n1,2\n");
    assert_eq!(look(latin), Some(Input { bytes: 10, sample: None }));
    lab.write("d.csv", "");
    assert_eq!(look("path: d.csv").or(look("path: e.csv")).or(look("paths: [in/a.csv, e.csv]")), None);
}

/// A compressed file is told from a strange header, whatever it is called and however it is read.
#[test]
fn compressed_files_are_recognised() {
    let lab = Lab::new(&[]);
    let beginnings: [(&str, &[u8]); 5] = [
        ("gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03n"),
        ("zstd", b"\x28\xb5\x2f\xfd\x04\x58"),
        ("xz", b"\xfd7zXZ\0\0"),
        ("bzip2", b"BZh91AY&SY\0\0"),
        ("zip", b"PK\x03\x04\x14\0"),
    ];
    let mut text = String::new();
    for (kind, bytes) in beginnings {
        lab.write("a.csv", bytes);
        for options in ["", ", options: { has_header: false, encoding: latin-1 }"] {
            let failure = lab.failure(&pipeline(&format!("path: a.csv{options}")));
            assert!(failure.starts_with("error[E391]") && failure.contains(kind), "{failure}");
            text += if options.is_empty() { failure.as_str() } else { "" };
        }
    }
    assert_snapshot("exec/compressed_files", &text);
    for mark in [b"\xff\xfe", b"\xfe\xff"] {
        lab.write("a.csv", [mark.as_slice(), b"n\0\n\0"].concat());
        for options in ["", ", options: { encoding: latin-1 }"] {
            let failure = lab.failure(&pipeline(&format!("path: a.csv{options}")));
            assert!(failure.starts_with("error[E391]: a.csv is UTF-16: so its byte order mark says"), "{failure}");
        }
    }
    for start in ["PK", "BZh", "BZh91AY&S", "(5/", "PKW"] {
        lab.write("a.csv", format!("{start},n\nx,1\n"));
        lab.run(&pipeline("path: a.csv")).expect("these are names of columns");
    }
}

#[test]
fn many_files_are_read_one_at_a_time() {
    let lab = Lab::new(&[]);
    for n in 0..3000 {
        lab.write(&format!("in/{n:05}.csv"), format!("n,extra{}\n{n},x\n", n % 3));
    }
    let report = lab.run(&pipeline("glob: in/*.csv")).expect("the run completes");
    assert_eq!((report.total, report.ok), (3000, 3000));
    let out = lab.read("out.csv");
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("n,file,row,extra0,extra1,extra2"));
    assert_eq!(lines.nth(4), Some("4,in/00004.csv,5,,x,"));
}

#[test]
fn carried_columns_are_the_union_of_all_headers() {
    let pipeline = pipeline("paths: [a.csv, b.csv, c.csv]");
    let lab = Lab::new(&[
        ("a.csv", "x,n,y\n\"1,5\",1,\n"),
        ("b.csv", "z,y,n\nzz,yy,2\n\"z\nz\",,3\n"),
        ("c.csv", "n,late\n"), // Its column is there although no row has it.
    ]);
    lab.run(&pipeline).expect("the run completes");
    let expected = "n,file,row,x,y,z,late\n1,a.csv,1,\"1,5\",,,\n2,b.csv,2,,yy,zz,\n3,b.csv,3,,,\"z\nz\",\n";
    assert_eq!(lab.read("out.csv"), expected);
}

#[test]
fn files_without_rows_are_inputs_like_any_other() {
    for rows in ["", "\n\n"] {
        let lab = Lab::new(&[("a.csv", &format!("n{rows}")), ("b.csv", "n\n1\n")]);
        lab.run(&pipeline("paths: [a.csv, b.csv]")).expect("the run completes");
        assert_eq!(lab.read("out.csv"), "n,file,row\n1,b.csv,1\n");
    }
    let lab = Lab::new(&[("a.csv", "")]);
    let headless = pipeline("path: a.csv, options: { has_header: false }");
    assert_eq!(lab.run(&headless).expect("the run completes").total, 0);
    assert_eq!(lab.read("out.csv"), "n,file,row\n");
}

#[test]
fn columns_without_a_header_are_numbered() {
    let lab = Lab::new(&[("a.csv", "1,x,y\n2,\"z\",\n")]);
    lab.run(&pipeline("path: a.csv, options: { has_header: false }")).expect("the run completes");
    assert_eq!(lab.read("out.csv"), "n,file,row,col_1,col_2\n1,a.csv,1,x,y\n2,a.csv,2,z,\n");
}

/// The order of a pipe can't be checked in a first pass: its rows are sorted, unless that is refused.
#[test]
fn the_order_of_a_pipe_is_made_or_refused() {
    for (unsorted, expected) in [("warn", Ok("n\n1\n2\n3\n")), ("error", Err(3))] {
        let lab = Lab::new(&[]);
        let pipe = lab.path("pipe.csv");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        let pipeline = format!(
            "pipeline: {{ name: p }}\nnodes:\n  - {{ type: source, name: s, config: {{ type: csv, path: pipe.csv, sort_order: \
             [ n ], on_unsorted: {unsorted}, schema: [ {{ name: n, type: int }} ] }} }}\n  - {{ type: sink, name: o, input: \
             s, config: {{ type: csv, path: out.csv }} }}\n"
        );
        let writer = std::thread::spawn(move || std::fs::write(pipe, "n\n3\n1\n2\n"));
        let done = lab.run(&pipeline).map(|_| lab.read("out.csv")).map_err(|failure| failure.exit_code);
        writer.join().expect("no panic").expect("written");
        assert_eq!(done, expected.map(str::to_owned), "{unsorted}");
    }
}

#[test]
fn a_pipe_is_read_once() {
    let lab = Lab::new(&[]);
    let pipe = lab.path("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let writer = std::thread::spawn(move || {
        let rows: String = (0..50_000).map(|n| format!("{n}\n")).collect();
        std::fs::write(pipe, format!("n\n{rows}")).expect("somebody reads");
    });
    let report = lab.run(&pipeline("path: pipe.csv")).expect("the run completes");
    writer.join().expect("the writer is done");
    assert_eq!(report.total, 50_000);
}
