//! Values from text and to text, without a file around them.

use clinker::analysis::formats::{DATE_FORMATS, DATE_TIME_FORMATS};
use clinker::formats::dates::DateParser;
use clinker::formats::{calendar, parse, text};
use proptest::prelude::*;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("values are written as text")
}

#[test]
fn ints() {
    for (text, value) in [
        ("0", 0),
        ("-0", 0),
        ("+5", 5),
        ("007", 7),
        ("-12", -12),
        ("9223372036854775807", i64::MAX),
        ("-9223372036854775808", i64::MIN),
        ("0000000000000000000000000012", 12),
    ] {
        assert_eq!(parse::int(text.as_bytes()), Ok(value), "{text}");
    }
    let (not_int, too_large) = ("not a whole number", "too large for a 64-bit whole number");
    for (text, reason) in [
        ("", not_int),
        ("-", not_int),
        ("+-1", not_int),
        ("6.0", not_int),
        (" 8", not_int),
        ("8 ", not_int),
        ("1e3", not_int),
        ("1_000", not_int),
        ("0x10", not_int),
        ("٣", not_int),
        ("9223372036854775808", too_large),
        ("-9223372036854775809", too_large),
        ("99999999999999999999999", too_large),
    ] {
        assert_eq!(parse::int(text.as_bytes()), Err(reason), "{text}");
    }
}

#[test]
fn floats() {
    for (text, value) in [
        ("1", 1.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("-0", 0.0),
        ("+1.25e-2", 0.0125),
        ("1e3", 1000.0),
        ("1E+3", 1000.0),
        ("0.1", 0.1),
        ("123456789012345678901234567890", 1.2345678901234568e29),
        ("2.2250738585072011e-308", 2.225_073_858_507_201e-308),
    ] {
        assert_eq!(parse::float(text.as_bytes()), Ok(value), "{text}");
    }
    for text in ["", ".", "-", "e3", "1e", "1e+", "1.2.3", " 1", "1 ", "0x1p3", "1,5", "1_0"] {
        assert_eq!(parse::float(text.as_bytes()), Err("not a number"), "{text}");
    }
    for text in ["nan", "NaN", "inf", "-Infinity"] {
        assert_eq!(parse::float(text.as_bytes()), Err("not a finite number"), "{text}");
    }
    assert_eq!(parse::float(b"-1e309"), Err("too large for a 64-bit float"));
}

#[test]
fn floats_are_written_without_exponents() {
    for (value, expected) in [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-2.5, "-2.5"),
        (1000.0, "1000"),
        (0.1, "0.1"),
        (1e-8, "0.00000001"),
        (-1.5e-10, "-0.00000000015"),
        (1e21, "1000000000000000000000"),
        (1.234_567e18, "1234567000000000000"),
        (123_456_789_012_345_680.0, "123456789012345680"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        assert_eq!(written(|out| text::write_float(value, out)), expected);
    }
    assert_eq!(written(|out| text::write_float(f64::MAX, out)).len(), 309);
    assert_eq!(written(|out| text::write_float(5e-324, out)).len(), 326);
}

#[test]
fn decimals() {
    for (text, scale, precision, expected) in [
        ("1.50", None, None, Ok((150, 2))),
        ("-0.00", None, None, Ok((0, 2))),
        ("2", Some(2), None, Ok((200, 2))),
        ("+2.", Some(2), Some(3), Ok((200, 2))),
        (".5", Some(2), None, Ok((50, 2))),
        ("0001.50", Some(2), Some(3), Ok((150, 2))),
        ("79228162514264337593543950335", None, None, Ok(((1 << 96) - 1, 0))),
        ("-7.9228162514264337593543950335", None, None, Ok((1 - (1 << 96), 28))),
        ("1.505", Some(2), None, Err("has 3 decimal places, the column allows 2")),
        ("1.5", Some(0), None, Err("has 1 decimal place, the column allows 0")),
        ("123.45", Some(2), Some(4), Err("has 3 digits before the point, the column allows 2")),
        ("1000", Some(2), Some(5), Err("has 4 digits before the point, the column allows 3")),
        ("1.5", Some(2), Some(2), Err("has 1 digit before the point, the column allows 0")),
        ("123.45", None, Some(4), Err("has 5 digits, the column allows 4")),
        ("79228162514264337593543950336", None, None, Err("more digits than a decimal can hold")),
        ("79228162514264337593543950335", Some(1), None, Err("more digits than a decimal can hold")),
        ("0.00000000000000000000000000001", None, None, Err("has 29 decimal places, a decimal has at most 28")),
        ("1e3", None, None, Err("not a decimal number")),
        ("1.5x", None, None, Err("not a decimal number")),
        (".", None, None, Err("not a decimal number")),
    ] {
        let read = parse::decimal(text.as_bytes(), scale, precision);
        assert_eq!(
            read.as_ref().map_err(|reason| reason.as_ref()),
            expected.as_ref().map_err(|reason| *reason),
            "{text}"
        );
    }
}

#[test]
fn decimals_are_rounded_half_to_even() {
    for (mantissa, scale, wanted, expected) in [
        (125, 2, 1, Some(12)),
        (135, 2, 1, Some(14)),
        (-125, 2, 1, Some(-12)),
        (-126, 2, 1, Some(-13)),
        (5, 1, 0, Some(0)),
        (15, 1, 0, Some(2)),
        (7, 0, 2, Some(700)),
        (i128::MAX, 0, 1, None),
    ] {
        assert_eq!(text::rescale(mantissa, scale, wanted), expected, "{mantissa} {scale}");
    }
}

#[test]
fn truth_values() {
    for text in ["true", "TRUE", "Yes", "on", "1"] {
        assert_eq!(parse::bool(text.as_bytes()), Ok(true), "{text}");
    }
    for text in ["false", "No", "OFF", "0"] {
        assert_eq!(parse::bool(text.as_bytes()), Ok(false), "{text}");
    }
    for text in ["", "y", "t", "2", " true", "maybe"] {
        assert_eq!(parse::bool(text.as_bytes()), Err("not one of true/false, yes/no, on/off, 1/0"), "{text}");
    }
}

/// What a parser makes of a text: the day written out, or why there is none.
fn date(parser: &DateParser, text: &str) -> String {
    match parser.date(text.as_bytes()) {
        Ok(days) => written(|out| text::write_date(days, out)),
        Err(fault) => parser.reason(fault),
    }
}

fn date_time(parser: &DateParser, text: &str) -> String {
    match parser.date_time(text.as_bytes()) {
        Ok(nanoseconds) => written(|out| text::write_date_time(nanoseconds, out)),
        Err(fault) => parser.reason(fault),
    }
}

#[test]
fn dates_by_the_default_chain() {
    let parser = DateParser::for_column(&[], false);
    let none = format!("matches none of the formats {}", DATE_FORMATS.join(", "));
    for (text, expected) in [
        ("2031-03-08", "2031-03-08"),
        ("03/10/2031", "2031-03-10"),
        ("2031/3/8", "2031-03-08"),
        ("03-10-2031", "2031-03-10"),
        ("2024-02-29", "2024-02-29"),
        ("0001-01-01", "0001-01-01"),
        ("9999-12-31", "9999-12-31"),
        ("2031-02-30", "no such day"),
        ("2023-02-29", "no such day"),
        ("13/01/2031", "no such day"),
        ("0000-01-01", "outside the years 0001 to 9999"),
        (" 2031-03-08", &none),
        ("2031-03-08 ", &none),
        ("2031- 3-08", &none),
        ("31-03-08", &none),
        ("2031-03-08T00:00:00", &none),
        ("", &none),
    ] {
        assert_eq!(date(&parser, text), expected, "{text}");
    }
}

#[test]
fn dates_by_a_declared_format() {
    for (format, text, expected) in [
        ("%m/%d/%Y", "03/10/2031", "2031-03-10"),
        ("%m/%d/%Y", "2031-03-10", "does not match the format %m/%d/%Y"),
        ("%Y%m%d", "20310310", "2031-03-10"),
        ("%d %b %Y", "15 Mar 2024", "2024-03-15"),
        ("%d %b %Y", " 15 Mar 2024", "does not match the format %d %b %Y"),
        ("%d.%m.%y", "15.03.24", "2024-03-15"),
        ("%Y-%j", "2024-060", "2024-02-29"),
        ("%d %B %Y", "31 April 2024", "no such day"),
        ("%Y-%m-%d %H:%M", "2024-03-15 10:20", "2024-03-15"),
        ("%Q", "x", "does not match the format %Q"),
    ] {
        assert_eq!(date(&DateParser::new(&[format]), text), expected, "{format} {text}");
    }
}

#[test]
fn date_times_by_the_default_chain() {
    let parser = DateParser::for_column(&[], true);
    for (text, expected) in [
        ("2024-03-15T10:20:30", "2024-03-15T10:20:30"),
        ("2024-03-15 10:20:30", "2024-03-15T10:20:30"),
        ("03/15/2024 10:20:30", "2024-03-15T10:20:30"),
        ("03/15/2024 10:20", "2024-03-15T10:20:00"),
        ("2024-03-15T10:20:30Z", "2024-03-15T10:20:30"),
        ("2024-03-15T10:20:30+02:00", "2024-03-15T08:20:30"),
        ("2024-03-15 00:20:30.25-05:30", "2024-03-15T05:50:30.250"),
        ("2024-03-15T10:20:30.5", "2024-03-15T10:20:30.500"),
        ("03/15/2024 10:20:30.000001", "2024-03-15T10:20:30.000001"),
        ("2024-03-15T10:20:30.123456789", "2024-03-15T10:20:30.123456789"),
        ("2024-03-15T10:20:30.1234567890", "finer than a nanosecond"),
        ("1969-12-31T23:59:59.999999999", "1969-12-31T23:59:59.999999999"),
        ("0001-01-01T00:00:00", "0001-01-01T00:00:00"),
        ("9999-12-31T23:59:59.999999999", "9999-12-31T23:59:59.999999999"),
        ("0001-01-01T00:00:00+01:00", "outside the years 0001 to 9999"),
        ("2024-03-15T24:00:00", "no such time of day"),
        ("2024-03-15T10:60:00", "no such time of day"),
        ("2024-02-30T10:00:00Z", "no such day"),
    ] {
        assert_eq!(date_time(&parser, text), expected, "{text}");
    }
    let spelled_out = DATE_TIME_FORMATS.map(str::to_owned);
    assert_eq!(
        date_time(&DateParser::for_column(&spelled_out, true), "2024-03-15T10:20:30.5"),
        "2024-03-15T10:20:30.500"
    );
    let others = &spelled_out[..2];
    assert!(date_time(&DateParser::for_column(others, true), "2024-03-15T10:20:30.5").starts_with("matches none"));
    for text in ["2024-03-15", "2024-03-15T10:20", "2024-03-15T10:20:30.", "2024-03-15T10:20:30 ", "x", ""] {
        assert!(date_time(&parser, text).starts_with("matches none of the formats"), "{text}");
    }
}

#[test]
fn date_times_by_a_declared_format() {
    for (format, text, expected) in [
        ("%d/%m/%Y %H:%M:%S", "15/03/2024 10:20:30", "2024-03-15T10:20:30"),
        ("%d/%m/%Y %H:%M:%S", "15/03/2024 10:20:30.5", "does not match the format %d/%m/%Y %H:%M:%S"),
        ("%Y-%m-%d %H:%M:%S%.f", "2024-03-15 10:20:30.25", "2024-03-15T10:20:30.250"),
        ("%Y-%m-%d %H:%M:%S%.f", "2024-03-15 10:20:30.1234567891", "finer than a nanosecond"),
        ("%Y-%m-%d %H:%M:%S%.f", "2024-03-15 23:59:60", "no such time of day"),
        ("%Y-%m-%dT%H:%M:%S%z", "2024-03-15T10:20:30+0200", "2024-03-15T08:20:30"),
        ("%Y-%m-%d", "2024-03-15", "2024-03-15T00:00:00"),
        ("%d %b %Y", "15 Mar 2024", "2024-03-15T00:00:00"),
        ("%I:%M %p, %d %b %Y", "01:05 PM, 15 Mar 2024", "2024-03-15T13:05:00"),
    ] {
        assert_eq!(date_time(&DateParser::new(&[format]), text), expected, "{format} {text}");
    }
}

#[test]
fn every_day_has_its_number() {
    let mut expected = calendar::FIRST_DAY;
    for year in 1..=9999 {
        for month in 1..=12 {
            for day in [1, calendar::days_in_month(year, month)] {
                let days = calendar::days(year, month, day);
                assert_eq!(days, expected + day as i32 - 1);
                assert_eq!(calendar::civil(days), (i64::from(year), month, day));
            }
            expected += calendar::days_in_month(year, month) as i32;
        }
    }
    assert_eq!(expected - 1, calendar::LAST_DAY);
    assert_eq!(calendar::days(1970, 1, 1), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_written_reads_back(
        int: i64, bits: u64, mantissa in -((1_i128 << 96) - 1)..1 << 96, scale in 0_u8..=28,
        days in calendar::FIRST_DAY..=calendar::LAST_DAY, of_day in 0..calendar::DAY, coarse in 0_u32..10,
    ) {
        prop_assert_eq!(parse::int(written(|out| text::write_int(int, out)).as_bytes()), Ok(int));
        let float = f64::from_bits(bits);
        if float.is_finite() {
            let text = written(|out| text::write_float(float, out));
            prop_assert_eq!(parse::float(text.as_bytes()), Ok(float), "{}", text);
            prop_assert!(!text.contains('e') && !text.ends_with(".0"));
        }
        let text = written(|out| text::write_decimal(mantissa, scale, out));
        prop_assert_eq!(parse::decimal(text.as_bytes(), None, None), Ok((mantissa, scale)));
        let text = written(|out| text::write_date(days, out));
        prop_assert_eq!(DateParser::for_column(&[], false).date(text.as_bytes()), Ok(days));
        let unit = 10_i128.pow(coarse);
        let nanoseconds = i128::from(days) * calendar::DAY + of_day / unit * unit;
        let text = written(|out| text::write_date_time(nanoseconds, out));
        prop_assert_eq!(DateParser::for_column(&[], true).date_time(text.as_bytes()), Ok(nanoseconds), "{}", text);
    }

    #[test]
    fn no_text_is_refused_with_a_panic(text in "[-+0-9.eETZ:/ nax%é]{0,30}", format in "%[a-zA-Z+.:%]{1,3}[-/ ]%[mdYHMSfz]") {
        let bytes = text.as_bytes();
        let _ = (parse::int(bytes), parse::bool(bytes), parse::decimal(bytes, Some(2), Some(5)));
        if let Ok(value) = parse::float(bytes) {
            prop_assert_eq!(text.parse::<f64>(), Ok(value));
        }
        let parser = DateParser::new(&[format]);
        let _ = (parser.date(bytes), parser.date_time(bytes));
        prop_assert!(!date_time(&DateParser::for_column(&[], true), &text).is_empty());
    }
}
