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
            let (_, owner) = name.rsplit_once('-')?;
            let is_once = unique.len() == 32 && Uuid::try_parse(unique).is_ok();
            Some(is_once && owner == self.owner)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[track_caller]
    fn check(component: &str, expected: &str) {
        assert_eq!(file_name(component), expected);
    }

    #[test]
    fn any_name_of_a_component_can_begin_one_of_a_file() {
        check("count-by_kind.2", "count-by_kind.2");
        check("a/b", "a%2Fb");
        check("../x", "%2E.%2Fx");
        check("a b%\u{0}", "a%20b%25%00");
        check("z\u{e4}hler \u{2192}", "z\u{e4}hler%20%E2%86%92");
        check(&"x".repeat(400), &"x".repeat(150));
        check(&"\u{e4}".repeat(400), &"\u{e4}".repeat(75));
    }

    #[test]
    fn whose_a_draft_is_can_be_told_whatever_the_names_are() {
        let long = "x".repeat(300);
        let parts = ["x", "x-0", "x-0-0", "", "a/b", "a%2Fb", &long, &long[1..]];
        let all = parts.iter().flat_map(|job| parts.map(|component| (*job, component)));
        let all: Vec<_> = all.map(|(job, part)| Names::new(job, part, "csv")).collect();
        for (i, a) in all.iter().enumerate() {
            let draft = a.draft(12, Uuid::now_v7());
            assert!(draft.starts_with('.') && draft.len() <= 255, "{draft}");
            for (j, b) in all.iter().enumerate() {
                assert_eq!(b.is_draft(draft.as_ref()), i == j, "{draft} of {b:?}");
            }
        }
    }

    #[test]
    fn targets_are_seen_sort_by_checkpoint_and_are_never_the_same() {
        let names = Names::new("job", "x", "csv");
        let at = [0, 9, 10, 1 << 40, u64::MAX].map(CheckpointId);
        let targets = at.map(|at| names.target(3, at, Uuid::now_v7()));
        assert!(targets.is_sorted(), "{targets:?}");
        assert!(targets[2].starts_with("x-3-00000000000000000010-"), "{targets:?}");
        let again = at.map(|at| names.target(3, at, Uuid::now_v7()));
        let all: BTreeSet<_> = targets.iter().chain(&again).collect();
        assert_eq!(all.len(), 2 * at.len());
        let longest = Names::new("job", &"x".repeat(400), "ndjson");
        assert!(longest.target(usize::MAX, CheckpointId::END, Uuid::now_v7()).len() <= 255);
    }
}
