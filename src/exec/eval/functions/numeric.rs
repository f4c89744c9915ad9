//! Methods of numbers.

use std::cmp::Ordering;

use arrow_buffer::NullBuffer;

use crate::analysis::functions::Function;
use crate::analysis::types::Kind;
use crate::exec::batch::Column;
use crate::exec::eval::datum::Datum;
use crate::exec::eval::error::Error;
use crate::exec::eval::operands::Ints;
use crate::exec::eval::operators::convert::convert_value;
use crate::exec::eval::operators::sides::{Native, Side};
use crate::exec::eval::rows::Rows;
use crate::exec::value::{Value, power_of_ten};
use crate::formats::text::rescale;

/// `receiver.function(args)`, null where the receiver is.
pub fn call(function: Function, receiver: &Datum, args: &[Datum], kind: &Kind, rows: &mut Rows<'_>) -> Datum {
    use Function::*;
    Datum::Column(match function {
        Abs => each(receiver, kind, rows, |value, _| abs(value)),
        Ceil => each(receiver, kind, rows, |value, _| to_whole(value, f64::ceil, ceil)),
        Floor => each(receiver, kind, rows, |value, _| to_whole(value, f64::floor, floor)),
        Round | RoundTo => {
            let places = args.first().map_or(Ints::Scalar(Some(0)), Ints::of);
            if let (Datum::Column(Column::Float(a)), Ints::Scalar(Some(places))) = (receiver, &places) {
                return Datum::Column(Column::floats(round_floats(a.values(), *places), receiver.validity()));
            }
            each(receiver, kind, rows, |value, row| {
                Ok(places.get(row).map_or(Value::Null, |places| round(value, places)))
            })
        }
        Clamp => clamp(receiver, &args[0], &args[1], kind, rows),
        Min => pick(receiver, &args[0], kind, rows, Ordering::Less),
        _ => pick(receiver, &args[0], kind, rows, Ordering::Greater),
    })
}

/// A value for each, brought to `kind`. Numbers of fixed width need no allocation on the way.
fn each(
    receiver: &Datum,
    kind: &Kind,
    rows: &mut Rows<'_>,
    compute: impl Fn(Value, usize) -> Result<Value, Error>,
) -> Column {
    let compute = |row| compute(receiver.value(row), row).map(|value| convert_value(value, kind));
    match kind {
        Kind::Int => rows.ints(|row| Ok(i64::scalar(&compute(row)?))),
        Kind::Float => rows.floats(|row| Ok(f64::scalar(&compute(row)?))),
        _ => rows.values(kind, compute),
    }
}

fn abs(value: Value) -> Result<Value, Error> {
    Ok(match value {
        Value::Int(i) => Value::Int(i.checked_abs().ok_or(Error::IntegerOverflow("abs"))?),
        Value::Float(f) => Value::Float(f.abs()),
        Value::Decimal { mantissa, scale } => Value::Decimal { mantissa: mantissa.abs(), scale },
        _ => Value::Null,
    })
}

/// A whole number: an int, or for a decimal a decimal without places.
fn to_whole(value: Value, float: fn(f64) -> f64, decimal: fn(i128, i128) -> i128) -> Result<Value, Error> {
    Ok(match value {
        Value::Int(i) => Value::Int(i),
        Value::Float(f) => match float_to_int(float(f)) {
            Some(i) => Value::Int(i),
            None => return Err(Error::Conversion { value: Value::Float(f).to_string(), target: "Int" }),
        },
        Value::Decimal { mantissa, scale } => {
            Value::Decimal { mantissa: decimal(mantissa, power_of_ten(scale)), scale: 0 }
        }
        _ => Value::Null,
    })
}

fn floor(mantissa: i128, unit: i128) -> i128 {
    mantissa.div_euclid(unit)
}

fn ceil(mantissa: i128, unit: i128) -> i128 {
    -(-mantissa).div_euclid(unit)
}

/// The whole part of a float, if an int can hold it.
pub fn float_to_int(float: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0; // 2^63
    (-LIMIT..LIMIT).contains(&float).then_some(float as i64)
}

/// Halves go away from zero for a float, to even for a decimal; an int stays as it is.
fn round(value: Value, places: i64) -> Value {
    match value {
        Value::Float(f) => Value::Float(round_floats(&[f], places)[0]),
        Value::Decimal { mantissa, scale } => {
            let wanted = places.clamp(0, i64::from(scale)) as u8;
            let mantissa = rescale(mantissa, scale, wanted).expect("fewer places make a smaller mantissa");
            Value::Decimal { mantissa, scale: wanted }
        }
        Value::Int(i) => Value::Int(i),
        _ => Value::Null,
    }
}

fn round_floats(values: &[f64], places: i64) -> Vec<f64> {
    let unit = 10_f64.powi(places.unsigned_abs().min(400) as i32);
    // A number that is too large for the way there and back has no such places.
    let checked = |value: f64, rounded: f64| if rounded.is_finite() { rounded } else { value };
    match (unit.is_finite(), places >= 0) {
        (true, true) => values.iter().map(|value| checked(*value, (value * unit).round() / unit)).collect(),
        (true, false) => values.iter().map(|value| checked(*value, (value / unit).round() * unit)).collect(),
        (false, true) => values.to_vec(),
        (false, false) => values.iter().map(|value| checked(*value, value * 0.0)).collect(),
    }
}

fn clamp(receiver: &Datum, low: &Datum, high: &Datum, kind: &Kind, rows: &mut Rows<'_>) -> Column {
    let natives = clamp_natives(receiver, low, high, rows, Column::ints)
        .or_else(|| clamp_natives(receiver, low, high, rows, Column::floats));
    natives.unwrap_or_else(|| {
        rows.values(kind, |row| Ok(convert_value(clamped(receiver.value(row), low.value(row), high.value(row)), kind)))
    })
}

/// A bound that is null, or that the value can't be compared with, doesn't count.
fn clamped(value: Value, low: Value, high: Value) -> Value {
    if value.order(&low) == Some(Ordering::Less) {
        low
    } else if value.order(&high) == Some(Ordering::Greater) {
        high
    } else {
        value
    }
}

/// Numbers of one kind, and bounds that are never null.
fn clamp_natives<T: Native + PartialOrd>(
    receiver: &Datum,
    low: &Datum,
    high: &Datum,
    rows: &Rows<'_>,
    column: fn(Vec<T>, Option<NullBuffer>) -> Column,
) -> Option<Column> {
    let (values, lows, highs) = (Side::<T>::of(receiver)?, Side::<T>::of(low)?, Side::<T>::of(high)?);
    if low.validity().is_some() || high.validity().is_some() {
        return None;
    }
    let clamped = (0..rows.len()).map(|row| match (values.at(row), lows.at(row), highs.at(row)) {
        (value, low, _) if value < low => low,
        (value, _, high) if value > high => high,
        (value, ..) => value,
    });
    Some(column(clamped.collect(), receiver.validity()))
}

/// The receiver if it stands strictly in that order to the argument, otherwise the argument.
fn pick(receiver: &Datum, other: &Datum, kind: &Kind, rows: &mut Rows<'_>, wanted: Ordering) -> Column {
    each(receiver, kind, rows, |value, row| {
        let other = other.value(row);
        let receiver_wins = value.is_null() || value.order(&other) == Some(wanted);
        Ok(if receiver_wins { value } else { other })
    })
}
