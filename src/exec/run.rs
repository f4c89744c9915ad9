//! A whole run: look around, open the inputs, run the stages in order, publish.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use super::dlq::{LetterFile, start_files};
use super::eval::Constants;
use super::memory::{self, Arbitrator};
use super::operators::{Counts, RunContext, Tree};
use super::publish::{self, Destination, Output, Purpose, Workspace};
use super::sources::{self, CarriedNames, OpenSource, Source};
use super::stages::{self, Finisher, Progress, StageTotals};
use super::{Failure, Mode, NodeReport, Observer, Options, PublishedFile, Report};
use crate::analysis::hir::{Backpressure, Rate};
use crate::diagnostics::{Code, Diagnostic, Severity, Span};
use crate::plan::explain::layout::size;
use crate::plan::physical::{OperatorId, OperatorKind, PhysicalPlan, Stage};

/// What a plan finds around it.
pub(super) struct Surroundings<'p> {
    /// Its sources with their files.
    sources: Vec<Source<'p>>,
    /// Where its outputs go.
    destinations: Vec<Destination>,
    /// What is wrong.
    pub findings: Vec<Diagnostic>,
}

impl<'p> Surroundings<'p> {
    /// Looks, without reading or writing a file.
    pub fn look(plan: &'p PhysicalPlan, options: &Options, mode: Mode) -> Self {
        let mut sources = sources::of_plan(plan);
        let mut findings = Vec::new();
        for source in &mut sources {
            findings.extend(sources::resolve(source, &options.base_dir, mode));
        }
        let (destinations, refused) = publish::destinations(plan, options, &sources);
        findings.extend(refused);
        if mode == Mode::Run {
            findings.extend(limit_too_low(plan));
        }
        Self { sources, destinations, findings }
    }
}

/// A limit below what the program itself takes can't be kept. Under `spill` the limit may be any.
fn limit_too_low(plan: &PhysicalPlan) -> Option<Diagnostic> {
    let limit = plan.settings.memory_limit;
    let resident = memory::resident().filter(|resident| *resident > limit)?;
    let checked = plan.settings.backpressure != Backpressure::Spill;
    checked.then(|| {
        let (limit, resident) = (size(limit), size(resident));
        let message = format!("the memory limit of {limit} is below the program's own size of {resident}");
        Diagnostic::error(Code::E312, message)
            .help("raise `memory.limit` (or run with `--memory-limit`); `backpressure: spill` skips this check")
    })
}

/// Runs a plan.
pub(super) fn run(plan: &PhysicalPlan, options: &Options, observer: &dyn Observer) -> Result<Report, Failure> {
    let started = Instant::now();
    let Surroundings { sources, destinations, findings } = Surroundings::look(plan, options, Mode::Run);
    if let Some(error) = findings.into_iter().find(|finding| finding.severity == Severity::Error) {
        return Err(Failure::new(error, 1));
    }
    let id = Uuid::now_v7();
    let arbitrator = Arbitrator::new(plan.settings.memory_limit, plan.consumers.iter().map(|c| c.name.clone()));
    // What a killed run left half done may be an input of this one, so it is completed first.
    let mut workspace = Workspace::open(&id.simple().to_string(), &destinations)?;
    let mut names = CarriedNames::default();
    let sources = sources::open_all(sources, &mut names, options.block_size)?;
    let constants = Arc::new(constants(plan, options, &id, &sources));
    let outputs = Outputs::create(plan, &destinations, &mut workspace)?;
    let mut run = Run { plan, options, observer, arbitrator: &arbitrator, constants, names, sources, outputs };
    let totals = match run.stages().and_then(|totals| check_rates(plan, &totals).map(|()| totals)) {
        Ok(totals) => totals,
        Err(failure) => return Err(run.outputs.keep_letters(failure)),
    };
    if observer.interrupted() {
        return Err(Failure::interrupted());
    }
    workspace.publish(&mut run.outputs.all())?;
    let mut report = run.report(totals);
    report.elapsed = started.elapsed();
    Ok(report)
}

fn constants(plan: &PhysicalPlan, options: &Options, id: &Uuid, sources: &[OpenSource<'_>]) -> Constants {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let files = |source: &OpenSource<'_>| source.source.files.iter().map(|file| file.display.clone()).collect();
    Constants {
        pipeline_name: plan.name.clone(),
        execution_id: id.to_string(),
        batch_id: options.batch_id.clone().unwrap_or_else(|| Uuid::now_v7().to_string()),
        start_time: since_1970.as_nanos() as i128,
        vars: plan.vars.iter().map(|var| var.value.clone()).collect(),
        source_names: sources.iter().map(|source| source.source.operator.name.clone()).collect(),
        source_files: sources.iter().map(files).collect(),
    }
}

/// A run on its way.
struct Run<'p> {
    plan: &'p PhysicalPlan,
    options: &'p Options,
    observer: &'p dyn Observer,
    arbitrator: &'p Arbitrator,
    constants: Arc<Constants>,
    names: CarriedNames,
    sources: Vec<OpenSource<'p>>,
    outputs: Outputs,
}

/// What a stage did, and its warnings.
struct StageOutcome {
    driver: OperatorId,
    operators: Vec<OperatorId>,
    totals: StageTotals,
}

impl<'p> Run<'p> {
    fn stages(&mut self) -> Result<Vec<StageOutcome>, Failure> {
        let expected = self.sources.iter().flat_map(|source| &source.source.files).map(|file| file.bytes).sum();
        let mut before = Progress { expected, ..Progress::default() };
        let mut outcomes = Vec::new();
        for stage in &self.plan.stages {
            let totals = self.stage(stage, before)?;
            before.rows += totals.records;
            before.bytes += totals.bytes;
            outcomes.push(StageOutcome { driver: stage.driver, operators: stage.operators.clone(), totals });
        }
        Ok(outcomes)
    }

    fn stage(&mut self, stage: &'p Stage, before: Progress) -> Result<StageTotals, Failure> {
        let (plan, names) = (self.plan, &mut self.names);
        let constants = Arc::clone(&self.constants);
        let mut context = RunContext { plan, sources: &self.sources, names, constants, arbitrator: self.arbitrator };
        let tree = Tree::new(stage, &mut context);
        let position = self.sources.iter().position(|source| source.source.id == stage.driver);
        let source = &mut self.sources[position.expect("a stage is driven by a source of the plan")];
        let files = std::mem::take(&mut source.files);
        let (mut outputs, letters) = self.outputs.of(plan, stage);
        for ((_, columns), output) in tree.sinks.iter().zip(&mut outputs) {
            output.write(&columns.header)?;
        }
        let finisher = Finisher::new(&tree, &source.source, outputs, letters, self.observer, before);
        let mut totals = stages::run(&tree, &source.source, files, finisher, self.options, self.observer)?;
        totals.warnings.extend(tree.sinks.into_iter().flat_map(|(_, columns)| columns.warnings));
        Ok(totals)
    }

    fn report(self, outcomes: Vec<StageOutcome>) -> Report {
        let counts = |id: OperatorId| {
            let stage = outcomes.iter().find_map(|o| Some((o, o.operators.iter().position(|other| *other == id)?)));
            stage.map(|(outcome, position)| outcome.totals.counts[position]).unwrap_or_default()
        };
        let sinks = self.outputs.sinks.iter().map(|(id, output)| published(output, counts(*id).rows_out, false));
        let letters = self.outputs.letters.iter().map(|file| published(&file.output, file.rows, true));
        let sum = |of: fn(&StageTotals) -> u64| outcomes.iter().map(|outcome| of(&outcome.totals)).sum();
        Report {
            total: sum(|totals| totals.records),
            ok: sum(|totals| totals.ok),
            written: self.outputs.sinks.iter().map(|(id, _)| counts(*id).rows_out).sum(),
            dlq: sum(|totals| totals.letters),
            nodes: self.plan.operators().map(|(id, operator)| node_report(operator.label(), counts(id))).collect(),
            outputs: sinks.chain(letters).collect(),
            bytes_read: sum(|totals| totals.bytes),
            elapsed: Default::default(),
            peak_reserved: self.arbitrator.peak(),
            warnings: outcomes.into_iter().flat_map(|outcome| outcome.totals.warnings).collect(),
        }
    }
}

fn published(output: &Output, rows: u64, dead_letters: bool) -> PublishedFile {
    PublishedFile { path: output.display().to_string(), rows, dead_letters }
}

fn node_report(label: String, counts: Counts) -> NodeReport {
    let Counts { rows_in, rows_out, rejected, filtered, duplicates, warned } = counts;
    NodeReport { label, rows_in, rows_out, rejected, filtered, duplicates, warned }
}

/// Every file that a run writes.
struct Outputs {
    sinks: Vec<(OperatorId, Output)>,
    letters: Vec<LetterFile>,
}

impl Outputs {
    fn create(plan: &PhysicalPlan, destinations: &[Destination], workspace: &mut Workspace) -> Result<Self, Failure> {
        let mut of = |purpose| {
            let wanted = destinations.iter().filter(move |destination| destination.purpose == purpose);
            wanted.map(|destination| workspace.create(destination)).collect::<Result<Vec<_>, _>>()
        };
        let sinks = plan.operators().filter(|(_, operator)| matches!(operator.kind, OperatorKind::Sink(_)));
        let sinks = sinks.map(|(id, _)| id).zip(of(Purpose::Sink)?).collect();
        Ok(Self { sinks, letters: start_files(&plan.dead_letters, of(Purpose::DeadLetters)?)? })
    }

    /// What a stage writes: the files of its sinks, in plan order, and the file of its dead letters.
    fn of(&mut self, plan: &PhysicalPlan, stage: &Stage) -> (Vec<&mut Output>, Option<&mut LetterFile>) {
        let sinks = self.sinks.iter_mut().filter(|(id, _)| stage.operators.contains(id));
        let route = plan.dead_letters.routes.iter().find(|(source, _)| *source == stage.driver);
        let letters = route.and_then(|(_, file)| *file).and_then(|file| self.letters.get_mut(file));
        (sinks.map(|(_, output)| output).collect(), letters)
    }

    fn all(&mut self) -> Vec<&mut Output> {
        let sinks = self.sinks.iter_mut().map(|(_, output)| output);
        sinks.chain(self.letters.iter_mut().map(|file| &mut file.output)).collect()
    }

    /// After a run that stopped for too many bad rows: keeps the dead letters so far for whoever looks into it.
    fn keep_letters(&mut self, mut failure: Failure) -> Failure {
        let Some(diagnostic) = failure.diagnostic.take() else { return failure };
        if !matches!(diagnostic.code, Code::E315 | Code::E316 | Code::E368) {
            return Failure { diagnostic: Some(diagnostic), ..failure };
        }
        let mut written: Vec<_> =
            self.letters.iter_mut().filter(|file| file.rows > 0).map(|file| &mut file.output).collect();
        let kept = publish::keep_as_failed(&mut written);
        let notes = kept.iter().map(|path| format!("the dead letters so far are in {path}"));
        let diagnostic = notes.fold(*diagnostic, Diagnostic::note);
        Failure::new(diagnostic, failure.exit_code)
    }
}

/// Compares the dead letters of the whole run with the ceilings: single sources first (E316), then all (E315).
fn check_rates(plan: &PhysicalPlan, outcomes: &[StageOutcome]) -> Result<(), Failure> {
    let errors = &plan.dead_letters;
    for (source, rate) in &errors.source_rates {
        let Some(outcome) = outcomes.iter().find(|outcome| outcome.driver == *source) else { continue };
        let operator = plan.operator(*source);
        let subject = format!("source `{}`", operator.name);
        let counts = (outcome.totals.letters, outcome.totals.records);
        check_rate(Code::E316, &subject, Some(operator.span), rate, counts)?;
    }
    let Some(rate) = &errors.rate else { return Ok(()) };
    let counts = outcomes.iter().fold((0, 0), |(letters, records), outcome| {
        (letters + outcome.totals.letters, records + outcome.totals.records)
    });
    check_rate(Code::E315, "the run", None, rate, counts)
}

fn check_rate(
    code: Code,
    subject: &str,
    span: Option<Span>,
    rate: &Rate,
    (letters, records): (u64, u64),
) -> Result<(), Failure> {
    let Rate { max_rate, min_records, span: ceiling } = *rate;
    if records == 0 || records < min_records || (letters as f64 / records as f64) < max_rate {
        return Ok(());
    }
    let message =
        format!("{subject} has {letters} dead letters in {records} rows, which reaches `max_rate: {max_rate}`");
    let mut diagnostic = Diagnostic::error(code, message).label(ceiling, "the ceiling");
    if let Some(span) = span {
        diagnostic = diagnostic.label(span, "read here");
    }
    Err(Failure::new(diagnostic.help("mend the input, or raise the rate"), 3))
}
