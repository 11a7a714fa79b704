//! The bounds that an impl for a generic type needs.

use proc_macro2::TokenStream;
use std::collections::HashSet;
use syn::visit::{self, Visit};
use syn::{Generics, Ident, Path, Type, TypePath, parse_quote};

/// The generics of a type, with `bound` on each type parameter and on each of their associated types
/// that a field holds, as in `Option<T::Item>`.
pub(crate) fn with(generics: &Generics, types: &[&Type], bound: &TokenStream) -> Generics {
    let mut bounded = generics.clone();
    let params: Vec<&Ident> = generics.type_params().map(|param| &param.ident).collect();
    if params.is_empty() {
        return bounded;
    }
    let clause = bounded.make_where_clause();
    for param in &params {
        clause.predicates.push(parse_quote!(#param: #bound));
    }
    let mut seen = HashSet::new();
    for found in types.iter().flat_map(|ty| associated(ty, &params)) {
        if seen.insert(found) {
            clause.predicates.push(parse_quote!(#found: #bound));
        }
    }
    bounded
}

/// Whether a type names one of the type parameters.
pub(crate) fn is_generic(ty: &Type, generics: &Generics) -> bool {
    let params: Vec<&Ident> = generics.type_params().map(|param| &param.ident).collect();
    let mut search = Search { params: &params, named: false, associated: Vec::new() };
    search.visit_type(ty);
    search.named
}

fn associated<'a>(ty: &'a Type, params: &[&Ident]) -> Vec<&'a TypePath> {
    let mut search = Search { params, named: false, associated: Vec::new() };
    search.visit_type(ty);
    search.associated
}

/// Looks for type parameters in a type.
struct Search<'p, 'a> {
    params: &'p [&'p Ident],
    named: bool,
    associated: Vec<&'a TypePath>,
}

impl Search<'_, '_> {
    fn begins_with_param(&self, path: &Path) -> bool {
        path.leading_colon.is_none()
            && path.segments.first().is_some_and(|first| self.params.contains(&&first.ident))
    }
}

impl<'a> Visit<'a> for Search<'_, 'a> {
    fn visit_path(&mut self, path: &'a Path) {
        self.named |= self.begins_with_param(path);
        visit::visit_path(self, path);
    }

    fn visit_type_path(&mut self, path: &'a TypePath) {
        let is_associated = match &path.qself {
            // `<T as Iterator>::Item`
            Some(qself) => {
                let mut inner =
                    Search { params: self.params, named: false, associated: Vec::new() };
                inner.visit_type(&qself.ty);
                inner.named
            }
            // `T::Item`
            None => path.path.segments.len() > 1 && self.begins_with_param(&path.path),
        };
        if is_associated {
            self.associated.push(path);
        }
        visit::visit_type_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::{ToTokens, quote};

    #[track_caller]
    fn check(generics: &Generics, types: &[Type], expected: &TokenStream) {
        let types: Vec<&Type> = types.iter().collect();
        let bounded = with(generics, &types, &quote!(Key));
        assert_eq!(bounded.where_clause.to_token_stream().to_string(), expected.to_string());
    }

    #[test]
    fn each_type_parameter_is_bounded() {
        check(&parse_quote!(), &[parse_quote!(u8)], &quote!());
        check(&parse_quote!(<'a, const N: usize>), &[parse_quote!([u8; N])], &quote!());
        check(&parse_quote!(<A, B: Ord>), &[], &quote!(where A: Key, B: Key));
    }

    #[test]
    fn so_are_their_associated_types_where_a_field_holds_them() {
        let item = parse_quote!(T::Item);
        let nested = parse_quote!(Vec<(T::Item, <T as Walk>::Step)>);
        let other = parse_quote!(other::Item);
        check(
            &parse_quote!(<T>),
            &[item, nested, other],
            &quote!(where T: Key, T::Item: Key, <T as Walk>::Step: Key),
        );
    }

    #[test]
    fn a_type_is_generic_if_a_parameter_is_anywhere_in_it() {
        #[track_caller]
        fn check(ty: &Type, expected: bool) {
            assert_eq!(is_generic(ty, &parse_quote!(<T>)), expected);
        }
        check(&parse_quote!(T), true);
        check(&parse_quote!(HashMap<String, [T; 2]>), true);
        check(&parse_quote!(<T as Walk>::Step), true);
        check(&parse_quote!(other::T), false);
        check(&parse_quote!(Tree<u8>), false);
    }
}
