//! A source of one's own: it reads the pages of a service, and has a position to go on at.
//!
//! ```text
//! cargo run --release --bin own-source -- --log off
//! ```
//!
//! The service is a bad one: it does not answer the second request, and it sends nonsense once, which
//! makes the source panic. The engine calls the source again after the one, and builds it anew at its
//! position after the other, so each order comes once:
//!
//! ```text
//! orders 1 2 3 4 5 6 7 8 9
//! pages asked for: 0 1 1 2 2 3
//! failed reads 1, restarts 1
//! ```

use clap::Parser;
use examples::LogArgs;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use streamwork::prelude::*;

/// Has nine orders on three pages. Its clones are one service.
#[derive(Clone, Default)]
struct Service {
    asked: Arc<Mutex<Vec<u64>>>,
}

impl Service {
    /// The orders on a page; none behind the last one.
    async fn page(&self, number: u64) -> Result<Vec<String>> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(number);
        match asked.len() {
            2 => Err("the service does not answer".into()),
            4 => Ok(vec!["nonsense".to_owned()]),
            _ => Ok((1..=9).skip(3 * number as usize).take(3).map(|n| format!("#{n}")).collect()),
        }
    }
}

/// Reads the orders of a service, page by page.
#[derive(Component, Clone)]
struct Orders {
    service: Service,
    /// The position: the engine has a copy of it after each call that went well.
    #[state]
    page: u64,
}

impl Source for Orders {
    type Out = u64;

    /// There is one list of pages, so one instance reads it, however many there are.
    fn splits(&self) -> Result<Splits> {
        Ok(Splits::Fixed(1))
    }

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        // Wait first and emit then: a job that ends meanwhile loses nothing that was counted.
        let orders = self.service.page(self.page).await?;
        if orders.is_empty() {
            return Ok(Progress::End);
        }
        for order in orders {
            // A promise that is not kept is a panic here, to show what becomes of one.
            let number = order.strip_prefix('#').and_then(|number| number.parse().ok());
            out.emit(number.expect("the service promised to number its orders"));
        }
        self.page += 1;
        Ok(Progress::More)
    }
}

/// Reads the pages of a service by a source that has a position
#[derive(Parser)]
#[command(name = "own-source", version)]
struct Args {
    #[command(flatten)]
    log: LogArgs,
}

fn main() -> ExitCode {
    examples::exit(run())
}

fn run() -> anyhow::Result<()> {
    let Args { log } = Args::parse();
    log.start();
    let service = Service::default();
    let orders = Collect::new();
    let job = Job::new("own-source");
    job.source(Orders { service: service.clone(), page: 0 }).sink(orders.clone());
    let outcome = Engine::new().run(job)?;

    let words =
        |numbers: Vec<u64>| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let asked = service.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (orders, asked) = (words(orders.take()), words(asked));
    let (failed, restarts) = (outcome.failed(), outcome.restarts());
    Ok(examples::say(&format!(
        "orders {orders}\npages asked for: {asked}\nfailed reads {failed}, restarts {restarts}\n"
    ))?)
}
