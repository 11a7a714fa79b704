//! The commands. Each says whether all was well.

use super::report::Report;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::Write;
use std::path::Path;
use streamwork::{
    CheckpointId, CheckpointStore, DataDir, Found, Health, Latest, Manifest, ManifestKind, Restored,
};

fn open(path: &Path) -> Result<(DataDir, Box<dyn CheckpointStore>)> {
    let directory = DataDir::existing(path)?;
    let store = directory.store()?;
    Ok((directory, store))
}

pub(crate) fn list<W: Write>(path: &Path, report: &mut Report<W>) -> Result<bool> {
    let (directory, store) = open(path)?;
    let latest = directory.latest();
    let mut is_well = true;
    for found in Found::all(&*store)? {
        is_well &= found.health == Health::Good;
        let health = health(&found.health);
        let is_latest = latest.id() == Some(found.id);
        let mark = if is_latest { " (latest)" } else { "" };
        let Found { id, manifest, .. } = found;
        match manifest {
            Some(manifest) => {
                let (kind, bytes) = (kind(&manifest.kind), size(&manifest));
                let taken = &manifest.taken_at;
                report.line(
                    &format!("{id}  {kind}  taken {taken} ms  {bytes} bytes  {health}{mark}"),
                    [
                        ("checkpoint", id.0.into()),
                        ("kind", kind.clone().into()),
                        ("taken_at", (*taken).into()),
                        ("bytes", bytes.into()),
                        ("health", health.clone().into()),
                        ("latest", is_latest.into()),
                    ],
                )?;
            }
            None => report.line(
                &format!("{id}  {health}{mark}"),
                [
                    ("checkpoint", id.0.into()),
                    ("health", health.clone().into()),
                    ("latest", is_latest.into()),
                ],
            )?,
        }
    }
    Ok(is_well)
}

pub(crate) fn describe<W: Write>(
    path: &Path,
    id: CheckpointId,
    report: &mut Report<W>,
) -> Result<bool> {
    let (directory, store) = open(path)?;
    let restored = read(&directory, &*store, id)?;
    let manifest = &restored.manifest;
    let kind = kind(&manifest.kind);
    let Manifest { job, run, delivery, key_groups, taken_at, .. } = manifest;
    report.line(
        &format!(
            "checkpoint {id}  {kind}  job {job}  run {run}  {delivery}  {key_groups} key groups  taken \
             {taken_at} ms"
        ),
        [
            ("checkpoint", id.0.into()),
            ("kind", kind.clone().into()),
            ("job", job.clone().into()),
            ("run", run.clone().into()),
            ("delivery", delivery.clone().into()),
            ("key_groups", (*key_groups).into()),
            ("taken_at", (*taken_at).into()),
        ],
    )?;
    for component in &manifest.components {
        let chains = component.parts.iter().map(|part| &part.chain);
        let segments: usize = chains.clone().map(Vec::len).sum();
        let bytes: u64 = chains.flatten().map(|segment| segment.bytes).sum();
        let (name, role, parts) = (&component.name, &component.role, component.parts.len());
        let parallelism = component.parallelism;
        report.line(
            &format!(
                "{role} {name}  parallelism {parallelism}  {parts} parts  {segments} segments  {bytes} bytes"
            ),
            [
                ("component", name.clone().into()),
                ("role", role.clone().into()),
                ("parallelism", parallelism.into()),
                ("parts", parts.into()),
                ("segments", segments.into()),
                ("bytes", bytes.into()),
            ],
        )?;
    }
    for commit in &manifest.commits {
        let (component, instance, of) = (&commit.component, commit.instance, commit.checkpoint);
        report.line(
            &format!("commit of {component}[{instance}]  prepared at checkpoint {of}"),
            [
                ("commit", component.clone().into()),
                ("instance", instance.into()),
                ("prepared_at", of.0.into()),
            ],
        )?;
    }
    Ok(true)
}

pub(crate) fn verify<W: Write>(path: &Path, report: &mut Report<W>) -> Result<bool> {
    let (directory, store) = open(path)?;
    let found = Found::all(&*store)?;
    let mut damaged = 0;
    for found in &found {
        if let Health::Damaged(problem) = &found.health {
            damaged += 1;
            report.line(
                &format!("checkpoint {} is damaged: {problem}", found.id),
                [("checkpoint", found.id.0.into()), ("problem", problem.clone().into())],
            )?;
        }
    }
    let restored = Restored::read(&*store, &directory.latest(), None);
    let (next, is_well) = match &restored {
        Ok(Some(restored)) => (format!("restores checkpoint {}", restored.manifest.id), true),
        Ok(None) => ("begins anew".to_owned(), true),
        Err(error) => (format!("is refused: {error}"), false),
    };
    let good = found.len() - damaged;
    report.line(
        &format!("{good} good, {damaged} damaged; the next start {next}"),
        [("good", good.into()), ("damaged", damaged.into()), ("next_start", next.clone().into())],
    )?;
    Ok(is_well && damaged == 0)
}

pub(crate) fn export<W: Write>(
    path: &Path,
    id: CheckpointId,
    to: &Path,
    report: &mut Report<W>,
) -> Result<bool> {
    let (directory, store) = open(path)?;
    let restored = read(&directory, &*store, id)?;
    fs::create_dir_all(to).with_context(|| format!("cannot make {to:?}"))?;
    let mut entries = to.read_dir().with_context(|| format!("cannot read {to:?}"))?;
    if entries.next().is_some() {
        bail!("{to:?} is not empty");
    }
    let write = |name: &str, bytes: &[u8]| {
        let file = to.join(name);
        fs::write(&file, bytes).with_context(|| format!("cannot write {file:?}"))
    };
    let mut segments: Vec<_> =
        restored.manifest.segments().map(|segment| (segment.id, segment.bytes)).collect();
    segments.sort();
    segments.dedup();
    for (segment, _) in &segments {
        let name = format!("segment-{}-{}", segment.checkpoint, segment.number);
        write(&name, &store.segment(*segment)?)?;
    }
    // Last: with it, it is all there.
    write("manifest", &store.manifest(id)?)?;
    let bytes: u64 = segments.iter().map(|(_, bytes)| bytes).sum();
    let count = segments.len();
    report.line(
        &format!("checkpoint {id} is in {}: {count} segments, {bytes} bytes", to.display()),
        [
            ("checkpoint", id.0.into()),
            ("directory", to.display().to_string().into()),
            ("segments", count.into()),
            ("bytes", bytes.into()),
        ],
    )?;
    Ok(true)
}

pub(crate) fn delete<W: Write>(
    path: &Path,
    id: CheckpointId,
    report: &mut Report<W>,
) -> Result<bool> {
    let (directory, mut store) = open(path)?;
    if !store.manifests()?.contains(&id) {
        bail!("there is no checkpoint {id}");
    }
    store.remove_manifest(id)?;
    let latest = directory.latest().id();
    let left = latest.map_or_else(|| "none".to_owned(), |id| id.to_string());
    report.line(
        &format!("checkpoint {id} is deleted; the newest is {left}"),
        [("deleted", id.0.into()), ("latest", latest.map(|id| id.0).into())],
    )?;
    Ok(true)
}

/// One checkpoint, whatever else there is.
fn read(directory: &DataDir, store: &dyn CheckpointStore, id: CheckpointId) -> Result<Restored> {
    let latest: Latest = directory.latest();
    let restored = Restored::read(store, &latest, Some(id))?;
    restored.with_context(|| format!("there is no checkpoint {id}"))
}

fn health(health: &Health) -> String {
    match health {
        Health::Good => "good".to_owned(),
        Health::Damaged(problem) => format!("damaged: {problem}"),
        _ => "unknown".to_owned(),
    }
}

fn kind(kind: &ManifestKind) -> String {
    match kind {
        ManifestKind::Periodic => "periodic".to_owned(),
        ManifestKind::Savepoint(name) => format!("savepoint {name:?}"),
        ManifestKind::Stopped => "stopped".to_owned(),
        ManifestKind::Finished => "finished".to_owned(),
        _ => "unknown".to_owned(),
    }
}

fn size(manifest: &Manifest) -> u64 {
    manifest.segments().map(|segment| segment.bytes).sum()
}
