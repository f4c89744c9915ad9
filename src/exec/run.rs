//! A whole run: look around, open the inputs, run the stages in order, publish.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use super::batch::{FileNumbers, RowId};
use super::clock::Clock;
use super::dlq::{LetterFile, Room, Spool, start_files};
use super::eval::Constants;
use super::memory::{self, Arbitrator};
use super::operators::{Counts, Full, Reached, Seal, Shared, SinkColumns, Tree, WARNING_SAMPLES, warning_total};
use super::orders;
use super::publish::{self, Destination, Output, Purpose, Workspace};
use super::rest::Codec;
use super::sources::{self, BoundFile, CarriedNames, OpenSource, Source, Verdict};
use super::spill::{Disk, Volume};
use super::stages::{self, Ends, Finisher, Head, LetterBox, Progress, SegmentTotals, Warnings, WrittenRows};
use super::{ConsumerReport, Failure, Mode, NamedRow, NodeReport, Observer, Options, PublishedFile, Report};
use crate::analysis::hir::{Backpressure, Rate, Settings};
use crate::diagnostics::{Code, Diagnostic, Severity, Span};
use crate::plan::explain::layout::size;
use crate::plan::physical::{MemoryConsumer, Operator, OperatorId, OperatorKind, PhysicalPlan, Segment, Stage};

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
        findings.extend(limit_too_low(plan));
        Self { sources, destinations, findings }
    }
}

/// A limit below what the program itself takes can't be kept. Under `spill` the limit may be any.
fn limit_too_low(plan: &PhysicalPlan) -> Option<Diagnostic> {
    let Settings { memory_limit: limit, memory_limit_span: span, backpressure, .. } = plan.settings;
    if backpressure == Backpressure::Spill {
        return None;
    }
    let own = memory::own_size().filter(|own| *own > limit)?;
    let message = format!("the memory limit of {} is below the program's own size of {}", size(limit), size(own));
    let diagnostic = Diagnostic::error(Code::E312, message);
    let diagnostic = span
        .into_iter()
        .fold(diagnostic, |diagnostic, span| diagnostic.label(span, "less than the program itself takes"));
    Some(diagnostic.help("raise `memory.limit` (or run with `--memory-limit`); `backpressure: spill` skips this check"))
}

/// Runs a plan.
pub(super) fn run(plan: &PhysicalPlan, options: &Options, observer: &dyn Observer) -> Result<Report, Failure> {
    let started = Instant::now();
    let block_size = memory::block_size(options.block_size, plan.settings.memory_limit, options.threads);
    let options = &Options { block_size, ..options.clone() };
    let mut around = Surroundings::look(plan, options, Mode::Run);
    let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
    if let Some(error) = std::mem::take(&mut around.findings).into_iter().find(is_error) {
        return Err(Failure::new(error, 1));
    }
    let id = Uuid::now_v7();
    let arbitrator = Arbitrator::new(plan.settings.memory_limit, consumer_names(plan));
    let disk = disk(plan, options, observer)?;
    // What a killed run left half done may be an input of this one, so it is completed first.
    let mut workspace = Workspace::open(&id.simple().to_string(), &around.destinations)?;
    let mut run = Run::open(plan, options, observer, around, (&id, &mut workspace), (&arbitrator, &disk))?;
    run.complete()?;
    workspace.publish(&mut run.outputs.all())?;
    let mut report = run.report();
    report.elapsed = started.elapsed();
    Ok(report)
}

/// Where rows go that don't fit the memory limit; if some may have to, it is tried.
fn disk<'p>(plan: &'p PhysicalPlan, options: &Options, observer: &'p dyn Observer) -> Result<Disk<'p>, Failure> {
    let (folder, limit) = (super::spill_root(options), plan.settings.memory_limit);
    let disk = Disk::new(folder, limit, consumer_names(plan), options.disk_faults, observer)
        .named_by(super::spill_root_named_by(options));
    if plan.consumers.iter().any(|consumer| consumer.spills) {
        disk.check()?;
    }
    Ok(disk)
}

fn consumer_names(plan: &PhysicalPlan) -> impl Iterator<Item = String> {
    plan.consumers.iter().map(|consumer| consumer.name.clone())
}

/// What lives longer than a stage.
fn shared<'p>(
    plan: &'p PhysicalPlan,
    options: &Options,
    sources: &[OpenSource<'p>],
    names: &mut CarriedNames,
    constants: Arc<Constants>,
    (arbitrator, disk): (&'p Arbitrator, &'p Disk<'p>),
) -> Result<Shared<'p>, Failure> {
    let mut sinks = BTreeMap::new();
    for (id, operator) in plan.operators() {
        if let OperatorKind::Sink(spec) = &operator.kind {
            sinks.insert(id, SinkColumns::new(operator, spec, sources, names)?);
        }
    }
    Ok(Shared {
        plan,
        makers: plan.makers(),
        constants,
        arbitrator,
        disk,
        threads: options.threads.max(1),
        sinks,
        fillings: BTreeMap::new(),
        skipped: BTreeSet::new(),
        unproven: BTreeMap::new(),
        wholes: BTreeMap::new(),
        measures: options.measure,
        warnings: Vec::new(),
    })
}

fn constants(plan: &PhysicalPlan, options: &Options, id: &Uuid, sources: &[OpenSource<'_>]) -> Constants {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let files = |source: &OpenSource<'_>| source.source.files.iter().map(|file| file.display.clone()).collect();
    let names = sources.iter().map(|source| source.source.operator.name.clone());
    Constants {
        pipeline_name: plan.name.clone(),
        execution_id: id.to_string(),
        batch_id: options.batch_id.clone().unwrap_or_else(|| Uuid::now_v7().to_string()),
        start_time: since_1970.as_nanos() as i128,
        vars: plan.vars.iter().map(|var| var.value.clone()).collect(),
        source_names: names.collect(),
        source_files: sources.iter().map(files).collect(),
        file_numbers: FileNumbers::new(sources.iter().map(|source| source.source.files.len())),
    }
}

/// A full buffer, and what turns its rows back.
type Sealed<'p> = (Full<'p>, Arc<Codec>);

/// A run on its way.
struct Run<'p> {
    plan: &'p PhysicalPlan,
    options: &'p Options,
    observer: &'p dyn Observer,
    sources: Vec<Source<'p>>,
    /// What the files of each source bind to, until its stage runs.
    files: Vec<Vec<BoundFile>>,
    outputs: Outputs,
    /// The dead letters that wait, if some have to.
    spool: Option<Spool<'p>>,
    shared: Shared<'p>,
    done: Done<'p>,
}

/// What the stages did so far.
struct Done<'p> {
    progress: Progress,
    /// For each operator.
    counts: Vec<Counts>,
    /// For each source, the records read.
    records: Vec<u64>,
    /// For each source, then for each aggregate, the dead letters of rows that it made, written or not.
    letters: Vec<u64>,
    /// Rows written to at least one sink, but for those in `written`.
    reached: Reached,
    written: WrittenRows<'p>,
    warned: Warnings,
    /// What else is to be told at the end.
    warnings: Vec<Diagnostic>,
}

impl<'p> Run<'p> {
    /// Looks into the inputs and begins the outputs, which are those of the workspace of the run with this id.
    fn open(
        plan: &'p PhysicalPlan,
        options: &'p Options,
        observer: &'p dyn Observer,
        around: Surroundings<'p>,
        (id, workspace): (&Uuid, &mut Workspace),
        (arbitrator, disk): (&'p Arbitrator, &'p Disk<'p>),
    ) -> Result<Self, Failure> {
        let mut names = CarriedNames::default();
        let sources = sources::open_all(around.sources, &mut names, options.block_size)?;
        let constants = Arc::new(constants(plan, options, id, &sources));
        let outputs = Outputs::create(plan, &around.destinations, workspace)?;
        let room = |consumer| Room { arbitrator, disk, consumer };
        let spool = plan.dead_letters.consumer.map(|consumer| Spool::new(room(consumer)));
        let shared = shared(plan, options, &sources, &mut names, constants, (arbitrator, disk))?;
        let (sources, files): (Vec<_>, _) = sources.into_iter().map(|open| (open.source, open.files)).unzip();
        let done = Done::new(plan, &sources, arbitrator);
        Ok(Self { plan, options, observer, sources, files, outputs, spool, shared, done })
    }

    /// Runs all stages, up to where the outputs can be published.
    fn complete(&mut self) -> Result<(), Failure> {
        if let Err(failure) = self.stages().and_then(|()| self.check_rates()) {
            let failure = self.say_where(failure);
            return Err(self.keep_letters(failure));
        }
        self.empty_spool()?;
        if self.observer.interrupted() {
            return Err(Failure::interrupted());
        }
        Ok(())
    }

    fn stages(&mut self) -> Result<(), Failure> {
        for (id, columns) in &self.shared.sinks {
            self.outputs.sink(*id).write(&columns.header)?;
        }
        let stages = self.verify_orders()?;
        let in_order = self.plan.gives_letters_in_order(&stages);
        stages.iter().try_for_each(|stage| {
            self.spool.iter_mut().for_each(Spool::begin_stage);
            self.stage(stage, in_order)
        })
    }

    /// Proves declared orders. Gives the stages to run: without the sorts that are not needed.
    fn verify_orders(&mut self) -> Result<Vec<Stage>, Failure> {
        let mut stages = self.plan.stages.clone();
        for (sort, spec, source) in orders::claims(self.plan) {
            let Some(position) = self.sources.iter().position(|other| other.id == source) else { continue };
            let (source, files) = (&self.sources[position], &mut self.files[position]);
            let keys = &source.spec.source.sort_order;
            let mut clock = Clock::new(self.options.measure);
            let verdict = sources::verify(source, files, keys, self.options, self.observer)?;
            self.done.counts[sort.0 as usize].busy += clock.lap();
            match verdict {
                Verdict::Broken(files) => {
                    for (file, late) in files {
                        self.done.warnings.push(orders::broken(source, file, &late)?);
                    }
                }
                Verdict::InOrder(stamps) if orders::is_proven(spec, source.files.len()) => {
                    if let Some(fewer) = orders::without_sort(&stages, sort, source.id) {
                        self.shared.skipped.insert(sort);
                        let proven = files.iter_mut().zip(stamps);
                        proven.for_each(|(file, stamp)| file.proven = Some(stamp));
                        stages = fewer;
                    }
                }
                Verdict::Unknown => drop(self.shared.unproven.insert(sort, Arc::new(source.clone()))),
                Verdict::InOrder(_) => {}
            }
        }
        Ok(stages)
    }

    /// Runs a stage. Unless all stages come `in_order`, dead letters are put aside.
    fn stage(&mut self, stage: &Stage, in_order: bool) -> Result<(), Failure> {
        let places: Vec<_> =
            stage.heads().map(|head| self.sources.iter().position(|source| source.id == head)).collect();
        let trees: Vec<_> = stage.segments.iter().map(|segment| Tree::new(segment, &mut self.shared)).collect();
        let full = self.seal(stage, &trees)?;
        let mut segments = Vec::new();
        for (number, segment) in stage.segments.iter().enumerate() {
            let head = head(self.plan, segment.head, places[number].map(|place| &self.sources[place]), &full[number]);
            let files = places[number].map(|place| std::mem::take(&mut self.files[place])).unwrap_or_default();
            segments.push(stages::Segment { tree: &trees[number], head, files, behind: &segment.behind });
        }
        let Outputs { sinks, letters } = &mut self.outputs;
        let spool = self.spool.as_mut().filter(|_| !in_order);
        let ends = Ends {
            outputs: sinks.iter_mut().map(|(id, output)| (*id, output)).collect(),
            letters: LetterBox { files: letters, spool },
            fillings: &mut self.shared.fillings,
            arbitrator: self.shared.arbitrator,
            written: (!self.plan.counted.is_empty()).then_some(&mut self.done.written),
            warned: &mut self.done.warned,
        };
        let headed = trees.iter().zip(places.iter().map(|place| place.map(|place| &self.sources[place])));
        let finisher = Finisher::new(headed, ends, self.observer, self.done.progress);
        let totals = stages::run(segments, &self.sources, finisher, self.options, self.observer)?;
        for ((segment, place), totals) in stage.segments.iter().zip(places).zip(&totals) {
            self.done.add(segment, place, totals);
        }
        Ok(())
    }

    /// Ends the filling of the buffers at the heads of a stage; `None` for other heads. Where the stage fills buffers,
    /// a share of the memory is theirs.
    fn seal(&mut self, stage: &Stage, trees: &[Tree<'p>]) -> Result<Vec<Option<Sealed<'p>>>, Failure> {
        let is_buffer = |head: &OperatorId| self.plan.operator(*head).rest().is_some();
        let filling = trees.iter().any(|tree| !tree.slots.is_empty());
        let shares = stage.heads().filter(is_buffer).count() + usize::from(filling);
        let most_resident = self.shared.arbitrator.soft() / shares.max(1) as u64;
        let seal = Seal { threads: self.options.threads.max(1), most_resident };
        let heads: Vec<_> = stage.heads().map(|head| is_buffer(&head).then_some(head)).collect();
        let mut clock = Clock::new(self.options.measure);
        let mut sealed = |head: OperatorId| {
            let full = self.shared.seal(head, seal);
            self.done.counts[head.0 as usize].busy += clock.lap();
            full
        };
        heads.into_iter().map(|head| head.map(&mut sealed).transpose()).collect()
    }

    /// Writes the dead letters that wait.
    fn empty_spool(&mut self) -> Result<(), Failure> {
        self.spool.iter_mut().try_for_each(|spool| spool.empty(&mut self.outputs.letters))
    }

    /// Compares the dead letters of the whole run with the ceilings: single sources first (E316), then all (E315).
    fn check_rates(&self) -> Result<(), Failure> {
        let (errors, done) = (&self.plan.dead_letters, &self.done);
        for (id, rate) in &errors.source_rates {
            let Some(position) = self.sources.iter().position(|source| source.id == *id) else { continue };
            let operator = self.plan.operator(*id);
            let subject = format!("source `{}`", operator.name);
            let counts = (done.letters[position], done.records[position]);
            check_rate(Code::E316, &subject, Some(operator.span), rate, counts)?;
        }
        let Some(rate) = &errors.rate else { return Ok(()) };
        check_rate(Code::E315, "the run", None, rate, (done.all_letters(), done.records.iter().sum()))
    }

    /// The failure with notes about the rows that it names.
    fn say_where(&self, mut failure: Failure) -> Failure {
        let rows = std::mem::take(&mut failure.rows);
        let notes: Vec<String> = rows.iter().filter_map(|row| self.place(row)).collect();
        if let Some(diagnostic) = &mut failure.diagnostic {
            diagnostic.notes.splice(0..0, notes);
        }
        failure
    }

    /// Where a row stands.
    fn place(&self, named: &NamedRow) -> Option<String> {
        let RowId { source, file, file_row, .. } = named.row;
        let is_group = source as usize >= self.sources.len();
        let lead = match (named.begins_group, is_group) {
            (true, _) if file_row == 0 => return Some("the group has no rows".to_owned()),
            (true, _) => "the group begins with ",
            (false, true) => "a group that begins with ",
            (false, false) => "",
        };
        let numbers = &self.shared.constants.file_numbers;
        let (source, file) = if is_group { numbers.file(file)? } else { (source, file) };
        let (source, file) = (&self.sources[source as usize], file as usize);
        let looked_up = || sources::line_of(source, file, file_row, self.options, self.observer);
        let line = named.line.or_else(looked_up).map(|line| format!(", line {line}")).unwrap_or_default();
        Some(format!("{lead}row {file_row} of {}{line}", source.files.get(file)?.display))
    }

    /// After a run that stopped for too many bad rows: keeps the dead letters so far for whoever looks into it.
    fn keep_letters(&mut self, mut failure: Failure) -> Failure {
        let Some(diagnostic) = failure.diagnostic.take() else { return failure };
        if !matches!(diagnostic.code, Code::E315 | Code::E316 | Code::E368) {
            return Failure { diagnostic: Some(diagnostic), ..failure };
        }
        // If not all of them can be had, those that are there are better than none.
        let _ = self.empty_spool();
        let letters = self.outputs.letters.iter_mut();
        let mut written: Vec<_> = letters.filter(|file| file.rows > 0).map(|file| &mut file.output).collect();
        let kept = publish::keep_as_failed(&mut written);
        let notes = kept.iter().map(|path| format!("the dead letters so far are in {path}"));
        Failure::new(notes.fold(*diagnostic, Diagnostic::note), failure.exit_code)
    }

    fn report(self) -> Report {
        let Self { plan, outputs, shared, done, .. } = self;
        let counts = |id: OperatorId| done.counts[id.0 as usize];
        let mut reached = done.written.count();
        reached += done.reached;
        let sinks = outputs.sinks.iter().map(|(id, output)| published(output, counts(*id).rows_out, false));
        let letters = outputs.letters.iter().map(|file| published(&file.output, file.rows, true));
        // Where all were spelled out, there is no more to say.
        let more = done.warned.iter().filter(|(_, count)| count.all > WARNING_SAMPLES as u64);
        let totals = more.map(|((id, validation), count)| warning_total(plan.operator(*id), *validation, *count));
        let consumers = consumers(plan, shared.arbitrator, shared.disk);
        let mut nodes: Vec<NodeReport> =
            plan.operators().map(|(id, operator)| node_report(operator, counts(id))).collect();
        for (consumer, report) in plan.consumers.iter().zip(&consumers) {
            let Some(id) = consumer.operator else { continue };
            let node = &mut nodes[id.0 as usize];
            node.peak_reserved = (node.peak_reserved + report.peak_reserved).min(shared.arbitrator.peak());
            node.spilled.raw += report.spilled.raw;
            node.spilled.stored += report.spilled.stored;
        }
        let columns = shared.sinks.into_values().flat_map(|columns| columns.warnings);
        Report {
            total: done.progress.rows,
            ok: reached.read,
            made: reached.made,
            written: outputs.sinks.iter().map(|(id, _)| counts(*id).rows_out).sum(),
            dlq: done.all_letters(),
            nodes,
            outputs: sinks.chain(letters).collect(),
            bytes_read: done.progress.bytes,
            elapsed: Default::default(),
            peak_reserved: shared.arbitrator.peak(),
            consumers,
            warnings: done.warnings.into_iter().chain(totals).chain(shared.warnings).chain(columns).collect(),
        }
    }
}

impl<'p> Done<'p> {
    /// Nothing yet.
    fn new(plan: &PhysicalPlan, sources: &[Source<'_>], arbitrator: &'p Arbitrator) -> Self {
        let expected = sources.iter().flat_map(|source| &source.files).map(|file| file.bytes).sum();
        Self {
            progress: Progress { expected, ..Progress::default() },
            counts: vec![Counts::default(); plan.operators().count()],
            records: vec![0; sources.len()],
            letters: vec![0; plan.makers().len()],
            reached: Reached::default(),
            written: WrittenRows::new(plan, arbitrator),
            warned: Warnings::new(),
            warnings: Vec::new(),
        }
    }

    /// Adds what a segment did; `source` is the number of the source at its head, if there is one.
    fn add(&mut self, segment: &Segment, source: Option<usize>, totals: &SegmentTotals) {
        self.progress.rows += totals.records;
        self.progress.bytes += totals.bytes;
        self.reached += totals.reached;
        for (id, counts) in segment.operators.iter().zip(&totals.counts) {
            self.counts[id.0 as usize].add(counts);
        }
        if let Some(source) = source {
            self.records[source] += totals.records;
        }
        self.letters.iter_mut().zip(&totals.letters).for_each(|(all, letters)| *all += letters);
    }

    /// All dead letters, written or not.
    fn all_letters(&self) -> u64 {
        self.letters.iter().sum()
    }
}

/// Where the rows of a segment come from: its `source`, a `full` buffer, or an interleaving merge.
fn head<'a, 'p>(
    plan: &'p PhysicalPlan,
    id: OperatorId,
    source: Option<&'a Source<'p>>,
    full: &'a Option<Sealed<'p>>,
) -> Head<'a, 'p> {
    match (source, full, &plan.operator(id).kind) {
        (Some(source), ..) => Head::Source(source),
        (_, Some((full, codec)), _) => Head::Buffer(full, codec),
        (.., OperatorKind::Merge(spec)) => Head::Merge(spec),
        _ => unreachable!("a segment is headed by a source, a buffer or an interleaving merge"),
    }
}

/// What each memory consumer came to.
fn consumers(plan: &PhysicalPlan, arbitrator: &Arbitrator, disk: &Disk) -> Vec<ConsumerReport> {
    let report = |(position, consumer): (usize, &MemoryConsumer)| ConsumerReport {
        name: consumer.name.clone(),
        peak_reserved: arbitrator.peak_of(position),
        spilled: disk.volume(position),
    };
    plan.consumers.iter().enumerate().map(report).collect()
}

fn published(output: &Output, rows: u64, dead_letters: bool) -> PublishedFile {
    PublishedFile { path: output.display().to_string(), rows, dead_letters }
}

fn node_report(operator: &Operator, counts: Counts) -> NodeReport {
    let Counts { rows_in, rows_out, removed, rejected, filtered, warned, bytes, busy } = counts;
    let removed = matches!(operator.kind, OperatorKind::Cull(_)).then_some(removed);
    let is_distinct = matches!(operator.kind, OperatorKind::Distinct(_));
    let duplicates = if is_distinct { rows_in - rejected - rows_out } else { 0 };
    let (label, peak_reserved, spilled) = (operator.label(), 0, Volume::default());
    NodeReport {
        label,
        rows_in,
        rows_out,
        removed,
        rejected,
        filtered,
        duplicates,
        warned,
        bytes,
        busy,
        peak_reserved,
        spilled,
    }
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

    fn sink(&mut self, id: OperatorId) -> &mut Output {
        let found = self.sinks.iter_mut().find(|(other, _)| *other == id);
        found.map(|(_, output)| output).expect("every sink has an output")
    }

    fn all(&mut self) -> Vec<&mut Output> {
        let sinks = self.sinks.iter_mut().map(|(_, output)| output);
        sinks.chain(self.letters.iter_mut().map(|file| &mut file.output)).collect()
    }
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
