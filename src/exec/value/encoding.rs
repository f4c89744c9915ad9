//! Values as bytes: the form in which columns of `any` and `map` hold them.
//!
//! A value is a tag and what follows it up to the end of the bytes:
//!
//! | tag | type | then |
//! | --- | --- | --- |
//! | 0 | null | nothing |
//! | 1 | bool | one byte, 0 or 1 |
//! | 2 | int | 8 bytes |
//! | 3 | float | 8 bytes |
//! | 4 | decimal | the scale, then the mantissa in 16 bytes |
//! | 5 | string | its UTF-8 |
//! | 6 | date | days in 4 bytes |
//! | 7 | date_time | nanoseconds in 16 bytes |
//! | 8 | array | each element as a part |
//! | 9 | map | each key as a part of plain UTF-8, and its value as a part |
//!
//! A part is a length in 4 bytes and that many bytes. All numbers are little-endian.

use super::Value;

const NULL: u8 = 0;
const BOOL: u8 = 1;
const INT: u8 = 2;
const FLOAT: u8 = 3;
const DECIMAL: u8 = 4;
const STRING: u8 = 5;
const DATE: u8 = 6;
const DATE_TIME: u8 = 7;
const ARRAY: u8 = 8;
const MAP: u8 = 9;

/// Bytes that a value takes at most when it is encoded, without those of a text, a list or a map.
pub const MOST_ENCODED: usize = 18;

/// Appends the encoding of a value.
pub fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(b) => out.extend([BOOL, u8::from(*b)]),
        Value::Int(i) => tagged(INT, &i.to_le_bytes(), out),
        Value::Float(f) => tagged(FLOAT, &f.to_le_bytes(), out),
        Value::Decimal { mantissa, scale } => {
            out.extend([DECIMAL, *scale]);
            out.extend(mantissa.to_le_bytes());
        }
        Value::String(s) => encode_text(s, out),
        Value::Date(days) => tagged(DATE, &days.to_le_bytes(), out),
        Value::DateTime(nanoseconds) => tagged(DATE_TIME, &nanoseconds.to_le_bytes(), out),
        Value::Array(items) => {
            out.push(ARRAY);
            items.iter().for_each(|item| part(out, |out| encode(item, out)));
        }
        Value::Map(entries) => {
            out.push(MAP);
            for (key, value) in entries {
                part(out, |out| out.extend(key.as_bytes()));
                part(out, |out| encode(value, out));
            }
        }
    }
}

/// Appends the encoding of a string.
pub fn encode_text(text: &str, out: &mut Vec<u8>) {
    tagged(STRING, text.as_bytes(), out);
}

/// The value that `bytes` encode. They must come from [`encode`].
pub fn decode(bytes: &[u8]) -> Value {
    let (tag, rest) = bytes.split_first().expect("an encoded value has a tag");
    match *tag {
        NULL => Value::Null,
        BOOL => Value::Bool(rest == [1]),
        INT => Value::Int(i64::from_le_bytes(fixed(rest))),
        FLOAT => Value::Float(f64::from_le_bytes(fixed(rest))),
        DECIMAL => Value::Decimal { scale: rest[0], mantissa: i128::from_le_bytes(fixed(&rest[1..])) },
        STRING => Value::String(utf8(rest).to_owned()),
        DATE => Value::Date(i32::from_le_bytes(fixed(rest))),
        DATE_TIME => Value::DateTime(i128::from_le_bytes(fixed(rest))),
        ARRAY => Value::Array(Parts(rest).map(decode).collect()),
        MAP => Value::Map(decode_map(rest)),
        tag => unreachable!("no value is encoded with tag {tag}"),
    }
}

/// Whether `bytes` encode null.
pub fn is_null(bytes: &[u8]) -> bool {
    bytes == [NULL]
}

/// The text that `bytes` encode, if they encode a string.
pub fn text_of(bytes: &[u8]) -> Option<&str> {
    match bytes.split_first() {
        Some((&STRING, rest)) => Some(utf8(rest)),
        _ => None,
    }
}

fn tagged(tag: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend(payload);
}

fn part(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([0; 4]);
    write(out);
    let len = u32::try_from(out.len() - start - 4).expect("a value is far smaller than 4 GiB");
    out[start..start + 4].copy_from_slice(&len.to_le_bytes());
}

fn decode_map(bytes: &[u8]) -> Vec<(String, Value)> {
    let mut parts = Parts(bytes);
    let mut entries = Vec::new();
    while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
        entries.push((utf8(key).to_owned(), decode(value)));
    }
    entries
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("an encoded value has its type's length")
}

fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("an encoded text is UTF-8")
}

struct Parts<'a>(&'a [u8]);

impl<'a> Iterator for Parts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = self.0.split_at_checked(4)?;
        let (part, rest) = rest.split_at(u32::from_le_bytes(fixed(len)) as usize);
        self.0 = rest;
        Some(part)
    }
}
