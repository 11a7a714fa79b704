//! Every rule, and what a user is told who breaks it.

use crate::attr::{self, Entry, Form};
use crate::errors::Errors;
use crate::model::{Component, Event, Key, Mark, Rescale, Shape, StateField, Target};
use crate::name;
use std::fmt::Display;
use syn::{
    Data, DeriveInput, Error, Expr, ExprLit, ExprPath, Field, Fields, Lit, Member, Meta, Result,
    Type, parse_quote,
};

pub(crate) const COMPONENT: Form = Form { name: "component", example: "name = \"counter\"" };
pub(crate) const EVENT: Form = Form { name: "event", example: "local" };
pub(crate) const KEY: Form = Form { name: "key", example: "crate = streamwork" };
const EVENT_FIELD: Form = Form { name: "event", example: "time" };
const STATE_FIELD: Form = Form { name: "state", example: "by_key" };

/// Checks a component.
pub(crate) fn component(input: &DeriveInput) -> Result<Component<'_>> {
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => {
            let advice = "a component is a struct: put the enum into a field of one";
            return Err(Error::new_spanned(data.enum_token, advice));
        }
        Data::Union(data) => {
            let advice = "a component is a struct: put the union into a field of one";
            return Err(Error::new_spanned(data.union_token, advice));
        }
    };
    let mut errors = Errors::default();
    let default_name = name::kebab_case(&input.ident);
    let (mut name, mut parallelism, mut blocking) = (None, None, false);
    let mut channels = Vec::new();
    for entry in attr::once(COMPONENT.entries(&input.attrs, &mut errors), &mut errors) {
        match entry.name().as_str() {
            "name" => name = component_name(&entry, &default_name, &mut errors),
            "parallelism" => parallelism = instances(&entry, &mut errors),
            "blocking" => {
                entry.expect_flag(&mut errors);
                blocking = true;
            }
            "channels" => channels = channel_paths(&entry, &mut errors),
            "crate" => expect_crate(&entry, &mut errors),
            _ => {
                let known = "`name`, `parallelism`, `blocking`, `channels` and `crate`";
                unknown(&entry, "`#[component(..)]`", known, &mut errors);
            }
        }
    }
    for attr in STATE_FIELD.among(&input.attrs) {
        errors.at(attr, "state is kept by field: put `#[state]` on each field to keep");
    }
    let mut state = Vec::new();
    for (member, field) in members(fields) {
        for attr in COMPONENT.among(&field.attrs) {
            errors
                .at(attr, "`#[component(..)]` belongs on the struct; a field is marked `#[state]`");
        }
        if let Some(mark) = state_field(field, &mut errors) {
            state.push(StateField { member, ty: &field.ty, mark });
        }
    }
    let target = target(COMPONENT, input);
    expect_owned(&target, "a component", &mut errors);
    let name = name.unwrap_or(default_name);
    errors.finish(Component { target, name, parallelism, blocking, channels, state })
}

fn component_name(entry: &Entry, default: &str, errors: &mut Errors) -> Option<String> {
    let Some(Expr::Lit(ExprLit { lit: Lit::Str(literal), .. })) = &entry.value else {
        let advice = format!("the name is a string literal: write `name = \"{default}\"`");
        entry.refuse(advice, errors);
        return None;
    };
    let name = literal.value();
    if name.trim().is_empty() {
        let advice = format!("the name is empty: leave `name` out to get `{default}`");
        errors.at(literal, advice);
    } else if name.contains(char::is_control) {
        errors.at(literal, "the name stands in logs and metrics: leave the control characters out");
    }
    Some(name)
}

fn instances(entry: &Entry, errors: &mut Errors) -> Option<usize> {
    if let Some(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) = &entry.value
        && let Ok(count @ 1..) = number.base10_parse()
    {
        return Some(count);
    }
    let advice = "parallelism is a whole number of instances, from 1 on, as in `parallelism = 2`";
    entry.refuse(advice, errors);
    None
}

/// The channels in `channels = [Self::ALERTS]`.
fn channel_paths(entry: &Entry, errors: &mut Errors) -> Vec<ExprPath> {
    let advice = "channels are constants in brackets, as in `channels = [TollBooth::ALERTS]`";
    let Some(Expr::Array(list)) = &entry.value else {
        entry.refuse(advice, errors);
        return Vec::new();
    };
    let mut paths = Vec::new();
    for channel in &list.elems {
        match channel {
            Expr::Path(path) => paths.push(path.clone()),
            other => errors.at(other, advice),
        }
    }
    paths
}

fn state_field(field: &Field, errors: &mut Errors) -> Option<Mark> {
    let mut attrs = STATE_FIELD.among(&field.attrs);
    let first = attrs.next()?;
    for second in attrs {
        errors.at(second, "this field is marked `#[state]` already: keep one of the two");
    }
    let mut mark = Mark { rescale: Rescale::Refuse, default: false };
    if matches!(first.meta, Meta::Path(_)) {
        return Some(mark);
    }
    let mut rescale = None;
    for word in attr::once(STATE_FIELD.read(first, errors), errors) {
        let meaning = match word.name().as_str() {
            "by_key" => Rescale::ByKey,
            "replicated" => Rescale::Replicated,
            "redistribute" => Rescale::Redistribute,
            "default" => {
                word.expect_flag(errors);
                mark.default = true;
                continue;
            }
            "serde" | "version" | "migrate" => {
                let advice = format!(
                    "`{}` is said of a type: wrap the value in a struct that derives `State` and say it \
                     there",
                    word.key
                );
                errors.at(&word.key, advice);
                continue;
            }
            _ => {
                let known = "`by_key`, `replicated` or `redistribute`, and `default`";
                unknown(&word, "`#[state(..)]` on a component's field", known, errors);
                continue;
            }
        };
        word.expect_flag(errors);
        if rescale.replace(meaning).is_some() {
            errors.at(&word.key, "a field is rescaled in one way: keep one of the words");
        }
    }
    mark.rescale = rescale.unwrap_or(Rescale::Refuse);
    Some(mark)
}

/// Checks an event.
pub(crate) fn event(input: &DeriveInput) -> Result<Event<'_>> {
    let mut errors = Errors::default();
    let (mut weight, mut local) = (None, false);
    for entry in attr::once(EVENT.entries(&input.attrs, &mut errors), &mut errors) {
        match entry.name().as_str() {
            "weight" => weight = weigher(&entry, &mut errors),
            "local" => {
                entry.expect_flag(&mut errors);
                local = true;
            }
            "crate" => expect_crate(&entry, &mut errors),
            "time" => {
                let advice = match input.data {
                    Data::Enum(_) => NO_TIME_IN_AN_ENUM,
                    _ => "a field holds the time: put `#[event(time)]` on that field",
                };
                errors.at(&entry.key, advice);
            }
            _ => {
                let known = "`weight`, `local` and `crate`";
                unknown(&entry, "`#[event(..)]` on a type", known, &mut errors);
            }
        }
    }
    let time = match &input.data {
        Data::Struct(data) => event_time(&data.fields, &mut errors),
        Data::Enum(data) => {
            for variant in &data.variants {
                for attr in EVENT.among(&variant.attrs) {
                    errors.at(attr, "`#[event(..)]` is said of the whole enum: put it there");
                }
                for field in &variant.fields {
                    for entry in times(field, &mut errors) {
                        errors.at(&entry.key, NO_TIME_IN_AN_ENUM);
                    }
                }
            }
            None
        }
        Data::Union(data) => {
            errors.at(data.union_token, "an event is a struct or an enum: write one of these");
            None
        }
    };
    let target = target(EVENT, input);
    expect_owned(&target, "an event", &mut errors);
    errors.finish(Event { target, time, weight, local })
}

const NO_TIME_IN_AN_ENUM: &str =
    "an enum has no field that all its variants share: put it into a struct, beside its time";

fn weigher(entry: &Entry, errors: &mut Errors) -> Option<ExprPath> {
    let function = entry.path();
    if function.is_none() {
        entry.refuse(
            "the weight comes from a function of `&Self`: write its path, as in `weight = Self::bytes`",
            errors,
        );
    }
    function.cloned()
}

fn event_time<'a>(fields: &'a Fields, errors: &mut Errors) -> Option<(Member, &'a Type)> {
    let mut found = None;
    for (member, field) in members(fields) {
        for entry in times(field, errors) {
            match found {
                None => found = Some((member.clone(), &field.ty)),
                Some(_) => errors.at(entry.key, "an event has one time: keep one `#[event(time)]`"),
            }
        }
    }
    found
}

/// Each `time` at a field.
fn times(field: &Field, errors: &mut Errors) -> Vec<Entry> {
    let mut entries = EVENT_FIELD.entries(&field.attrs, errors);
    entries.retain(|entry| match entry.name().as_str() {
        "time" => {
            entry.expect_flag(errors);
            true
        }
        key @ ("weight" | "local" | "crate") => {
            let advice = format!("`{key}` is said of the whole type: put it there");
            errors.at(&entry.key, advice);
            false
        }
        _ => {
            unknown(entry, "`#[event(..)]` on a field", "`time`", errors);
            false
        }
    });
    entries
}

/// Checks a key.
pub(crate) fn key(input: &DeriveInput) -> Result<Key<'_>> {
    let mut errors = Errors::default();
    for entry in attr::once(KEY.entries(&input.attrs, &mut errors), &mut errors) {
        match entry.name().as_str() {
            "crate" => expect_crate(&entry, &mut errors),
            _ => unknown(&entry, "`#[key(..)]`", "`crate`", &mut errors),
        }
    }
    let shape = match &input.data {
        Data::Struct(data) => Shape::Struct(&data.fields),
        Data::Enum(data) => Shape::Enum(data.variants.iter().collect()),
        Data::Union(data) => {
            let advice = "a key is a struct or an enum: write one of these";
            return Err(Error::new_spanned(data.union_token, advice));
        }
    };
    if let Shape::Enum(variants) = &shape {
        for attr in variants.iter().flat_map(|variant| KEY.among(&variant.attrs)) {
            errors.at(attr, "`#[key(..)]` is said of the whole enum: put it there");
        }
    }
    for attr in fields(input).flat_map(|field| KEY.among(&field.attrs)) {
        let advice = "every field is a part of the key, as it is for `Eq`: \
                      put the fields to group by into a type of their own";
        errors.at(attr, advice);
    }
    errors.finish(Key { target: target(KEY, input), shape })
}

/// The type that an impl is for, as far as it can be read.
pub(crate) fn target(form: Form, input: &DeriveInput) -> Target<'_> {
    let named = form
        .entries(&input.attrs, &mut Errors::default())
        .into_iter()
        .filter(|entry| entry.key == "crate")
        .find_map(|entry| entry.path().map(|path| path.path.clone()));
    Target {
        ident: &input.ident,
        generics: &input.generics,
        types: fields(input).map(|field| &field.ty).collect(),
        krate: named.unwrap_or_else(|| parse_quote!(::streamwork)),
    }
}

fn fields(input: &DeriveInput) -> Box<dyn Iterator<Item = &Field> + '_> {
    match &input.data {
        Data::Struct(data) => Box::new(data.fields.iter()),
        Data::Enum(data) => Box::new(data.variants.iter().flat_map(|variant| &variant.fields)),
        Data::Union(data) => Box::new(data.fields.named.iter()),
    }
}

pub(crate) fn members(fields: &Fields) -> impl Iterator<Item = (Member, &Field)> {
    fields.members().zip(fields)
}

pub(crate) fn expect_crate(entry: &Entry, errors: &mut Errors) {
    if entry.path().is_none() {
        entry.refuse("the crate is a path, without quotes: write `crate = ::streamwork`", errors);
    }
}

/// Refuses lifetimes where the trait asks for `'static`.
pub(crate) fn expect_owned(target: &Target<'_>, what: &str, errors: &mut Errors) {
    for param in target.generics.lifetimes() {
        let lifetime = &param.lifetime;
        let advice = format!("{what} outlives what is borrowed for `{lifetime}`: own it instead");
        errors.at(lifetime, advice);
    }
}

pub(crate) fn unknown(entry: &Entry, place: impl Display, known: &str, errors: &mut Errors) {
    errors.at(&entry.key, format_args!("unknown key `{}`: {place} takes {known}", entry.key));
}
