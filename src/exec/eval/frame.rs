//! The interpreter of expressions: one batch, and what its program has computed so far.

use super::datum::Datum;
use super::error::Faults;
use super::functions;
use super::live::Live;
use super::node::{Node, Op};
use super::operators::choose::choose;
use super::operators::logic::Truth;
use super::operators::{arithmetic, compare, convert};
use super::rows::Rows;
use super::{Constants, MERGED};
use crate::exec::batch::{Batch, Carried, Column, Origin, Positions};
use crate::exec::value::Value;

/// The state of a program while it runs over one batch.
pub struct Frame<'a> {
    batch: &'a Batch,
    constants: &'a Constants,
    /// The lets computed so far, by slot.
    pub lets: Vec<Datum>,
    /// The emits computed so far, by slot.
    pub emits: Vec<Datum>,
    /// The subjects of the `match`es that are being evaluated, innermost last.
    subjects: Vec<Datum>,
    /// The failures so far.
    pub faults: Faults,
}

/// A batch of one row without columns: what constants are computed over.
pub fn single_row() -> Batch {
    let origin =
        Origin { source: 0, file: 0, block_row: 1, block_source_row: 1, positions: Positions::From(0), kept: None };
    Batch { rows: 1, columns: Vec::new(), carried: Carried::default(), origin }
}

impl<'a> Frame<'a> {
    /// A frame over a batch, for a program with so many lets and emits.
    pub fn new(batch: &'a Batch, constants: &'a Constants, lets: usize, emits: usize) -> Self {
        Self {
            batch,
            constants,
            lets: vec![Datum::NULL; lets],
            emits: vec![Datum::NULL; emits],
            subjects: Vec::new(),
            faults: Faults::new(batch.rows),
        }
    }

    /// Evaluates an expression for the live rows. Failures go to `faults`, and the row's value is unspecified then.
    ///
    /// First operands can be as deep as a chain of operators is long, so they are not walked by recursion.
    pub fn eval(&mut self, node: &Node, live: &Live) -> Datum {
        if live.is_empty() {
            return Datum::NULL;
        }
        let (mut outer, mut first) = (Vec::new(), node);
        let mut operands = first.strict_operands();
        while let Some(operand) = operands.first() {
            let operand = *operand;
            outer.push((first, operands));
            first = operand;
            operands = first.strict_operands();
        }
        let innermost = self.single(first, live);
        outer.into_iter().rev().fold(innermost, |first, (node, operands)| self.strict(node, &operands, first, live))
    }

    /// An expression that has no operands, or that evaluates them for some rows only.
    fn single(&mut self, node: &Node, live: &Live) -> Datum {
        match &node.op {
            Op::Constant(value) => Datum::Scalar(value.clone()),
            Op::Column(position) => self.column(*position),
            Op::Let(slot) => self.lets[*slot].clone(),
            Op::Emit(slot) => self.emits[*slot].clone(),
            Op::Subject => self.subjects.last().expect("a pattern stands inside its match").clone(),
            Op::SourceFile => self.source_file(),
            Op::SourceName => self.source_name(),
            Op::SourceRow => self.source_row(),
            Op::Logic(decisive, left, right) => self.logic(*decisive, left, right, live),
            Op::Coalesce(operands) => self.coalesce(node, operands, live),
            Op::If(branches, last) => self.branch(node, branches, last.as_deref(), live),
            Op::Match(subject, arms, default) => self.select(node, subject.as_deref(), arms, default, live),
            _ => unreachable!("what evaluates all its operands is no single expression"),
        }
    }

    /// The live rows for which a condition is exactly true.
    pub fn holds(&mut self, condition: &Node, live: &Live) -> Live {
        let truth = self.eval(condition, live);
        match truth {
            Datum::Scalar(Value::Bool(true)) => live.clone(),
            truth => live.and(&truth.true_bits(live.rows())),
        }
    }

    /// An operation that evaluates all its operands first; the first of them is.
    fn strict(&mut self, node: &Node, operands: &[&Node], first: Datum, live: &Live) -> Datum {
        if let Op::Convert(_) = node.op {
            return convert::convert(first, &node.kind);
        }
        let others = operands[1..].iter().map(|operand| self.eval(operand, live));
        let data: Vec<Datum> = std::iter::once(first).chain(others).collect();
        if data.iter().all(|datum| matches!(datum, Datum::Scalar(_))) {
            return self.once(node, operands, data, live);
        }
        apply(node, &data, &mut Rows { live, span: node.span, faults: &mut self.faults })
    }

    /// An operation whose operands are the same in every row: computed for one row; if it fails, all live rows do.
    fn once(&mut self, node: &Node, operands: &[&Node], data: Vec<Datum>, live: &Live) -> Datum {
        let spread = |(datum, operand): (Datum, &&Node)| Datum::Column(datum.into_column(&operand.kind, 1));
        let data: Vec<Datum> = data.into_iter().zip(operands).map(spread).collect();
        let mut faults = Faults::new(1);
        let result = apply(node, &data, &mut Rows { live: &Live::all(1), span: node.span, faults: &mut faults });
        match faults.single() {
            Some(fault) => {
                self.faults.add_to_all(live, &fault);
                Datum::NULL
            }
            None => Datum::Scalar(result.value(0)),
        }
    }

    fn logic(&mut self, decisive: bool, left: &Node, right: &Node, live: &Live) -> Datum {
        let left = self.eval(left, live);
        let left_truth = Truth::of(&left, live.rows());
        let open = live.and_not(&left_truth.rows_that_are(decisive));
        if open.is_empty() {
            return Datum::Scalar(Value::Bool(decisive));
        }
        let right = self.eval(right, &open);
        if let (Datum::Scalar(left), Datum::Scalar(right)) = (&left, &right) {
            return Datum::Scalar(scalar_logic(decisive, left, right));
        }
        let right = Truth::of(&right, live.rows());
        Datum::Column(if decisive { left_truth.or(&right) } else { left_truth.and(&right) })
    }

    /// Each operand for the rows in which all before it are null.
    fn coalesce(&mut self, node: &Node, operands: &[Node], live: &Live) -> Datum {
        let (mut parts, mut open) = (Vec::with_capacity(operands.len()), live.clone());
        let (last, others) = operands.split_last().expect("`??` has two operands");
        for operand in others {
            let value = self.eval(operand, &open);
            let missing = open.and(&value.null_bits(live.rows()));
            parts.push((open.minus(&missing), value));
            open = missing;
        }
        let value = self.eval(last, &open);
        parts.push((open, value));
        choose(parts, &node.kind, live.rows())
    }

    /// Each branch for the rows that no condition before it took.
    fn branch(&mut self, node: &Node, branches: &[(Node, Node)], last: Option<&Node>, live: &Live) -> Datum {
        let (mut parts, mut open) = (Vec::with_capacity(branches.len() + 1), live.clone());
        for (condition, consequence) in branches {
            let taken = self.holds(condition, &open);
            open = open.minus(&taken);
            let value = self.eval(consequence, &taken);
            parts.push((taken, value));
        }
        let value = last.map_or(Datum::NULL, |last| self.eval(last, &open));
        parts.push((open, value));
        choose(parts, &node.kind, live.rows())
    }

    fn select(
        &mut self,
        node: &Node,
        subject: Option<&Node>,
        arms: &[(Node, Node)],
        default: &Node,
        live: &Live,
    ) -> Datum {
        let subject = subject.map(|subject| self.eval(subject, live));
        let (mut parts, mut open) = (Vec::with_capacity(arms.len() + 1), live.clone());
        for (pattern, body) in arms {
            let taken = self.matched(subject.as_ref(), pattern, &open);
            open = open.minus(&taken);
            let value = self.eval(body, &taken);
            parts.push((taken, value));
        }
        let value = self.eval(default, &open);
        parts.push((open, value));
        choose(parts, &node.kind, live.rows())
    }

    /// The subject is in reach of the pattern only: a `match` around sees its own again in the bodies.
    fn matched(&mut self, subject: Option<&Datum>, pattern: &Node, open: &Live) -> Live {
        self.subjects.extend(subject.cloned());
        let taken = self.holds(pattern, open);
        if subject.is_some() {
            self.subjects.pop();
        }
        taken
    }

    fn column(&self, position: usize) -> Datum {
        let column = self.batch.columns[position].as_ref();
        Datum::Column(column.expect("pruning keeps every column that an expression reads").clone())
    }

    fn source_file(&self) -> Datum {
        self.of_origin(|source, file| self.constants.file(source, file).unwrap_or(MERGED))
    }

    fn source_name(&self) -> Datum {
        self.of_origin(|source, _| self.constants.source_names.get(source as usize).map_or(MERGED, String::as_str))
    }

    /// A text about the source and the file of each row: one for all inside a block of one file.
    fn of_origin<'c>(&'c self, text: impl Fn(u32, u32) -> &'c str) -> Datum {
        let origin = &self.batch.origin;
        if origin.kept.is_none() {
            return Datum::Scalar(Value::String(text(origin.source, origin.file).to_owned()));
        }
        let texts = (0..self.batch.rows).map(|row| Some(text(origin.source_of(row), origin.file_of(row))));
        Datum::Column(Column::strings(texts))
    }

    fn source_row(&self) -> Datum {
        let origin = &self.batch.origin;
        Datum::Column(Column::ints((0..self.batch.rows).map(|row| origin.source_row(row) as i64).collect(), None))
    }
}

/// Applies a strict operation to its operands, at least one of which is a column.
fn apply(node: &Node, data: &[Datum], rows: &mut Rows<'_>) -> Datum {
    match &node.op {
        Op::Negate(_) => arithmetic::negate(&data[0], &node.kind, rows),
        Op::Not(_) => Datum::Column(Truth::of(&data[0], rows.len()).not()),
        Op::Arithmetic(op, ..) => arithmetic::arithmetic(*op, &data[0], &data[1], &node.kind, rows),
        Op::Compare(op, null_is_unknown, ..) => compare::compare(*op, *null_is_unknown, &data[0], &data[1], rows),
        Op::Call(function, _, prepared) => functions::call(*function, data, prepared, &node.kind, rows),
        _ => unreachable!("only operations that evaluate all operands are applied"),
    }
}

fn scalar_logic(decisive: bool, left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Bool(a), _) if *a == decisive => Value::Bool(decisive),
        (_, Value::Bool(b)) if *b == decisive => Value::Bool(decisive),
        (Value::Bool(_), Value::Bool(_)) => Value::Bool(!decisive),
        _ => Value::Null,
    }
}
