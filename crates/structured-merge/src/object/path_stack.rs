use super::path::{FieldPath, PathElement};

/// Current path of a walk: cheap to extend on the way down, and converted to a [`FieldPath`] only on request.
#[derive(Clone, Copy)]
pub(crate) struct PathStack<'a> {
    above: Option<&'a PathStack<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Item(&'a PathElement),
    Index(usize),
}

impl<'a> PathStack<'a> {
    pub fn root() -> Self {
        Self { above: None, step: Step::Root }
    }

    pub fn field(&'a self, name: &'a str) -> Self {
        Self { above: Some(self), step: Step::Field(name) }
    }

    pub fn item(&'a self, element: &'a PathElement) -> Self {
        Self { above: Some(self), step: Step::Item(element) }
    }

    pub fn index(&'a self, index: usize) -> Self {
        Self { above: Some(self), step: Step::Index(index) }
    }

    pub fn path(&self) -> FieldPath {
        let mut elements = Vec::new();
        let mut trail = Some(self);
        while let Some(at) = trail {
            match at.step {
                Step::Root => {}
                Step::Field(name) => elements.push(PathElement::Field(name.to_owned())),
                Step::Item(element) => elements.push(element.clone()),
                Step::Index(index) => elements.push(PathElement::index(index)),
            }
            trail = at.above;
        }
        elements.reverse();
        FieldPath::from(elements)
    }
}
