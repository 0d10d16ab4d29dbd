use crate::View;

/// How much of a report is on the page: others decide how long their values are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Lines of one field.
    pub lines: usize,
    /// Bytes after which a field is cut, at the end of a block of lines.
    pub field_bytes: usize,
    /// Changes, conflicts or warnings of one object.
    pub items: usize,
    /// Bytes after which an object is cut, at the end of a field.
    pub object_bytes: usize,
    /// Bytes after which objects are shown without their details.
    pub page_bytes: usize,
}

impl Limits {
    /// With `--full` only the page as a whole is bounded.
    pub fn of(view: &View) -> Self {
        const KIB: usize = 1024;
        if view.full {
            let all = usize::MAX;
            return Self { lines: all, field_bytes: all, items: all, object_bytes: all, page_bytes: 64 * KIB * KIB };
        }
        Self { lines: 200, field_bytes: 64 * KIB, items: 200, object_bytes: 256 * KIB, page_bytes: 16 * KIB * KIB }
    }
}
