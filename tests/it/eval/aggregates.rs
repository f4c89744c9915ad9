//! Accumulators against naive models that keep every value.

use std::cmp::Ordering;

use arrow_buffer::i256;
use clinker::analysis::hir::{Aggregate, AggregateFunction, Expr, ExprKind};
use clinker::analysis::types::{Kind, Type};
use clinker::diagnostics::{FileId, Span};
use clinker::exec::aggregate::{Accumulator, RowOrder};
use clinker::exec::batch::Column;
use clinker::exec::value::Value;
use proptest::prelude::*;

use super::harness::shown;
use super::values::LARGEST;
use AggregateFunction::{Avg, Collect, Count, CountRows, Max, Min, Sum, WeightedAvg};

const DECIMAL: Kind = Kind::Decimal { scale: None };

fn aggregate(function: AggregateFunction, kinds: &[Kind], result: Kind) -> Aggregate {
    let span = Span { file: FileId(0), start: 0, end: 0 };
    let arg = |(column, kind): (usize, &Kind)| Expr {
        kind: ExprKind::Column(column),
        ty: Type::nullable(kind.clone()),
        span,
    };
    let args = kinds.iter().enumerate().map(arg).collect();
    Aggregate { function, args, ty: Type::nullable(result), span }
}

/// What a function gives for each group, given rows of a group and a value for each argument; a failure as its message.
fn run(
    function: AggregateFunction,
    kinds: &[Kind],
    result: Kind,
    rows: &[(u32, Vec<Value>)],
    groups: usize,
    batch: usize,
) -> Vec<Result<Value, String>> {
    let mut accumulator = Accumulator::new(&aggregate(function, kinds, result));
    fill(&mut accumulator, function, kinds, rows, batch);
    accumulator.grow(groups);
    let found = results(&accumulator, groups, None);
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    order.sort_by_key(|row| rows[*row as usize].0);
    let ends: Vec<u32> =
        (0..groups as u32).map(|group| rows.iter().filter(|(g, _)| *g <= group).count() as u32).collect();
    let told = results(&accumulator, groups, Some(RowOrder { rows: &order, ends: &ends }));
    assert_eq!(format!("{found:?}"), format!("{told:?}"), "the order that is told is that of arrival");
    found
}

/// Adds rows, so many at once.
fn fill(
    accumulator: &mut Accumulator,
    function: AggregateFunction,
    kinds: &[Kind],
    rows: &[(u32, Vec<Value>)],
    batch: usize,
) {
    let mut seen = 0;
    for part in rows.chunks(batch.max(1)) {
        let ids: Vec<u32> = part.iter().map(|(group, _)| *group).collect();
        seen = seen.max(ids.iter().max().map_or(0, |last| *last as usize + 1));
        let column = |arg: usize| {
            let values: Vec<Value> = part.iter().map(|(_, values)| values[arg].clone()).collect();
            Column::from_values(&kinds[arg], &values)
        };
        let args: Vec<Column> = (0..kinds.len()).map(column).collect();
        let (held, bound) = (accumulator.bytes(), accumulator.bound(seen, &args));
        accumulator.update(&ids, seen, &args);
        assert!(accumulator.bytes() <= bound, "{function:?} holds {} of {bound} bytes", accumulator.bytes());
        assert!(held <= accumulator.bytes() || matches!(function, Min | Max), "{function:?} shrinks");
    }
}

/// The results of all groups, some at a time.
fn results(accumulator: &Accumulator, groups: usize, order: Option<RowOrder<'_>>) -> Vec<Result<Value, String>> {
    let mut results: Vec<Result<Value, String>> = Vec::new();
    for first in (0..groups as u32).step_by(2) {
        let range = first..groups.min(first as usize + 2) as u32;
        let finished = accumulator.finish(range.clone(), order);
        assert_eq!(finished.column.len(), range.len());
        results.extend((0..range.len()).map(|row| Ok(finished.column.value(row))));
        for fault in finished.faults {
            results[fault.group as usize] = Err(fault.message);
        }
    }
    results
}

fn one(function: AggregateFunction, kinds: &[Kind], result: Kind, values: &[Vec<Value>]) -> Result<Value, String> {
    let rows: Vec<(u32, Vec<Value>)> = values.iter().map(|values| (0, values.clone())).collect();
    run(function, kinds, result, &rows, 1, 3).remove(0)
}

fn int(i: i64) -> Value {
    Value::Int(i)
}

fn decimal(mantissa: i128, scale: u8) -> Value {
    Value::Decimal { mantissa, scale }
}

fn text(s: &str) -> Value {
    Value::String(s.into())
}

/// The functions that take one argument, with the kind of their result.
fn all_of_one(kind: &Kind) -> Vec<(AggregateFunction, Kind)> {
    let mean = match kind {
        Kind::Int | Kind::Float => Kind::Float,
        other => other.clone(),
    };
    vec![
        (Count, Kind::Int),
        (Sum, kind.clone()),
        (Avg, mean),
        (Min, kind.clone()),
        (Max, kind.clone()),
        (Collect, Kind::Array(Box::new(kind.clone()))),
    ]
}

#[test]
fn results_of_a_few_values() {
    let null = Value::Null;
    let cases: Vec<(Kind, Vec<Value>, [&str; 6])> = vec![
        (Kind::Int, vec![int(10), int(-3)], ["2", "7", "3.5", "-3", "10", "[10,-3]"]),
        (Kind::Int, vec![null.clone(), int(5)], ["1", "5", "5.0", "5", "5", "[null,5]"]),
        (Kind::Int, vec![null.clone()], ["0", "null", "null", "null", "null", "[null]"]),
        (Kind::Int, vec![], ["0", "null", "null", "null", "null", "[]"]),
        (
            Kind::Int,
            vec![int(i64::MAX), int(1)],
            [
                "2",
                "integer sum overflow",
                "4.611686018427388e18",
                "1",
                "9223372036854775807",
                "[9223372036854775807,1]",
            ],
        ),
        (
            Kind::Int,
            vec![int(i64::MAX), int(1), int(-1)],
            [
                "3",
                "9223372036854775807",
                "3.0744573456182584e18",
                "-1",
                "9223372036854775807",
                "[9223372036854775807,1,-1]",
            ],
        ),
        (
            DECIMAL,
            vec![decimal(150, 2), decimal(250, 2), decimal(400, 2)],
            [
                "3",
                "\"8.00\"",
                "\"2.6666666666666666666666666667\"",
                "\"1.50\"",
                "\"4.00\"",
                "[\"1.50\",\"2.50\",\"4.00\"]",
            ],
        ),
        (
            DECIMAL,
            vec![decimal(LARGEST, 0), decimal(1, 0)],
            [
                "2",
                "decimal sum overflow",
                "\"39614081257132168796771975168\"",
                "\"1\"",
                "\"79228162514264337593543950335\"",
                "[\"79228162514264337593543950335\",\"1\"]",
            ],
        ),
        (
            DECIMAL,
            vec![decimal(LARGEST, 0), decimal(1, 28), decimal(-LARGEST, 0)],
            [
                "3",
                "\"0.0000000000000000000000000001\"",
                "\"0.0000000000000000000000000000\"",
                "\"-79228162514264337593543950335\"",
                "\"79228162514264337593543950335\"",
                "[\"79228162514264337593543950335\",\"0.0000000000000000000000000001\",\"-79228162514264337593543950335\"]",
            ],
        ),
        (
            Kind::Float,
            vec![Value::Float(1e308), Value::Float(1e308), Value::Float(-1e308)],
            ["3", "1e308", "3.333333333333333e307", "-1e308", "1e308", "[1e308,1e308,-1e308]"],
        ),
        (
            Kind::Float,
            vec![Value::Float(1e308), Value::Float(1e308)],
            ["2", "float sum overflow", "1e308", "1e308", "1e308", "[1e308,1e308]"],
        ),
        (
            Kind::Float,
            vec![Value::Float(f64::INFINITY), Value::Float(1.0), Value::Float(f64::NEG_INFINITY)],
            ["3", "NaN", "NaN", "-inf", "inf", "[inf,1.0,-inf]"],
        ),
        (Kind::Float, vec![Value::Float(f64::NAN), Value::Float(2.0)], ["2", "NaN", "NaN", "2.0", "NaN", "[NaN,2.0]"]),
        (Kind::Float, vec![Value::Float(-0.0), Value::Float(-0.0)], ["2", "0.0", "0.0", "-0.0", "-0.0", "[-0.0,-0.0]"]),
    ];
    for (kind, values, expected) in cases {
        let rows: Vec<Vec<Value>> = values.iter().map(|value| vec![value.clone()]).collect();
        for ((function, result), expected) in all_of_one(&kind).into_iter().zip(expected) {
            let found = one(function, std::slice::from_ref(&kind), result, &rows);
            let found = found.as_ref().map_or_else(Clone::clone, shown);
            assert_eq!(found, expected, "{function:?} of {values:?}");
        }
        let rows: Vec<Vec<Value>> = values.iter().map(|_| Vec::new()).collect();
        assert_eq!(one(CountRows, &[], Kind::Int, &rows), Ok(int(values.len() as i64)));
    }
}

#[test]
fn the_first_and_last_of_every_ordered_type() {
    let nan = Value::Float(f64::NAN);
    let cases: Vec<(Kind, Vec<Value>)> = vec![
        (Kind::Bool, vec![Value::Bool(false), Value::Bool(true)]),
        (Kind::Int, vec![int(i64::MIN), int(-1), int(i64::MAX)]),
        (Kind::Float, vec![Value::Float(f64::NEG_INFINITY), Value::Float(-1.5), Value::Float(f64::INFINITY), nan]),
        (DECIMAL, vec![decimal(-LARGEST, 0), decimal(1, 28), decimal(LARGEST, 27)]),
        (Kind::String, vec![text(""), text("10"), text("9"), text("B"), text("a long text behind"), text("é")]),
        (Kind::Date, vec![Value::Date(-5), Value::Date(19_000)]),
        (Kind::DateTime, vec![Value::DateTime(i128::MIN), Value::DateTime(5)]),
    ];
    for (kind, ascending) in cases {
        let kinds = std::slice::from_ref(&kind);
        for rotation in 0..ascending.len() {
            let mut rows: Vec<Vec<Value>> = ascending.iter().map(|value| vec![value.clone()]).collect();
            rows.rotate_left(rotation);
            rows.insert(rotation % rows.len(), vec![Value::Null]);
            let found = |function| shown(&one(function, kinds, kind.clone(), &rows).expect("they have an order"));
            assert_eq!(found(Min), shown(&ascending[0]), "{kind} {rotation}");
            assert_eq!(found(Max), shown(&ascending[ascending.len() - 1]), "{kind} {rotation}");
        }
    }
}

/// Values with their weights.
type Pairs = Vec<(Value, Value)>;

#[test]
fn weighted_averages() {
    let float = Value::Float;
    let cases: [(Kind, Kind, Pairs, &str); 13] = [
        (Kind::Int, Kind::Float, vec![(int(10), int(1)), (int(20), int(3))], "17.5"),
        (Kind::Int, Kind::Float, vec![(int(10), int(1)), (Value::Null, int(3)), (int(7), Value::Null)], "10.0"),
        (Kind::Int, Kind::Float, vec![(int(10), int(2)), (int(20), int(-2))], "null"),
        (Kind::Int, Kind::Float, vec![], "null"),
        (Kind::Int, Kind::Float, vec![(int(i64::MAX), int(i64::MAX)); 9], "9.223372036854776e18"),
        (
            Kind::Int,
            Kind::Float,
            vec![(int(i64::MIN), int(i64::MIN)), (int(0), int(i64::MAX))],
            "-8.507059173023462e37",
        ),
        (Kind::Float, Kind::Float, vec![(float(0.5), float(1.0)), (float(1.0), float(3.0))], "0.875"),
        (
            Kind::Float,
            Kind::Float,
            vec![(float(1e200), float(2.0)), (float(-1e200), float(2.0)), (float(1.0), float(4.0))],
            "0.5",
        ),
        (Kind::Float, Kind::Float, vec![(float(1e308), float(1e308))], "float sum overflow"),
        (
            DECIMAL,
            DECIMAL,
            vec![(decimal(150, 2), decimal(1, 0)), (decimal(250, 2), decimal(2, 0))],
            "\"2.1666666666666666666666666667\"",
        ),
        (DECIMAL, DECIMAL, vec![(decimal(150, 2), decimal(-5, 1)), (decimal(150, 2), decimal(-5, 1))], "\"1.50\""),
        (DECIMAL, DECIMAL, vec![(decimal(1, 0), decimal(0, 3))], "null"),
        (
            DECIMAL,
            DECIMAL,
            vec![(decimal(LARGEST, 28), decimal(LARGEST, 28)), (decimal(LARGEST, 0), decimal(LARGEST, 0))],
            "decimal sum overflow",
        ),
    ];
    for (kind, result, pairs, expected) in cases {
        let rows: Vec<Vec<Value>> = pairs.iter().map(|(value, weight)| vec![value.clone(), weight.clone()]).collect();
        let mut reversed = rows.clone();
        reversed.reverse();
        for rows in [rows, reversed] {
            let found = one(WeightedAvg, &[kind.clone(), kind.clone()], result.clone(), &rows);
            assert_eq!(found.as_ref().map_or_else(Clone::clone, shown), expected, "{pairs:?}");
        }
    }
}

/// An exact sum of doubles in units of 2^-1138, as 40 words, and whether it is negative.
struct Exact([u64; 40], bool);

impl Exact {
    fn sum(numbers: &[f64]) -> Self {
        let (mut above, mut below) = ([0_u64; 40], [0_u64; 40]);
        for number in numbers {
            let side = if *number < 0.0 { &mut below } else { &mut above };
            let bits = number.abs().to_bits();
            let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
            let (mantissa, unit) = if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
            let position = unit as usize + 64;
            let spread = u128::from(mantissa) << (position % 64);
            add_at(side, position / 64, spread as u64);
            add_at(side, position / 64 + 1, (spread >> 64) as u64);
        }
        let negative = above.iter().rev().cmp(below.iter().rev()) == Ordering::Less;
        let (large, small) = if negative { (below, above) } else { (above, below) };
        let (mut difference, mut borrow) = ([0; 40], false);
        for word in 0..40 {
            let (first, a) = large[word].overflowing_sub(small[word]);
            let (second, b) = first.overflowing_sub(u64::from(borrow));
            (difference[word], borrow) = (second, a || b);
        }
        Self(difference, negative)
    }

    /// The nearest double to the value divided by `count`, halves to even.
    fn over(&self, count: u64) -> f64 {
        let (mut words, mut rest) = ([0_u64; 40], 0_u128);
        for word in (0..40).rev() {
            let dividend = rest << 64 | u128::from(self.0[word]);
            words[word] = (dividend / u128::from(count)) as u64;
            rest = dividend % u128::from(count);
        }
        let bit = |position: usize| words[position / 64] >> (position % 64) & 1;
        let Some(highest) = (0..40 * 64).rev().find(|position| bit(*position) == 1) else { return 0.0 };
        let lowest = highest.saturating_sub(52).max(64);
        let mut mantissa = (lowest..=highest).rev().fold(0_u64, |all, position| all << 1 | bit(position));
        let rest = (0..lowest - 1).any(|position| bit(position) == 1) || rest != 0;
        if bit(lowest - 1) == 1 && (rest || mantissa % 2 == 1) {
            mantissa += 1;
        }
        // Powers of two in steps, all exact: a mantissa is a multiple of the smallest double here.
        let mut value = mantissa as f64;
        let mut exponent = lowest as i32 - 1138;
        while exponent != 0 {
            let step = exponent.clamp(-500, 500);
            value *= 2_f64.powi(step);
            exponent -= step;
        }
        if self.1 { -value } else { value }
    }
}

fn add_at(words: &mut [u64; 40], mut word: usize, value: u64) {
    let (sum, mut carry) = words[word].overflowing_add(value);
    words[word] = sum;
    while carry {
        word += 1;
        (words[word], carry) = words[word].overflowing_add(1);
    }
}

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |f| f.is_finite()),
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |f| f.is_finite()),
        (-1e6..1e6),
        (-60_i32..60).prop_map(|exponent| 2_f64.powi(exponent)),
        (-60_i32..60).prop_map(|exponent| -(2_f64.powi(exponent))),
        Just(f64::MAX),
        Just(-f64::MAX),
        Just(f64::MIN_POSITIVE),
        Just(5e-324),
        Just(0.1),
    ]
}

fn floats(values: &[f64]) -> Vec<Vec<Value>> {
    values.iter().map(|value| vec![Value::Float(*value)]).collect()
}

fn bits(result: Result<Value, String>) -> u64 {
    match result {
        Ok(Value::Float(0.0)) => 0,
        Ok(Value::Float(f)) => f.to_bits(),
        other => panic!("{other:?} is no float"),
    }
}

proptest! {
    #[test]
    fn float_sums_are_exact_in_any_order(
        values in prop::collection::vec(finite(), 1..40),
        seed in any::<u64>(),
    ) {
        let exact = Exact::sum(&values);
        let mut shuffled = values.clone();
        shuffled.sort_by_key(|value| value.to_bits().wrapping_mul(seed | 1));
        for values in [&values, &shuffled] {
            let sum = one(Sum, &[Kind::Float], Kind::Float, &floats(values));
            match exact.over(1) {
                expected if expected.is_finite() => prop_assert_eq!(bits(sum), (expected + 0.0).to_bits()),
                _ => prop_assert_eq!(sum, Err("float sum overflow".to_string())),
            }
            let mean = bits(one(Avg, &[Kind::Float], Kind::Float, &floats(values)));
            let expected = exact.over(values.len() as u64);
            prop_assert_eq!(mean, if expected == 0.0 { 0 } else { expected.to_bits() });
        }
    }

    #[test]
    fn int_sums_and_means_are_exact(values in prop::collection::vec(any::<i64>(), 1..30)) {
        let rows: Vec<Vec<Value>> = values.iter().map(|value| vec![int(*value)]).collect();
        let sum: i128 = values.iter().map(|value| i128::from(*value)).sum();
        let expected = i64::try_from(sum).map(Value::Int).map_err(|_| "integer sum overflow".to_string());
        prop_assert_eq!(one(Sum, &[Kind::Int], Kind::Int, &rows), expected);
        // Ints in two doubles each, whose exact sum has the same mean.
        let parts: Vec<f64> = values.iter().flat_map(|value| {
            let nearest = *value as f64;
            [nearest, (i128::from(*value) - nearest as i128) as f64]
        }).collect();
        let expected = Exact::sum(&parts).over(values.len() as u64);
        let found = bits(one(Avg, &[Kind::Int], Kind::Float, &rows));
        prop_assert_eq!(found, if expected == 0.0 { 0 } else { expected.to_bits() });
    }

    #[test]
    fn decimal_sums_and_means_are_exact(
        values in prop::collection::vec((-LARGEST..=LARGEST, 0_u8..=28), 1..12),
        rotation in 0_usize..12,
    ) {
        let mut rows: Vec<Vec<Value>> = values.iter().map(|(mantissa, scale)| vec![decimal(*mantissa, *scale)]).collect();
        rows.rotate_left(rotation % values.len());
        let ten = |power: u8| (0..power).fold(i256::ONE, |product, _| product.wrapping_mul(i256::from_i128(10)));
        let at_28 = |(mantissa, scale): &(i128, u8)| i256::from_i128(*mantissa).wrapping_mul(ten(28 - scale));
        let total = values.iter().map(at_28).fold(i256::ZERO, |sum, value| sum.wrapping_add(value));
        let most = values.iter().map(|(_, scale)| *scale).max().expect("there is a value");
        // As many places as fit, by trying.
        let fitted = |divisor: i256, exact: bool| (0..=28_u8).rev().find_map(|places| {
            let unit = divisor.wrapping_mul(ten(28 - places));
            let (magnitude, half) = (total.wrapping_abs(), unit.wrapping_div(i256::from_i128(2)));
            let (quotient, rest) = (magnitude.wrapping_div(unit), magnitude.wrapping_rem(unit));
            let odd = quotient.wrapping_rem(i256::from_i128(2)) == i256::ONE;
            let even_unit = unit.wrapping_rem(i256::from_i128(2)) == i256::ZERO;
            let up = rest > half || (rest == half && even_unit && odd);
            let rounded = if up { quotient.wrapping_add(i256::ONE) } else { quotient };
            let mantissa = rounded.to_i128().filter(|mantissa| *mantissa <= LARGEST)?;
            let signed = if total < i256::ZERO { -mantissa } else { mantissa };
            (!exact || places <= most).then_some((signed, places))
        });
        let sum = one(Sum, &[DECIMAL], DECIMAL, &rows);
        match fitted(i256::ONE, true) {
            Some((mantissa, scale)) => prop_assert_eq!(sum, Ok(decimal(mantissa, scale))),
            None => prop_assert_eq!(sum, Err("decimal sum overflow".to_string())),
        }
        let mean = one(Avg, &[DECIMAL], DECIMAL, &rows).expect("a mean lies between its values");
        let expected = fitted(i256::from_i128(values.len() as i128), false).expect("a mean lies between its values");
        prop_assert!(mean.equals(&decimal(expected.0, expected.1)), "{mean:?} and {expected:?}");
    }

    #[test]
    fn groups_keep_apart(
        rows in prop::collection::vec((0_u32..5, prop::option::of(-50_i64..50)), 0..60),
        batch in 1_usize..20,
    ) {
        let value = |v: &Option<i64>| v.map_or(Value::Null, int);
        let input: Vec<(u32, Vec<Value>)> = rows.iter().map(|(group, v)| (*group, vec![value(v)])).collect();
        let of = |group: u32| rows.iter().filter(move |(g, _)| *g == group).map(|(_, v)| *v);
        let results = |function, result| run(function, &[Kind::Int], result, &input, 5, batch);
        let lists = results(Collect, Kind::Array(Box::new(Kind::Int)));
        let (counts, sums) = (results(Count, Kind::Int), results(Sum, Kind::Int));
        let (least, greatest) = (results(Min, Kind::Int), results(Max, Kind::Int));
        for group in 0..5 {
            let at = group as usize;
            let some: Vec<i64> = of(group).flatten().collect();
            let or_null = |v: Option<i64>| Ok(v.map_or(Value::Null, int));
            prop_assert_eq!(&counts[at], &Ok(int(some.len() as i64)));
            prop_assert_eq!(&sums[at], &or_null((!some.is_empty()).then(|| some.iter().sum())));
            prop_assert_eq!(&least[at], &or_null(some.iter().min().copied()));
            prop_assert_eq!(&greatest[at], &or_null(some.iter().max().copied()));
            prop_assert_eq!(&lists[at], &Ok(Value::Array(of(group).map(|v| value(&v)).collect())));
        }
    }
}

/// A value of a kind, nulls and those that differ only in their spelling among them.
fn value_of(kind: &Kind) -> BoxedStrategy<Value> {
    let some = match kind {
        Kind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::Int => prop_oneof![any::<i64>(), -3_i64..3].prop_map(int).boxed(),
        Kind::Float => prop_oneof![
            4 => finite(),
            2 => prop::sample::select(vec![0.0, -0.0, 1.0, 1e300, -1e300]),
            1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
        ]
        .prop_map(Value::Float)
        .boxed(),
        Kind::Decimal { .. } => {
            let any = (-LARGEST..=LARGEST, 0_u8..=28);
            prop_oneof![any, (-30_i128..30, 0_u8..3), Just((LARGEST, 0)), Just((-LARGEST, 0)), Just((LARGEST, 28))]
                .prop_map(|(mantissa, scale)| decimal(mantissa, scale))
                .boxed()
        }
        Kind::String => prop_oneof!["[ab]{0,3}", "\\PC{0,40}"].prop_map(Value::String).boxed(),
        Kind::Date => any::<i32>().prop_map(Value::Date).boxed(),
        Kind::DateTime => any::<i128>().prop_map(Value::DateTime).boxed(),
        Kind::Any => prop_oneof![
            any::<i64>().prop_map(int),
            Just(Value::Array(vec![Value::Null, text("x"), Value::Map(vec![("k".into(), decimal(10, 1))])])),
            "[ab]{0,3}".prop_map(Value::String),
        ]
        .boxed(),
        other => unreachable!("{other} isn't asked for"),
    };
    prop_oneof![1 => Just(Value::Null), 4 => some].boxed()
}

/// Every aggregate of every type.
fn every_aggregate() -> Vec<(AggregateFunction, Vec<Kind>, Kind)> {
    let ordered = [Kind::Bool, Kind::Int, Kind::Float, DECIMAL, Kind::String, Kind::Date, Kind::DateTime];
    let mut all = vec![(CountRows, Vec::new(), Kind::Int)];
    for kind in ordered {
        let numeric = matches!(kind, Kind::Int | Kind::Float | Kind::Decimal { .. });
        let of_one = all_of_one(&kind).into_iter().filter(|(function, _)| numeric || !matches!(function, Sum | Avg));
        all.extend(of_one.map(|(function, result)| (function, vec![kind.clone()], result)));
        if numeric {
            let result = if kind == Kind::Int { Kind::Float } else { kind.clone() };
            all.push((WeightedAvg, vec![kind.clone(), kind], result));
        }
    }
    all.push((Count, vec![Kind::Any], Kind::Int));
    all.push((Collect, vec![Kind::Any], Kind::Array(Box::new(Kind::Any))));
    all
}

/// An aggregate, the kind of its result, and rows for it: each with its group.
type Example = ((AggregateFunction, Vec<Kind>, Kind), Vec<(u32, Vec<Value>)>);

fn example() -> impl Strategy<Value = Example> {
    prop::sample::select(every_aggregate()).prop_flat_map(|aggregate| {
        let values: Vec<_> = aggregate.1.iter().map(value_of).collect();
        (Just(aggregate), prop::collection::vec((0_u32..3, values), 0..40))
    })
}

/// What the parts of rows come to when each is encoded and all are merged.
fn run_in_parts(
    (function, kinds, result): &(AggregateFunction, Vec<Kind>, Kind),
    parts: &[&[(u32, Vec<Value>)]],
    groups: usize,
) -> Vec<Result<Value, String>> {
    let new = || Accumulator::new(&aggregate(*function, kinds, result.clone()));
    let (mut merged, mut state) = (new(), Vec::new());
    for part in parts {
        let mut accumulator = new();
        fill(&mut accumulator, *function, kinds, part, 7);
        accumulator.grow(groups);
        for group in (0..groups as u32).rev() {
            state.clear();
            accumulator.encode(group, &mut state);
            let bound = merged.merge_bound(groups, &state);
            state.push(b'!');
            merged.grow(groups);
            let mut rest = state.as_slice();
            merged.merge(group, &mut rest);
            assert_eq!(rest, b"!", "a state tells where it ends");
            assert!(merged.bytes() <= bound, "{function:?} holds {} of {bound} bytes", merged.bytes());
        }
    }
    merged.grow(groups);
    results(&merged, groups, None)
}

/// Parts of any size make no list hold, or ask for, much more than its values.
#[test]
fn merged_lists_hold_little_more_than_their_values() {
    const LENGTH: usize = 500;
    for rows_of_a_part in [1, 40, 100, 150, 5000] {
        let new = || Accumulator::new(&aggregate(Collect, &[Kind::String], Kind::Array(Box::new(Kind::String))));
        let (mut merged, mut state, mut part) = (new(), Vec::new(), new());
        let rows = vec![(0, vec![Value::String("x".repeat(LENGTH))]); rows_of_a_part];
        fill(&mut part, Collect, &[Kind::String], &rows, rows.len());
        part.encode(0, &mut state);
        let parts = 10_000 / rows_of_a_part;
        for number in 1..=parts {
            let bound = merged.merge_bound(1, &state);
            merged.grow(1);
            merged.merge(0, &mut state.as_slice());
            let values = (number * rows_of_a_part * LENGTH) as u64;
            let most = values + values / 10 + (300 << 10);
            assert!(merged.bytes() <= bound && bound <= most, "{} of {bound} bytes, {values}", merged.bytes());
        }
        let column = merged.finish(0..1, None).column;
        let Value::Array(list) = column.value(0) else { panic!("{column:?} is no list") };
        assert_eq!(list.len(), parts * rows_of_a_part);
        assert!(list.iter().all(|value| *value == rows[0].1[0]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn parts_that_are_put_aside_and_merged_are_the_whole(
        (aggregate, rows) in example(),
        cuts in prop::collection::vec(0_usize..40, 0..5),
        batch in 1_usize..20,
    ) {
        let (function, kinds, result) = &aggregate;
        let whole = run(*function, kinds, result.clone(), &rows, 3, batch);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(rows.len())).chain([0, rows.len()]).collect();
        cuts.sort_unstable();
        let parts: Vec<&[(u32, Vec<Value>)]> = cuts.windows(2).map(|cut| &rows[cut[0]..cut[1]]).collect();
        let merged = run_in_parts(&aggregate, &parts, 3);
        // As they print, so that NaN is NaN and zeros have signs.
        prop_assert_eq!(format!("{whole:?}"), format!("{merged:?}"), "{:?} of {:?}", function, kinds);
    }

    /// What is held, and whether there is room for it, doesn't depend on how many rows come at once.
    #[test]
    fn rows_take_the_same_however_many_come_at_once(
        ((function, kinds, result), rows) in example(),
        repeated in prop_oneof![4 => Just(1_usize), 1 => Just(300)],
        batch in 2_usize..200,
    ) {
        let new = || Accumulator::new(&aggregate(function, &kinds, result.clone()));
        let rows: Vec<_> = std::iter::repeat_n(rows, repeated).flatten().collect();
        let (mut one_by_one, mut together) = (new(), new());
        for part in rows.chunks(batch) {
            let columns = |rows: &[(u32, Vec<Value>)]| -> Vec<Column> {
                let values = |arg: usize| rows.iter().map(|(_, values)| values[arg].clone()).collect::<Vec<_>>();
                (0..kinds.len()).map(|arg| Column::from_values(&kinds[arg], &values(arg))).collect()
            };
            let args = columns(part);
            let bound = together.bound(3, &args);
            for row in part {
                let args = columns(std::slice::from_ref(row));
                let needed = one_by_one.bound(3, &args);
                prop_assert!(needed <= bound, "{function:?} needs {needed} for a row, and {bound} for all of them");
                one_by_one.update(&[row.0], 3, &args);
                prop_assert!(one_by_one.bytes() <= needed, "{function:?}");
            }
            let groups: Vec<u32> = part.iter().map(|(group, _)| *group).collect();
            together.update(&groups, 3, &args);
            prop_assert_eq!(together.bytes(), one_by_one.bytes(), "{:?}", function);
        }
    }
}
