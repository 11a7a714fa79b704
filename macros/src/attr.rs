//! Reads attributes: their keys and values, whatever these mean.

use crate::errors::Errors;
use std::collections::HashSet;
use std::fmt::Display;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, ExprPath, Ident, Meta, Result, Token, token};

/// An attribute of this crate's, in the form that it has in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// `component` in `#[component(..)]`.
    pub(crate) name: &'static str,
    /// What could stand in the parentheses, for advice.
    pub(crate) example: &'static str,
}

impl Form {
    /// The attributes of this name.
    pub(crate) fn among(self, attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
        attrs.iter().filter(move |attr| attr.path().is_ident(self.name))
    }

    /// What stands in the attributes of this name.
    pub(crate) fn entries(self, attrs: &[Attribute], errors: &mut Errors) -> Vec<Entry> {
        self.among(attrs).flat_map(|attr| self.read(attr, errors)).collect()
    }

    /// What stands in one attribute.
    pub(crate) fn read(self, attr: &Attribute, errors: &mut Errors) -> Vec<Entry> {
        let parsed = match &attr.meta {
            Meta::List(list) => {
                list.parse_args_with(Punctuated::<Entry, Token![,]>::parse_terminated)
            }
            Meta::Path(_) | Meta::NameValue(_) => {
                let Self { name, example } = self;
                let advice =
                    format!("nothing is in parentheses here: write `#[{name}({example})]`");
                Err(Error::new_spanned(&attr.meta, advice))
            }
        };
        match parsed {
            Ok(entries) => entries.into_iter().collect(),
            Err(error) => {
                errors.push(error);
                Vec::new()
            }
        }
    }
}

/// `key` or `key = value`, inside an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Ident,
    pub(crate) value: Option<Expr>,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key = input.call(Ident::parse_any)?; // `crate` is a keyword
        if input.peek(token::Paren) {
            return Err(input.error(format_args!("no parentheses here: write `{key} = ..`")));
        }
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(bare(input.parse()?)),
            None => None,
        };
        Ok(Self { key, value })
    }
}

/// The value, without the invisible brackets that a `macro_rules!` puts around what it fills in.
fn bare(value: Expr) -> Expr {
    match value {
        Expr::Group(group) => bare(*group.expr),
        value => value,
    }
}

impl Entry {
    /// The key as text.
    pub(crate) fn name(&self) -> String {
        self.key.to_string()
    }

    /// Refuses the value, or its absence.
    pub(crate) fn refuse(&self, advice: impl Display, errors: &mut Errors) {
        match &self.value {
            Some(value) => errors.at(value, advice),
            None => errors.at(&self.key, advice),
        }
    }

    /// Refuses a value, since the key alone says it all.
    pub(crate) fn expect_flag(&self, errors: &mut Errors) {
        if let Some(value) = &self.value {
            errors.at(value, format_args!("`{0}` takes no value: write `{0}` alone", self.key));
        }
    }

    /// The value, if it is a path.
    pub(crate) fn path(&self) -> Option<&ExprPath> {
        match &self.value {
            Some(Expr::Path(path)) => Some(path),
            _ => None,
        }
    }
}

/// Leaves each key in once.
pub(crate) fn once(mut entries: Vec<Entry>, errors: &mut Errors) -> Vec<Entry> {
    let mut seen = HashSet::new();
    entries.retain(|entry| {
        let is_new = seen.insert(entry.name());
        if !is_new {
            errors.at(
                &entry.key,
                format_args!("duplicated key `{}`: keep one of the two", entry.key),
            );
        }
        is_new
    });
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens;
    use syn::parse_quote;

    const FORM: Form = Form { name: "component", example: "blocking" };

    /// Checks what is read from attributes: entries as `key=value`, or the messages of all errors.
    #[track_caller]
    fn check(attrs: &[Attribute], expected: std::result::Result<&[&str], &[&str]>) {
        let mut errors = Errors::default();
        let entries = once(FORM.entries(attrs, &mut errors), &mut errors);
        let entries: Vec<String> = entries
            .into_iter()
            .map(|Entry { key, value }| match value {
                Some(value) => format!("{key}={}", value.to_token_stream()),
                None => key.to_string(),
            })
            .collect();
        let read = errors
            .finish(entries)
            .map_err(|e| e.into_iter().map(|e| e.to_string()).collect::<Vec<_>>());
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(read, expected.map(owned).map_err(owned));
    }

    #[test]
    fn keys_with_and_without_values() {
        check(&[], Ok(&[]));
        check(&[parse_quote!(#[component()])], Ok(&[]));
        check(&[parse_quote!(#[serde(flatten)])], Ok(&[]));
        check(
            &[parse_quote!(#[component(blocking, name = "a", crate = crate,)])],
            Ok(&["blocking", "name=\"a\"", "crate=crate"]),
        );
        check(
            &[parse_quote!(#[component(n = -1)]), parse_quote!(#[component(crate = ::a::b)])],
            Ok(&["n=- 1", "crate=:: a :: b"]),
        );
    }

    #[test]
    fn a_value_out_of_a_macro_is_read_like_any_other() {
        let value = Expr::Group(syn::ExprGroup {
            attrs: Vec::new(),
            group_token: token::Group::default(),
            expr: parse_quote!("a"),
        });
        check(&[parse_quote!(#[component(name = #value)])], Ok(&["name=\"a\""]));
    }

    #[test]
    fn a_malformed_attribute_is_refused() {
        let advice = "nothing is in parentheses here: write `#[component(blocking)]`";
        check(&[parse_quote!(#[component])], Err(&[advice]));
        check(&[parse_quote!(#[component = "a"])], Err(&[advice]));
        check(
            &[parse_quote!(#[component(name("a"))])],
            Err(&["no parentheses here: write `name = ..`"]),
        );
        check(&[parse_quote!(#[component(name "a")])], Err(&["expected `,`"]));
    }

    #[test]
    fn a_key_counts_once_over_all_attributes() {
        let twice = "duplicated key `name`: keep one of the two";
        check(&[parse_quote!(#[component(name = "a", name = "b")])], Err(&[twice]));
        check(
            &[parse_quote!(#[component(name = "a")]), parse_quote!(#[component(name = "b", name)])],
            Err(&[twice, twice]),
        );
    }
}
