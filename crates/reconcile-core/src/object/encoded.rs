//! The bytes that a text spells as numbers or in base64, as Go does with `%v`, `%#v` and `%x`. Runs of digits and letters that were not
//! meant so are decoded as well: nothing says what a text means.

/// Minimum length of a run that counts, in bytes.
const SHORTEST: usize = 4;
/// The text between the bytes of two runs.
const BETWEEN: &str = "…";

/// The bytes that the runs of a text spell, once for each way to read them. The length of each is at most about that of the text.
pub(super) fn decoded(text: &str) -> Vec<Vec<u8>> {
    let mut ways = base64(text);
    ways.extend([8, 10].map(|radix| numbers(text, radix)));
    ways.extend(hexadecimal(text));
    ways.retain(|bytes| !bytes.is_empty());
    ways
}

/// The words of a text: letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// Appends a run, and begins the next one.
fn end(run: &mut Vec<u8>, all: &mut Vec<u8>) {
    if run.len() >= SHORTEST {
        all.extend_from_slice(run);
        all.extend_from_slice(BETWEEN.as_bytes());
    }
    run.clear();
}

/// Bytes as numbers: `[67 65 78]`, `0103 0101`.
fn numbers(text: &str, radix: u32) -> Vec<u8> {
    let (mut all, mut run) = (Vec::new(), Vec::new());
    for word in words(text) {
        let digits = if radix == 8 { word.strip_prefix("0o").unwrap_or(word) } else { word };
        match u8::from_str_radix(digits, radix) {
            Ok(byte) => run.push(byte),
            Err(_) => end(&mut run, &mut all),
        }
    }
    end(&mut run, &mut all);
    all
}

/// Bytes in hexadecimal digits, alone or in longer words: `0x43, 0x9`, `43 41`, `434143`. The second way begins at the second digit of a
/// longer word.
fn hexadecimal(text: &str) -> [Vec<u8>; 2] {
    let (mut all, mut run, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for word in words(text) {
        let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
        let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        match u8::from_str_radix(digits, 16) {
            Ok(byte) => run.push(byte),
            Err(_) if is_number => {
                run.extend(pairs(digits));
                let mut shifted = digits.get(1..).into_iter().flat_map(pairs).collect();
                end(&mut shifted, &mut second);
            }
            Err(_) => {
                end(&mut run, &mut all);
                for part in digits.split(|character: char| !character.is_ascii_hexdigit()) {
                    end(&mut pairs(part).collect(), &mut all);
                    end(&mut part.get(1..).into_iter().flat_map(pairs).collect(), &mut second);
                }
            }
        }
    }
    end(&mut run, &mut all);
    [all, second]
}

/// The bytes that each two digits spell.
fn pairs(digits: &str) -> impl Iterator<Item = u8> {
    let (pairs, _) = digits.as_bytes().as_chunks::<2>();
    pairs.iter().filter_map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
}

/// Bytes in base64, of either alphabet and on lines of any length. A run may begin anywhere, so that each of its first four characters may
/// be the first of a group.
fn base64(text: &str) -> Vec<Vec<u8>> {
    let mut ways = vec![Vec::new(); 4];
    let mut runs = vec![Vec::new(); 4];
    let mut states = [(0_u32, 0_u32); 4];
    let mut length = 0_usize;
    let characters = text.chars().filter(|character| !character.is_whitespace());
    for character in characters.map(Some).chain([None]) {
        if let Some(value) = character.and_then(sextet) {
            for (skipped, (run, (bits, count))) in runs.iter_mut().zip(&mut states).enumerate() {
                if length >= skipped {
                    *bits = (*bits << 6 | value) & 0xffff;
                    *count = count.saturating_add(6);
                    if let Some(left) = count.checked_sub(8) {
                        *count = left;
                        run.extend(u8::try_from(*bits >> left & 0xff));
                    }
                }
            }
            length = length.saturating_add(1);
        } else {
            for (run, way) in runs.iter_mut().zip(&mut ways) {
                end(run, way);
            }
            states = [(0, 0); 4];
            length = 0;
        }
    }
    ways
}

/// The six bits of a character of base64.
fn sextet(character: char) -> Option<u32> {
    let from = |first: char, value: u32| u32::from(character).checked_sub(u32::from(first))?.checked_add(value);
    match character {
        'A'..='Z' => from('A', 0),
        'a'..='z' => from('a', 26),
        '0'..='9' => from('0', 52),
        '+' | '-' => Some(62),
        '/' | '_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_however_they_are_spelled() {
        for text in [
            "[104 117 110 116 101 114 50]",
            "{[104 117 110 116 101 114 50] <nil>}",
            "[]byte{0x68, 0x75, 0x6e, 0x74, 0x65, 0x72, 0x32}",
            "68756e74657232",
            "is a68756e74657232",
            "68 75 6e 74 65 72 32",
            "68756e74 657232",
            "68:75:6E:74:65:72:32",
            "\\150\\165\\156\\164\\145\\162\\062",
            "0150 0165 0156 0164 0145 0162 062",
            "aHVudGVyMg==",
            "key aHVu\ndGVy\r\nMg",
            "eGh1bnRlcjJ4",
            "eHhodW50ZXIyeHg=",
        ] {
            let decoded = decoded(text);
            assert!(decoded.iter().any(|bytes| String::from_utf8_lossy(bytes).contains("hunter2")), "{text}");
        }
        assert!(decoded("").is_empty() && decoded("no 1, 2").is_empty());
    }

    #[test]
    fn the_work_grows_with_the_text() {
        for text in ["a1 ", "255,", "aHVu", "68x"] {
            let text = text.repeat(100_000);
            assert!(decoded(&text).iter().all(|bytes| bytes.len() <= text.len().saturating_mul(2)));
        }
    }
}
