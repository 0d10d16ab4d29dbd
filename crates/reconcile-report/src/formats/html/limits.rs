use crate::view::View;

/// Largest number of objects that are open from the start.
pub(super) const OPEN: usize = 25;

/// The limits on the parts of the page: anyone who may write a live object decides how long its values are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// True if everything is shown.
    pub is_full: bool,
    /// Largest number of lines of one field.
    pub lines: usize,
    /// Size after which a field is cut at the end of a block of lines, in bytes.
    pub field_bytes: usize,
    /// Largest number of changes, conflicts or warnings of one object.
    pub items: usize,
    /// Size after which an object is cut at the end of a field, in bytes.
    pub object_bytes: usize,
    /// Size after which objects are shown without their details, in bytes.
    pub page_bytes: usize,
}

impl Limits {
    /// With `--full` only the page as a whole is bounded.
    pub fn of(view: &View) -> Self {
        const KIB: usize = 1024;
        if view.full {
            let all = usize::MAX;
            return Self {
                is_full: true,
                lines: all,
                field_bytes: all,
                items: all,
                object_bytes: all,
                page_bytes: 64 * KIB * KIB,
            };
        }
        Self {
            is_full: false,
            lines: 200,
            field_bytes: 64 * KIB,
            items: 200,
            object_bytes: 256 * KIB,
            page_bytes: 16 * KIB * KIB,
        }
    }
}
