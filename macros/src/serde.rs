//! Reads serde's attributes: under which names a type is written, and whether it is written in a form that
//! can be described.

use crate::errors::Errors;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// What serde's attributes say in one place, as far as it concerns the bytes.
#[derive(Debug, Default)]
pub(crate) struct Serde {
    pub(crate) rename: Option<String>,
    pub(crate) aliases: Vec<String>,
    /// The rule for the names of the fields of a struct or a variant, or of the variants of an enum.
    pub(crate) rename_all: Option<String>,
    /// The rule for the names of the fields of all variants.
    pub(crate) rename_all_fields: Option<String>,
    pub(crate) default: bool,
    pub(crate) skip: bool,
    pub(crate) left_out: bool,
    pub(crate) transparent: bool,
    /// What gives the bytes another form.
    pub(crate) special: Vec<Meta>,
}

impl Serde {
    /// Reads what stands in `#[serde(..)]`. What can't be read is serde's to complain about.
    pub(crate) fn read(attrs: &[Attribute]) -> Self {
        let mut serde = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
            let list = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            for meta in list.into_iter().flatten() {
                serde.entry(meta);
            }
        }
        serde
    }

    fn entry(&mut self, meta: Meta) {
        let key = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        match (key.as_str(), text(&meta)) {
            ("rename", Some(name)) => self.rename = Some(name),
            ("alias", Some(name)) => self.aliases.push(name),
            ("rename_all", Some(rule)) => self.rename_all = Some(rule),
            ("rename_all_fields", Some(rule)) => self.rename_all_fields = Some(rule),
            ("default", _) => self.default = true,
            ("skip", _) => self.skip = true,
            ("skip_serializing_if", _) => self.left_out = true,
            ("transparent", _) => self.transparent = true,
            ("bound" | "borrow" | "crate" | "deny_unknown_fields" | "expecting", _) => {}
            _ => self.special.push(meta),
        }
    }

    /// Refuses what gives the bytes another form.
    pub(crate) fn refuse_special(&self, place: &str, errors: &mut Errors) {
        for meta in &self.special {
            let key = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
            let advice = format!(
                "`#[serde({key})]` writes it in a form that is not known here: \
                 have it taken as it is, with `#[state(serde, version = 1)]` on the {place}"
            );
            errors.at(meta, advice);
        }
    }
}

/// The text in `key = "text"`.
fn text(meta: &Meta) -> Option<String> {
    match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The name of a field, which is in `snake_case`, by serde's rule.
pub(crate) fn field_name(name: &str, rule: Option<&str>) -> String {
    let words = || name.split('_');
    match rule {
        Some("UPPERCASE" | "SCREAMING_SNAKE_CASE") => name.to_ascii_uppercase(),
        Some("PascalCase") => words().map(capital).collect(),
        Some("camelCase") => small(&words().map(capital).collect::<String>()),
        Some("kebab-case") => name.replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => name.to_ascii_uppercase().replace('_', "-"),
        _ => name.to_owned(),
    }
}

/// The name of a variant, which is in `PascalCase`, by serde's rule.
pub(crate) fn variant_name(name: &str, rule: Option<&str>) -> String {
    let snake = || {
        let mut snake = String::new();
        for (i, c) in name.char_indices() {
            if i > 0 && c.is_uppercase() {
                snake.push('_');
            }
            snake.push(c.to_ascii_lowercase());
        }
        snake
    };
    match rule {
        Some("lowercase") => name.to_ascii_lowercase(),
        Some("UPPERCASE") => name.to_ascii_uppercase(),
        Some("camelCase") => small(name),
        Some("snake_case") => snake(),
        Some("SCREAMING_SNAKE_CASE") => snake().to_ascii_uppercase(),
        Some("kebab-case") => snake().replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => snake().to_ascii_uppercase().replace('_', "-"),
        _ => name.to_owned(),
    }
}

fn capital(word: &str) -> String {
    first(word, |c| c.to_ascii_uppercase())
}

fn small(word: &str) -> String {
    first(word, |c| c.to_ascii_lowercase())
}

fn first(word: &str, change: impl Fn(char) -> char) -> String {
    let mut chars = word.chars();
    chars.next().map(change).into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn names_follow_serdes_rules() {
        #[track_caller]
        fn check(rule: &str, field: &str, variant: &str) {
            assert_eq!(field_name("last_seen", Some(rule)), field);
            assert_eq!(variant_name("LastSeen", Some(rule)), variant);
        }
        check("lowercase", "last_seen", "lastseen");
        check("UPPERCASE", "LAST_SEEN", "LASTSEEN");
        check("PascalCase", "LastSeen", "LastSeen");
        check("camelCase", "lastSeen", "lastSeen");
        check("snake_case", "last_seen", "last_seen");
        check("SCREAMING_SNAKE_CASE", "LAST_SEEN", "LAST_SEEN");
        check("kebab-case", "last-seen", "last-seen");
        check("SCREAMING-KEBAB-CASE", "LAST-SEEN", "LAST-SEEN");
    }

    #[test]
    fn what_changes_the_form_is_kept_apart() {
        let serde = Serde::read(&[
            parse_quote!(#[serde(default = "zero", alias = "a", alias = "b", rename = "c")]),
            parse_quote!(#[serde(skip_serializing_if = "none", with = "x", rename(serialize = "y"))]),
            parse_quote!(#[state(default)]),
        ]);
        assert!(serde.default && serde.left_out && !serde.skip);
        assert_eq!((serde.aliases.join(" "), serde.rename.unwrap()), ("a b".into(), "c".into()));
        assert_eq!(serde.special.len(), 2);
    }
}
