//! How things are spelled: a struct's name as a component's, and a type as one writes it.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Ident, Type};

/// `HTTPSource` as `http-source`: a word begins at a capital that follows a small letter or a digit,
/// and at the last capital of a run, if a small letter follows it.
pub(crate) fn kebab_case(ident: &Ident) -> String {
    let name = ident.unraw().to_string();
    let chars: Vec<char> = name.chars().collect();
    let mut kebab = String::new();
    for (i, &c) in chars.iter().enumerate() {
        let after_small = i > 0 && !chars[i - 1].is_uppercase();
        let before_small = chars.get(i + 1).is_some_and(|next| next.is_lowercase());
        let begins_word = c == '_' || c.is_uppercase() && (after_small || before_small);
        if begins_word && !kebab.is_empty() && !kebab.ends_with('-') {
            kebab.push('-');
        }
        if c != '_' {
            kebab.extend(c.to_lowercase());
        }
    }
    match kebab.trim_end_matches('-') {
        "" => name,
        kebab => kebab.to_owned(),
    }
}

/// A type as one writes it, `HashMap<String, u64>`.
///
/// The compiler's own text of the tokens would not do: its spaces change between versions, and this
/// name describes saved state.
pub(crate) fn written(ty: &Type) -> String {
    text(ty.to_token_stream())
}

/// What stands between two spaces, or could.
enum Atom {
    /// An identifier, a literal or a lifetime.
    Word(String),
    /// One sign, or several that belong together.
    Sign(String),
    /// Brackets with all that is in them.
    Group(String),
}

fn text(tokens: TokenStream) -> String {
    let mut atoms = Vec::new();
    split(tokens, &mut atoms);
    let mut text = String::new();
    let mut last = None;
    for atom in &atoms {
        if last.is_some_and(|last| apart(last, atom)) {
            text.push(' ');
        }
        let (Atom::Word(piece) | Atom::Sign(piece) | Atom::Group(piece)) = atom;
        text.push_str(piece);
        last = Some(atom);
    }
    text
}

/// Whether a space belongs between two neighbours.
fn apart(left: &Atom, right: &Atom) -> bool {
    let wide = |sign: &str| matches!(sign, "+" | "=" | "->");
    match (left, right) {
        (_, Atom::Sign(sign)) if matches!(sign.as_str(), "," | ";" | ":" | ">") => false,
        (_, Atom::Sign(sign)) if wide(sign) => true,
        (Atom::Sign(sign), _) if wide(sign) || matches!(sign.as_str(), "," | ";" | ":") => true,
        (Atom::Word(_), Atom::Word(_)) => true,
        // `for<'a> Fn(..)`
        (Atom::Sign(sign), Atom::Word(_)) => sign == ">",
        // `&'a [u8]`, `dyn ::std::any::Any`, but `Vec<u8>` and `Fn(u8)`
        (Atom::Word(word), _) => {
            word.starts_with('\'') || matches!(word.as_str(), "dyn" | "mut" | "const" | "as")
        }
        _ => false,
    }
}

fn split(tokens: TokenStream, atoms: &mut Vec<Atom>) {
    let mut sign = String::new(); // as far as it was read: `:` of `::`, or the quote of a lifetime
    for token in tokens {
        match token {
            TokenTree::Punct(punct) => {
                sign.push(punct.as_char());
                if punct.spacing() == Spacing::Alone {
                    atoms.push(Atom::Sign(std::mem::take(&mut sign)));
                }
            }
            TokenTree::Ident(word) => {
                atoms.push(Atom::Word(std::mem::take(&mut sign) + &word.to_string()));
            }
            TokenTree::Literal(word) => atoms.push(Atom::Word(word.to_string())),
            TokenTree::Group(group) => {
                let inner = text(group.stream());
                match group.delimiter() {
                    Delimiter::Parenthesis => atoms.push(Atom::Group(format!("({inner})"))),
                    Delimiter::Bracket => atoms.push(Atom::Group(format!("[{inner}]"))),
                    Delimiter::Brace => atoms.push(Atom::Group(format!("{{ {inner} }}"))),
                    // What a `macro_rules!` put in place of a `$ty:ty`: no brackets are written.
                    Delimiter::None => split(group.stream(), atoms),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_str;

    #[test]
    fn a_name_in_kebab_case() {
        #[track_caller]
        fn check(ident: &str, expected: &str) {
            assert_eq!(kebab_case(&parse_str(ident).unwrap()), expected);
        }
        check("VehicleCounter", "vehicle-counter");
        check("VehicleCounter2", "vehicle-counter2");
        check("HTTPSource", "http-source");
        check("ReadHTTP", "read-http");
        check("Top3Words", "top3-words");
        check("ATeam", "a-team");
        check("X", "x");
        check("snake_case", "snake-case");
        check("Two__Words_", "two-words");
        check("_Hidden", "hidden");
        check("r#Raw", "raw");
        check("ÜberSetzer", "über-setzer");
        check("__", "__");
    }

    #[test]
    fn a_type_as_one_writes_it() {
        #[track_caller]
        fn check(source: &str) {
            let ty: Type = parse_str(source).unwrap();
            assert_eq!(written(&ty), source);
        }
        check("u64");
        check("()");
        check("(u8,)");
        check("HashMap<String, Vec<Vec<u64>>>");
        check("std::collections::BTreeMap<(u8, u16), [u32; 4]>");
        check("::std::string::String");
        check("&'static str");
        check("&'static [u8]");
        check("&'static mut [&'static str]");
        check("*const u8");
        check("Option<fn(u8, &str) -> [u8; N]>");
        check("Box<dyn for<'a> Fn(&'a T) -> &'a K + Send + 'static>");
        check("Box<dyn ::std::any::Any>");
        check("<T as Iterator>::Item");
        check("Box<dyn Iterator<Item = u8>>");
        check("Matrix<3, { N + 1 }>");
        check("!");
    }

    #[test]
    fn a_type_from_a_macro_has_no_brackets_of_its_own() {
        let inner: Type = parse_str("Vec<u8>").unwrap();
        let group = Type::Group(syn::TypeGroup {
            group_token: syn::token::Group::default(),
            elem: Box::new(inner),
        });
        assert_eq!(written(&group), "Vec<u8>");
    }
}
