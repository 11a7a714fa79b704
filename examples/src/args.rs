//! The options that all programs have, and how their values are read.

use crate::console::Console;
use crate::delivery::DeliveryArgs;
use crate::input::InputArgs;
use crate::jobs::Setting;
use crate::logging;
use crate::run::Usage;
use clap::{Args, ValueEnum};
use std::fmt;
use std::time::Duration;
use streamwork::testing::Fault;

/// The options that all programs have; flatten it into a program's own.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Let instance 0 of a component fail once at its N-th event: panic:COMPONENT:N or
    /// error:COMPONENT:N; with :always behind it, at every event from then on
    #[arg(long, value_name = "FAULT", value_parser = Fault::parse)]
    chaos: Option<Fault>,

    /// The job's page: off, since this version serves none
    #[arg(long, value_name = "ADDR", value_parser = web)]
    web: Option<Off>,

    /// Refused: there is no page to control the job over
    #[arg(long, value_name = "TOKEN", value_parser = web_control, hide = true)]
    web_control: Option<Off>,

    #[command(flatten)]
    log: LogArgs,

    #[command(flatten)]
    delivery: DeliveryArgs,

    #[command(flatten)]
    input: InputArgs,
}

impl Common {
    /// Where the job's events come from.
    #[must_use]
    pub fn input(&self) -> &InputArgs {
        &self.input
    }

    /// What is promised about each event.
    pub(crate) fn delivery(&self) -> &DeliveryArgs {
        &self.delivery
    }

    /// Checkpoints are kept in memory where no directory is given: for a program that shows what a failure
    /// costs within one run.
    #[must_use]
    pub fn keeping_in_memory(mut self) -> Self {
        self.delivery = self.delivery.keeping_in_memory();
        self
    }

    /// How to log.
    #[must_use]
    pub fn log(&self) -> LogArgs {
        self.log
    }

    /// What a job with these components is given from outside, printing to standard output.
    ///
    /// # Errors
    /// The component that is to fail is none of them, or options do not go together.
    pub fn setting(&self, components: &[&str]) -> Result<Setting, Usage> {
        if let Some(fault) = &self.chaos
            && !components.contains(&fault.component())
        {
            return Err(Usage::new(format!(
                "--chaos names the component {:?}, but those of this job are {}",
                fault.component(),
                components.join(", "),
            )));
        }
        let delivery = self.delivery.delivery()?;
        if delivery.checkpoints().is_some()
            && let Some(input) = self.input.read_once()
        {
            return Err(Usage::new(format!(
                "--delivery {delivery} can't go with {input}: after a failure its lines can't be read \
                 again; use --input with a file, or --delivery at-most-once",
            )));
        }
        Ok(Setting {
            console: Console::stdout(),
            delivery,
            rate: self.input.rate(),
            fault: self.chaos.clone(),
        })
    }
}

/// How a program logs. Logs go to standard error.
#[derive(Args, Clone, Copy, Debug)]
pub struct LogArgs {
    /// The least level to log, over what RUST_LOG says [default: info]
    #[arg(long = "log", value_name = "LEVEL")]
    pub(crate) level: Option<Level>,

    /// Log lines are JSON objects
    #[arg(long)]
    pub(crate) json: bool,
}

impl LogArgs {
    /// Starts logging, for a program that does not [`run`](crate::run) its job by the common options.
    ///
    /// # Panics
    /// If a program starts it twice.
    pub fn start(self) {
        logging::start(self);
    }
}

#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
    Off,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
            Self::Off => "off",
        })
    }
}

/// The one value of `--web`.
#[derive(Clone, Copy, Debug)]
struct Off;

fn web(text: &str) -> Result<Off, &'static str> {
    if text == "off" { Ok(Off) } else { Err("this version serves no page; use --web off") }
}

fn web_control(_: &str) -> Result<Off, &'static str> {
    Err("this version serves no page that could control the job; leave it out")
}

/// Reads a number of events: `200`, `2e8`.
///
/// ```
/// assert_eq!(examples::count("200"), Ok(200));
/// assert_eq!(examples::count("2e8"), Ok(200_000_000));
/// assert!(examples::count("1.5").is_err());
/// ```
///
/// # Errors
/// It is no whole number from 0 to 2^53.
pub fn count(text: &str) -> Result<u64, String> {
    const MOST: u64 = 1 << 53;
    let whole = |number: f64| (number.fract() == 0.0 && number >= 0.0).then_some(number as u64);
    let number = match text.parse::<u64>() {
        Ok(number) => Some(number),
        Err(_) => text.parse::<f64>().ok().and_then(whole),
    };
    let wanted = || "a whole number from 0 to 2^53 is wanted, such as 200 or 2e8".to_owned();
    number.filter(|number| *number <= MOST).ok_or_else(wanted)
}

/// Reads a number of instances.
///
/// ```
/// assert_eq!(examples::instances("4"), Ok(4));
/// assert!(examples::instances("0").is_err());
/// ```
///
/// # Errors
/// It is no whole number from 1 to 1,024.
pub fn instances(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|number| (1..=1_024).contains(number));
    number.ok_or_else(|| "a whole number from 1 to 1024 is wanted".to_owned())
}

/// Reads a length of time: `40ms`, `1s`, `2m`.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(examples::duration("40ms"), Ok(Duration::from_millis(40)));
/// assert_eq!(examples::duration("2m"), Ok(Duration::from_secs(120)));
/// assert!(examples::duration("40").is_err());
/// ```
///
/// # Errors
/// It is no whole number with one of these units, or is not above zero, or is more than a year.
pub fn duration(text: &str) -> Result<Duration, String> {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let millis = match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        _ => None,
    };
    let number = number.parse::<u64>().ok();
    let duration = number.zip(millis).and_then(|(number, millis)| number.checked_mul(millis));
    let duration = duration.map(Duration::from_millis);
    let duration = duration.filter(|duration| !duration.is_zero() && *duration <= YEAR);
    duration.ok_or_else(|| "a time above zero is wanted, such as 40ms, 1s or 2m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, millis) in [("1ms", 1), ("040ms", 40), ("1s", 1_000), ("2m", 120_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        let year = ["525600m", "31536000s"].map(duration);
        assert!(year[0].is_ok() && year[0] == year[1]);
        for text in [
            "",
            "0",
            "1",
            "0ms",
            "0s",
            "-1s",
            "+1s",
            "1.5s",
            "1e3ms",
            "s",
            "ms",
            "1 s",
            " 1s",
            "1s ",
            "1h",
            "1S",
            "1sm",
            "525601m",
            "99999999999999999999m",
            "18446744073709551615m",
            "１s",
        ] {
            assert!(duration(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn counts_are_whole_numbers() {
        for (text, number) in [("0", 0), ("1e6", 1_000_000), ("9007199254740992", 1 << 53)] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for text in ["", "x", "-1", "1.5", "1e-1", "nan", "inf", "1e400", "9007199254740993"] {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_this_version_lacks_is_refused() {
        assert!(web("127.0.0.1:7000").is_err_and(|e| e.contains("--web off")));
        assert!(web("off").is_ok());
    }
}
