//! What a method takes and gives.

use crate::analysis::hir::{Expr, ExprKind, Literal};
use crate::analysis::types::{Kind, Type};

/// What is known of a method before it runs.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// What it may be called on.
    pub receiver: Kinds,
    /// Its parameters, the optional ones last.
    pub params: &'static [Param],
    /// Whether the last parameter may be given any number of times, but at least once.
    pub variadic: bool,
    /// The kind of its result.
    pub result: ResultKind,
    /// When the result is null.
    pub nulls: Nulls,
    /// What it does, in one line.
    pub doc: &'static str,
    /// Lines of the form `expression => value`; the value is written as JSON.
    pub examples: &'static [&'static str],
}

impl Signature {
    /// The fewest arguments it takes.
    pub fn min_args(&self) -> usize {
        self.params.iter().filter(|param| !param.optional).count()
    }

    /// The most arguments it takes; `None` if there is no limit.
    pub fn max_args(&self) -> Option<usize> {
        (!self.variadic).then_some(self.params.len())
    }

    /// The parameter that the argument at `index` is for; the index must be in range.
    pub fn param(&self, index: usize) -> &'static Param {
        &self.params[index.min(self.params.len() - 1)]
    }

    /// The parameters as they are shown to people: `start, [length]`.
    pub fn usage(&self) -> String {
        let mut names: Vec<String> = self
            .params
            .iter()
            .map(|param| if param.optional { format!("[{}]", param.name) } else { param.name.to_owned() })
            .collect();
        if self.variadic {
            names.push("…".to_owned());
        }
        names.join(", ")
    }
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// What messages and the manual call it.
    pub name: &'static str,
    /// What it takes.
    pub kinds: Kinds,
    /// Whether it may be left out.
    pub optional: bool,
    /// What a constant text in its place must be.
    pub role: Role,
}

impl Param {
    /// A parameter that must be given.
    pub const fn new(name: &'static str, kinds: Kinds) -> Self {
        Self { name, kinds, optional: false, role: Role::Plain }
    }

    /// The same parameter, free to be left out.
    pub const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// The same parameter, with the rule that a constant text must obey.
    pub const fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }
}

/// What a constant text argument must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Anything.
    Plain,
    /// A regex.
    Regex,
    /// A format that the receiver is printed with.
    FormatOut,
    /// A format that dates are read with.
    ParseDate,
    /// A format that date_times are read with.
    ParseDateTime,
}

/// A set of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kinds(u16);

impl Kinds {
    /// `string`
    pub const STRING: Kinds = Kinds(1);
    /// `int`
    pub const INT: Kinds = Kinds(2);
    /// `float`
    pub const FLOAT: Kinds = Kinds(4);
    /// `decimal`
    pub const DECIMAL: Kinds = Kinds(8);
    /// `bool`
    pub const BOOL: Kinds = Kinds(16);
    /// `date`
    pub const DATE: Kinds = Kinds(32);
    /// `date_time`
    pub const DATE_TIME: Kinds = Kinds(64);
    /// Arrays of any element.
    pub const ARRAY: Kinds = Kinds(128);
    /// `map`
    pub const MAP: Kinds = Kinds(256);
    /// Whole numbers, and floats, which are cut to whole numbers.
    pub const COUNT: Kinds = Kinds::INT.or(Kinds::FLOAT);
    /// Every number.
    pub const NUMBER: Kinds = Kinds::COUNT.or(Kinds::DECIMAL);
    /// `date` and `date_time`
    pub const DATES: Kinds = Kinds::DATE.or(Kinds::DATE_TIME);
    /// Every kind.
    pub const ALL: Kinds = Kinds(511);

    /// The kinds of both sets.
    pub const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether a value of `kind` may be in it. Null, `any` and what failed always may.
    pub fn accepts(self, kind: &Kind) -> bool {
        let one = match kind {
            Kind::Null | Kind::Any | Kind::Error => return true,
            Kind::Bool => Kinds::BOOL,
            Kind::Int => Kinds::INT,
            Kind::Float => Kinds::FLOAT,
            Kind::Decimal { .. } => Kinds::DECIMAL,
            Kind::String => Kinds::STRING,
            Kind::Date => Kinds::DATE,
            Kind::DateTime => Kinds::DATE_TIME,
            Kind::Array(_) => Kinds::ARRAY,
            Kind::Map => Kinds::MAP,
        };
        self.0 & one.0 != 0
    }

    /// The kind that a null in its place gets, so that kernels see a kind they know.
    pub fn of_null(self) -> Kind {
        const BY_PREFERENCE: [Kind; 5] = [Kind::String, Kind::Int, Kind::Date, Kind::DateTime, Kind::Bool];
        let first = BY_PREFERENCE.into_iter().find(|kind| self.accepts(kind));
        first.unwrap_or_else(|| Kind::Array(Box::new(Kind::String)))
    }

    /// The kinds for people: `a number`, `a date or a date_time`.
    pub fn describe(self) -> String {
        if self == Kinds::ALL {
            return "any value".to_owned();
        }
        let mut rest = self.0;
        let mut names = Vec::new();
        let groups = [
            (Kinds::NUMBER, "a number"),
            (Kinds::COUNT, "a whole number"),
            (Kinds::INT, "an int"),
            (Kinds::FLOAT, "a float"),
            (Kinds::DECIMAL, "a decimal"),
            (Kinds::STRING, "a string"),
            (Kinds::BOOL, "a bool"),
            (Kinds::DATE, "a date"),
            (Kinds::DATE_TIME, "a date_time"),
            (Kinds::ARRAY, "an array"),
            (Kinds::MAP, "a map"),
        ];
        for (group, name) in groups {
            if rest & group.0 == group.0 {
                rest &= !group.0;
                names.push(name);
            }
        }
        names.join(" or ")
    }
}

/// The kind of a method's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultKind {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `decimal` of no known scale
    Decimal,
    /// `string`
    String,
    /// `date`
    Date,
    /// `date_time`
    DateTime,
    /// An array of texts.
    Strings,
    /// That of the receiver.
    Receiver,
    /// An int for a receiver that is an int or a float, a decimal of unknown scale for a decimal.
    Whole,
    /// The receiver's kind, with the scale that rounding leaves of it.
    Rounded,
    /// The kind in which receiver and arguments meet; they must meet.
    Common,
    /// The kind in which receiver and arguments meet, `any` if there is none.
    CommonOrAny,
}

/// When a method's result is null.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nulls {
    /// When the receiver or an argument is null.
    Operands,
    /// When the receiver is null.
    Receiver,
    /// As for `Operands`, and when the first argument is below zero.
    NegativeCount,
    /// When both the receiver and the argument are null.
    Both,
    /// Never.
    Never,
    /// It can be null for every input.
    Possible,
    /// When the receiver is a date, and as for `Operands`.
    DateReceiver,
}

impl Nulls {
    /// Whether a call on these operands can give null.
    pub fn nullable(self, receiver: &Type, args: &[Expr]) -> bool {
        let arg = args.iter().any(|arg| arg.ty.nullable);
        let operands = receiver.nullable || arg;
        match self {
            Nulls::Operands => operands || any(receiver, args),
            Nulls::Receiver => receiver.nullable,
            Nulls::NegativeCount => operands || any(receiver, args) || !args.first().is_some_and(is_count),
            Nulls::Both => receiver.nullable && arg,
            Nulls::Never => false,
            Nulls::Possible => true,
            Nulls::DateReceiver => operands || receiver.kind != Kind::DateTime,
        }
    }
}

fn any(receiver: &Type, args: &[Expr]) -> bool {
    receiver.kind == Kind::Any || args.iter().any(|arg| arg.ty.kind == Kind::Any)
}

/// Whether it is a constant whole number that isn't negative.
fn is_count(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Int(number)) if number >= 0)
}
