//! What a refused input gets: its errors, and an impl that does nothing, so that the places where the
//! type is used add no errors of their own.

use crate::attr::Form;
use crate::model::Target;
use crate::{check, check_state};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, parse_quote};

pub(crate) fn component(input: &DeriveInput, error: &Error) -> TokenStream {
    let bound = quote!(::core::marker::Send + 'static);
    let body = quote! {
        type Saved = ();
        fn name(&self) -> &str { ::core::unreachable!() }
        fn save(&self) -> Self::Saved { ::core::unreachable!() }
        fn load(&mut self, _: Self::Saved) { ::core::unreachable!() }
    };
    stub(input, error, check::COMPONENT, &quote!(Component), &bound, &body)
}

pub(crate) fn event(input: &DeriveInput, error: &Error) -> TokenStream {
    let bound = quote!(::core::clone::Clone + ::core::marker::Send + 'static);
    stub(input, error, check::EVENT, &quote!(Event), &bound, &quote!())
}

pub(crate) fn key(input: &DeriveInput, error: &Error) -> TokenStream {
    let Target { krate, .. } = check::target(check::KEY, input);
    let body = quote! {
        fn feed(&self, _: &mut #krate::KeyHasher) { ::core::unreachable!() }
        fn shape() -> #krate::Shape { ::core::unreachable!() }
    };
    stub(input, error, check::KEY, &quote!(Key), &quote!(::core::cmp::Eq), &body)
}

pub(crate) fn state(input: &DeriveInput, error: &Error) -> TokenStream {
    let Target { krate, .. } = check::target(check_state::STATE, input);
    let bound = quote!(#krate::Storable + ::core::marker::Send + 'static);
    let body = quote!(fn shape() -> #krate::Shape { ::core::unreachable!() });
    stub(input, error, check_state::STATE, &quote!(State), &bound, &body)
}

fn stub(
    input: &DeriveInput,
    error: &Error,
    form: Form,
    name: &TokenStream,
    bound: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let Target { ident, generics, krate, .. } = check::target(form, input);
    let errors = error.to_compile_error();
    let mut generics = generics.clone();
    let ty_generics = generics.split_for_impl().1;
    // What the trait asks of the type is taken for granted. The `for<..>` keeps the compiler from
    // checking it here even if nothing in it is generic.
    let granted = parse_quote!(for<'any> #ident #ty_generics: #bound);
    generics.make_where_clause().predicates.push(granted);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        #errors
        #[automatically_derived]
        impl #impl_generics #krate::#name for #ident #ty_generics #where_clause { #body }
    }
}
