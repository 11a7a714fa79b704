//! Where a job's lines come from: a TCP peer, a file, standard input, or a simulation.

use crate::args;
use crate::run::Usage;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use streamwork::prelude::*;

/// The options that choose the input.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input (simulated without --connect and --input)")]
pub struct InputArgs {
    /// Read lines from a TCP peer; source instance i connects to PORT + i
    #[arg(long, value_name = "HOST:PORT", value_parser = address, conflicts_with = "input")]
    connect: Option<String>,

    /// Read the lines of a file; - is standard input
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,

    /// End the simulated input after N events; without it, it is endless
    #[arg(long, value_name = "N", value_parser = args::count, allow_negative_numbers = true)]
    events: Option<u64>,

    /// The same seed gives the same simulated input [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Hold the input to N events a second [default: 5 if it is simulated, else none]
    #[arg(long, value_name = "N", value_parser = rate, allow_negative_numbers = true)]
    rate: Option<f64>,
}

impl InputArgs {
    /// The seed of a simulated input where none is given.
    const SEED: u64 = 1;
    /// Simulated events per second where nothing else is said.
    const RATE: f64 = 5.0;

    /// The input's lines, read by `instances` instances. A simulated line is made by `simulate` from
    /// a random number.
    ///
    /// # Errors
    /// Options that do not go together.
    pub fn lines(
        &self,
        instances: usize,
        simulate: fn(u64) -> String,
    ) -> Result<InputLines, Usage> {
        let given = self.given(instances)?;
        Ok(given.unwrap_or_else(|| simulated(self.seed(), self.events, simulate)))
    }

    /// The lines for each of two sources of one instance. The peer of the second is on the next port;
    /// a file is read by both, each for itself; of the simulated lines each makes half.
    ///
    /// # Errors
    /// Options that do not go together, and standard input or a pipe, which one of the two would take
    /// away from the other.
    pub fn two(&self, simulate: fn(u64) -> String) -> Result<[InputLines; 2], Usage> {
        if let Some(path) = &self.input
            && can_be_read_once(path)
        {
            return Err(Usage::new(format!(
                "--input {} can't be read by both sources: name a file, or use --connect",
                path.display()
            )));
        }
        match self.given(2)? {
            Some(InputLines::Tcp(first)) => {
                let next = self.connect.as_deref().and_then(next_port);
                let second = next.map_or_else(|| first.clone(), |a| Box::new(TcpLines::connect(a)));
                Ok([InputLines::Tcp(first), InputLines::Tcp(second)])
            }
            // Clones would stand in for one another where the input has no places to go back to.
            Some(given) => Ok([self.given(2)?.unwrap_or_else(|| given.clone()), given]),
            None => {
                let seed = self.seed();
                let half = |up: u64| self.events.map(|events| events / 2 + (events % 2) * up);
                Ok([simulated(seed, half(1), simulate), simulated(!seed, half(0), simulate)])
            }
        }
    }

    /// The lines of the peer or the file that is named, if one is; else the input is simulated.
    ///
    /// # Errors
    /// Options that do not go together.
    pub fn given(&self, instances: usize) -> Result<Option<InputLines>, Usage> {
        match (&self.connect, &self.input) {
            (Some(address), _) => {
                self.refuse_simulation("--connect", "the peer's lines are the events")?;
                check_ports(address, instances)?;
                Ok(Some(InputLines::Tcp(Box::new(TcpLines::connect(address)))))
            }
            (None, Some(path)) => {
                self.refuse_simulation("--input", "the file's lines are the events")?;
                let stdin = path.as_os_str() == "-";
                let lines = if stdin { Lines::stdin() } else { Lines::open(path) };
                Ok(Some(InputLines::File(Box::new(lines))))
            }
            (None, None) => Ok(None),
        }
    }

    /// As [`given`](Self::given), for a job that has a fixed input where none is named.
    ///
    /// # Errors
    /// Options that do not go together, and those of a simulation: there is none.
    pub fn given_or_fixed(&self, instances: usize) -> Result<Option<InputLines>, Usage> {
        let given = self.given(instances)?;
        if given.is_none() {
            self.refuse_simulation("this job", "its input is fixed")?;
        }
        Ok(given)
    }

    /// The option that names an input whose lines can't be read a second time, if one does.
    pub(crate) fn read_once(&self) -> Option<String> {
        match (&self.connect, &self.input) {
            (Some(address), _) => Some(format!("--connect {address}")),
            (None, Some(path)) if can_be_read_once(path) => {
                Some(format!("--input {}", path.display()))
            }
            (None, _) => None,
        }
    }

    /// The seed of a simulated input.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(Self::SEED)
    }

    /// The number of events after which a simulated input ends, if it does.
    #[must_use]
    pub fn events(&self) -> Option<u64> {
        self.events
    }

    /// The events per second to hold the input to, if any.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let simulated = self.connect.is_none() && self.input.is_none();
        self.rate.or(simulated.then_some(Self::RATE))
    }

    fn refuse_simulation(&self, input: &str, why: &str) -> Result<(), Usage> {
        let options = [("--events", self.events), ("--seed", self.seed)];
        match options.into_iter().find(|(_, value)| value.is_some()) {
            Some((option, _)) => Err(Usage::new(format!(
                "{option} is for the simulated input and can't go with {input}: {why}"
            ))),
            None => Ok(()),
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "a number above 0 is wanted, in events a second".to_owned())
}

/// The parts of `HOST:PORT`.
fn parts(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let in_brackets = host.starts_with('[') && host.ends_with(']');
    let port = port.parse().ok().filter(|port| *port > 0)?;
    (!host.is_empty() && (in_brackets || !host.contains(':'))).then_some((host, port))
}

fn address(text: &str) -> Result<String, String> {
    match parts(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err("HOST:PORT is wanted, such as localhost:9990 or [::1]:9990".to_owned()),
    }
}

/// Each instance has a port of its own.
fn check_ports(address: &str, instances: usize) -> Result<(), Usage> {
    match parts(address) {
        Some((_, port)) if usize::from(port) + instances - 1 > usize::from(u16::MAX) => {
            Err(Usage::new(format!(
                "--connect {address} leaves no port for each of {instances} sources: \
                 the last would be beyond 65535"
            )))
        }
        _ => Ok(()),
    }
}

/// Whether lines that one reader has read are gone for another.
fn can_be_read_once(path: &Path) -> bool {
    path.as_os_str() == "-" || is_pipe(path)
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    // What can't be looked at can't be opened either, and that is said then.
    std::fs::metadata(path).is_ok_and(|data| data.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// The address with the next port.
fn next_port(address: &str) -> Option<String> {
    let (host, port) = parts(address)?;
    Some(format!("{host}:{}", port.checked_add(1)?))
}

fn simulated(seed: u64, events: Option<u64>, simulate: fn(u64) -> String) -> InputLines {
    let lines = Generator::seeded(seed, simulate);
    InputLines::Simulated(match events {
        Some(events) => lines.events(events),
        None => lines,
    })
}

/// Lines made from random numbers.
type Simulation = Generator<fn(u64) -> String>;

/// The lines of an input, wherever they come from.
#[derive(Clone, Debug)]
pub enum InputLines {
    /// From a TCP peer.
    Tcp(Box<TcpLines>),
    /// From a file or standard input.
    File(Box<Lines>),
    /// Made up.
    Simulated(Simulation),
    /// One that is to go on where an input of another kind was left, which it can't.
    Other {
        /// The one that is there.
        now: Box<Self>,
        /// The one that was left.
        before: InputPosition,
    },
}

/// An input that can't go on where another one was left.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot go on with {now}: before it was {before}; name the input of before, or begin anew with --fresh"
)]
struct OtherInput {
    now: &'static str,
    before: &'static str,
}

/// How far an input has been read.
#[derive(State, Clone, Debug, Serialize, Deserialize)]
pub enum InputPosition {
    /// Nowhere: a TCP peer has no position to go back to.
    Tcp,
    /// In a file.
    File(<Lines as Component>::Saved),
    /// In a simulation.
    Simulated(<Simulation as Component>::Saved),
}

impl InputPosition {
    /// What it is a position of.
    fn input(&self) -> &'static str {
        match self {
            Self::Tcp => "a TCP peer",
            Self::File(_) => "a file",
            Self::Simulated(_) => "a simulated input",
        }
    }
}

impl Component for InputLines {
    type Saved = InputPosition;

    fn name(&self) -> &str {
        match self {
            Self::Tcp(lines) => lines.name(),
            Self::File(lines) => lines.name(),
            Self::Simulated(lines) => lines.name(),
            Self::Other { now, .. } => now.name(),
        }
    }

    fn save(&self) -> InputPosition {
        match self {
            Self::Tcp(_) => InputPosition::Tcp,
            Self::File(lines) => InputPosition::File(lines.save()),
            Self::Simulated(lines) => InputPosition::Simulated(lines.save()),
            Self::Other { before, .. } => before.clone(),
        }
    }

    fn load(&mut self, saved: InputPosition) {
        match (self, saved) {
            (Self::File(lines), InputPosition::File(saved)) => lines.load(saved),
            (Self::Simulated(lines), InputPosition::Simulated(saved)) => lines.load(saved),
            // A peer has none.
            (Self::Tcp(_), InputPosition::Tcp) => {}
            (this, before) => *this = Self::Other { now: Box::new(this.clone()), before },
        }
    }
}

impl Source for InputLines {
    type Out = String;

    /// Every kind of input does.
    const RESUMES: bool = true;

    fn replays(&self) -> bool {
        match self {
            Self::Tcp(lines) => lines.replays(),
            Self::File(lines) => lines.replays(),
            Self::Simulated(lines) => lines.replays(),
            Self::Other { now, .. } => now.replays(),
        }
    }

    fn splits(&self) -> Result<Splits> {
        match self {
            Self::Tcp(lines) => lines.splits(),
            Self::File(lines) => lines.splits(),
            Self::Simulated(lines) => lines.splits(),
            Self::Other { now, .. } => now.splits(),
        }
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        match self {
            Self::Tcp(lines) => lines.setup(ctx).await,
            Self::File(lines) => lines.setup(ctx).await,
            Self::Simulated(lines) => lines.setup(ctx).await,
            Self::Other { now, before } => {
                let (now, before) = (now.save().input(), before.input());
                Err(Fatal::new(OtherInput { now, before }).into())
            }
        }
    }

    async fn next(&mut self, out: &mut Emitter<String>) -> Result<Progress> {
        match self {
            Self::Tcp(lines) => lines.next(out).await,
            Self::File(lines) => lines.next(out).await,
            Self::Simulated(lines) => lines.next(out).await,
            // It was refused when it was set up.
            Self::Other { .. } => Ok(Progress::End),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_positive_numbers() {
        assert_eq!(rate("0.5"), Ok(0.5));
        for text in ["0", "-1", "nan", "inf", "", "fast"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for text in ["localhost:1", "127.0.0.1:65535", "[::1]:9990"] {
            assert!(address(text).is_ok(), "{text}");
        }
        for text in ["", "localhost", ":1", "localhost:0", "localhost:65536", "::1:9990"] {
            assert!(address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_second_source_has_the_next_port() {
        assert_eq!(next_port("h:9990").as_deref(), Some("h:9991"));
        assert_eq!(next_port("[::1]:9990").as_deref(), Some("[::1]:9991"));
        assert_eq!(next_port("h:65535"), None);
    }

    #[test]
    fn each_instance_has_a_port() {
        assert!(check_ports("h:65534", 2).is_ok());
        assert!(check_ports("h:65534", 3).is_err());
    }
}
