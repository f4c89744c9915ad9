//! What workers do: rows to rest, keys and their hashes, arguments.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostics::{Code, Diagnostic, Span};
use crate::exec::Failure;
use crate::exec::batch::{Batch, Bitmap, Column, Origin, RowId};
use crate::exec::eval::{Arguments, Constants};
use crate::exec::fault::{Fault, FaultKind};
use crate::exec::keys::{KeyHasher, Keys, NoKey, OrderKeys};
use crate::exec::rest::Codec;
use crate::plan::physical::{CullOperator, Operator};

use super::super::aggregate::picked;
use super::super::buffer::{Admitted, BufferContext, CollectError, Collected, Collector};
use super::super::grouped::GroupNames;
use super::super::lost::{At, Cause, Told};
use super::super::{fault_text, operands};
use super::{key_columns, stage};

/// The side that workers share.
pub(super) struct CullCollector<'p> {
    spec: &'p CullOperator,
    operator: &'p Operator,
    /// The columns of which a group's first value is kept.
    firsts: Vec<usize>,
    names: GroupNames<'p>,
    arguments: Arguments,
    hasher: KeyHasher,
    codec: Arc<Codec>,
    constants: Arc<Constants>,
}

/// What a block gives besides its rows: one entry a batch.
pub(super) type Part = Vec<Decisive>;

/// What is decided on, for the rows of a batch.
pub(super) struct Decisive {
    pub keys: Keys,
    pub hashes: Vec<u64>,
    /// The partition columns of which a group's first value is kept.
    pub firsts: Vec<Column>,
    /// For each aggregate, its arguments.
    pub arguments: Vec<Vec<Column>>,
    /// Where rows are ordered within their group.
    pub order: Option<OrderKeys>,
    /// The rows that an aggregate can't take, ascending, each with the [`Cause`] as bytes.
    pub failures: Vec<(usize, Box<[u8]>)>,
    /// Where the rows come from.
    pub origin: Origin,
}

impl Decisive {
    /// For each aggregate, its arguments in some rows.
    pub fn arguments(&self, rows: &Range<usize>) -> Cow<'_, [Vec<Column>]> {
        picked(&self.arguments, self.hashes.len(), rows)
    }

    /// Those of some rows that an aggregate can't take.
    pub fn failures(&self, rows: &Range<usize>) -> &[(usize, Box<[u8]>)] {
        let place = |row: usize| self.failures.partition_point(|(failed, _)| *failed < row);
        &self.failures[place(rows.start)..place(rows.end)]
    }
}

impl<'p> CullCollector<'p> {
    /// `firsts` are the columns of which a group's first value is kept, `rules` the first rule that reads each aggregate.
    pub fn new(
        spec: &'p CullOperator,
        firsts: Vec<usize>,
        names: GroupNames<'p>,
        rules: &[Arc<str>],
        context: &BufferContext<'p>,
        hasher: KeyHasher,
    ) -> Self {
        let constants = Arc::clone(&context.constants);
        let arguments = Arguments::new(&spec.cull.aggregates, rules, Arc::clone(&constants));
        let (operator, codec) = (context.operator, Arc::clone(&context.codec));
        Self { spec, operator, firsts, names, arguments, hasher, codec, constants }
    }
}

impl Collector for CullCollector<'_> {
    fn collect(&self, batch: &Batch, out: &mut Collected) -> Result<Admitted, CollectError> {
        let columns: Vec<Column> = key_columns(&self.spec.cull).map(|column| stored(batch, column)).collect();
        let (keys, refused) = Keys::encode(&columns, &Bitmap::new_set(batch.rows));
        if let Some(no_key) = refused.first() {
            return Err(CollectError::Data(no_key.row, self.unkeyed(no_key)));
        }
        let (arguments, faults) = self.arguments.evaluate(batch);
        self.codec.encode(batch, &mut out.chunk).map_err(CollectError::Unwritable)?;
        let order_by = &self.spec.cull.order_by;
        let failure = |fault: &Fault| {
            let cause = self.names.in_group(keys.key(fault.row), self.cause(batch, fault));
            (fault.row, cause.to_bytes())
        };
        let failures = faults.iter().map(failure).collect();
        out.part::<Part>().push(Decisive {
            hashes: self.hasher.hash(&keys),
            keys,
            firsts: self.firsts.iter().map(|column| stored(batch, *column)).collect(),
            arguments,
            order: (!order_by.is_empty()).then(|| OrderKeys::encode(order_by, &batch.columns, batch.rows)),
            failures,
            origin: batch.origin.clone(),
        });
        Ok(Admitted::default())
    }
}

fn stored(batch: &Batch, column: usize) -> Column {
    batch.columns[column].clone().expect("pruning keeps the columns that a cull decides on")
}

impl CullCollector<'_> {
    fn unkeyed(&self, no_key: &NoKey) -> Failure {
        let NoKey { column, .. } = no_key;
        let name = self.names.columns().get(*column).copied().unwrap_or_default();
        let message =
            format!("cull `{}`: column '{name}' is {}, which can't be a key", self.operator.name, no_key.phrase());
        let diagnostic = Diagnostic::error(Code::E396, message).label(self.key_span(*column), "groups by this column");
        Failure::new(diagnostic.help("give such rows a key, or filter them, in a transform before it"), 3)
    }

    /// Where `partition_by` names a column of the key, or the field that it holds.
    fn key_span(&self, column: usize) -> Span {
        let CullOperator { cull, partition_names, schema, .. } = self.spec;
        let hidden = || {
            let position = cull.hidden_keys[column - cull.partition_by.len()];
            let field = schema.columns[position].key_field()?;
            let named = partition_names.iter().position(|name| name == field)?;
            cull.partition_spans.get(named)
        };
        *cull.partition_spans.get(column).or_else(hidden).unwrap_or(&self.operator.span)
    }

    /// Why the group of a row fails that an aggregate can't take.
    fn cause(&self, batch: &Batch, fault: &Fault) -> Cause {
        let (operator, row) = (self.operator, batch.origin.row_id(fault.row));
        let told = || Told {
            span: fault.span,
            label: format!("in an aggregate of cull `{}`", operator.node()),
            operands: operands::of(operator, batch, fault),
            mend: fault_text::guard(&fault.message),
        };
        Cause {
            stage: stage(operator.node(), fault.field.as_deref().unwrap_or_default()),
            kind: FaultKind::GroupFailed,
            field: None,
            value: fault.value.clone(),
            message: fault.message.clone(),
            row: 0,
            at: Some(At { row, place: self.place(row) }),
            told: (!self.spec.shows_groups).then(told),
        }
    }

    /// Which row of which file a row is; of a group's row, where the group begins.
    fn place(&self, RowId { source, file, file_row, .. }: RowId) -> String {
        match self.constants.file(source, file) {
            Some(file) => format!("row {file_row} of {file}"),
            None => format!("a group that begins with row {file_row}"),
        }
    }
}
