//! `resource.Quantity` (apimachinery `pkg/api/resource/quantity.go`): read exactly, compared by value.

/// The value of a quantity in nano units, rounded away from zero as the API server rounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    nanos: i128,
}

const NANO: i128 = 1_000_000_000;
/// Largest value of a quantity with a binary suffix: an `int64`.
const LARGEST: i128 = 9_223_372_036_854_775_807 * NANO;

/// Suffixes with their powers of 10. A number without a suffix is a decimal one.
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
/// Suffixes with their powers of 1024.
const BINARY: [(&str, u32); 7] = [("", 0), ("Ki", 1), ("Mi", 2), ("Gi", 3), ("Ti", 4), ("Pi", 5), ("Ei", 6)];

impl Quantity {
    /// Reads a quantity: digits with a point, then a binary suffix (`Ki` … `Ei`), a decimal one (`n u m k M G T P E`)
    /// or an exponent. `None` if the server would reject it, or if it is too large to compare exactly.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Parts::of(text)?.quantity)
    }

    /// The text that the API server serves for `text`: usually the canonical form. Some other spellings are kept
    /// (`1e0`, `+1Gi`, `1.500`), because the fast path of the parser keeps the text.
    pub(crate) fn served(text: &str) -> Option<String> {
        let parts = Parts::of(text)?;
        if parts.is_kept() { Some(parts.text.to_owned()) } else { parts.canonical() }
    }

    /// Returns true if the value has a part below one thousandth. Resource lists round it up; other fields keep it.
    pub(crate) fn is_below_milli(self) -> bool {
        self.nanos % 1_000_000 != 0
    }
}

/// The parts of a quantity as it is written.
struct Parts<'t> {
    text: &'t str,
    /// Digits before the point, without leading zeros, and digits after it.
    digits: (&'t str, &'t str),
    suffix: Suffix,
    exponent: bool,
    quantity: Quantity,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let text = text.trim_matches(' ');
        if text.is_empty() {
            return None;
        }
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, unit) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') {
            return None;
        }
        let significant = fraction.trim_end_matches('0');
        let value: i128 = match format!("{whole}{significant}").trim_start_matches('0') {
            "" => 0,
            digits => digits.parse().ok()?,
        };
        let decimals = i32::try_from(significant.len()).ok()?;
        let suffix = suffix_of(unit)?;
        let nanos = match suffix {
            Suffix::Decimal(power) => scaled(value, power.checked_sub(decimals)?.checked_add(9)?)?,
            Suffix::Binary(power) => {
                let bytes = value.checked_mul(1024_i128.checked_pow(power)?)?;
                scaled(bytes, 9_i32.checked_sub(decimals)?)?.min(LARGEST)
            }
        };
        let quantity = Quantity { nanos: if negative { nanos.checked_neg()? } else { nanos } };
        let exponent = unit.starts_with(['e', 'E']) && unit.len() > 1 && unit != "Ei";
        Some(Self { text, digits: (whole.trim_start_matches('0'), fraction), suffix, exponent, quantity })
    }

    /// Returns true if the server keeps the text (`ParseQuantity`, "if the number is in canonical form, reuse the string").
    fn is_kept(&self) -> bool {
        if self.text == "0" {
            return true;
        }
        let whole = if self.digits.0.is_empty() { "0" } else { self.digits.0 };
        let shifted = format!("{whole}{}", self.digits.1);
        let length = i64::try_from(shifted.len()).unwrap_or(i64::MAX);
        let decimals = i32::try_from(self.digits.1.len()).unwrap_or(i32::MAX);
        match self.suffix {
            Suffix::Decimal(power) => {
                let scale = power.saturating_sub(decimals);
                length <= 18 && scale >= -9 && scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0')
            }
            Suffix::Binary(power) => {
                let size = i64::from(power).saturating_mul(3).saturating_add(length);
                let odd = shifted.parse::<u64>().is_ok_and(|value| value & 7 != 0);
                self.digits.1.is_empty() && size <= 14 && odd
            }
        }
    }

    /// `Quantity.CanonicalizeBytes`.
    fn canonical(&self) -> Option<String> {
        let nanos = self.quantity.nanos;
        if nanos == 0 {
            return Some("0".to_owned());
        }
        let is_large = nanos.abs() >= 1024 * NANO && nanos % NANO == 0;
        if matches!(self.suffix, Suffix::Binary(_)) && is_large {
            let (number, (suffix, _)) = shortened(nanos / NANO, 1024, &BINARY)?;
            return Some(format!("{number}{suffix}"));
        }
        let (number, (suffix, exponent)) = shortened(nanos, 1000, &DECIMAL)?;
        Some(match exponent {
            0 => number.to_string(),
            _ if self.exponent => format!("{number}e{exponent}"),
            _ => format!("{number}{suffix}"),
        })
    }
}

/// A number divided by the base of its units as often as possible without a remainder, and the resulting unit.
fn shortened<U: Copy>(number: i128, base: i128, units: &[U]) -> Option<(i128, U)> {
    let mut number = number;
    let mut units = units.iter();
    let mut unit = units.next()?;
    while let (Some(0), Some(next)) = (number.checked_rem(base), units.as_slice().first()) {
        number = number.checked_div(base)?;
        unit = next;
        units.next();
    }
    Some((number, *unit))
}

#[derive(Clone, Copy)]
enum Suffix {
    /// Times ten to this power.
    Decimal(i32),
    /// Times 1024 to this power.
    Binary(u32),
}

fn suffix_of(text: &str) -> Option<Suffix> {
    if let Some((_, power)) = DECIMAL.iter().find(|(suffix, _)| *suffix == text) {
        return Some(Suffix::Decimal(*power));
    }
    if let Some((_, power)) = BINARY.iter().find(|(suffix, _)| *suffix == text) {
        return Some(Suffix::Binary(*power));
    }
    let exponent = text.strip_prefix(['e', 'E'])?;
    exponent.parse().ok().map(Suffix::Decimal)
}

/// `digits × 10^power`, rounded away from zero if the power is negative.
fn scaled(digits: i128, power: i32) -> Option<i128> {
    if digits == 0 {
        return Some(0);
    }
    if power >= 0 {
        return digits.checked_mul(10_i128.checked_pow(power.unsigned_abs())?);
    }
    let divisor = 10_i128.checked_pow(power.unsigned_abs());
    let Some(divisor) = divisor else { return Some(1) };
    let is_inexact = digits.checked_rem_euclid(divisor)? != 0;
    digits.checked_div_euclid(divisor)?.checked_add(i128::from(is_inexact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn equal(a: &str, b: &str) {
        assert_eq!(Quantity::parse(a).expect(a), Quantity::parse(b).expect(b));
    }

    /// Pairs that the API server serves as equal (apimachinery `quantity_test.go` has the same rules).
    #[test]
    fn spellings_of_one_value_are_equal() {
        equal("1000m", "1");
        equal("0.5Gi", "512Mi");
        equal("1.5", "1500m");
        equal("1e3", "1k");
        equal("1E3", "1000");
        equal("+1Gi", "1024Mi");
        equal("01", "1.");
        equal("0.1Gi", "107374182400m");
        equal("8Ei", "9223372036854775807");
        equal("0.0000000001", "1n");
        equal("Gi", "0");
        equal("-1000m", "-1");
        equal(" 1 ", "1");
    }

    #[test]
    fn different_values_differ_and_order() {
        assert!(Quantity::parse("1G") < Quantity::parse("1Gi"));
        assert_ne!(Quantity::parse("1"), Quantity::parse("1m"));
        assert!(Quantity::parse("-1") < Quantity::parse("0"));
        assert!(Quantity::parse("0.0001").unwrap().is_below_milli());
    }

    /// Texts that an API server of version 1.36 serves.
    #[test]
    fn the_served_text_is_known() {
        let pairs = [
            ("1000m", "1"),
            ("0.5Gi", "512Mi"),
            ("1.5", "1500m"),
            ("1000", "1k"),
            ("1000000", "1M"),
            ("1024", "1024"),
            ("1073741824", "1073741824"),
            ("0.1Gi", "107374182400m"),
            ("+1Gi", "+1Gi"),
            ("01", "01"),
            ("1.", "1."),
            ("1e0", "1e0"),
            ("1E3", "1E3"),
            ("1e+3", "1e+3"),
            ("1024Mi", "1Gi"),
            ("2.0", "2"),
            ("500m", "500m"),
            ("1.500", "1.500"),
            ("10e2", "1e3"),
            ("Gi", "0"),
            ("0", "0"),
            ("0m", "0"),
            ("100Gi", "100Gi"),
            ("8Gi", "8Gi"),
        ];
        for (written, served) in pairs {
            assert_eq!(Quantity::served(written).as_deref(), Some(served), "{written}");
        }
    }

    #[test]
    fn what_the_server_refuses_is_none() {
        for bad in ["", "1GiB", "K", "1ki", "1e", "1.2.3", "one", "1 Gi", "--1", "1e99"] {
            assert_eq!(Quantity::parse(bad), None, "{bad}");
        }
    }
}
