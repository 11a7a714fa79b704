//! The options that choose what is promised about each event, and where that is kept.

use crate::duration;
use crate::run::Usage;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use streamwork::{CheckpointId, Delivery, Engine, MemoryStore};

/// The options that choose the delivery.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Delivery")]
pub(crate) struct DeliveryArgs {
    /// What is promised about each event: at-most-once, at-least-once-checkpoints or exactly-once. What is
    /// printed while the job runs may repeat after a failure, also under exactly-once; state and files
    /// do not
    #[arg(long, value_name = "SEMANTIC", default_value = "at-most-once", value_parser = semantic)]
    delivery: Semantic,

    /// The time between two checkpoints, such as 40ms, 1s or 2m [default: 1s]
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true)]
    checkpoint_interval: Option<Duration>,

    /// Where the job keeps its checkpoints, and goes on from when it is started again; made if missing
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// Begin anew: what the data directory holds is moved aside
    #[arg(long)]
    fresh: bool,

    /// Go on from this checkpoint and not from the newest. What was processed after it is processed again,
    /// and written again to files
    #[arg(long, value_name = "N", conflicts_with = "fresh")]
    restore_from: Option<u64>,

    /// Whether checkpoints are kept in memory where there is no directory.
    #[arg(skip)]
    in_memory: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Semantic {
    AtMostOnce,
    AtLeastOnceCheckpoints,
    ExactlyOnce,
}

impl DeliveryArgs {
    /// The time between two checkpoints where none is given.
    const INTERVAL: Duration = Duration::from_secs(1);

    /// What is promised.
    ///
    /// # Errors
    /// Options that do not go together.
    pub(crate) fn delivery(&self) -> Result<Delivery, Usage> {
        if self.fresh && self.data_dir.is_none() {
            return Err(Usage::new("--fresh needs --data-dir DIR: what is there is moved aside"));
        }
        if self.restore_from.is_some() && self.data_dir.is_none() {
            return Err(Usage::new("--restore-from needs --data-dir DIR: the checkpoint is there"));
        }
        let interval = self.checkpoint_interval.unwrap_or(Self::INTERVAL);
        let delivery = match self.delivery {
            Semantic::AtMostOnce => Delivery::at_most_once(),
            Semantic::AtLeastOnceCheckpoints => Delivery::at_least_once_by_checkpoints(interval),
            Semantic::ExactlyOnce => Delivery::exactly_once(interval),
        };
        let checkpoints = delivery.checkpoints().is_some();
        if checkpoints && self.data_dir.is_none() && !self.in_memory {
            return Err(Usage::new(format!(
                "--delivery {delivery} needs --data-dir DIR: its checkpoints are kept there"
            )));
        }
        if !checkpoints && self.checkpoint_interval.is_some() {
            return Err(Usage::new(format!(
                "--checkpoint-interval is for --delivery at-least-once-checkpoints or exactly-once: \
                 {delivery} takes no checkpoints"
            )));
        }
        if !checkpoints && self.restore_from.is_some() {
            return Err(Usage::new(format!(
                "--restore-from is for --delivery at-least-once-checkpoints or exactly-once: {delivery} \
                 goes on from no checkpoint"
            )));
        }
        Ok(delivery)
    }

    /// Keeps checkpoints in memory where no directory is given.
    pub(crate) fn keeping_in_memory(self) -> Self {
        Self { in_memory: true, ..self }
    }

    /// The engine, which knows where checkpoints are kept.
    pub(crate) fn engine(&self) -> Engine {
        let engine = match &self.data_dir {
            Some(path) => Engine::new().data_dir(path),
            None if self.in_memory => Engine::new().store(MemoryStore::new()),
            None => Engine::new(),
        };
        match self.restore_from {
            Some(id) => engine.restore_from(CheckpointId(id)),
            None if self.fresh => engine.fresh(),
            None => engine,
        }
    }
}

fn semantic(text: &str) -> Result<Semantic, &'static str> {
    match text {
        "at-most-once" => Ok(Semantic::AtMostOnce),
        "at-least-once-checkpoints" => Ok(Semantic::AtLeastOnceCheckpoints),
        "exactly-once" => Ok(Semantic::ExactlyOnce),
        "at-least-once" => Err("this version tracks no acknowledgements; use \
                                at-least-once-checkpoints or exactly-once"),
        _ => Err(
            "no such delivery; there are at-most-once, at-least-once-checkpoints and exactly-once",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use streamwork::Checkpoints;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        delivery: DeliveryArgs,
    }

    /// What the options come to: a delivery, or what is wrong with them together.
    fn read(options: &str) -> Result<Delivery, String> {
        let options = ["program"].into_iter().chain(options.split_whitespace());
        let Options { delivery } = Options::try_parse_from(options).map_err(|e| e.to_string())?;
        delivery.delivery().map_err(|usage| usage.to_string())
    }

    #[test]
    fn a_semantic_has_its_checkpoints() {
        assert_eq!(read(""), Ok(Delivery::at_most_once()));
        assert_eq!(read("--data-dir d --fresh"), Ok(Delivery::at_most_once()));
        let default = Delivery::exactly_once(Duration::from_secs(1));
        assert_eq!(read("--delivery exactly-once --data-dir d"), Ok(default));
        let often = Checkpoints::every(Duration::from_millis(40));
        let options =
            "--delivery at-least-once-checkpoints --data-dir d --checkpoint-interval 40ms";
        assert_eq!(read(options), Ok(Delivery::at_least_once_by_checkpoints(often)));
    }

    #[test]
    fn what_does_not_go_together_is_named() {
        for (options, parts) in [
            ("--fresh", ["--fresh", "--data-dir"]),
            ("--delivery exactly-once", ["exactly-once", "--data-dir"]),
            ("--delivery at-least-once-checkpoints", ["at-least-once-checkpoints", "--data-dir"]),
            ("--checkpoint-interval 1s", ["--checkpoint-interval", "at-most-once takes no"]),
            ("--delivery at-least-once", ["at-least-once-checkpoints", "exactly-once"]),
            ("--restore-from 3 --delivery exactly-once", ["--restore-from", "--data-dir"]),
            ("--restore-from 3 --data-dir d", ["--restore-from", "at-most-once goes on"]),
            ("--restore-from 3 --data-dir d --fresh", ["--restore-from", "--fresh"]),
            ("--delivery twice", ["no such delivery", "at-most-once"]),
        ] {
            let problem = read(options).unwrap_err();
            for part in parts {
                assert!(problem.contains(part), "{part:?} is wanted in: {problem}");
            }
        }
    }

    #[test]
    fn a_program_may_keep_them_in_memory() {
        let options = Options::parse_from(["program", "--delivery", "exactly-once"]);
        assert!(options.delivery.delivery().is_err());
        assert!(options.delivery.keeping_in_memory().delivery().is_ok());
    }

    #[test]
    fn the_engine_is_told_of_the_directory() {
        let options = ["program", "--data-dir", "kept", "--fresh"];
        let engine = Options::parse_from(options).delivery.engine();
        let text = format!("{engine:?}");
        assert!(text.contains("\"kept\"") && text.contains("fresh: true"), "{text}");
        let options = ["program", "--data-dir", "kept", "--restore-from", "17"];
        let engine = Options::parse_from(options).delivery.engine();
        let text = format!("{engine:?}");
        assert!(text.contains("17") && text.contains("fresh: false"), "{text}");
    }
}
