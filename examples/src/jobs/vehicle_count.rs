//! Chapter 2: a sensor on a bridge reports each vehicle that passes, and a counter counts them by
//! type.

use super::Setting;
use super::counts::Counts;
use crate::console::Console;
use streamwork::StateField;
use streamwork::prelude::*;

/// Counts vehicles by type: `sensor-reader` -> `vehicle-counter`.
///
/// ```
/// use examples::{Console, Setting, jobs};
/// use streamwork::prelude::*;
///
/// let console = Console::memory();
/// let lines = FromIter::new(["car".to_owned()]);
/// let job = jobs::vehicle_count(lines, 1, &Setting::printing_to(console.clone()));
/// Engine::new().run(job).unwrap();
/// assert_eq!(console.text(), "\nSensorReader --> car\nVehicleCounter --> \n  car: 1\n");
/// ```
pub fn vehicle_count<S>(lines: S, counters: usize, setting: &Setting) -> Job
where
    S: Source<Out = String> + Clone,
{
    let reader = SensorReader::new(lines, setting.console.clone());
    let counter = VehicleCounter::new(setting.console.clone());

    let job = Job::new("vehicle-count").delivery(setting.delivery);
    setting
        .pace(job.source(setting.faulty(reader)))
        .group(Fields::whole())
        .apply(setting.faulty(counter))
        .parallelism(counters);
    job
}

impl SensorReader<()> {
    /// The name of the source.
    pub const NAME: &str = "sensor-reader";
}

/// Reads vehicles and prints each one that it emits.
#[derive(Clone, Debug)]
pub struct SensorReader<S> {
    lines: S,
    console: Console,
    label: Label,
}

impl<S> SensorReader<S> {
    /// Each line of `lines` is the type of a vehicle.
    pub fn new(lines: S, console: Console) -> Self {
        Self { lines, console, label: Label::new("SensorReader") }
    }

    /// Also prints which instance it is.
    #[must_use]
    pub fn numbered(mut self) -> Self {
        self.label.numbered = true;
        self
    }
}

impl<S: Component> Component for SensorReader<S> {
    type Saved = S::Saved;

    const STATE: &'static [StateField] = S::STATE;

    fn name(&self) -> &str {
        SensorReader::NAME
    }

    fn save(&self) -> S::Saved {
        self.lines.save()
    }

    fn load(&mut self, saved: S::Saved) {
        self.lines.load(saved);
    }
}

impl<S: Source<Out = String>> Source for SensorReader<S> {
    type Out = String;

    const RESUMES: bool = S::RESUMES;

    fn replays(&self) -> bool {
        self.lines.replays()
    }

    fn splits(&self) -> Result<Splits> {
        self.lines.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.label.setup(ctx);
        self.lines.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<String>) -> Result<Progress> {
        let before = out.len();
        let progress = self.lines.next(out).await;
        for vehicle in &out.as_slice()[before..] {
            self.console.print(&format!("\n{} --> {vehicle}\n", self.label.text))?;
        }
        progress
    }
}

impl VehicleCounter {
    /// The name of the operator.
    pub const NAME: &str = "vehicle-counter";
}

/// Counts vehicles by type and prints all counts after each one.
#[derive(Component, Clone, Debug)]
#[component(name = "vehicle-counter")]
pub struct VehicleCounter {
    #[state]
    counts: Counts,
    console: Console,
    label: Label,
}

impl VehicleCounter {
    /// Has counted nothing yet.
    #[must_use]
    pub fn new(console: Console) -> Self {
        Self { counts: Counts::default(), console, label: Label::new("VehicleCounter") }
    }

    /// Also prints which instance it is.
    #[must_use]
    pub fn numbered(mut self) -> Self {
        self.label.numbered = true;
        self
    }
}

impl Operator for VehicleCounter {
    type In = String;
    type Out = Nothing;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.label.setup(ctx);
        Ok(())
    }

    fn apply(&mut self, vehicle: String, _: &mut Emitter<Nothing>) -> Result<()> {
        self.counts.add(vehicle);
        self.console.print(&format!("{} --> \n{}", self.label.text, self.counts))
    }
}

/// What stands before the arrow.
#[derive(Clone, Debug)]
struct Label {
    name: &'static str,
    numbered: bool,
    text: String,
}

impl Label {
    fn new(name: &'static str) -> Self {
        Self { name, numbered: false, text: String::new() }
    }

    fn setup(&mut self, ctx: &Context) {
        self.text = match self.numbered {
            true => format!("{} :: instance {}", self.name, ctx.index()),
            false => self.name.to_owned(),
        };
    }
}

/// A vehicle for a random number; more than half of them are cars.
#[must_use]
pub fn random_vehicle(random: u64) -> String {
    let kind = match random % 20 {
        0..=10 => "car",
        11..=14 => "truck",
        15..=16 => "van",
        17..=18 => "bus",
        _ => "motorcycle",
    };
    kind.to_owned()
}
