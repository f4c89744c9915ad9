//! Kernels of the methods, by what they are called on.

mod convert;
mod date;
mod introspect;
mod list;
mod numeric;
mod path;
mod regex;
mod string;
mod to_decimal;

use super::datum::Datum;
use super::node::Node;
use super::rows::Rows;
use crate::analysis::functions::Function;
use crate::analysis::types::Kind;
use crate::exec::value::Value;

/// What a call needs that is made once for the run.
#[derive(Debug)]
pub enum Prepared {
    /// Nothing.
    Nothing,
    /// A regex.
    Pattern(regex::Pattern),
    /// How texts become dates.
    Reader(date::Reader),
    /// How dates become texts.
    Writer(date::Writer),
}

impl Prepared {
    /// Prepares a call of `function` on these inputs, the receiver first.
    pub fn new(function: Function, inputs: &[Node]) -> Self {
        let text = match inputs.get(1).map(Node::constant) {
            Some(Some(Value::String(text))) => Some(text.as_str()),
            _ => None,
        };
        match function {
            Function::Matches => Prepared::Pattern(regex::Pattern::new(text, true)),
            Function::Find | Function::Capture => Prepared::Pattern(regex::Pattern::new(text, false)),
            Function::ToDate | Function::TryDate => Prepared::Reader(date::Reader::new(text, date::DATE)),
            Function::ToDateTime | Function::TryDateTime => Prepared::Reader(date::Reader::new(text, date::DATE_TIME)),
            Function::FormatDate => Prepared::Writer(date::Writer::new(text)),
            _ => Prepared::Nothing,
        }
    }
}

/// Calls a method: the receiver is the first of `inputs`, at least one of which is a column.
pub fn call(function: Function, inputs: &[Datum], prepared: &Prepared, kind: &Kind, rows: &mut Rows<'_>) -> Datum {
    use Function::*;
    let (receiver, args) = inputs.split_first().expect("a method has a receiver");
    match function {
        TypeOf => return introspect::type_of(receiver, rows),
        IsNull => return introspect::is_null(receiver, rows),
        IsEmpty => return introspect::is_empty(receiver, rows),
        Catch => return introspect::catch(receiver, &args[0], kind, rows),
        Debug => return receiver.clone(),
        _ if receiver.is_null() => return Datum::NULL,
        _ => {}
    }
    match function {
        Abs | Ceil | Floor | Round | RoundTo | Clamp | Min | Max => numeric::call(function, receiver, args, kind, rows),
        Year | Month | Day | Hour | Minute | Second | AddDays | AddMonths | AddYears | DiffDays | DiffMonths
        | DiffYears => date::call(function, receiver, args, kind, rows),
        FormatDate => date::format_date(receiver, args, prepared, rows),
        ToInt | TryInt | ToFloat | TryFloat | ToDecimal | TryDecimal | ToString | ToBool | TryBool | ToDate
        | TryDate | ToDateTime | TryDateTime => convert::call(function, receiver, args, prepared, rows),
        FileName | FileStem | Extension | Parent | ParentName => path::call(function, receiver, rows),
        Matches | Find | Capture => regex::call(function, receiver, args, prepared, rows),
        _ => string::call(function, receiver, args, rows),
    }
}
