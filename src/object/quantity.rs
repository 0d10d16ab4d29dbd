//! `resource.Quantity` (apimachinery `pkg/api/resource/quantity.go`): read exactly, compared by value.

/// The value of a quantity in nano units, rounded away from zero as the API server rounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    nanos: i128,
}

const NANO: i128 = 1_000_000_000;

impl Quantity {
    /// Reads a quantity: digits with a point, then a binary suffix (`Ki` … `Ei`), a decimal one (`n u m k M G T P E`)
    /// or an exponent. None where the server would refuse it, or where it is too large to compare exactly.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches(' ');
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let digits: i128 = match format!("{whole}{fraction}").trim_start_matches('0') {
            "" => 0,
            significant => significant.parse().ok()?,
        };
        let decimals = i32::try_from(fraction.len()).ok()?;
        let nanos = match suffix_of(suffix)? {
            Suffix::Decimal(power) => scaled(digits, power.checked_sub(decimals)?.checked_add(9)?)?,
            Suffix::Binary(power) => {
                let bytes = digits.checked_mul(1_i128 << (10 * power))?;
                scaled(bytes, 9 - decimals)?.min(i128::from(i64::MAX) * NANO)
            }
        };
        Some(Self { nanos: if negative { -nanos } else { nanos } })
    }

    /// Whether the value has a part below one thousandth: resource lists round that up, other places keep it.
    #[must_use]
    pub fn is_below_milli(self) -> bool {
        self.nanos % 1_000_000 != 0
    }
}

enum Suffix {
    /// Times ten to this power.
    Decimal(i32),
    /// Times 1024 to this power.
    Binary(u32),
}

fn suffix_of(text: &str) -> Option<Suffix> {
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    const DECIMAL: [(&str, i32); 10] =
        [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
    if let Some((_, power)) = DECIMAL.iter().find(|(suffix, _)| *suffix == text) {
        return Some(Suffix::Decimal(*power));
    }
    if let Some(power) = BINARY.iter().position(|suffix| *suffix == text) {
        return Some(Suffix::Binary(u32::try_from(power).ok()? + 1));
    }
    let exponent = text.strip_prefix(['e', 'E'])?;
    exponent.parse().ok().map(Suffix::Decimal)
}

/// `digits × 10^power`, rounded away from zero where the power is negative.
fn scaled(digits: i128, power: i32) -> Option<i128> {
    if digits == 0 {
        return Some(0);
    }
    if power >= 0 {
        return digits.checked_mul(10_i128.checked_pow(power.unsigned_abs())?);
    }
    let divisor = 10_i128.checked_pow(power.unsigned_abs());
    Some(divisor.map_or(1, |divisor| digits.div_euclid(divisor) + i128::from(digits.rem_euclid(divisor) != 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn equal(a: &str, b: &str) {
        assert_eq!(Quantity::parse(a).expect(a), Quantity::parse(b).expect(b));
    }

    /// Equalities as the API server serves them (apimachinery `quantity_test.go` names the same rules).
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

    #[test]
    fn what_the_server_refuses_is_none() {
        for bad in ["", "1GiB", "K", "1ki", "1e", "1.2.3", "one", "1 Gi", "--1", "1e99"] {
            assert_eq!(Quantity::parse(bad), None, "{bad}");
        }
    }
}
