//! What files are called.

use crate::id::CheckpointId;
use crate::key::key_hash;
use std::path::Path;
use uuid::Uuid;

/// The names of what a component of a job writes under checkpoints.
///
/// A draft is called `.{component}-{instance}-{owner}-{unique}.{extension}`: the owner is a hash of the
/// names of job and component, 16 digits, and the last part is used once, 32 digits. So whose a draft is
/// can be told from its end, whatever the names are that it begins with. When it is committed it becomes
/// `{component}-{instance}-{checkpoint}-{unique}.{extension}`, the checkpoint with 20 digits.
#[derive(Clone, Debug)]
pub(super) struct Names {
    component: String,
    owner: String,
    extension: &'static str,
}

impl Names {
    pub(super) fn new(job: &str, component: &str, extension: &'static str) -> Self {
        let owner = format!("{:016x}", key_hash(&(job, component)));
        Self { component: file_name(component), owner, extension }
    }

    pub(super) fn draft(&self, instance: usize, unique: Uuid) -> String {
        let Self { component, owner, extension } = self;
        format!(".{component}-{instance}-{owner}-{}.{extension}", unique.simple())
    }

    pub(super) fn target(&self, instance: usize, at: CheckpointId, unique: Uuid) -> String {
        let Self { component, extension, .. } = self;
        format!("{component}-{instance}-{:020}-{}.{extension}", at.0, unique.simple())
    }

    /// Whether `name` is one of [`draft`](Self::draft), of any instance.
    pub(super) fn is_draft(&self, name: &Path) -> bool {
        let is_draft = |name: &str| {
            let name = name.strip_prefix('.')?.strip_suffix(self.extension)?.strip_suffix('.')?;
            let (name, unique) = name.rsplit_once('-')?;
            let (name, owner) = name.rsplit_once('-')?;
            let (component, instance) = name.rsplit_once('-')?;
            let is_once = unique.len() == 32 && Uuid::try_parse(unique).is_ok();
            let is_ours = owner == self.owner && component == self.component;
            Some(is_once && is_ours && instance.parse::<usize>().is_ok())
        };
        name.to_str().and_then(is_draft) == Some(true)
    }
}

/// A component's name as the beginning of a file's: letters, digits, `-`, `_`, and dots but for a first
/// one stay, everything else is written as `%` and two digits for each of its bytes. Past 150 bytes it is
/// cut.
pub(super) fn file_name(component: &str) -> String {
    let mut name = String::new();
    for (i, c) in component.chars().enumerate() {
        let before = name.len();
        if c.is_alphanumeric() || matches!(c, '-' | '_') || (c == '.' && i > 0) {
            name.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                name.push_str(&format!("%{byte:02X}"));
            }
        }
        if name.len() > 150 {
            name.truncate(before);
            break;
        }
    }
    name
}
