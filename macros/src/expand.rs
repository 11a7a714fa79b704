//! Writes the impls.

use crate::expand_state::typed;
use crate::model::{Component, Event, Key, Rescale, Shape, StateField, Target};
use crate::serde::Serde;
use crate::{bounds, check, fallback, name};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{DeriveInput, Field, Fields, Ident, Index, Member, Path, Type, Variant, parse_quote};

/// The impl of `Component`, or the errors.
pub(crate) fn component(input: &DeriveInput) -> TokenStream {
    match check::component(input) {
        Ok(component) => component_impl(&component),
        Err(error) => fallback::component(input, &error),
    }
}

/// The impl of `Event`, or the errors.
pub(crate) fn event(input: &DeriveInput) -> TokenStream {
    match check::event(input) {
        Ok(event) => event_impl(&event),
        Err(error) => fallback::event(input, &error),
    }
}

/// The impl of `Key`, or the errors.
pub(crate) fn key(input: &DeriveInput) -> TokenStream {
    match check::key(input) {
        Ok(key) => key_impl(&key),
        Err(error) => fallback::key(input, &error),
    }
}

fn component_impl(component: &Component<'_>) -> TokenStream {
    let Component { target, name, parallelism, blocking, channels, state } = component;
    let Target { ident, generics, types, krate } = target;
    let movable = quote!(::core::marker::Send + 'static);
    let mut bounded = bounds::with(generics, types, &movable);
    for field in state.iter().filter(|field| bounds::is_generic(field.ty, generics)) {
        let ty = field.ty;
        let map = match field.mark.rescale {
            Rescale::ByKey => Some(quote!(+ #krate::KeyedMap)),
            Rescale::Redistribute => Some(quote!(+ #krate::Redistribute)),
            Rescale::Refuse | Rescale::Replicated => None,
        };
        let default = field.mark.default.then(|| quote!(+ ::core::default::Default));
        let kept = parse_quote!(#ty: ::core::clone::Clone + #krate::State #map #default);
        bounded.make_where_clause().predicates.push(kept);
    }
    let (impl_generics, ty_generics, where_clause) = bounded.split_for_impl();

    let state = state_items(state, target);
    let blocking = blocking.then(|| {
        quote!(
            const BLOCKING: bool = true;
        )
    });
    let channels = (!channels.is_empty()).then(|| {
        quote!(
            const CHANNELS: &'static [#krate::ChannelInfo] = &[#(#channels.info()),*];
        )
    });
    let parallelism = parallelism.map(|count| {
        let count = Literal::usize_unsuffixed(count);
        quote!(fn parallelism(&self) -> usize { #count })
    });

    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::Component for #ident #ty_generics #where_clause {
            #blocking
            #channels
            fn name(&self) -> &str { #name }
            #parallelism
            #state
        }
    }
}

/// What concerns the fields that are kept.
fn state_items(state: &[StateField<'_>], target: &Target<'_>) -> TokenStream {
    if state.is_empty() {
        return quote! {
            type Saved = ();
            fn save(&self) {}
            fn load(&mut self, (): ()) {}
        };
    }
    let types: Vec<&Type> = state.iter().map(|field| field.ty).collect();
    let members: Vec<&Member> = state.iter().map(|field| &field.member).collect();
    // Written out and not as `Self::Saved`, which would repeat an error of the impl. Where one of
    // the types is not `Clone`, the tuple's error is shown at the struct, the field's own at its type.
    let saved = quote_spanned!(target.ident.span()=> (#(#types,)*));
    let krate = &target.krate;
    let described = state.iter().map(|field| described(field, krate));
    let puts = state.iter().enumerate().map(|(i, field)| put(i, field));
    let takes = state.iter().enumerate().map(|(i, field)| take(i, field));
    quote! {
        type Saved = #saved;
        const STATE: &'static [#krate::StateField] = &[#(#described),*];
        const BY_FIELD: bool = true;
        fn save(&self) -> #saved {
            (#(<#types as ::core::clone::Clone>::clone(&self.#members),)*)
        }
        fn load(&mut self, saved: #saved) {
            (#(self.#members,)*) = saved;
        }
        fn encode(
            saved: &#saved,
            fields: &mut #krate::FieldWriter,
        ) -> ::core::result::Result<(), #krate::StateError> {
            #(#puts)*
            ::core::result::Result::Ok(())
        }
        fn decode(
            fields: &#krate::FieldReader<'_>,
        ) -> ::core::result::Result<#saved, #krate::StateError> {
            let state = <Self as #krate::Component>::STATE;
            fields.check(state)?;
            ::core::result::Result::Ok((#(#takes,)*))
        }
    }
}

/// Writes one field. All of it stands at the field's type, so that a type that is no state is one error.
fn put(index: usize, field: &StateField<'_>) -> TokenStream {
    let ty = field.ty;
    let how = match field.mark.rescale {
        Rescale::ByKey => "put_by_key",
        Rescale::Refuse | Rescale::Replicated | Rescale::Redistribute => "put",
    };
    let (how, name) = (Ident::new(how, ty.span()), member_name(&field.member));
    let index = Index { index: index as u32, span: ty.span() };
    quote_spanned!(ty.span()=> fields.#how::<#ty>(#name, &saved.#index)?;)
}

/// Reads one field.
fn take(index: usize, field: &StateField<'_>) -> TokenStream {
    let ty = field.ty;
    let how = match field.mark.rescale {
        Rescale::Refuse => "plain",
        Rescale::ByKey => "by_key",
        Rescale::Replicated => "replicated",
        Rescale::Redistribute => "redistribute",
    };
    let how = Ident::new(how, ty.span());
    let default = if field.mark.default {
        quote_spanned! {ty.span()=>
            ::core::option::Option::Some(<#ty as ::core::default::Default>::default)
        }
    } else {
        quote!(::core::option::Option::None)
    };
    let index = Literal::usize_unsuffixed(index);
    quote_spanned!(ty.span()=> fields.#how::<#ty>(&state[#index], #default)?)
}

fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

fn described(field: &StateField<'_>, krate: &Path) -> TokenStream {
    let ty = field.ty;
    let (name, type_name) = (member_name(&field.member), name::written(ty));
    let rescale = match field.mark.rescale {
        Rescale::ByKey => None,
        Rescale::Refuse => Some(quote!(Refuse)),
        Rescale::Replicated => Some(quote!(Replicated)),
        Rescale::Redistribute => Some(quote!(Redistribute)),
    };
    let default = field.mark.default.then(|| quote!(.or_default()));
    let field = match rescale {
        None => quote_spanned!(ty.span()=> #krate::StateField::by_key::<#ty>(#name, #type_name)),
        Some(rescale) => quote_spanned! {ty.span()=>
            #krate::StateField::new::<#ty>(#name, #type_name, #krate::Rescale::#rescale)
        },
    };
    quote!(#field #default)
}

fn event_impl(event: &Event<'_>) -> TokenStream {
    let Event { target, time, weight, local } = event;
    let Target { ident, generics, types, krate } = target;
    let movable = quote!(::core::clone::Clone + ::core::marker::Send + 'static);
    let bounded = bounds::with(generics, types, &movable);
    let (impl_generics, ty_generics, where_clause) = bounded.split_for_impl();

    let weight = weight.as_ref().map(|function| {
        quote! {
            fn weight(&self) -> usize {
                let weigh: fn(&Self) -> usize = #function;
                weigh(self)
            }
        }
    });
    let time = time.as_ref().map(|(member, ty)| {
        // A variable that stands at the field, for the error of a field of another type.
        let field = Ident::new("field", ty.span());
        quote! {
            fn time(&self) -> ::core::option::Option<#krate::EventTime> {
                let #field = self.#member;
                let time: #krate::EventTime = #field;
                ::core::option::Option::Some(time)
            }
        }
    });
    // What is generic may be asked for where its parameter cannot be stored.
    let is_plain = generics.type_params().next().is_none();
    let encoded = (!local && is_plain).then(|| {
        // Stands at the name, for the error of a type that cannot be stored.
        let encode = quote_spanned!(ident.span()=> #krate::encode_event::<Self>);
        quote! {
            fn encoded(&self) -> ::core::option::Option<::std::vec::Vec<u8>> {
                #encode(self)
            }
        }
    });
    let storable = (!local && !is_plain).then(|| {
        let bounded = bounds::with(generics, types, &quote!(#movable + #krate::Storable));
        let (impl_generics, ty_generics, where_clause) = bounded.split_for_impl();
        let assertion = quote_spanned!(ident.span()=> storable::<#ident #ty_generics>());
        quote! {
            const _: () = {
                fn storable<T: #krate::Storable>() {}
                fn _assertion #impl_generics () #where_clause { #assertion }
            };
        }
    });

    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::Event for #ident #ty_generics #where_clause {
            #weight
            #time
            #encoded
        }
        #storable
    }
}

fn key_impl(key: &Key<'_>) -> TokenStream {
    let Key { target: Target { ident, generics, types, krate }, shape } = key;
    let bounded = bounds::with(generics, types, &quote!(#krate::Key));
    let (impl_generics, ty_generics, where_clause) = bounded.split_for_impl();
    let text = ident.unraw().to_string();
    let described = typed(&text, &Literal::u32_unsuffixed(0), &key_shape(shape, krate), krate);
    let body = match shape {
        Shape::Struct(fields) => {
            let each = fields.members().zip(*fields).map(|(member, Field { ty, .. })| {
                quote!(<#ty as #krate::Key>::feed(&self.#member, hasher);)
            });
            quote!(#(#each)*)
        }
        Shape::Enum(variants) if variants.is_empty() => quote!(match *self {}),
        Shape::Enum(variants) => {
            let arms = variants.iter().map(|variant| arm(variant, krate));
            quote!(match self { #(#arms)* })
        }
    };
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::Key for #ident #ty_generics #where_clause {
            fn feed(&self, hasher: &mut #krate::KeyHasher) { #body }
            fn shape() -> #krate::Shape { #described }
        }
    }
}

fn key_shape(shape: &Shape<'_>, krate: &Path) -> TokenStream {
    match shape {
        Shape::Struct(fields) => fields_shape(fields, krate),
        Shape::Enum(variants) => {
            let mut named: Vec<(String, &Variant)> = variants
                .iter()
                .map(|variant| (variant.ident.unraw().to_string(), *variant))
                .collect();
            // Their order means nothing to the hash.
            named.sort_by(|a, b| a.0.cmp(&b.0));
            let each = named.iter().map(|(name, variant)| {
                let shape = fields_shape(&variant.fields, krate);
                quote!(#krate::Variant::new(#name, #shape))
            });
            quote!(#krate::Shape::Enum(::std::vec![#(#each),*]))
        }
    }
}

fn fields_shape(fields: &Fields, krate: &Path) -> TokenStream {
    let shape = |field: &Field| {
        let ty = &field.ty;
        quote!(<#ty as #krate::Key>::shape())
    };
    match fields {
        Fields::Unit => quote!(#krate::Shape::Unit),
        Fields::Unnamed(all) if all.unnamed.len() == 1 => {
            let inner = shape(&all.unnamed[0]);
            quote!(#krate::Shape::Newtype(::std::boxed::Box::new(#inner)))
        }
        Fields::Unnamed(all) => {
            let shapes = all.unnamed.iter().map(shape);
            quote!(#krate::Shape::Tuple(::std::vec![#(#shapes),*]))
        }
        Fields::Named(all) => {
            let each = fields.members().zip(&all.named).map(|(member, field)| {
                // As the key is saved: a field can be called differently and keep its name there.
                let saved = Serde::read(&field.attrs).rename;
                let name = saved.unwrap_or_else(|| member_name(&member));
                let shape = shape(field);
                quote!(#krate::Field::new(#name, #shape))
            });
            quote!(#krate::Shape::Struct(::std::vec![#(#each),*]))
        }
    }
}

/// The variant's name before its fields, so that the order of the variants means nothing.
fn arm(variant: &Variant, krate: &syn::Path) -> TokenStream {
    let ident = &variant.ident;
    let name = Literal::byte_string(ident.unraw().to_string().as_bytes());
    let members: Vec<Member> = variant.fields.members().collect();
    let bindings: Vec<Ident> = (0..members.len()).map(|i| format_ident!("field{i}")).collect();
    let feeds =
        variant.fields.iter().zip(&bindings).map(
            |(Field { ty, .. }, binding)| quote!(<#ty as #krate::Key>::feed(#binding, hasher);),
        );
    quote! {
        Self::#ident { #(#members: #bindings),* } => {
            hasher.bytes(#name);
            #(#feeds)*
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &TokenStream, expected: &TokenStream) {
        assert_eq!(written.to_string(), expected.to_string());
    }

    #[test]
    fn a_component_without_attributes_overrides_nothing() {
        let input = parse_quote!(
            struct PrintSink;
        );
        let expected = quote! {
            #[automatically_derived]
            impl ::streamwork::Component for PrintSink {
                fn name(&self) -> &str { "print-sink" }
                type Saved = ();
                fn save(&self) {}
                fn load(&mut self, (): ()) {}
            }
        };
        check(&component(&input), &expected);
    }

    #[test]
    fn a_component_with_everything() {
        let input = parse_quote! {
            #[component(name = "latest", parallelism = 2, blocking, crate = crate)]
            struct Latest<T: Ord>(#[state(replicated)] Option<T>);
        };
        let expected = quote! {
            #[automatically_derived]
            impl<T: Ord> crate::Component for Latest<T>
            where
                T: ::core::marker::Send + 'static,
                Option<T>: ::core::clone::Clone + crate::State
            {
                const BLOCKING: bool = true;
                fn name(&self) -> &str { "latest" }
                fn parallelism(&self) -> usize { 2 }
                type Saved = (Option<T>,);
                const STATE: &'static [crate::StateField] = &[
                    crate::StateField::new::<Option<T> >(
                        "0", "Option<T>", crate::Rescale::Replicated
                    )
                ];
                const BY_FIELD: bool = true;
                fn save(&self) -> (Option<T>,) {
                    (<Option<T> as ::core::clone::Clone>::clone(&self.0),)
                }
                fn load(&mut self, saved: (Option<T>,)) { (self.0,) = saved; }
                fn encode(
                    saved: &(Option<T>,),
                    fields: &mut crate::FieldWriter,
                ) -> ::core::result::Result<(), crate::StateError> {
                    fields.put::<Option<T> >("0", &saved.0)?;
                    ::core::result::Result::Ok(())
                }
                fn decode(
                    fields: &crate::FieldReader<'_>,
                ) -> ::core::result::Result<(Option<T>,), crate::StateError> {
                    let state = <Self as crate::Component>::STATE;
                    fields.check(state)?;
                    ::core::result::Result::Ok((
                        fields.replicated::<Option<T> >(
                            &state[0], ::core::option::Option::None
                        )?,
                    ))
                }
            }
        };
        check(&component(&input), &expected);
    }

    #[test]
    fn only_a_local_event_needs_no_serde() {
        let plain = parse_quote!(
            enum Change {
                Rise,
            }
        );
        let expected = quote! {
            #[automatically_derived]
            impl ::streamwork::Event for Change {
                fn encoded(&self) -> ::core::option::Option<::std::vec::Vec<u8>> {
                    ::streamwork::encode_event::<Self>(self)
                }
            }
        };
        check(&event(&plain), &expected);

        let local = parse_quote!(
            #[event(local)]
            struct Change;
        );
        let expected = quote! {
            #[automatically_derived]
            impl ::streamwork::Event for Change {}
        };
        check(&event(&local), &expected);
    }

    #[test]
    fn a_key_feeds_names_of_variants_and_all_fields() {
        let input = parse_quote!(
            enum Payer<'a> {
                Cash,
                r#Box { id: &'a str },
            }
        );
        let expected = quote! {
            #[automatically_derived]
            impl<'a> ::streamwork::Key for Payer<'a> {
                fn feed(&self, hasher: &mut ::streamwork::KeyHasher) {
                    match self {
                        Self::Cash {} => {
                            hasher.bytes(b"Cash");
                        }
                        Self::r#Box { id: field0 } => {
                            hasher.bytes(b"Box");
                            <&'a str as ::streamwork::Key>::feed(field0, hasher);
                        }
                    }
                }
                fn shape() -> ::streamwork::Shape {
                    ::streamwork::Shape::of_type::<Self>(
                        "Payer", 0, || ::streamwork::Shape::Enum(::std::vec![
                            ::streamwork::Variant::new(
                                "Box",
                                ::streamwork::Shape::Struct(::std::vec![
                                    ::streamwork::Field::new(
                                        "id", <&'a str as ::streamwork::Key>::shape()
                                    )
                                ])
                            ),
                            ::streamwork::Variant::new("Cash", ::streamwork::Shape::Unit)
                        ])
                    )
                }
            }
        };
        check(&key(&input), &expected);
    }

    #[test]
    fn a_refused_input_gets_its_errors_and_a_stub() {
        let input = parse_quote!(
            #[event(size)]
            struct Change;
        );
        let written = event(&input).to_string();
        let error = quote!(
            ::core::compile_error! { "unknown key `size`: `#[event(..)]` on a type takes `weight`, `local` and `crate`" }
        );
        assert!(written.starts_with(&error.to_string()), "{written}");
        let stub = quote! {
            #[automatically_derived]
            impl ::streamwork::Event for Change
            where
                for<'any> Change: ::core::clone::Clone + ::core::marker::Send + 'static
            {}
        };
        assert!(written.ends_with(&stub.to_string()), "{written}");
    }
}
