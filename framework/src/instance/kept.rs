//! [`Kept`]: what a component keeps in checkpoints, and whether it can go on from what was kept before. Pure.

use crate::checkpoint::ComponentManifest;
use crate::component::Component;
use crate::key::Key;
use crate::state::{Reading, Rescale, Shape, State, StateError, StateField, WHOLE, was_saved};

/// What a component keeps in checkpoints.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    /// What the fields that it marks as state are made of.
    pub(crate) fields: Shape,
    /// What its keys and their state are made of, if it has any.
    pub(crate) keyed: Option<(Shape, Shape)>,
    /// What stays with its instance, so that the parallelism has to stay: the names of fields.
    pub(crate) tied: Vec<&'static str>,
}

impl Kept {
    pub(crate) fn fields_of<C: Component>() -> Self {
        Self { fields: C::state_shape(), keyed: None, tied: tied::<C>() }
    }

    pub(crate) fn keyed_of<C: Component, K: Key, S: State>() -> Self {
        Self { keyed: Some((K::shape(), S::shape())), ..Self::fields_of::<C>() }
    }

    /// What of it was saved by so many instances, and can't be given to that many.
    pub(crate) fn not_rescaled(&self, old: &ComponentManifest, now: usize) -> Vec<StateError> {
        let before = old.parallelism as usize;
        let tied = self.tied.iter().filter(|field| before != now && was_saved(&old.fields, field));
        tied.map(|field| {
            let (component, field) = (old.name.clone(), (*field).to_owned());
            StateError::Rescaled { component, field, before, now }
        })
        .collect()
    }

    /// What keeps a component from reading what was kept before, in words.
    pub(crate) fn differences<C: Component>(old: &ComponentManifest) -> Vec<String> {
        let mut words = Self::field_differences::<C>(old);
        if let Some((key, _)) = &old.keyed {
            words.push(format!(
                "it kept state of keys ({key}), and keeps none now: give it another name, and say \
                 `Job::drop_state_of` of this one"
            ));
        }
        words
    }

    fn field_differences<C: Component>(old: &ComponentManifest) -> Vec<String> {
        let differences = C::compare_state(&old.fields).err().unwrap_or_default();
        differences.iter().map(ToString::to_string).collect()
    }

    /// As [`differences`](Self::differences), of a component with keys.
    pub(crate) fn keyed_differences<C: Component, K: Key, S: State>(
        old: &ComponentManifest,
    ) -> Vec<String> {
        let mut words = Self::field_differences::<C>(old);
        if let Some((key, state)) = &old.keyed {
            if *key != K::shape() {
                words.push(format!("its keys: {key} before, {} now", K::shape()));
            }
            let state = Reading::<S>::of(state).err().unwrap_or_default();
            words.extend(
                state.iter().map(|difference| format!("the state of its keys: {difference}")),
            );
        }
        words
    }
}

/// What of a component's state stays with its instance.
fn tied<C: Component>() -> Vec<&'static str> {
    if !C::BY_FIELD {
        let is_stateless = C::state_shape() == Shape::Nothing;
        return if is_stateless { Vec::new() } else { vec![WHOLE] };
    }
    let is_tied = |field: &&StateField| field.rescale == Rescale::Refuse;
    C::STATE.iter().filter(is_tied).map(|field| field.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One whose state is no set of fields.
    struct ByHand(u64);

    impl Component for ByHand {
        type Saved = u64;

        fn name(&self) -> &str {
            "by-hand"
        }

        fn save(&self) -> u64 {
            self.0
        }

        fn load(&mut self, saved: u64) {
            self.0 = saved;
        }
    }

    #[test]
    fn state_in_one_piece_is_refused_at_another_parallelism() {
        let kept = Kept::fields_of::<ByHand>();
        let empty = || ComponentManifest::empty("total");
        let old = |fields| ComponentManifest { parallelism: 2, fields, ..empty() };
        let refused = kept.not_rescaled(&old(ByHand::state_shape()), 3);
        let words = "the state field `total` was saved by 2 instances and can't be given to 3";
        assert!(matches!(&refused[..], [error] if error.to_string().starts_with(words)));
        assert!(kept.not_rescaled(&old(ByHand::state_shape()), 2).is_empty());
        assert!(kept.not_rescaled(&old(Shape::Nothing), 3).is_empty(), "nothing was saved");
    }
}
