//! Types as they are written: `int`, `nullable(int)`, `{ nullable: int }`.

use super::ast::TypeText;
use super::fields::{Fields, Given, Keys, Reader};
use crate::diagnostics::Spanned;
use crate::syntax::yaml::{Scalar, Value};

const NULLABLE: Keys = Keys { read: &["nullable"], required: &["nullable"], ..Keys::NONE };

impl Reader<'_> {
    /// A type. Whether there is one of that name is the analysis' concern.
    pub(super) fn type_text(&mut self, given: &Given<'_>) -> Option<TypeText> {
        match &given.node.value {
            Value::Scalar(scalar) if !scalar.text.trim().is_empty() => Some(written(scalar)),
            Value::Scalar(_) => {
                self.no_value(given);
                None
            }
            Value::Mapping(_) => self.nullable(given),
            Value::Sequence(_) => {
                self.wrong(given, "a type such as `int` or `nullable(int)`");
                None
            }
            Value::Error => None,
        }
    }

    /// The type behind a key that must be there. What YAML reads as null is the type of that name.
    pub(super) fn required_type(&mut self, fields: &Fields<'_>, key: &str) -> Option<TypeText> {
        let null = fields.get(key).filter(|given| given.text() == Some("null"));
        let given = null.or_else(|| self.require(fields, key))?;
        self.type_text(&given)
    }

    /// `{ nullable: type }`
    fn nullable(&mut self, given: &Given<'_>) -> Option<TypeText> {
        let place = self.first_line(given.node.span);
        let fields = self.fields(given.node, format!("the mapping of {}", given.what), place, &NULLABLE)?;
        let ty = self.required_type(&fields, "nullable")?;
        Some(TypeText { nullable: true, span: given.node.span, ..ty })
    }
}

/// `type` or `nullable(type)`
fn written(scalar: &Scalar) -> TypeText {
    let mut name = scalar.text.trim();
    let mut nullable = false;
    while let Some(inner) = inner(name) {
        name = inner;
        nullable = true;
    }
    let start = name.as_ptr() as usize - scalar.text.as_ptr() as usize;
    let span = scalar.map.span(start as u32, (start + name.len()) as u32);
    TypeText { name: Spanned::new(name.to_owned(), span), nullable, span: scalar.span }
}

fn inner(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("nullable")?.trim_start().strip_prefix('(')?.strip_suffix(')')?.trim();
    (!inner.is_empty()).then_some(inner)
}
