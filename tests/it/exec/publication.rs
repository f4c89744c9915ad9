//! All or nothing: interrupted, failed and killed runs, and what the next run finds.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clinker::exec::Observer;

use super::lab::{Lab, Meddler};

const PIPELINE: &str = r#"
pipeline: { name: two_files }
nodes:
  - { type: source, name: rows, config: { type: csv, path: in.csv, schema: [ { name: n, type: int } ] } }
  - { type: sink, name: one, input: rows, config: { type: csv, path: one.csv } }
  - { type: sink, name: two, input: rows, config: { type: csv, path: two.csv } }
"#;

fn lab() -> Lab {
    let rows: String = (0..200).map(|n| format!("{n}\n")).collect();
    let mut lab = Lab::new(&[("in.csv", &format!("n\n{rows}")), ("one.csv", "old one\n"), ("two.csv", "old two\n")]);
    lab.options.block_size = 50;
    lab
}

fn assert_untouched(lab: &Lab) {
    assert_eq!(lab.read("one.csv"), "old one\n");
    assert_eq!(lab.read("two.csv"), "old two\n");
    assert_eq!(lab.names(), ["in.csv", "one.csv", "two.csv"]);
}

fn assert_published(lab: &Lab) {
    assert_eq!(lab.read("one.csv").lines().count(), 201);
    assert_eq!(lab.read("one.csv"), lab.read("two.csv"));
    assert_eq!(lab.names(), ["in.csv", "one.csv", "two.csv"]);
}

#[test]
fn an_interrupted_run_changes_nothing() {
    #[derive(Default)]
    struct Impatient(AtomicBool);
    impl Observer for Impatient {
        fn progress(&self, rows: u64, _: u64, _: u64) {
            self.0.fetch_or(rows >= 20, Ordering::Relaxed);
        }
        fn interrupted(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }
    for threads in [1, 5] {
        let mut lab = lab();
        lab.options.threads = threads;
        let failure = lab.run_observed(PIPELINE, &Impatient::default()).expect_err("interrupted");
        assert_eq!((failure.exit_code, failure.diagnostic), (130, None));
        assert_untouched(&lab);
    }
}

#[test]
fn a_rename_that_fails_undoes_those_before_it() {
    for first_is_new in [false, true] {
        let lab = lab();
        if first_is_new {
            std::fs::remove_file(lab.path("one.csv")).expect("it is there");
        }
        // A folder takes the second output's place while the run goes on.
        let meddle = || {
            std::fs::remove_file(lab.path("two.csv")).expect("it is there");
            std::fs::create_dir(lab.path("two.csv")).expect("the place is free");
        };
        let failure = lab.run_observed(PIPELINE, &Meddler::new(meddle)).expect_err("fails");
        assert_eq!(failure.exit_code, 4);
        let message = failure.diagnostic.expect("a reason").message;
        assert!(message.starts_with("two.csv can't be written"), "{message}");
        if first_is_new {
            assert_eq!(lab.names(), ["in.csv", "two.csv"]);
        } else {
            assert_eq!(lab.read("one.csv"), "old one\n");
            assert_eq!(lab.names(), ["in.csv", "one.csv", "two.csv"]);
        }
    }
}

const ID: &str = "0123456789abcdef0123456789abcdef";

/// What a run leaves behind that is killed between the renames of two outputs: the first is in place.
fn killed_between_renames(lab: &Lab, then: &str) {
    let folder = lab.options.base_dir.display().to_string();
    let hidden = |name: &str, number: u32, suffix: &str| format!("{folder}/.{name}.clinker-{ID}-{number}.{suffix}");
    let moves = ["one.csv", "two.csv"].map(|name| {
        let (from, kept) = (hidden(name, 1, "tmp"), hidden(name, 2, "bak"));
        format!(r#"{{"from":"{from}","bytes":8,"to":"{folder}/{name}","replaces":true,"kept":"{kept}"}}"#)
    });
    lab.write(&format!(".clinker-{ID}.run"), format!("{{\"moves\":[{}]}}\n{then}", moves.join(",")));
    std::fs::rename(lab.path("one.csv"), hidden("one.csv", 2, "bak")).expect("kept");
    lab.write("one.csv", "new one\n");
    std::fs::write(hidden("two.csv", 1, "tmp"), "new two\n").expect("still hidden");
}

/// A pipeline that writes to the same folder and changes neither of the two files.
const OTHER: &str = r#"
pipeline: { name: other }
nodes:
  - { type: source, name: rows, config: { type: csv, path: in.csv, schema: [ { name: n, type: int } ] } }
  - { type: sink, name: three, input: rows, config: { type: csv, path: three.csv } }
"#;

#[test]
fn the_next_run_completes_what_a_killed_one_had_begun_to_publish() {
    let lab = lab();
    killed_between_renames(&lab, "");
    lab.run(OTHER).expect("the run completes");
    assert_eq!((lab.read("one.csv"), lab.read("two.csv")), ("new one\n".into(), "new two\n".into()));
    assert_eq!(lab.names(), ["in.csv", "one.csv", "three.csv", "two.csv"]);
}

#[test]
fn the_next_run_completes_the_undoing_of_a_killed_one() {
    let lab = lab();
    killed_between_renames(&lab, "withdrawn\n");
    lab.run(OTHER).expect("the run completes");
    assert_eq!((lab.read("one.csv"), lab.read("two.csv")), ("old one\n".into(), "old two\n".into()));
    assert_eq!(lab.names(), ["in.csv", "one.csv", "three.csv", "two.csv"]);
    // The same, but the first file is back already.
    killed_between_renames(&lab, "withdrawn\n");
    std::fs::rename(lab.path(&format!(".one.csv.clinker-{ID}-2.bak")), lab.path("one.csv")).expect("undone");
    lab.run(OTHER).expect("the run completes");
    assert_eq!((lab.read("one.csv"), lab.read("two.csv")), ("old one\n".into(), "old two\n".into()));
    assert_eq!(lab.names(), ["in.csv", "one.csv", "three.csv", "two.csv"]);
}

/// A power failure can leave the list and lose what was written before it.
#[test]
fn a_hidden_file_that_is_not_whole_is_never_published() {
    let lab = lab();
    killed_between_renames(&lab, "");
    lab.write(&format!(".two.csv.clinker-{ID}-1.tmp"), "new");
    lab.run(OTHER).expect("the run completes");
    assert_eq!((lab.read("one.csv"), lab.read("two.csv")), ("old one\n".into(), "old two\n".into()));
    assert_eq!(lab.names(), ["in.csv", "one.csv", "three.csv", "two.csv"]);
}

#[test]
fn leftovers_of_killed_runs_are_removed() {
    let lab = lab();
    let leftovers = [
        format!(".clinker-{ID}.run"),
        format!(".one.csv.clinker-{ID}-1.tmp"),
        format!(".two.csv.clinker-{ID}-4.bak"),
        // One whose run file is gone already.
        ".two.csv.clinker-ffffffffffffffffffffffffffffffff-1.tmp".to_string(),
    ];
    leftovers.iter().for_each(|name| lab.write(name, "half a line"));
    let others =
        [".clinker-notes.run", ".one.csv.clinker-12-1.tmp", "x.clinker-0123456789abcdef0123456789abcdef-1.tmp"];
    others.iter().for_each(|name| lab.write(name, "somebody else's"));
    lab.run(PIPELINE).expect("the run completes");
    assert_eq!(lab.names(), [others[0], others[1], "in.csv", "one.csv", "two.csv", others[2]]);
}

#[test]
fn files_of_a_living_run_are_left_alone() {
    let lab = lab();
    killed_between_renames(&lab, "");
    let owner = File::options().read(true).write(true).open(lab.path(&format!(".clinker-{ID}.run"))).expect("there");
    owner.lock().expect("nobody else has it");
    let before = lab.names();
    lab.run(OTHER).expect("the run completes");
    assert_eq!(lab.read("two.csv"), "old two\n");
    assert_eq!(lab.names().len(), before.len() + 1);
    drop(owner);
    lab.run(OTHER).expect("the run completes");
    assert_eq!(lab.read("two.csv"), "new two\n");
}

#[test]
fn runs_side_by_side_do_not_disturb_each_other() {
    let lab = lab();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| lab.run(PIPELINE).expect("the run completes"));
        }
    });
    assert_published(&lab);
}

/// Readers that have the old file open go on reading it: the new one is another file.
#[test]
fn outputs_are_replaced_not_rewritten() {
    let lab = lab();
    let before = std::fs::metadata(lab.path("one.csv")).expect("there").ino();
    let meddle = || assert_eq!(lab.read("one.csv"), "old one\n");
    lab.run_observed(PIPELINE, &Meddler::new(meddle)).expect("the run completes");
    assert_ne!(std::fs::metadata(lab.path("one.csv")).expect("there").ino(), before);
    assert_published(&lab);
}

/// The program itself, in the lab's folder.
fn program(lab: &Lab, shell: &str) -> Command {
    lab.write("pipeline.yaml", PIPELINE);
    let mut command = Command::new("sh");
    command.args(["-c", shell, "sh", env!("CARGO_BIN_EXE_clinker"), "run", "pipeline.yaml"]);
    command.current_dir(&lab.options.base_dir).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

#[test]
fn a_write_that_fails_stops_the_run() {
    let lab = lab();
    lab.write("in.csv", format!("n\n{}", "1234567\n".repeat(50_000)));
    // The system refuses to let a file grow beyond 64 blocks, as a full disk would.
    let limited = program(&lab, "ulimit -f 64; exec \"$@\"").output().expect("sh runs");
    let said = String::from_utf8_lossy(&limited.stderr);
    assert_eq!(limited.status.code(), Some(4), "{said}");
    assert!(said.contains("error[E394]: one.csv can't be written on after "), "{said}");
    std::fs::remove_file(lab.path("pipeline.yaml")).expect("it is there");
    assert_untouched(&lab);
}

#[test]
fn threads_that_the_system_refuses_are_done_without() {
    let lab = lab();
    // There is no room for the stacks of so many.
    let limited = program(&lab, "ulimit -v 1000000; exec \"$@\" --threads 1024").output().expect("sh runs");
    assert_eq!(limited.status.code(), Some(0), "{}", String::from_utf8_lossy(&limited.stderr));
    std::fs::remove_file(lab.path("pipeline.yaml")).expect("it is there");
    assert_published(&lab);
}

#[test]
fn an_output_that_is_a_link_is_written_where_it_leads() {
    let lab = lab();
    std::fs::remove_file(lab.path("one.csv")).expect("it is there");
    std::fs::create_dir(lab.path("elsewhere")).expect("a folder");
    std::os::unix::fs::symlink("elsewhere/new.csv", lab.path("one.csv")).expect("a link");
    for _ in ["the file is not there yet", "it is there"] {
        lab.run(PIPELINE).expect("the run completes");
        assert!(lab.path("one.csv").is_symlink());
        assert_eq!(lab.read("elsewhere/new.csv").lines().count(), 201);
    }
    // Both outputs would be one file.
    std::fs::remove_file(lab.path("two.csv")).expect("it is there");
    std::os::unix::fs::symlink("one.csv", lab.path("two.csv")).expect("a link");
    std::fs::remove_file(lab.path("elsewhere/new.csv")).expect("it is there");
    assert!(lab.failure(PIPELINE).contains("would write one file"), "{}", lab.failure(PIPELINE));
    // A link that leads to itself.
    std::fs::remove_file(lab.path("two.csv")).expect("it is there");
    std::os::unix::fs::symlink("two.csv", lab.path("two.csv")).expect("a link");
    assert!(lab.failure(PIPELINE).contains("two.csv is a link that leads nowhere"), "{}", lab.failure(PIPELINE));
}

/// The program while it reads from a pipe, its hidden files made, and the pipe's other end.
fn halfway(lab: &Lab) -> (Child, File) {
    std::fs::remove_file(lab.path("in.csv")).expect("it is there");
    assert!(Command::new("mkfifo").arg(lab.path("in.csv")).status().expect("mkfifo runs").success());
    let mut child = program(lab, "exec \"$@\"").spawn().expect("sh runs");
    // Opening waits for the reader, which then waits for rows.
    let mut pipe = File::options().write(true).open(lab.path("in.csv")).expect("a pipe");
    pipe.write_all(b"n\n1\n").expect("somebody reads");
    while lab.names().iter().filter(|name| name.ends_with(".tmp")).count() < 2 {
        std::thread::sleep(Duration::from_millis(5));
        assert!(child.try_wait().expect("a child").is_none(), "the run goes on");
    }
    (child, pipe)
}

#[test]
fn a_signal_ends_a_run_between_two_blocks() {
    let signals = [("-INT", 130), ("-TERM", 130), ("-HUP", 129), ("-QUIT", 131)];
    // Who was started to outlive the terminal passes that on to its children.
    let listens = |signal| !matches!((signal, ignored()), ("-HUP", [true, _]) | ("-QUIT", [_, true]));
    for (signal, code) in signals.into_iter().filter(|(signal, _)| listens(*signal)) {
        let lab = lab();
        let (child, mut pipe) = halfway(&lab);
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        // The run looks up when it has a block; when it is over nobody reads any more.
        while pipe.write_all(&b"2\n".repeat(10_000)).is_ok() {}
        let output = child.wait_with_output().expect("a child");
        assert_eq!(output.status.code(), Some(code), "{signal}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "run interrupted: nothing was published\n");
        for name in ["in.csv", "pipeline.yaml"] {
            std::fs::remove_file(lab.path(name)).expect("it is there");
        }
        assert_eq!((lab.read("one.csv"), lab.read("two.csv")), ("old one\n".into(), "old two\n".into()));
        assert_eq!(lab.names(), ["one.csv", "two.csv"], "nothing hidden is left behind");
    }
}

/// Whether this process ignores SIGHUP and SIGQUIT, the first and the third bit of the mask.
fn ignored() -> [bool; 2] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    [0, 2].map(|bit| mask >> bit & 1 == 1)
}

#[test]
fn a_run_may_outlive_its_terminal() {
    let lab = lab();
    std::fs::remove_file(lab.path("in.csv")).expect("it is there");
    assert!(Command::new("mkfifo").arg(lab.path("in.csv")).status().expect("mkfifo runs").success());
    let child = program(&lab, "trap '' HUP QUIT; exec \"$@\"").spawn().expect("sh runs");
    let mut pipe = File::options().write(true).open(lab.path("in.csv")).expect("a pipe");
    pipe.write_all(b"n\n1\n").expect("somebody reads");
    for signal in ["-HUP", "-QUIT"] {
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    }
    pipe.write_all(b"2\n").expect("somebody still reads");
    drop(pipe);
    assert!(child.wait_with_output().expect("a child").status.success());
    assert_eq!(lab.read("one.csv"), "n\n1\n2\n");
}

#[test]
fn a_killed_run_changes_nothing_and_the_next_run_clears_up() {
    let lab = lab();
    let (mut killed, _pipe) = halfway(&lab);
    killed.kill().and_then(|()| killed.wait()).expect("killed");
    assert_eq!((lab.read("one.csv"), lab.read("two.csv")), ("old one\n".into(), "old two\n".into()));
    for name in ["in.csv", "pipeline.yaml"] {
        std::fs::remove_file(lab.path(name)).expect("it is there");
    }
    assert_eq!(lab.names().iter().filter(|name| name.contains(".clinker-")).count(), 3);
    lab.write("in.csv", "n\n1\n");
    lab.run(PIPELINE).expect("the run completes");
    assert_eq!((lab.read("one.csv"), lab.read("two.csv")), ("n\n1\n".into(), "n\n1\n".into()));
    assert_eq!(lab.names(), ["in.csv", "one.csv", "two.csv"]);
}
