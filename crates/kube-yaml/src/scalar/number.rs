//! Numbers as Go's `strconv` reads and writes them.

use serde_json::Number;

/// Parses an integer with Go's prefixes: `0x`, `0o` or `0`, `0b`. Underscores have been removed from the text. The result is
/// that of `strconv.ParseInt(text, 0, 64)` or, if that overflows, of `strconv.ParseUint(text, 0, 64)`.
pub(super) fn parse_integer(text: &str) -> Option<i128> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, radix) = match unsigned.split_at_checked(2) {
        Some(("0x" | "0X", digits)) => (digits, 16),
        Some(("0o" | "0O", digits)) => (digits, 8),
        Some(("0b" | "0B", digits)) => (digits, 2),
        _ if unsigned.starts_with('0') => (unsigned, 8),
        _ => (unsigned, 10),
    };
    let magnitude = parse_digits(digits, radix)?;
    match signed(magnitude, text.starts_with('-')) {
        Some(value) => Some(value.into()),
        // `ParseUint` accepts no sign.
        None => (unsigned.len() == text.len()).then_some(magnitude.into()),
    }
}

/// Parses the form that go-yaml tries last for `0b`: a sign after the prefix (`0b-11`).
pub(super) fn parse_signed_binary(text: &str) -> Option<i64> {
    let digits = text.strip_prefix("0b")?;
    let magnitude = parse_digits(digits.strip_prefix(['+', '-'])?, 2)?;
    signed(magnitude, digits.starts_with('-'))
}

fn signed(magnitude: u64, negative: bool) -> Option<i64> {
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Parses digits without a sign, which `from_str_radix` would accept.
fn parse_digits(digits: &str, radix: u32) -> Option<u64> {
    if digits.starts_with(['+', '-']) { None } else { u64::from_str_radix(digits, radix).ok() }
}

/// Parses a decimal float as go-yaml's pattern allows it: `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`. `None`
/// if it overflows.
pub(super) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let shape = match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()),
        None => digits(mantissa) && !mantissa.is_empty(),
    };
    let shape = shape && exponent.is_none_or(|exponent| digits(exponent) && !exponent.is_empty());
    if shape { text.parse().ok().filter(|value: &f64| value.is_finite()) } else { None }
}

/// Parses like `strconv.ParseFloat`, for text that starts with a dot: underscores are allowed between two digits.
pub(super) fn parse_dotted_float(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let between_digits = |at: usize| {
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let (before, rest) = bytes.split_at(at);
        digit(before.last()) && digit(rest.get(1))
    };
    let sound = bytes.iter().enumerate().all(|(at, byte)| *byte != b'_' || between_digits(at));
    if sound { parse_float(&text.replace('_', "")) } else { None }
}

/// The number that kubectl or the API server gets by writing a float as JSON and reading it back: whole numbers below
/// 1e21 are written with their shortest digits and are read as integers. `None` for NaN and infinities (Go
/// `encoding/json`, `floatEncoder`).
pub fn json_number(value: f64) -> Option<Number> {
    if value.abs() < 1e21 && value.fract() == 0.0 {
        let digits = value.to_string();
        if let Ok(integer) = digits.parse::<i64>() {
            return Some(integer.into());
        }
        if let Ok(integer) = digits.parse::<u64>() {
            return Some(integer.into());
        }
    }
    Number::from_f64(value)
}

/// Formats a float as a key: `strconv.FormatFloat(value, 'g', -1, 32)`.
pub(super) fn format_key(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "kubectl writes float keys with 32 bits")]
    let value = value as f32;
    if value.is_nan() {
        return ".nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    // Rust's `e` form has the shortest digits as well; Go writes the exponent with a sign and at least two digits.
    let scientific = format!("{value:e}");
    match scientific.split_once('e').map(|(mantissa, exponent)| (mantissa, exponent.parse::<i32>())) {
        Some((mantissa, Ok(exponent))) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.abs())
        }
        _ => value.to_string(),
    }
}
