//! The files of a directory.

use std::ffi::OsString;
use std::io;
use std::path::Path;

/// The names of the files in a directory, sorted. Sub-folders, what is neither a file nor a link to
/// one, and names that begin with a dot are left out. A link that leads nowhere is not: opening it
/// says so.
pub(super) fn files_in(directory: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in directory.read_dir()? {
        let entry = entry?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        // Follows links, unlike `entry.metadata`.
        if entry.path().metadata().map_or(true, |about| about.is_file()) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_visible_files_in_the_order_of_their_names() {
        let name = format!("streamwork-directory-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir(&directory).unwrap();
        for name in ["b", "a10", "a9", ".hidden", "B"] {
            fs::write(directory.join(name), "").unwrap();
        }
        fs::create_dir(directory.join("folder")).unwrap();
        let names = files_in(&directory);
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(names.unwrap(), ["B", "a10", "a9", "b"]);
        assert_eq!(files_in(&directory).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
