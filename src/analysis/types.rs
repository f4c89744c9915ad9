//! The static types of CXL and of columns, and how two of them meet.

/// A type with its null-tracking.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// What the value is when it isn't null.
    pub kind: Kind,
    /// Whether it may be null.
    pub nullable: bool,
}

/// What a value is when it isn't null.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Only null.
    Null,
    /// true or false.
    Bool,
    /// A 64-bit whole number.
    Int,
    /// A double.
    Float,
    /// A decimal number: a 96-bit mantissa and a scale from 0 to 28.
    Decimal {
        /// The scale that all values provably share.
        scale: Option<u8>,
    },
    /// A text.
    String,
    /// A calendar day.
    Date,
    /// A point in time without a zone, in nanoseconds.
    DateTime,
    /// A list.
    Array(Box<Kind>),
    /// An ordered map.
    Map,
    /// A value whose type is known only at run time.
    Any,
    /// The type of what failed to check; already reported, and equal to everything.
    Error,
}

impl Type {
    /// A type that is never null.
    pub fn of(kind: Kind) -> Self {
        Self { nullable: matches!(kind, Kind::Null | Kind::Any), kind }
    }

    /// A type that may be null.
    pub fn nullable(kind: Kind) -> Self {
        Self { nullable: true, kind }
    }

    /// The error type.
    pub fn error() -> Self {
        Self { kind: Kind::Error, nullable: false }
    }

    /// Whether this is the error type.
    pub fn is_error(&self) -> bool {
        self.kind == Kind::Error
    }

    /// The same type, nullable if `nullable` is true or it was already.
    pub fn or_nullable(mut self, nullable: bool) -> Self {
        self.nullable |= nullable;
        self
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Null => f.write_str("null"),
            Kind::Bool => f.write_str("bool"),
            Kind::Int => f.write_str("int"),
            Kind::Float => f.write_str("float"),
            Kind::Decimal { .. } => f.write_str("decimal"),
            Kind::String => f.write_str("string"),
            Kind::Date => f.write_str("date"),
            Kind::DateTime => f.write_str("date_time"),
            Kind::Array(element) => write!(f, "array of {element}"),
            Kind::Map => f.write_str("map"),
            Kind::Any => f.write_str("any"),
            Kind::Error => f.write_str("unknown"),
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.nullable && !matches!(self.kind, Kind::Null | Kind::Any) {
            write!(f, "nullable({})", self.kind)
        } else {
            self.kind.fmt(f)
        }
    }
}
