//! A shape in words.

use super::{Field, Shape, Variant};
use std::fmt;

/// The whole of it, in one line. Types that are called differently and are made of the same have the same
/// text.
///
/// ```
/// use std::collections::BTreeMap;
/// use streamwork::State;
///
/// let shape = <BTreeMap<String, Vec<(u8, Option<u16>)>>>::shape();
/// assert_eq!(shape.to_string(), "map[string: [(u8, u16?)]]");
/// ```
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("()"),
            Self::Plain(name) => f.write_str(name),
            Self::Option(inner) => write!(f, "{inner}?"),
            Self::List(inner) => write!(f, "[{inner}]"),
            Self::Set(inner) => write!(f, "set[{inner}]"),
            Self::Map(key, value) => write!(f, "map[{key}: {value}]"),
            Self::ByKey(key, value) => write!(f, "by_key[{key}: {value}]"),
            Self::Array(inner, count) => write!(f, "[{inner}; {count}]"),
            Self::Tuple(parts) => {
                f.write_str("(")?;
                separated(parts, ", ", f)?;
                f.write_str(if parts.len() == 1 { ",)" } else { ")" })
            }
            Self::Unit => f.write_str("{}"),
            Self::Newtype(inner) => write!(f, "{inner}"),
            Self::Struct(fields) => {
                f.write_str("{")?;
                separated(fields, ", ", f)?;
                f.write_str("}")
            }
            Self::Enum(variants) => {
                f.write_str("<")?;
                separated(variants, " | ", f)?;
                f.write_str(">")
            }
            Self::Opaque { name, version } => write!(f, "{name} v{version}"),
            Self::Type { version: 0, shape, .. } => write!(f, "{shape}"),
            Self::Type { version, shape, .. } => write!(f, "{shape} v{version}"),
            // A number and no name: that may change.
            Self::Again(outwards) => write!(f, "^{outwards}"),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.shape)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.shape {
            Shape::Unit => Ok(()),
            Shape::Newtype(inner) => write!(f, "({inner})"),
            fields => write!(f, "{fields}"),
        }
    }
}

fn separated<T: fmt::Display>(parts: &[T], by: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        write!(f, "{}{part}", if i == 0 { "" } else { by })?;
    }
    Ok(())
}

impl Shape {
    /// What it is called where that is shorter than what it is made of.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Type { name, .. } => name.clone(),
            Self::Option(inner) => format!("an optional {}", inner.name()),
            Self::List(inner) => format!("a list of {}", inner.name()),
            Self::Set(inner) => format!("a set of {}", inner.name()),
            Self::Map(key, value) => format!("a map of {} to {}", key.name(), value.name()),
            Self::ByKey(key, value) => {
                format!("entries by key of {} to {}", key.name(), value.name())
            }
            Self::Array(inner, count) => format!("{count} times {}", inner.name()),
            Self::Tuple(parts) => format!("a tuple of {}", parts.len()),
            Self::Unit => "a struct without fields".to_owned(),
            Self::Newtype(inner) => inner.name(),
            Self::Struct(_) => "fields with names".to_owned(),
            Self::Enum(_) => "an enum".to_owned(),
            Self::Opaque { name, version } => format!("{name} in version {version}"),
            Self::Again(_) => "the type itself".to_owned(),
            Self::Nothing | Self::Plain(_) => self.to_string(),
        }
    }
}
