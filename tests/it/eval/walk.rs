//! A second evaluator, as plain as can be: it walks the tree of one row and stops at the first failure.
//!
//! It decides itself what is evaluated and what numbers and comparisons give; methods, and operators on decimals and
//! on values without a static type, it leaves to the kernels, one row and one operation at a time.

use clinker::analysis::hir::{BinaryOp, Expr, ExprKind, Literal, OutputColumn, Slot, Statement, Transform, Variable};
use clinker::analysis::types::Kind;
use clinker::diagnostics::Span;
use clinker::exec::batch::Column;
use clinker::exec::eval::Constants;
use clinker::exec::value::Value;
use clinker::plan::physical::ColumnSet;

use super::harness::batch;

/// Why a row failed: the message and the expression.
pub type Failure = (String, Span);

/// One row and what its program computed so far.
pub struct Walk<'a> {
    pub constants: &'a Constants,
    pub row: &'a [Value],
    pub source_row: i64,
    pub lets: Vec<Value>,
    pub emits: Vec<Value>,
    subjects: Vec<Value>,
}

impl<'a> Walk<'a> {
    pub fn new(constants: &'a Constants, row: &'a [Value], source_row: i64, transform: &Transform) -> Self {
        let (lets, emits) = (vec![Value::Null; transform.lets.len()], vec![Value::Null; transform.emits.len()]);
        Self { constants, row, source_row, lets, emits, subjects: Vec::new() }
    }

    /// The emitted values, `None` if a filter took the row out.
    pub fn program(&mut self, transform: &Transform) -> Result<Option<Vec<Value>>, Failure> {
        for statement in &transform.statements {
            match statement {
                Statement::Let { slot, value } => self.lets[*slot] = self.eval(value)?,
                Statement::Emit { slot, value } => self.emits[*slot] = self.eval(value)?,
                Statement::Discard(value) => drop(self.eval(value)?),
                Statement::Filter(predicate) if self.eval(predicate)? != Value::Bool(true) => return Ok(None),
                Statement::Filter(_) => {}
                Statement::Distinct { .. } => unreachable!("one row knows no other"),
            }
        }
        Ok(Some(self.emits.clone()))
    }

    pub fn eval(&mut self, expr: &Expr) -> Result<Value, Failure> {
        Ok(match &expr.kind {
            ExprKind::Literal(literal) => literal.into(),
            ExprKind::Column(position) => self.row[*position].clone(),
            ExprKind::Let(slot) => self.lets[*slot].clone(),
            ExprKind::Emit(slot) => self.emits[*slot].clone(),
            ExprKind::Subject => self.subjects.last().expect("a pattern has a subject").clone(),
            ExprKind::Variable(variable) => self.variable(*variable),
            ExprKind::Convert(operand) => converted(self.eval(operand)?, &expr.ty.kind),
            ExprKind::Not(operand) => match self.eval(operand)? {
                Value::Bool(b) => Value::Bool(!b),
                _ => Value::Null,
            },
            ExprKind::Negate(operand) => {
                let operand = self.eval(operand)?;
                self.negated(expr, operand)?
            }
            ExprKind::Arithmetic { op, left, right } => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                self.arithmetic(expr, *op, left, right)?
            }
            ExprKind::Compare { op, left, right, .. } => compared(*op, &self.eval(left)?, &self.eval(right)?),
            ExprKind::Logic { op, left, right } => self.logic(*op == BinaryOp::Or, left, right)?,
            ExprKind::Coalesce(left, right) => match self.eval(left)? {
                Value::Null => self.eval(right)?,
                left => left,
            },
            ExprKind::If { condition, consequence, alternative } => {
                match (self.eval(condition)? == Value::Bool(true), alternative) {
                    (true, _) => self.eval(consequence)?,
                    (false, Some(alternative)) => self.eval(alternative)?,
                    (false, None) => Value::Null,
                }
            }
            ExprKind::Match { subject, arms, default } => {
                let subject = subject.as_ref().map(|subject| self.eval(subject)).transpose()?;
                for arm in arms {
                    self.subjects.extend(subject.clone());
                    let matches = self.eval(&arm.pattern)? == Value::Bool(true);
                    self.subjects.truncate(self.subjects.len() - usize::from(subject.is_some()));
                    if matches {
                        return self.eval(&arm.body);
                    }
                }
                self.eval(default)?
            }
            ExprKind::Call { receiver, args, .. } => {
                let receiver = self.eval(receiver)?;
                let args = args.iter().map(|arg| self.eval(arg)).collect::<Result<Vec<_>, _>>()?;
                self.by_kernel(expr, [vec![receiver], args].concat())?
            }
        })
    }

    fn variable(&self, variable: Variable) -> Value {
        match variable {
            Variable::PipelineName => Value::String(self.constants.pipeline_name.clone()),
            Variable::ExecutionId => Value::String(self.constants.execution_id.clone()),
            Variable::BatchId => Value::String(self.constants.batch_id.clone()),
            Variable::StartTime => Value::DateTime(self.constants.start_time),
            Variable::SourceFile => Value::String(self.constants.source_files[0][0].clone()),
            Variable::SourceName => Value::String(self.constants.source_names[0].clone()),
            Variable::SourceRow => Value::Int(self.source_row),
            Variable::Var(position) => (&self.constants.vars[position]).into(),
        }
    }

    fn negated(&self, expr: &Expr, operand: Value) -> Result<Value, Failure> {
        match operand {
            Value::Int(i) => int(expr, i.checked_neg(), "negation"),
            Value::Float(f) => Ok(Value::Float(-f)),
            operand => self.by_kernel(expr, vec![operand]),
        }
    }

    fn arithmetic(&self, expr: &Expr, op: BinaryOp, left: Value, right: Value) -> Result<Value, Failure> {
        let by_zero = Err(("division by zero".to_owned(), expr.span));
        match (op, &left, &right) {
            (_, Value::Null, _) | (_, _, Value::Null) => Ok(Value::Null),
            (BinaryOp::Divide | BinaryOp::Remainder, Value::Int(_), Value::Int(0)) => by_zero,
            (BinaryOp::Divide | BinaryOp::Remainder, Value::Float(_), Value::Float(0.0)) => by_zero,
            (BinaryOp::Add, Value::Int(a), Value::Int(b)) => int(expr, a.checked_add(*b), "addition"),
            (BinaryOp::Subtract, Value::Int(a), Value::Int(b)) => int(expr, a.checked_sub(*b), "subtraction"),
            (BinaryOp::Multiply, Value::Int(a), Value::Int(b)) => int(expr, a.checked_mul(*b), "multiplication"),
            (BinaryOp::Divide, Value::Int(a), Value::Int(b)) => int(expr, a.checked_div(*b), "division"),
            (BinaryOp::Remainder, Value::Int(a), Value::Int(b)) => int(expr, a.checked_rem(*b), "modulo"),
            (BinaryOp::Add, Value::Float(a), Value::Float(b)) => Ok(Value::Float(a + b)),
            (BinaryOp::Subtract, Value::Float(a), Value::Float(b)) => Ok(Value::Float(a - b)),
            (BinaryOp::Multiply, Value::Float(a), Value::Float(b)) => Ok(Value::Float(a * b)),
            (BinaryOp::Divide, Value::Float(a), Value::Float(b)) => Ok(Value::Float(a / b)),
            (BinaryOp::Remainder, Value::Float(a), Value::Float(b)) => Ok(Value::Float(a % b)),
            (BinaryOp::Add, Value::String(a), Value::String(b)) => Ok(Value::String(format!("{a}{b}"))),
            _ => self.by_kernel(expr, vec![left, right]),
        }
    }

    fn logic(&mut self, decisive: bool, left: &Expr, right: &Expr) -> Result<Value, Failure> {
        let left = self.eval(left)?;
        if left == Value::Bool(decisive) {
            return Ok(left);
        }
        Ok(match (left, self.eval(right)?) {
            (_, Value::Bool(right)) if right == decisive => Value::Bool(decisive),
            (Value::Bool(_), Value::Bool(_)) => Value::Bool(!decisive),
            _ => Value::Null,
        })
    }

    /// The operation alone, on columns of one row; constants stay, since a call may be prepared with them.
    fn by_kernel(&self, expr: &Expr, operands: Vec<Value>) -> Result<Value, Failure> {
        let mut alone = expr.clone();
        let mut columns = Vec::new();
        for (part, value) in parts(&mut alone.kind).into_iter().zip(operands) {
            columns.push(Column::from_values(&part.ty.kind, &[value]));
            if !matches!(part.kind, ExprKind::Literal(Literal::String(_))) {
                part.kind = ExprKind::Column(columns.len() - 1);
            }
        }
        let transform = Transform {
            validations: Vec::new(),
            emits: vec![Slot { name: "v".into(), ty: alone.ty.clone() }],
            statements: vec![Statement::Emit { slot: 0, value: alone }],
            lets: Vec::new(),
            output: vec![OutputColumn::Emit(0)],
            keeps_carried: false,
            batch_size: None,
        };
        let compiled = clinker::exec::eval::Transform::new(&transform, &ColumnSet::all(1), Default::default());
        let done = compiled.run(&batch(1, columns));
        match done.faults.into_iter().next() {
            Some(fault) => Err((fault.message, fault.span)),
            None => Ok(done.batch.columns[0].as_ref().expect("it is stored").value(0)),
        }
    }
}

fn parts(kind: &mut ExprKind) -> Vec<&mut Expr> {
    match kind {
        ExprKind::Negate(operand) => vec![operand],
        ExprKind::Arithmetic { left, right, .. } => vec![left, right],
        ExprKind::Call { receiver, args, .. } => std::iter::once(&mut **receiver).chain(args).collect(),
        other => unreachable!("not left to a kernel: {other:?}"),
    }
}

fn int(expr: &Expr, result: Option<i64>, operation: &str) -> Result<Value, Failure> {
    result.map(Value::Int).ok_or_else(|| (format!("integer overflow in {operation} operation"), expr.span))
}

fn converted(value: Value, kind: &Kind) -> Value {
    match (value, kind) {
        (Value::Int(i), Kind::Float) => Value::Float(i as f64),
        (Value::Int(i), Kind::Decimal { .. }) => Value::Decimal { mantissa: i.into(), scale: 0 },
        (value, _) => value,
    }
}

fn compared(op: BinaryOp, left: &Value, right: &Value) -> Value {
    let order = left.order(right);
    Value::Bool(match op {
        BinaryOp::Equal => left.equals(right),
        BinaryOp::NotEqual => !left.equals(right),
        _ if left.is_null() || right.is_null() => return Value::Null,
        BinaryOp::Less => order.is_some_and(|order| order.is_lt()),
        BinaryOp::LessEqual => order.is_some_and(|order| order.is_le()),
        BinaryOp::Greater => order.is_some_and(|order| order.is_gt()),
        _ => order.is_some_and(|order| order.is_ge()),
    })
}
