//! Whether one type can read what another has written.

use super::{Field, Shape, Variant};
use std::fmt;

/// One thing that keeps a type from reading what another has written.
///
/// ```
/// use streamwork::{Change, Shape, State};
///
/// let [difference] = &Shape::compare(&u32::shape(), &u64::shape()).unwrap_err()[..] else { panic!() };
/// assert_eq!(difference.path, "");
/// assert_eq!(difference.change, Change::Other { before: "u32".into(), now: "u64".into() });
/// assert_eq!(difference.to_string(), "u32 before, u64 now");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Where it is: `orders[].last`; empty if it is the whole.
    pub path: String,
    /// What it is.
    pub change: Change,
}

/// What keeps a type from reading what another has written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// It was made of something else.
    Other {
        /// Of what it was made.
        before: String,
        /// Of what it is made now.
        now: String,
    },
    /// There was such a field: what it holds would be lost.
    FieldGone,
    /// There was no such field, and it has no default.
    FieldNew,
    /// The field was left out at times, and has no default.
    FieldLeftOut,
    /// Two fields that there were would be read into this one.
    FieldTwice,
    /// There was such a variant.
    VariantGone,
    /// It was written in another version of the type.
    Version {
        /// The version that it was written in.
        before: u32,
        /// The version that reads it.
        now: u32,
    },
}

impl Difference {
    pub(crate) fn new(path: impl Into<String>, change: Change) -> Self {
        Self { path: path.into(), change }
    }

    /// The same, seen from further out.
    pub(crate) fn within(mut self, outer: &str) -> Self {
        let between =
            if self.path.is_empty() || self.path.starts_with(['[', ':']) { "" } else { "." };
        self.path = format!("{outer}{between}{}", self.path);
        self
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, change } = self;
        if !matches!(change, Change::Other { .. } | Change::Version { .. }) {
            let what = if *change == Change::VariantGone { "variant" } else { "field" };
            write!(f, "the {what} `{path}` ")?;
        } else if !path.is_empty() {
            write!(f, "`{path}`: ")?;
        }
        match change {
            Change::Other { before, now } => write!(f, "{before} before, {now} now"),
            Change::FieldGone => f.write_str("is gone: give it its name back, or migrate"),
            Change::FieldNew => {
                f.write_str("is new: mark it `#[state(default)]`, make it an `Option`, or migrate")
            }
            Change::FieldLeftOut => {
                f.write_str("was left out at times: mark it `#[state(default)]`, or migrate")
            }
            Change::FieldTwice => f.write_str("has the names of two that there were: migrate"),
            Change::VariantGone => f.write_str("is gone: keep it, or migrate"),
            Change::Version { before, now } if before > now => {
                write!(f, "written in version {before}, which is newer than {now}, the program's")
            }
            Change::Version { before, now } => {
                write!(f, "version {before} before, {now} now, and no migration")
            }
        }
    }
}

impl Shape {
    /// Whether a type of shape `new` reads what one of shape `old` has written, without loss. It may have
    /// more fields, if these have defaults or are options, in another order, and more variants.
    ///
    /// ```
    /// use serde::{Deserialize, Serialize};
    /// use streamwork::{Shape, State};
    ///
    /// #[derive(State, Serialize, Deserialize)]
    /// struct Before {
    ///     count: u32,
    ///     kind: String,
    /// }
    ///
    /// #[derive(State, Serialize, Deserialize)]
    /// struct Now {
    ///     count: u64,
    ///     last: Option<u64>,
    /// }
    ///
    /// let differences = Shape::compare(&Before::shape(), &Now::shape()).unwrap_err();
    /// let words: Vec<String> = differences.iter().map(ToString::to_string).collect();
    /// assert_eq!(words[0], "`count`: u32 before, u64 now");
    /// assert!(words[1].starts_with("the field `kind` is gone"), "{}", words[1]);
    /// assert_eq!(words.len(), 2, "`last` is an option");
    /// ```
    ///
    /// # Errors
    /// Everything that keeps it from reading them.
    pub fn compare(old: &Self, new: &Self) -> Result<(), Vec<Difference>> {
        let mut walk = Walk::default();
        walk.compare(Place::new(old), Place::new(new));
        if walk.found.is_empty() { Ok(()) } else { Err(walk.found) }
    }
}

/// A shape, with the types that it is inside of.
#[derive(Clone)]
struct Place<'a> {
    shape: &'a Shape,
    around: Vec<&'a Shape>,
    /// Of the types that were entered on the way.
    versions: Vec<u32>,
}

impl<'a> Place<'a> {
    fn new(shape: &'a Shape) -> Self {
        Self { shape, around: Vec::new(), versions: Vec::new() }
    }

    fn inside(&self, shape: &'a Shape) -> Self {
        Self { shape, around: self.around.clone(), versions: Vec::new() }
    }

    /// Enters what has no bytes of its own: names of types, structs around one field.
    fn enter(mut self) -> Self {
        loop {
            match self.shape {
                Shape::Type { version, shape, .. } => {
                    self.around.push(self.shape);
                    self.shape = shape;
                    if *version > 0 {
                        self.versions.push(*version);
                    }
                }
                Shape::Newtype(inner) => self.shape = inner,
                Shape::Again(outwards) => {
                    let Some(at) = self.around.len().checked_sub(outwards + 1) else { return self };
                    self.shape = self.around[at];
                    self.around.truncate(at);
                }
                _ => return self,
            }
        }
    }
}

#[derive(Default)]
struct Walk {
    path: Vec<String>,
    found: Vec<Difference>,
    /// What was compared, or is being compared further out.
    seen: Vec<(*const Shape, *const Shape)>,
}

impl Walk {
    fn differ(&mut self, change: Change) {
        let path = self.path.concat();
        self.found.push(Difference::new(path.trim_start_matches('.'), change));
    }

    fn within(&mut self, part: String, old: Place<'_>, new: Place<'_>) {
        self.path.push(part);
        self.compare(old, new);
        self.path.pop();
    }

    fn compare(&mut self, old: Place<'_>, new: Place<'_>) {
        let names = (old.shape.name(), new.shape.name());
        let (old, new) = (old.enter(), new.enter());
        if old.versions != new.versions {
            let of = |place: &Place<'_>| place.versions.first().copied().unwrap_or_default();
            return self.differ(Change::Version { before: of(&old), now: of(&new) });
        }
        let both: (*const Shape, *const Shape) = (old.shape, new.shape);
        if self.seen.contains(&both) {
            return;
        }
        self.seen.push(both);
        match (old.shape, new.shape) {
            (Shape::Option(a), Shape::Option(b)) => self.compare(old.inside(a), new.inside(b)),
            (Shape::List(a), Shape::List(b)) | (Shape::Set(a), Shape::Set(b)) => {
                self.within("[]".into(), old.inside(a), new.inside(b));
            }
            (Shape::Array(a, n), Shape::Array(b, m)) if n == m => {
                self.within("[]".into(), old.inside(a), new.inside(b));
            }
            (Shape::Map(k, v), Shape::Map(l, w)) | (Shape::ByKey(k, v), Shape::ByKey(l, w)) => {
                self.within("[key]".into(), old.inside(k), new.inside(l));
                self.within("[]".into(), old.inside(v), new.inside(w));
            }
            (Shape::Tuple(a), Shape::Tuple(b)) if a.len() == b.len() => {
                for (i, (a, b)) in a.iter().zip(b).enumerate() {
                    self.within(format!(".{i}"), old.inside(a), new.inside(b));
                }
            }
            (Shape::Struct(a), Shape::Struct(b)) => self.fields(&old, a, &new, b),
            (Shape::Enum(a), Shape::Enum(b)) => self.variants(&old, a, &new, b),
            (a, b) if a.is_leaf() && a == b => {}
            (a, b) => {
                let (before, now) = if names.0 == names.1 { (a.name(), b.name()) } else { names };
                let whole = before == now;
                let (before, now) =
                    if whole { (a.to_string(), b.to_string()) } else { (before, now) };
                self.differ(Change::Other { before, now });
            }
        }
    }

    fn fields<'a>(
        &mut self,
        old: &Place<'a>,
        before: &'a [Field],
        new: &Place<'a>,
        now: &'a [Field],
    ) {
        let reads =
            |field: &Field, name: &String| field.name == *name || field.aliases.contains(name);
        for field in now {
            let mut found = before.iter().filter(|former| reads(field, &former.name));
            self.path.push(format!(".{}", field.name));
            let has_default = field.default || field.shape.is_option();
            match (found.next(), found.next()) {
                (Some(_), Some(_)) => self.differ(Change::FieldTwice),
                (Some(former), None) => {
                    if former.left_out && !has_default {
                        self.differ(Change::FieldLeftOut);
                    }
                    self.compare(old.inside(&former.shape), new.inside(&field.shape));
                }
                (None, _) if !has_default => self.differ(Change::FieldNew),
                (None, _) => {}
            }
            self.path.pop();
        }
        for former in before {
            if !now.iter().any(|field| reads(field, &former.name)) {
                self.path.push(format!(".{}", former.name));
                self.differ(Change::FieldGone);
                self.path.pop();
            }
        }
    }

    fn variants<'a>(
        &mut self,
        old: &Place<'a>,
        before: &'a [Variant],
        new: &Place<'a>,
        now: &'a [Variant],
    ) {
        for former in before {
            let name = &former.name;
            self.path.push(format!("::{name}"));
            let same = now.iter().find(|it| it.name == *name || it.aliases.contains(name));
            match same.map(|variant| (&former.shape, &variant.shape)) {
                None => self.differ(Change::VariantGone),
                // A variant of one value, with or without a name, is written in another way.
                Some((a, b)) if std::mem::discriminant(a) != std::mem::discriminant(b) => {
                    let of = |shape: &Shape| match shape {
                        Shape::Unit => "nothing".to_owned(),
                        Shape::Newtype(_) => "one value".to_owned(),
                        other => other.name(),
                    };
                    self.differ(Change::Other { before: of(a), now: of(b) });
                }
                Some((a, b)) => self.compare(old.inside(a), new.inside(b)),
            }
            self.path.pop();
        }
    }
}

impl Shape {
    /// Whether nothing else is inside of it.
    fn is_leaf(&self) -> bool {
        matches!(self, Self::Nothing | Self::Plain(_) | Self::Unit | Self::Opaque { .. })
    }
}
