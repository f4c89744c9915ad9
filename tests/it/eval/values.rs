//! Values: encoding, comparison, and decimals against exact arithmetic.

use std::cmp::Ordering;

use arrow_buffer::i256;
use clinker::analysis::types::Kind;
use clinker::exec::batch::Column;
use clinker::exec::value::{Value, compare_int_float, decode, encode};
use proptest::prelude::*;

use super::harness::{batch, transform};

/// Mantissa and scale.
pub type Decimal = (i128, u8);

pub const LARGEST: i128 = (1 << 96) - 1;

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_map(Value::Float),
        (-LARGEST..=LARGEST, 0_u8..=28).prop_map(|(mantissa, scale)| Value::Decimal { mantissa, scale }),
        "\\PC{0,20}".prop_map(Value::String),
        any::<i32>().prop_map(Value::Date),
        any::<i128>().prop_map(Value::DateTime),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec(("[a-z]{0,3}", inner), 0..4).prop_map(Value::Map),
        ]
    })
}

/// Equal, NaN included, bit for bit.
fn same(a: &Value, b: &Value) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

proptest! {
    #[test]
    fn encoding_gives_the_value_back(value in value()) {
        let mut bytes = vec![0xEE];
        encode(&value, &mut bytes);
        prop_assert!(same(&decode(&bytes[1..]), &value));
    }

    #[test]
    fn any_columns_give_their_values_back(values in prop::collection::vec(value(), 0..6)) {
        let column = Column::from_values(&Kind::Any, &values);
        prop_assert_eq!(column.len(), values.len());
        for (row, value) in values.iter().enumerate() {
            prop_assert!(same(&column.value(row), value));
        }
    }

    #[test]
    fn an_int_and_a_float_compare_exactly(int in any::<i64>(), near in -3_i32..=3, float in any::<f64>()) {
        for float in [float, int as f64, (int as f64) + f64::from(near), f64::from(near) / 2.0] {
            let exact = if float.is_nan() {
                None
            } else if float.abs() > 1e30 {
                Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater })
            } else {
                // Both as multiples of a thousandth part of the smallest fraction that matters here.
                let floor = float.floor();
                Some(i128::from(int).cmp(&(floor as i128)).then(if float > floor { Ordering::Less } else { Ordering::Equal }))
            };
            prop_assert_eq!(compare_int_float(int, float), exact, "{} and {}", int, float);
        }
    }

    #[test]
    fn decimals_are_exact_or_rounded_once(rows in prop::collection::vec((decimal(), decimal()), 1..20)) {
        for op in ["+", "-", "*", "%"] {
            for ((x, y), found) in rows.iter().zip(compute(op, &rows)) {
                prop_assert_eq!(found, exact(op, *x, *y), "{:?} {} {:?}", x, op, y);
            }
        }
    }

    #[test]
    fn quotients_of_decimals_are_as_near_as_they_can_be(rows in prop::collection::vec((decimal(), decimal()), 1..20)) {
        for ((x, y), found) in rows.iter().zip(compute("/", &rows)) {
            let Some((mantissa, scale)) = found else { continue };
            // |x / y - found| is at most half of the last place, without dividing.
            let power = i32::from(scale) + i32::from(y.1) - i32::from(x.1);
            let (x_wide, y_wide) = (i256::from_i128(x.0), i256::from_i128(y.0));
            let (dividend, divisor) = if power >= 0 {
                (x_wide.wrapping_mul(ten_to(power as u8)), y_wide)
            } else {
                (x_wide, y_wide.wrapping_mul(ten_to(-power as u8)))
            };
            let off = dividend.wrapping_sub(i256::from_i128(mantissa).wrapping_mul(divisor)).wrapping_abs();
            let twice = off.wrapping_add(off);
            prop_assert!(twice <= divisor.wrapping_abs(), "{:?} / {:?} = {:?}", x, y, found);
            prop_assert!(twice < divisor.wrapping_abs() || mantissa % 2 == 0, "{:?} / {:?} = {:?}", x, y, found);
            let full = scale == 28 || mantissa.abs() > LARGEST / 10 - 1;
            prop_assert!(full || off == i256::ZERO, "{:?} / {:?} = {:?} lacks places", x, y, found);
        }
    }
}

/// `x op y` of each row; `None` where it fails.
pub fn compute(op: &str, rows: &[(Decimal, Decimal)]) -> Vec<Option<Decimal>> {
    compute_expr(&format!("x {op} y"), rows)
}

/// An expression in the decimals `x` and `y` of each row; `None` where it fails.
pub fn compute_expr(expr: &str, rows: &[(Decimal, Decimal)]) -> Vec<Option<Decimal>> {
    let sides = |pick: fn(&(Decimal, Decimal)) -> Decimal| {
        let (mantissas, scales) = rows.iter().map(pick).unzip();
        Column::scaled_decimals(mantissas, scales, None)
    };
    let columns = vec![sides(|row| row.0), sides(|row| row.1)];
    let checked = transform(&[("x", "decimal"), ("y", "decimal")], &format!("emit v = {expr}"), "").unwrap();
    let done = checked.run(&batch(rows.len(), columns));
    let kept = done.kept.unwrap_or_else(|| (0..rows.len() as u32).collect());
    let results = done.batch.columns[2].as_ref().expect("every column is stored");
    let found = |row: usize| {
        let at = kept.iter().position(|kept| *kept as usize == row)?;
        results.value(at).as_decimal()
    };
    (0..rows.len()).map(found).collect()
}

pub fn decimal() -> impl Strategy<Value = Decimal> {
    let mantissa = prop_oneof![
        -LARGEST..=LARGEST,
        -1_000_000_i128..=1_000_000,
        Just(LARGEST),
        Just(-LARGEST),
        (0_u32..28, -20_i128..=20).prop_map(|(exponent, off)| 5 * 10_i128.pow(exponent) + off),
    ];
    (mantissa, 0_u8..=28)
}

/// The result with as many places as fit, halves to even; `None` if it is too large or a divisor is zero.
fn exact(op: &str, (x, x_scale): Decimal, (y, y_scale): Decimal) -> Option<Decimal> {
    let wide = |value: i128, power: u8| i256::from_i128(value).wrapping_mul(ten_to(power));
    let scale = x_scale.max(y_scale);
    let (value, scale) = match op {
        "+" => (wide(x, scale - x_scale).wrapping_add(wide(y, scale - y_scale)), scale),
        "-" => (wide(x, scale - x_scale).wrapping_sub(wide(y, scale - y_scale)), scale),
        "%" => (wide(x, scale - x_scale).checked_rem(wide(y, scale - y_scale))?, scale),
        _ => (i256::from_i128(x).wrapping_mul(i256::from_i128(y)), x_scale + y_scale),
    };
    (0..=scale.min(28)).rev().find_map(|wanted| {
        let rounded = half_even(value, ten_to(scale - wanted)).to_i128()?;
        (rounded.abs() <= LARGEST).then_some((rounded, wanted))
    })
}

fn ten_to(power: u8) -> i256 {
    (0..power).fold(i256::ONE, |value, _| value.wrapping_mul(i256::from_i128(10)))
}

fn half_even(value: i256, unit: i256) -> i256 {
    let (quotient, rest) = (value.wrapping_div(unit), value.wrapping_rem(unit).wrapping_abs());
    let twice = rest.wrapping_add(rest);
    let odd = quotient.wrapping_rem(i256::from_i128(2)) != i256::ZERO;
    let up = twice > unit || (twice == unit && odd);
    let sign = if value.is_negative() { i256::MINUS_ONE } else { i256::ONE };
    if up { quotient.wrapping_add(sign) } else { quotient }
}
