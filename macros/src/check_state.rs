//! The rules of a type that is kept.

use crate::attr::{self, Entry, Form};
use crate::check::{expect_crate, expect_owned, members, target, unknown};
use crate::errors::Errors;
use crate::model::{Alternative, Body, Part, Parts, State};
use crate::serde::{Serde, field_name, variant_name};
use syn::ext::IdentExt;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Lit, Member, Meta, Result,
};

pub(crate) const STATE: Form = Form { name: "state", example: "version = 1" };
const PART: Form = Form { name: "state", example: "default" };

/// Checks a type that is kept.
pub(crate) fn state(input: &DeriveInput) -> Result<State<'_>> {
    let mut errors = Errors::default();
    let (mut version, mut migrate, mut opaque) = (None, None, false);
    for entry in attr::once(STATE.entries(&input.attrs, &mut errors), &mut errors) {
        match entry.name().as_str() {
            "version" => version = number(&entry, &mut errors),
            "migrate" => {
                migrate = entry.path().cloned();
                if migrate.is_none() {
                    let advice = "a function reads what was saved: write its path, as in \
                                  `migrate = Self::from_old`";
                    entry.refuse(advice, &mut errors);
                }
                if version.is_none() && !names(&input.attrs, "version") {
                    let advice = "a migration leads to a higher version: write `version = 1` too, or the \
                                  next after the one that was saved";
                    errors.at(&entry.key, advice);
                }
            }
            "serde" => {
                entry.expect_flag(&mut errors);
                opaque = true;
                expect_version(&entry, &input.attrs, &mut errors);
            }
            "crate" => expect_crate(&entry, &mut errors),
            "default" => errors.at(&entry.key, "a field has a default: put it on that field"),
            "by_key" | "replicated" | "redistribute" => {
                errors.at(&entry.key, FIELD_OF_A_COMPONENT);
            }
            _ => {
                let known = "`version`, `migrate`, `serde` and `crate`";
                unknown(&entry, "`#[state(..)]` on a type", known, &mut errors);
            }
        }
    }
    let serde = Serde::read(&input.attrs);
    if !opaque {
        serde.refuse_special("type", &mut errors);
    }
    let body = match &input.data {
        Data::Union(data) => {
            let advice = "a union can't be kept: write a struct or an enum";
            return Err(Error::new_spanned(data.union_token, advice));
        }
        _ if opaque => Body::Opaque,
        Data::Struct(data) => {
            let rule = serde.rename_all.as_deref();
            let mut parts = parts(&data.fields, rule, serde.default, &mut errors);
            if serde.transparent {
                parts = transparent(parts);
            }
            Body::Struct(parts)
        }
        Data::Enum(data) => Body::Enum(
            data.variants.iter().map(|variant| alternative(variant, &serde, &mut errors)).collect(),
        ),
    };
    let target = target(STATE, input);
    expect_owned(&target, "what is kept", &mut errors);
    errors.finish(State { target, version: version.unwrap_or(0), migrate, body })
}

const FIELD_OF_A_COMPONENT: &str =
    "this is said of a component's field: here is one type that is kept in one piece";

/// Whether a key stands in the attributes.
fn names(attrs: &[Attribute], key: &str) -> bool {
    let entries = STATE.entries(attrs, &mut Errors::default());
    entries.iter().any(|entry| entry.key == key)
}

fn expect_version(entry: &Entry, attrs: &[Attribute], errors: &mut Errors) {
    if !names(attrs, "version") {
        let advice = "what is taken as it is has a version that you count: write \
                      `#[state(serde, version = 1)]`";
        errors.at(&entry.key, advice);
    }
}

fn number(entry: &Entry, errors: &mut Errors) -> Option<u32> {
    if let Some(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) = &entry.value
        && let Ok(version @ 1..) = number.base10_parse()
    {
        return Some(version);
    }
    entry.refuse("versions are counted from 1 on, as in `version = 1`", errors);
    None
}

fn alternative<'a>(
    variant: &'a syn::Variant,
    around: &Serde,
    errors: &mut Errors,
) -> Alternative<'a> {
    for attr in STATE.among(&variant.attrs) {
        errors.at(attr, "`#[state(..)]` is said of the whole enum, or of a field: put it there");
    }
    let serde = Serde::read(&variant.attrs);
    for meta in &serde.special {
        errors.at(
            meta,
            "it writes the variant in a form that is not known here: leave it out, or have the \
             whole enum taken as it is, with `#[state(serde, version = 1)]`",
        );
    }
    if serde.skip {
        errors.at(
            &variant.ident,
            "serde can't write a variant that it skips: leave it out, or write it",
        );
    }
    let name = variant.ident.unraw().to_string();
    let rule = serde.rename_all.as_deref().or(around.rename_all_fields.as_deref());
    Alternative {
        name: serde
            .rename
            .clone()
            .unwrap_or_else(|| variant_name(&name, around.rename_all.as_deref())),
        aliases: serde.aliases.clone(),
        parts: parts(&variant.fields, rule, false, errors),
    }
}

fn parts<'a>(
    fields: &'a Fields,
    rule: Option<&str>,
    default: bool,
    errors: &mut Errors,
) -> Parts<'a> {
    let each: Vec<Part<'a>> = members(fields)
        .filter_map(|(member, field)| part(&member, field, rule, default, errors))
        .collect();
    match fields {
        Fields::Unit => Parts::Unit,
        Fields::Named(_) => Parts::Named(each),
        Fields::Unnamed(all) if all.unnamed.len() == 1 && each.len() == 1 => {
            Parts::Newtype(each.into_iter().next().expect("one"))
        }
        Fields::Unnamed(_) => Parts::Tuple(each),
    }
}

/// `#[serde(transparent)]`: the bytes are those of the one field.
fn transparent(parts: Parts<'_>) -> Parts<'_> {
    match parts {
        Parts::Named(mut each) | Parts::Tuple(mut each) if each.len() == 1 => {
            Parts::Newtype(each.remove(0))
        }
        parts => parts,
    }
}

/// A field, unless serde skips it.
fn part<'a>(
    member: &Member,
    field: &'a Field,
    rule: Option<&str>,
    default: bool,
    errors: &mut Errors,
) -> Option<Part<'a>> {
    let serde = Serde::read(&field.attrs);
    let default = default || serde.default;
    let mut opaque = None;
    for attr in PART.among(&field.attrs) {
        if matches!(attr.meta, Meta::Path(_)) {
            errors.at(attr, "every field is kept: leave the mark out");
            continue;
        }
        for entry in attr::once(PART.read(attr, errors), errors) {
            match entry.name().as_str() {
                "default" => {
                    entry.expect_flag(errors);
                    if !default {
                        errors.at(&entry.key, "serde gives the default: add `#[serde(default)]`");
                    }
                }
                "serde" => {
                    entry.expect_flag(errors);
                    expect_version(&entry, &field.attrs, errors);
                    opaque = opaque.or(Some(0));
                }
                "version" => {
                    opaque = number(&entry, errors);
                    if !names(&field.attrs, "serde") {
                        let advice = "a field has a version if it is taken as it is: write \
                                      `#[state(serde, version = 1)]`, or put the version on its type";
                        errors.at(&entry.key, advice);
                    }
                }
                "by_key" | "replicated" | "redistribute" => {
                    errors.at(&entry.key, FIELD_OF_A_COMPONENT);
                }
                _ => {
                    let known = "`default`, `serde` and `version`";
                    unknown(&entry, "`#[state(..)]` on a field of what is kept", known, errors);
                }
            }
        }
    }
    let breaks = |meta: &Meta| {
        !["with", "serialize_with", "deserialize_with"].iter().any(|key| meta.path().is_ident(key))
    };
    if opaque.is_none() {
        serde.refuse_special("field", errors);
    }
    for meta in serde.special.iter().filter(|meta| opaque.is_some() && breaks(meta)) {
        errors.at(meta, "it writes the field in a form that is not known here: leave it out");
    }
    let name = match member {
        Member::Named(name) => field_name(&name.unraw().to_string(), rule),
        Member::Unnamed(index) => index.index.to_string(),
    };
    (!serde.skip).then(|| Part {
        name: serde.rename.clone().unwrap_or(name),
        aliases: serde.aliases.clone(),
        ty: &field.ty,
        opaque,
        default,
        left_out: serde.left_out,
    })
}
