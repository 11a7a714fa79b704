//! Chapter 4: bridges that vehicles pass, and the toll booths that count them.

use super::counts::Counts;
use crate::console::Console;
use streamwork::prelude::*;
use streamwork::{ChannelInfo, StateField};

impl Bridge<()> {
    /// What is emitted for each vehicle beside the vehicle itself, if [cloning](Bridge::cloning).
    pub const CLONE: Channel<String> = Channel::new("clone");
}

/// A source that reads vehicles and prints each one that it emits.
#[derive(Clone, Debug)]
pub struct Bridge<S> {
    name: &'static str,
    lines: S,
    console: Console,
    clones: bool,
    instance: usize,
}

impl<S> Bridge<S> {
    /// Each line of `lines` is the type of a vehicle.
    pub fn new(name: &'static str, lines: S, console: Console) -> Self {
        Self { name, lines, console, clones: false, instance: 0 }
    }

    /// Emits `car clone` into [`CLONE`](Bridge::CLONE) with each `car`.
    #[must_use]
    pub fn cloning(self) -> Self {
        Self { clones: true, ..self }
    }
}

impl<S: Component> Component for Bridge<S> {
    type Saved = S::Saved;

    const STATE: &'static [StateField] = S::STATE;
    const CHANNELS: &'static [ChannelInfo] = &[Bridge::CLONE.info()];

    fn name(&self) -> &str {
        self.name
    }

    fn save(&self) -> S::Saved {
        self.lines.save()
    }

    fn load(&mut self, saved: S::Saved) {
        self.lines.load(saved);
    }
}

impl<S: Source<Out = String>> Source for Bridge<S> {
    type Out = String;

    const RESUMES: bool = S::RESUMES;

    fn replays(&self) -> bool {
        self.lines.replays()
    }

    fn splits(&self) -> Result<Splits> {
        self.lines.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index();
        self.lines.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<String>) -> Result<Progress> {
        let before = out.len();
        let progress = self.lines.next(out).await;
        let mut clones = Vec::new();
        for vehicle in &out.as_slice()[before..] {
            let Self { name, instance, .. } = self;
            self.console
                .print(&format!("\nbridge ({name}) :: instance {instance} --> {vehicle}\n"))?;
            if self.clones {
                clones.push(format!("{vehicle} clone"));
            }
        }
        if !clones.is_empty() {
            out.to(Bridge::CLONE).extend(clones);
        }
        progress
    }
}

/// Counts vehicles by type and prints all counts after each one.
#[derive(Clone, Debug)]
pub struct TollBooth {
    name: &'static str,
    counts: Counts,
    console: Console,
    instance: usize,
}

impl TollBooth {
    /// Has counted nothing yet.
    #[must_use]
    pub fn new(name: &'static str, console: Console) -> Self {
        Self { name, counts: Counts::default(), console, instance: 0 }
    }
}

/// It is told its name, so it says itself what the derive would.
impl Component for TollBooth {
    type Saved = Counts;

    fn name(&self) -> &str {
        self.name
    }

    fn save(&self) -> Counts {
        self.counts.clone()
    }

    fn load(&mut self, counts: Counts) {
        self.counts = counts;
    }
}

impl Operator for TollBooth {
    type In = String;
    type Out = Nothing;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index();
        Ok(())
    }

    fn apply(&mut self, vehicle: String, _: &mut Emitter<Nothing>) -> Result<()> {
        self.counts.add(vehicle);
        let Self { name, instance, counts, .. } = self;
        self.console.print(&format!("toll booth ({name}) :: instance {instance} -->\n{counts}"))
    }
}
