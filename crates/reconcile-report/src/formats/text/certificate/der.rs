//! Reads the fields of a certificate (RFC 5280, in DER) that people ask for.

use std::fmt::Write as _;
use std::net::IpAddr;

/// Tags of DER (X.690).
const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const OBJECT: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// `[0]` the version, `[3]` the extensions.
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// `subjectAltName`, 2.5.29.17.
const OTHER_NAMES: [u8; 3] = [0x55, 0x1d, 0x11];
/// The last number of 2.5.4.n, and its name in RFC 4514.
const ATTRIBUTES: [(u8, &str); 6] = [(3, "CN"), (6, "C"), (7, "L"), (8, "ST"), (10, "O"), (11, "OU")];
/// Most names that are shown of one certificate.
const NAMES: usize = 100;

/// The fields of a certificate that are shown.
#[derive(Debug)]
pub(super) struct Certificate {
    pub subject: String,
    pub issuer: String,
    pub not_before: String,
    pub not_after: String,
    pub names: String,
    pub serial: String,
}

impl Certificate {
    /// Reads a certificate; `None` if the bytes are not one.
    pub fn read(der: &[u8]) -> Option<Self> {
        let mut fields = Reader(Reader(der).of(SEQUENCE)?).of(SEQUENCE).map(Reader)?;
        if fields.next_is(VERSION) {
            fields.any()?;
        }
        let serial = fields.of(INTEGER)?;
        fields.of(SEQUENCE)?;
        let issuer = name(fields.of(SEQUENCE)?)?;
        let mut validity = Reader(fields.of(SEQUENCE)?);
        let (not_before, not_after) = (time(&mut validity)?, time(&mut validity)?);
        let subject = name(fields.of(SEQUENCE)?)?;
        let mut names = String::new();
        while let Some((tag, content)) = fields.any() {
            if tag == EXTENSIONS {
                names = other_names(Reader(content).of(SEQUENCE)?)?;
            }
        }
        let serial = serial.iter().take(20).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Some(Self { subject, issuer, not_before, not_after, names, serial })
    }

    /// `CN=shop by CN=ca, until 2026-12-01T00:00:00Z, for shop.example.com`
    pub fn sentence(&self) -> String {
        let names = if self.names.is_empty() { String::new() } else { format!(", for {}", self.names) };
        format!("{} by {}, until {}{names}", self.subject, self.issuer, self.not_after)
    }
}

/// A sequence of values, each with its tag and length.
struct Reader<'d>(&'d [u8]);

impl<'d> Reader<'d> {
    fn next_is(&self, tag: u8) -> bool {
        self.0.first() == Some(&tag)
    }

    /// The next value: its tag and its content.
    fn any(&mut self) -> Option<(u8, &'d [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, mut rest) = rest.split_first()?;
        let mut length = usize::from(*first);
        if length >= 0x80 {
            let digits = length & 0x7f;
            if digits == 0 || digits > 4 {
                return None;
            }
            let (number, after) = rest.split_at_checked(digits)?;
            length = number.iter().fold(0, |length, digit| length << 8 | usize::from(*digit));
            rest = after;
        }
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }

    /// The content of the next value, if it has this tag.
    fn of(&mut self, tag: u8) -> Option<&'d [u8]> {
        self.any().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

/// `CN=shop, O=Shop`
fn name(content: &[u8]) -> Option<String> {
    let mut parts = Reader(content);
    let mut text = Vec::new();
    while !parts.0.is_empty() {
        let mut of_part = Reader(parts.of(SET)?);
        while !of_part.0.is_empty() {
            let mut attribute = Reader(of_part.of(SEQUENCE)?);
            let object = attribute.of(OBJECT)?;
            let (_, value) = attribute.any()?;
            let known = ATTRIBUTES.iter().find(|(number, _)| object == [0x55, 0x04, *number]);
            if let Some((_, name)) = known {
                text.push(format!("{name}={}", String::from_utf8_lossy(value).replace(',', "\\,")));
            }
        }
    }
    Some(text.join(", "))
}

/// `2026-12-01T00:00:00Z`
fn time(reader: &mut Reader<'_>) -> Option<String> {
    let (tag, content) = reader.any()?;
    let text = std::str::from_utf8(content).ok().filter(|text| text.is_ascii())?;
    let (century, rest) = match tag {
        // Two digits mean 1950 to 2049.
        UTC_TIME if text.get(..2)? < "50" => ("20", text),
        UTC_TIME => ("19", text),
        TIME => (text.get(..2)?, text.get(2..)?),
        _ => return None,
    };
    let digits = rest.strip_suffix('Z').filter(|digits| digits.len() == 12)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let at = |from: usize| digits.get(from..).and_then(|rest| rest.get(..2)).unwrap_or_default();
    Some(format!("{century}{}-{}-{}T{}:{}:{}Z", at(0), at(2), at(4), at(6), at(8), at(10)))
}

/// `shop.example.com, 10.0.0.1`
fn other_names(extensions: &[u8]) -> Option<String> {
    let mut extensions = Reader(extensions);
    while let Some((SEQUENCE, content)) = extensions.any() {
        let mut extension = Reader(content);
        if extension.of(OBJECT)? != OTHER_NAMES {
            continue;
        }
        let mut value = extension.any()?;
        if value.0 != OCTETS {
            // Before it, a boolean says whether it is critical.
            value = extension.any()?;
        }
        let mut names = Reader(Reader(value.1).of(SEQUENCE)?);
        let mut texts = Vec::new();
        while let Some((tag, content)) = names.any().filter(|_| texts.len() < NAMES) {
            match tag {
                0x81 | 0x82 | 0x86 => texts.push(String::from_utf8_lossy(content).into_owned()),
                0x87 => texts.push(address(content)?.to_string()),
                _ => {}
            }
        }
        return Some(texts.join(", "));
    }
    Some(String::new())
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}
