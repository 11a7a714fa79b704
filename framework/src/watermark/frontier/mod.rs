//! The watermark of an instance: the minimum over its active inputs.

use crate::id::LinkIndex;
use crate::time::Watermark;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    /// Has promised this much, or nothing yet.
    Active(Option<Watermark>),
    /// Silent for now; what it promised before still counts if all are silent.
    Idle(Option<Watermark>),
    /// At its end: holds nothing back.
    Ended(Option<Watermark>),
}

/// What an instance has to tell those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advance {
    /// The watermark has risen to this.
    To(Watermark),
    /// Every input is idle.
    Idle,
}

/// Combines the inputs' watermarks. What it gives out never steps back.
///
/// While any input is active the result is the minimum over the active ones; if all that are left
/// are idle it is the maximum over them, so that the order in which they fell silent does not
/// matter.
#[derive(Debug)]
pub(crate) struct Frontier {
    inputs: Vec<Input>,
    told: Option<Watermark>,
    told_idle: bool,
}

impl Frontier {
    pub(crate) fn new(inputs: usize) -> Self {
        Self { inputs: vec![Input::Active(None); inputs], told: None, told_idle: false }
    }

    /// Goes on where an earlier one had come to.
    pub(crate) fn begin_at(&mut self, watermark: Option<Watermark>) {
        self.told = watermark;
    }

    /// What it has given out.
    pub(crate) fn told(&self) -> Option<Watermark> {
        self.told
    }

    /// Input `link` promises `watermark`; a step back is ignored.
    pub(crate) fn watermark(&mut self, link: LinkIndex, watermark: Watermark) -> Option<Advance> {
        let input = &mut self.inputs[link.as_usize()];
        let (Input::Active(before) | Input::Idle(before) | Input::Ended(before)) = *input;
        *input = Input::Active(before.max(Some(watermark)));
        self.advance()
    }

    /// Input `link` falls silent.
    pub(crate) fn idle(&mut self, link: LinkIndex) -> Option<Advance> {
        let input = &mut self.inputs[link.as_usize()];
        if let Input::Active(before) = *input {
            *input = Input::Idle(before);
        }
        self.advance()
    }

    /// An event came over `link`: it is silent no more.
    pub(crate) fn wake(&mut self, link: LinkIndex) {
        let input = &mut self.inputs[link.as_usize()];
        if let Input::Idle(before) = *input {
            *input = Input::Active(before);
            self.told_idle = false;
        }
    }

    /// Input `link` is at its end.
    pub(crate) fn end(&mut self, link: LinkIndex) -> Option<Advance> {
        let input = &mut self.inputs[link.as_usize()];
        let (Input::Active(before) | Input::Idle(before) | Input::Ended(before)) = *input;
        *input = Input::Ended(before);
        self.advance()
    }

    fn advance(&mut self) -> Option<Advance> {
        let active = self.inputs.iter().filter_map(|i| match i {
            Input::Active(w) => Some(*w),
            _ => None,
        });
        let idle = self.inputs.iter().filter_map(|i| match i {
            Input::Idle(w) => Some(*w),
            _ => None,
        });
        let now = match active.min() {
            Some(least) => {
                self.told_idle = false;
                least
            }
            None => match idle.max() {
                Some(most) => {
                    if most <= self.told {
                        let news = !self.told_idle;
                        self.told_idle = true;
                        return news.then_some(Advance::Idle);
                    }
                    most
                }
                None => None,
            },
        };
        match now {
            Some(watermark) if now > self.told => {
                self.told = now;
                Some(Advance::To(watermark))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
