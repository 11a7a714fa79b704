//! Chapters 5 and 10: how much the system is used, in numbers that are right after failures.

mod analyzer;
mod cents;
mod payment;
mod source;
mod totals;

pub use analyzer::{UsageAnalyzer, Verdict};
pub use payment::{LineError, Payment, random_payment};
pub use source::PaymentSource;
pub use totals::{Report, Totals, UsageTotals};

use super::Setting;
use std::path::Path;
use streamwork::prelude::*;

/// The name of the sink that writes files.
const WRITER: &str = "usage writer";

/// The components of the job. The last one is there if it has an output.
pub const SYSTEM_USAGE: [&str; 4] =
    [PaymentSource::NAME, UsageAnalyzer::NAME, UsageTotals::NAME, WRITER];

/// Counts transactions, fraud and money: `transaction source` -> `system usage analyzer` -> `usage
/// writer`, which writes a verdict on each transaction into a file in `output`, if there is one. At the
/// end what the analyzers have counted goes to `usage totals`, which leaves the sums in `report`.
///
/// ```
/// use examples::jobs::usage::{Report, system_usage};
/// use examples::{Console, Setting};
/// use streamwork::prelude::*;
///
/// let lines = FromIter::new(["42.00,3", "abc", "800,1"].map(String::from));
/// let report = Report::default();
/// let setting = Setting::printing_to(Console::memory());
/// let outcome = Engine::new().run(system_usage(lines, 2, None, &report, &setting)).unwrap();
/// let totals = report.get().unwrap();
/// assert_eq!((totals.transactions, totals.fraud, totals.cents), (2, 1, 84_200));
/// assert_eq!(outcome.failed(), 1);
/// ```
pub fn system_usage<S>(
    lines: S,
    parallelism: usize,
    output: Option<&Path>,
    report: &Report,
    setting: &Setting,
) -> Job
where
    S: Source<Out = String> + Clone,
{
    let job = Job::new("system-usage").delivery(setting.delivery);
    let source = job.source(setting.faulty(PaymentSource::new(lines)));
    let verdicts = setting
        .pace(source)
        .key_by_value(Payment::part)
        .apply(setting.faulty(UsageAnalyzer))
        .parallelism(parallelism);
    verdicts
        .channel(UsageAnalyzer::TOTALS)
        .group(Global)
        .apply(setting.faulty(UsageTotals::reporting_to(report)));
    if let Some(directory) = output {
        let writer = NdjsonFiles::<Verdict>::in_dir(directory);
        verdicts
            .group(Forward)
            .sink(setting.faulty_as(WRITER, writer))
            .named(WRITER)
            .parallelism(parallelism);
    }
    job
}
