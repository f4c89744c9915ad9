//! What memory consumers will hold, and what of it goes to disk under the limit.
//!
//! What a consumer holds follows from the rows that reach it and from what a usual row takes there. The stages are then
//! gone through as a run does: a buffer that is filled stays until the stage that it drives is over, and when more is
//! held than the limit lets stand, those that are cheapest to spill go to disk, each as a whole.

use std::collections::BTreeMap;

use super::estimate::{RowCounts, groups, text_width};
use crate::analysis::hir::{Aggregate, AggregateFunction, Column, Schema, SinkColumnSource, SortKey};
use crate::analysis::types::Kind;
use crate::plan::physical::{
    AggregateOperator, MemoryConsumer, Operator, OperatorId, OperatorKind, PhysicalPlan, Rest, RestForm, SinkOperator,
    Stage,
};

/// What one memory consumer comes to.
#[derive(Clone, Copy, Default, Debug)]
pub struct Predicted {
    /// Bytes that it holds in all, in memory or on disk; `None` if an input size is not known.
    pub holds: Option<u64>,
    /// Those that go to disk, before they are compressed.
    pub spills: Option<u64>,
    /// Whether it may be less: something above drops or groups rows.
    pub at_most: bool,
}

/// What each memory consumer of a plan comes to, in order.
pub fn predict(plan: &PhysicalPlan, counts: &RowCounts) -> Vec<Predicted> {
    let mut predicted: Vec<Predicted> = plan.consumers.iter().enumerate().map(|one| holds(plan, counts, one)).collect();
    Walk::new(plan, &predicted).spilled().into_iter().zip(&mut predicted).for_each(|(bytes, consumer)| {
        consumer.spills = consumer.holds.map(|_| bytes);
    });
    predicted
}

/// Bytes above which a run is under pressure: four fifths of the limit.
pub fn soft_limit(limit: u64) -> u64 {
    limit / 5 * 4 + limit % 5 * 4 / 5
}

fn holds(plan: &PhysicalPlan, counts: &RowCounts, (position, consumer): (usize, &MemoryConsumer)) -> Predicted {
    let operator = plan.operator(consumer.operator);
    if plan.counted.get(&consumer.operator) == Some(&position) {
        let given = counts.given(plan, consumer.operator);
        return Predicted { holds: given.rows.map(|rows| rows.div_ceil(8)), spills: None, at_most: given.at_most };
    }
    let read = counts.read(plan, consumer.operator);
    let is_rows = operator.rest().is_some_and(|rest| rest.consumer == position);
    let bytes = |rows: u64| if is_rows { row_bytes(plan, operator, rows) } else { group_bytes(operator, rows) };
    Predicted { holds: read.rows.map(bytes), spills: None, at_most: read.at_most || !is_rows || groups_rows(operator) }
}

/// Whether what is held for rows depends on how many groups they form.
fn groups_rows(operator: &Operator) -> bool {
    matches!(operator.kind, OperatorKind::Aggregate(_) | OperatorKind::Distinct(_))
}

/// What a buffer holds for so many rows.
fn row_bytes(plan: &PhysicalPlan, operator: &Operator, rows: u64) -> u64 {
    let (Some(rest), Some(schema)) = (operator.rest(), operator.output()) else { return 0 };
    let row = resting_row(plan, rest, schema);
    let beside = match &operator.kind {
        // A file that keeps its order needs no sort.
        OperatorKind::Sort(sort) if sort.purpose.is_repair() => return 0,
        OperatorKind::Sort(_) => SORT_ENTRY,
        OperatorKind::Cull(cull) => GROUP_NUMBER + order_key(&cull.cull.order_by, schema),
        OperatorKind::Reshape(reshape) => GROUP_NUMBER + order_key(&reshape.reshape.order_by, schema),
        OperatorKind::Distinct(distinct) => {
            TABLE_ENTRY + key_width(distinct.key.iter().map(|column| &schema.columns[*column]))
        }
        OperatorKind::Aggregate(aggregate) => return aggregate_bytes(aggregate, rows),
        _ => 0,
    };
    rows.saturating_mul(row + beside)
}

/// A prefix of the key, and where the row is.
const SORT_ENTRY: u64 = 24;
/// The number of a row's group.
const GROUP_NUMBER: u64 = 4;
/// A key's place in a table: its hash, its number, and room to grow.
const TABLE_ENTRY: u64 = 34;
/// A group's place in a table: a slot, with room to grow, and what stands around its key.
const GROUP_ENTRY: u64 = 24;
/// The length of a row.
const ROW_HEAD: u64 = 4;
/// Where a row came from.
const ROW_IDENTITY: u64 = 24;

/// What is held about the groups of so many rows.
fn group_bytes(operator: &Operator, rows: u64) -> u64 {
    let (columns, schema, aggregates) = match &operator.kind {
        OperatorKind::Cull(cull) => (&cull.cull.partition_by, &cull.schema, cull.cull.aggregates.as_slice()),
        OperatorKind::Reshape(reshape) => (&reshape.reshape.partition_by, &reshape.input, &[][..]),
        // One group is in hand; it may be all there is.
        OperatorKind::Aggregate(aggregate) => {
            let aggregates = &aggregate.aggregation.aggregates;
            return states(aggregates) + lists(aggregates, rows);
        }
        _ => return 0,
    };
    let key = || columns.iter().map(|column| &schema.columns[*column]);
    let count = groups(rows, key().map(|column| &column.ty.kind));
    let start = match &operator.kind {
        OperatorKind::Cull(cull) if cull.group_can_fail => ROW_IDENTITY,
        _ => 0,
    };
    count.saturating_mul(GROUP_ENTRY + key_width(key()) + start + states(aggregates)) + lists(aggregates, rows)
}

fn aggregate_bytes(aggregate: &AggregateOperator, rows: u64) -> u64 {
    let aggregation = &aggregate.aggregation;
    let key = &aggregation.grouped.columns[..aggregation.key];
    let count = groups(rows, key.iter().map(|column| &column.ty.kind));
    let group = GROUP_ENTRY + key_width(key.iter()) + states(&aggregation.aggregates);
    count.saturating_mul(group) + lists(&aggregation.aggregates, rows)
}

/// The states of a group.
fn states(aggregates: &[Aggregate]) -> u64 {
    let state = |aggregate: &Aggregate| {
        let kind = aggregate.args.first().map_or(&Kind::Null, |arg| &arg.ty.kind);
        match aggregate.function {
            AggregateFunction::CountRows | AggregateFunction::Count => 4,
            AggregateFunction::Sum | AggregateFunction::Avg => match kind {
                Kind::Int => 12,
                Kind::Float => 32,
                _ => 48,
            },
            AggregateFunction::Min | AggregateFunction::Max if *kind == Kind::String => 16 + resting_width(kind),
            AggregateFunction::Min | AggregateFunction::Max => 1 + resting_width(kind),
            AggregateFunction::WeightedAvg if *kind == Kind::Int || *kind == Kind::Float => 48,
            AggregateFunction::WeightedAvg => 160,
            AggregateFunction::Collect => 12,
        }
    };
    aggregates.iter().map(state).sum()
}

/// What aggregates keep of each row.
fn lists(aggregates: &[Aggregate], rows: u64) -> u64 {
    let lists = aggregates.iter().filter(|aggregate| aggregate.function == AggregateFunction::Collect);
    lists.flat_map(|aggregate| &aggregate.args).map(|arg| rows.saturating_mul(resting_width(&arg.ty.kind))).sum()
}

/// A row at rest.
fn resting_row(plan: &PhysicalPlan, rest: &Rest, schema: &Schema) -> u64 {
    let kinds = rest.columns.iter().map(|column| &schema.columns[column].ty.kind);
    let values = match &rest.form {
        RestForm::Row => kinds.map(resting_width).sum::<u64>() + rest.columns.iter().count().div_ceil(8) as u64,
        RestForm::SinkBytes { sink } => match &plan.operator(*sink).kind {
            OperatorKind::Sink(sink) => written_row(sink),
            _ => 0,
        },
    };
    ROW_HEAD + values + if rest.identity { ROW_IDENTITY } else { 0 }
}

/// A row as a sink writes it.
fn written_row(sink: &SinkOperator) -> u64 {
    let cell = |source: &SinkColumnSource| match source {
        SinkColumnSource::Column(position) => text_width(&sink.schema.columns[*position].ty.kind),
        SinkColumnSource::Carried(_) => text_width(&Kind::String),
    };
    sink.sink.named_columns().map(|column| 1 + cell(&column.source)).sum()
}

/// A usual value in a row that rests as columns.
fn resting_width(kind: &Kind) -> u64 {
    match kind {
        Kind::Null | Kind::Error => 0,
        Kind::Bool => 1,
        Kind::Date => 4,
        Kind::Int | Kind::Float => 8,
        Kind::DateTime => 12,
        Kind::Decimal { .. } => 14,
        Kind::String | Kind::Any | Kind::Array(_) | Kind::Map => 1 + text_width(kind),
    }
}

fn key_width<'a>(columns: impl Iterator<Item = &'a Column>) -> u64 {
    columns.map(|column| 1 + resting_width(&column.ty.kind)).sum()
}

fn order_key(order_by: &[SortKey], schema: &Schema) -> u64 {
    key_width(order_by.iter().map(|key| &schema.columns[key.column]))
}

/// Goes through the stages of a plan.
struct Walk<'p> {
    plan: &'p PhysicalPlan,
    /// For each consumer, what it holds in all; nothing where that is not known.
    holds: Vec<u64>,
    /// What it holds in memory now.
    resident: Vec<u64>,
    spilled: Vec<u64>,
    /// For each buffer, the last stage that fills it.
    filled: BTreeMap<OperatorId, usize>,
}

impl<'p> Walk<'p> {
    fn new(plan: &'p PhysicalPlan, predicted: &[Predicted]) -> Self {
        let mut filled = BTreeMap::new();
        for (position, stage) in plan.stages.iter().enumerate() {
            filled.extend(fills(plan, stage).map(|id| (id, position)));
        }
        let none = || vec![0; predicted.len()];
        let holds = predicted.iter().map(|consumer| consumer.holds.unwrap_or(0)).collect();
        Self { plan, holds, resident: none(), spilled: none(), filled }
    }

    /// The bytes of each consumer that go to disk.
    fn spilled(mut self) -> Vec<u64> {
        let soft = soft_limit(self.plan.settings.memory_limit);
        for (position, stage) in self.plan.stages.iter().enumerate() {
            let fills: Vec<OperatorId> = fills(self.plan, stage).collect();
            // The buffers that are emptied, and those that are filled together, have equal shares of the memory.
            let emptied = stage.heads().filter(|head| self.plan.operator(*head).rest().is_some()).count();
            let most = soft / (emptied + usize::from(!fills.is_empty())).max(1) as u64;
            let drivers = self.consumers(|id| stage.heads().any(|head| head == id));
            for driver in &drivers {
                if self.resident[*driver] > most {
                    self.spill(*driver);
                }
            }
            let full = self.consumers(|id| fills.contains(&id) && self.filled[&id] == position);
            full.iter().for_each(|consumer| self.resident[*consumer] = self.holds[*consumer]);
            self.make_room(soft, &drivers);
            drivers.iter().for_each(|driver| self.resident[*driver] = 0);
        }
        self.spilled
    }

    /// Lets what is held, but not driven now, go to disk until the rest stays below `soft`, or nothing is left.
    fn make_room(&mut self, soft: u64, driven: &[usize]) {
        let mut order: Vec<usize> = (0..self.resident.len()).filter(|consumer| !driven.contains(consumer)).collect();
        order.sort_by_key(|consumer| self.plan.consumers[*consumer].priority);
        for consumer in order {
            if self.resident.iter().sum::<u64>() <= soft {
                return;
            }
            self.spill(consumer);
        }
    }

    fn spill(&mut self, consumer: usize) {
        if self.plan.consumers[consumer].spills {
            self.spilled[consumer] += std::mem::take(&mut self.resident[consumer]);
        }
    }

    /// The consumers of some operators.
    fn consumers(&self, of: impl Fn(OperatorId) -> bool) -> Vec<usize> {
        let consumers = self.plan.consumers.iter().enumerate();
        consumers.filter(|(_, consumer)| of(consumer.operator)).map(|(position, _)| position).collect()
    }
}

/// The buffers that a stage fills.
fn fills<'a>(plan: &'a PhysicalPlan, stage: &'a Stage) -> impl Iterator<Item = OperatorId> + 'a {
    let heads: Vec<OperatorId> = stage.heads().collect();
    stage.operators().filter(move |id| plan.operator(*id).is_driver() && !heads.contains(id))
}
