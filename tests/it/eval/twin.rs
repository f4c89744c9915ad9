//! Decimals against the `rust_decimal` crate, which has the same limits: 96 bits, at most 28 places.
//!
//! Values must be equal, and so must what fails. Three things differ and are left out: how many zeros end a quotient
//! and a remainder; the places where an operand or the result is zero; and remainders of operands that need more than
//! 96 bits at one scale, where the crate is wrong (79228162514264337593543950335 % 0.50000000000000000000 is 0). Those
//! are checked against exact arithmetic in `values`.

use proptest::prelude::*;
use rust_decimal::{Decimal as Twin, RoundingStrategy};

use super::values::{Decimal, LARGEST, compute_expr, decimal};

fn twin((mantissa, scale): Decimal) -> Twin {
    Twin::try_from_i128_with_scale(mantissa, u32::from(scale)).expect("within the limits that both have")
}

/// The result of `x op y`.
fn expected(op: &str, x: Twin, y: Twin) -> Option<Twin> {
    match op {
        "+" => x.checked_add(y),
        "-" => x.checked_sub(y),
        "*" => x.checked_mul(y),
        "/" => x.checked_div(y),
        _ => x.checked_rem(y),
    }
}

/// Whether the mantissas of both fit 96 bits at the larger scale.
fn align_in_96_bits(x: Decimal, y: Decimal) -> bool {
    let fits = |(mantissa, scale): Decimal| {
        let factor = 10_i128.pow(u32::from(x.1.max(y.1) - scale));
        mantissa.checked_mul(factor).is_some_and(|mantissa| mantissa.abs() <= LARGEST)
    };
    fits(x) && fits(y)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decimals_are_what_rust_decimal_makes_of_them(x in decimal(), y in decimal(), places in 0_u32..=30) {
        for op in ["+", "-", "*", "/", "%"] {
            if op == "%" && !align_in_96_bits(x, y) {
                continue;
            }
            let expected = expected(op, twin(x), twin(y));
            let found = compute_expr(&format!("x {op} y"), &[(x, y)])[0].map(twin);
            prop_assert_eq!(found, expected, "{:?} {} {:?}", x, op, y);
            let without_zero = x.0 != 0 && y.0 != 0 && found.is_some_and(|found| !found.is_zero());
            let places_count = without_zero && matches!(op, "+" | "-" | "*");
            let places = |result: Option<Twin>| result.map(|result| result.scale());
            prop_assert!(!places_count || places(found) == places(expected), "{:?} {} {:?}", x, op, y);
        }
        let rounded = twin(x).round_dp_with_strategy(places, RoundingStrategy::MidpointNearestEven);
        let found = compute_expr(&format!("x.round({places})"), &[(x, y)])[0].map(twin).expect("rounding never fails");
        prop_assert_eq!((found, found.scale()), (rounded, rounded.scale()), "{:?} to {}", x, places);
    }
}
