//! The derives of Streamwork: [`Component`], [`Event`], [`Key`] and [`State`].
//!
//! The crate `streamwork` exports each of them beside the trait of its name; use them from there.
//! A derive writes the impl of that one trait and nothing that a user could name. An input that it
//! refuses is told all its mistakes at once, each at the place where it was made.

mod attr;
mod bounds;
mod check;
mod check_state;
mod errors;
mod expand;
mod expand_state;
mod fallback;
mod model;
mod name;
mod serde;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct a component: a source, an operator or a sink.
///
/// ```
/// use std::collections::HashMap;
/// use streamwork::{Component, Rescale};
///
/// #[derive(Component, Default)]
/// #[component(name = "counter", parallelism = 2)]
/// struct VehicleCounter {
///     /// How many of each kind there were. The entries belong to their keys.
///     #[state(by_key)]
///     by_kind: HashMap<String, u64>,
///     /// No part of the state.
///     buffer: String,
/// }
///
/// let mut counter = VehicleCounter::default();
/// assert_eq!(counter.name(), "counter");
/// assert_eq!(counter.parallelism(), 2);
///
/// let [by_kind] = VehicleCounter::STATE else { panic!() };
/// assert_eq!(by_kind.name, "by_kind");
/// assert_eq!(by_kind.type_name, "HashMap<String, u64>");
/// assert_eq!(by_kind.rescale, Rescale::ByKey);
///
/// // What is saved is a tuple of the fields that are marked.
/// counter.load((HashMap::from([("car".into(), 3)]),));
/// assert_eq!(counter.save().0["car"], 3);
/// ```
///
/// # On the struct: `#[component(..)]`
///
/// | Key | Means | Without it |
/// |---|---|---|
/// | `name = "counter"` | its name in a job where no other is given | the struct's name in kebab-case: `HTTPSource` is `http-source` |
/// | `parallelism = 2` | how many instances it has where no other number is given | 1 |
/// | `blocking` | it blocks its thread: each instance gets one of its own | it does not |
/// | `channels = [Self::ALERTS]` | the channels that it emits into, beside its stream: constants of type `Channel` | none |
/// | `crate = path` | where Streamwork is found | `::streamwork` |
///
/// # On a field: `#[state]`
///
/// The fields that are marked are the component's state: what a checkpoint keeps of an instance. Their types
/// are `Clone` and [`State`](macro@State). In a **source** they are its position: the engine copies them after
/// each `next`, and a source that panics is built anew there.
///
/// They are written under their names. Later they may stand in another order, and there may be more of them,
/// if the new ones have a default or are options; one that is gone, is called differently or has another type
/// is refused at the start.
///
/// | Mark | When the parallelism changes |
/// |---|---|
/// | `#[state]` | the start is refused: the field fits one parallelism only |
/// | `#[state(by_key)]` | a `HashMap` or a `BTreeMap` whose entries move with their keys: each goes to the instance that its events go to |
/// | `#[state(replicated)]` | the same on every instance: all get that of the first |
/// | `#[state(redistribute)]` | the type says it: it implements `Redistribute` |
///
/// Beside each of these stands `default` where what was saved without the field is read too:
/// `#[state(by_key, default)]` begins with `Default::default()` then.
///
/// # Generics
///
/// Type parameters are bounded by `Send + 'static`, and the types of marked fields by `Clone` and `State`
/// where a parameter is in them. Lifetimes are refused: a component outlives what it could borrow.
///
/// ```
/// use streamwork::Component;
///
/// #[derive(Component)]
/// struct Latest<T> {
///     #[state]
///     seen: Option<T>,
/// }
///
/// let latest = Latest { seen: Some(7) };
/// assert_eq!(latest.name(), "latest");
/// assert_eq!(latest.save(), (Some(7),));
/// ```
#[proc_macro_derive(Component, attributes(component, state))]
pub fn component(input: TokenStream) -> TokenStream {
    expand::component(&parse_macro_input!(input as DeriveInput)).into()
}

/// Makes a struct or an enum an event: what flows through a job.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::{Event, EventTime};
///
/// #[derive(Event, Clone, Serialize, Deserialize)]
/// #[event(weight = Self::bytes)]
/// struct Photo {
///     #[event(time)]
///     taken: EventTime,
///     pixels: Vec<u8>,
/// }
///
/// impl Photo {
///     fn bytes(&self) -> usize {
///         size_of::<Self>() + self.pixels.capacity()
///     }
/// }
///
/// let photo = Photo { taken: EventTime::from_millis(7), pixels: vec![0; 1_000] };
/// assert_eq!(photo.time(), Some(EventTime::from_millis(7)));
/// assert!(photo.weight() >= 1_000);
/// ```
///
/// # On the type: `#[event(..)]`
///
/// | Key | Means | Without it |
/// |---|---|---|
/// | `weight = path` | the function of `&Self` that counts its bytes | its size in memory, and nothing of the heap |
/// | `local` | it is never stored or sent | serde's `Serialize` and `Deserialize` are asked for |
/// | `crate = path` | where Streamwork is found | `::streamwork` |
///
/// ```
/// use std::net::TcpStream;
/// use std::sync::Arc;
/// use streamwork::Event;
///
/// #[derive(Event, Clone)]
/// #[event(local)]
/// struct Connected(Arc<TcpStream>);
///
/// fn is_event<E: Event>() -> bool {
///     true
/// }
/// assert!(is_event::<Connected>());
/// ```
///
/// # On a field: `#[event(time)]`
///
/// The field, an `EventTime`, says when the event happened. An enum has no such field: it goes into
/// a struct, beside its time.
///
/// # Generics
///
/// Type parameters are bounded by `Clone + Send + 'static`. Lifetimes are refused: an event outlives
/// what it could borrow.
#[proc_macro_derive(Event, attributes(event))]
pub fn event(input: TokenStream) -> TokenStream {
    expand::event(&parse_macro_input!(input as DeriveInput)).into()
}

/// Makes a struct or an enum a key: what events are grouped by.
///
/// ```
/// use streamwork::{Key, key_hash};
///
/// #[derive(Key, PartialEq, Eq)]
/// enum Payer {
///     Cash,
///     Account { bank: u32, number: String },
/// }
///
/// let account = |number: &str| Payer::Account { bank: 1, number: number.into() };
/// assert_eq!(key_hash(&account("7")), key_hash(&account("7")));
/// assert_ne!(key_hash(&account("7")), key_hash(&account("8")));
/// assert_ne!(key_hash(&account("7")), key_hash(&Payer::Cash));
/// ```
///
/// The fields are fed in their order; before those of an enum comes the name of the variant. So state
/// that was saved under a key is found again **as long as the fields keep their order and types, and
/// the variants their names**. Names of types and the order of variants are free; so is the name of a field
/// as long as serde saves it under the old one (`#[serde(rename = "..")]`).
///
/// Every field is a part of the key, as it is for `Eq`; none can be skipped. `#[key(crate = path)]`
/// on the type says where Streamwork is found, if not at `::streamwork`. Type parameters are bounded
/// by `Key`.
#[proc_macro_derive(Key, attributes(key))]
pub fn key(input: TokenStream) -> TokenStream {
    expand::key(&parse_macro_input!(input as DeriveInput)).into()
}

/// Makes a struct or an enum state: what is kept in a checkpoint and read again by a later version of the
/// program.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::{Shape, State};
///
/// #[derive(State, Serialize, Deserialize)]
/// struct Visits {
///     count: u64,
///     last: Option<Page>,
///     /// Came later: what was saved without it is read too.
///     #[serde(default)]
///     #[state(default)]
///     by_hour: Vec<u64>,
/// }
///
/// #[derive(State, Serialize, Deserialize)]
/// enum Page {
///     Home,
///     Article { id: u32 },
/// }
///
/// let shape = "{count: u64, last: <Home | Article{id: u32}>?, by_hour: [u64]}";
/// assert_eq!(Visits::shape().to_string(), shape);
///
/// // what it was before
/// #[derive(State, Serialize, Deserialize)]
/// struct Before {
///     count: u64,
/// }
/// assert!(Shape::compare(&Before::shape(), &Visits::shape()).is_ok());
/// ```
///
/// # What may change
///
/// Serde writes the values, with the names of fields and variants, and reads them again. Before it does, what
/// was saved is compared with the type of today. Read as they are: fields in another order, new ones that are
/// an `Option` or have `#[serde(default)]`, ones that are read under their old name with
/// `#[serde(alias = "..")]`, new variants, other names of types. **Anything else is refused before the first
/// event**, also where serde would read it: a field that is gone, another type (`u32` to `u64`), a variant
/// that is gone or holds something else.
///
/// # On the type: `#[state(..)]`
///
/// | Key | Means | Without it |
/// |---|---|---|
/// | `version = 1` | counted up with each change that has to be migrated | 0 |
/// | `migrate = path` | the function that reads what a lower version wrote: `fn(&Old<'_>) -> Result<Self>` | a lower version is refused |
/// | `serde` | the type is taken as it is, known by its name and its version alone: what holds a type of another crate | its fields are described |
/// | `crate = path` | where Streamwork is found | `::streamwork` |
///
/// A migration is asked for what is kept by itself: a state of a key, a field of a component, the value of a
/// map that moves by key, in an `Option`, a `Box` or a tuple of one too. Of a type inside another it is the
/// outer one that migrates.
///
/// # On a field: `#[state(..)]`
///
/// | Mark | Means |
/// |---|---|
/// | `#[state(default)]` | says that what was saved without the field is read; serde gives the default, so `#[serde(default)]` is asked for |
/// | `#[state(serde, version = 1)]` | the field's type is taken as it is: it comes from another crate, or serde writes it with a function |
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::State;
/// # mod geo {
/// #     #[derive(serde::Serialize, serde::Deserialize)]
/// #     pub struct Point(f64, f64);
/// # }
///
/// #[derive(State, Serialize, Deserialize)]
/// struct Track {
///     #[state(serde, version = 1)]
///     points: Vec<geo::Point>,
/// }
///
/// assert_eq!(Track::shape().to_string(), "{points: Vec<geo::Point> v1}");
/// ```
///
/// Serde's attributes are understood as far as they give names and defaults. Those that give the bytes another
/// form (`tag`, `untagged`, `flatten`, `with`, `into`) are refused, unless the type or the field is taken as it
/// is.
///
/// # Generics
///
/// Type parameters are bounded by `State`. A type may hold itself. Lifetimes are refused: what is kept outlives
/// what it could borrow.
#[proc_macro_derive(State, attributes(state, serde))]
pub fn state(input: TokenStream) -> TokenStream {
    expand_state::state(&parse_macro_input!(input as DeriveInput)).into()
}
