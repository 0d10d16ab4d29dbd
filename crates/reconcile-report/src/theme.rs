//! The colours of text.

use anstyle::{Ansi256Color, AnsiColor, Color, Style};

use crate::Role;

/// The colours of text. A colour is never the only signal: signs and words say the same.
#[derive(Debug)]
pub struct Theme {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its help.
    pub help: &'static str,
    add: Color,
    change: Color,
    remove: Color,
    error: Color,
    hint: Color,
}

/// Green, yellow and red, as git and kubectl use them.
pub const STANDARD: Theme = Theme {
    name: "standard",
    help: "Green, yellow and red",
    add: Color::Ansi(AnsiColor::Green),
    change: Color::Ansi(AnsiColor::Yellow),
    remove: Color::Ansi(AnsiColor::Red),
    error: Color::Ansi(AnsiColor::Red),
    hint: Color::Ansi(AnsiColor::Cyan),
};

/// All themes; the first is the default. The colours of the second are those of Okabe and Ito, which people with any kind of colour
/// blindness can tell apart.
pub const THEMES: &[Theme] = &[
    STANDARD,
    Theme {
        name: "colour-blind",
        help: "Blue, yellow and orange, which can be distinguished with any kind of colour blindness",
        add: Color::Ansi256(Ansi256Color(39)),
        change: Color::Ansi256(Ansi256Color(221)),
        remove: Color::Ansi256(Ansi256Color(208)),
        error: Color::Ansi256(Ansi256Color(208)),
        hint: Color::Ansi256(Ansi256Color(36)),
    },
];

impl Theme {
    /// Finds a theme by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        THEMES.iter().find(|theme| theme.name == name)
    }

    /// The style of a span of text.
    pub fn style(&self, role: Role) -> Style {
        let colored = |color: Color| Style::new().fg_color(Some(color));
        match role {
            Role::Plain => Style::new(),
            Role::Add => colored(self.add),
            Role::AddWord => colored(self.add).bold().underline(),
            Role::Change => colored(self.change),
            Role::Remove => colored(self.remove),
            Role::RemoveWord => colored(self.remove).bold().underline(),
            Role::Error => colored(self.error).bold(),
            Role::Name => Style::new().bold(),
            Role::Note => Style::new().dimmed(),
            Role::Hint => colored(self.hint),
        }
    }
}
