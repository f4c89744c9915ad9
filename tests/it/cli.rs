//! The program as a user meets it: arguments, texts, exit codes.

use clinker::syntax::pipeline::size::parse_size;

#[test]
fn sizes() {
    for (text, bytes) in [
        ("0", 0),
        ("1048576", 1 << 20),
        ("64k", 64 << 10),
        ("512M", 512 << 20),
        (" 2g\t", 2 << 30),
        ("18446744073709551615", u64::MAX),
        ("017", 17),
    ] {
        assert_eq!(parse_size(text), Ok(bytes), "{text:?}");
    }
    for text in
        ["", " ", "M", "4GB", "1.5G", "64 M", "-1", "+1", "1e3", "٣", "18446744073709551616", "17179869184G", "1é"]
    {
        assert!(parse_size(text).is_err(), "{text:?}");
    }
}
