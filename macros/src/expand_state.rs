//! Writes the impl of `State`.

use crate::model::{Alternative, Body, Part, Parts, State, Target};
use crate::{bounds, check_state, fallback, name};
use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{DeriveInput, Path};

/// The impl of `State`, or the errors.
pub(crate) fn state(input: &DeriveInput) -> TokenStream {
    match check_state::state(input) {
        Ok(state) => state_impl(&state),
        Err(error) => fallback::state(input, &error),
    }
}

fn state_impl(state: &State<'_>) -> TokenStream {
    let State { target: Target { ident, generics, types, krate }, version, migrate, body } = state;
    let bounded = bounds::with(generics, types, &quote!(#krate::State));
    let (impl_generics, ty_generics, where_clause) = bounded.split_for_impl();
    let name = ident.unraw().to_string();
    let number = Literal::u32_unsuffixed(*version);
    let constant = (*version > 0).then(|| quote!(const VERSION: u32 = #number;));
    let shape = match body {
        Body::Opaque => opaque(&name, *version, krate),
        Body::Struct(parts) => typed(&name, &number, &self::parts(parts, krate), krate),
        Body::Enum(variants) => {
            let variants = variants.iter().map(|variant| alternative(variant, krate));
            let shape = quote!(#krate::Shape::Enum(::std::vec![#(#variants),*]));
            typed(&name, &number, &shape, krate)
        }
    };
    let nullable = match body {
        Body::Struct(Parts::Newtype(Part { ty, opaque: None, .. })) => Some(quote! {
            const NULLABLE: bool = <#ty as #krate::State>::NULLABLE;
        }),
        _ => None,
    };
    let migration = migrate.as_ref().map(|function| {
        quote! {
            fn migration() -> ::core::option::Option<#krate::Migration<Self>> {
                ::core::option::Option::Some(#function)
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::State for #ident #ty_generics #where_clause {
            #constant
            #nullable
            fn shape() -> #krate::Shape { #shape }
            #migration
        }
    }
}

fn opaque(name: &str, version: u32, krate: &Path) -> TokenStream {
    let version = Literal::u32_unsuffixed(version);
    quote!(#krate::Shape::opaque(#name, #version))
}

/// A shape with the name of its type, that may be found in itself.
pub(crate) fn typed(
    name: &str,
    version: &Literal,
    shape: &TokenStream,
    krate: &Path,
) -> TokenStream {
    quote!(#krate::Shape::of_type::<Self>(#name, #version, || #shape))
}

fn alternative(variant: &Alternative<'_>, krate: &Path) -> TokenStream {
    let Alternative { name, aliases, parts } = variant;
    let shape = self::parts(parts, krate);
    quote!(#krate::Variant::new(#name, #shape) #(.alias(#aliases))*)
}

fn parts(parts: &Parts<'_>, krate: &Path) -> TokenStream {
    match parts {
        Parts::Unit => quote!(#krate::Shape::Unit),
        Parts::Newtype(part) => {
            let shape = shape(part, krate);
            quote!(#krate::Shape::Newtype(::std::boxed::Box::new(#shape)))
        }
        Parts::Tuple(each) => {
            let shapes = each.iter().map(|part| shape(part, krate));
            quote!(#krate::Shape::Tuple(::std::vec![#(#shapes),*]))
        }
        Parts::Named(each) => {
            let fields = each.iter().map(|part| {
                let Part { name, aliases, default, left_out, .. } = part;
                let shape = shape(part, krate);
                let default = default.then(|| quote!(.or_default()));
                let left_out = left_out.then(|| quote!(.at_times()));
                quote!(#krate::Field::new(#name, #shape) #(.alias(#aliases))* #default #left_out)
            });
            quote!(#krate::Shape::Struct(::std::vec![#(#fields),*]))
        }
    }
}

fn shape(part: &Part<'_>, krate: &Path) -> TokenStream {
    let ty = part.ty;
    match part.opaque {
        Some(version) => opaque(&name::written(ty), version, krate),
        None => quote_spanned!(ty.span()=> <#ty as #krate::State>::shape()),
    }
}
