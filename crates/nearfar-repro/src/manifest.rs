//! Which datasets there are: a small TOML file beside them.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Table;

use crate::error::{Error, Result};

/// The name of the file.
pub const FILE: &str = "datasets.toml";

/// The eight datasets of the paper as NPZ files, for a folder without a manifest of its own.
const EIGHT: &str = include_str!("../studies/datasets.toml");

/// One dataset.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub struct DatasetSpec {
    /// How studies name it.
    pub name: String,
    /// How tables name it; its name when not given.
    pub title: Option<String>,
    /// The file, from the manifest's folder.
    pub file: PathBuf,
    /// Number of clusters; that of the classes when not given.
    pub k: Option<usize>,
    /// Its column in the paper's tables.
    pub published: Option<String>,
    /// Whether the paper's figures are of the same samples.
    #[serde(default = "yes")]
    pub same_samples: bool,
    /// How to read it, by the names of the program's flags: truth, columns, scale, metric, …
    #[serde(flatten)]
    pub read: Table,
}

fn yes() -> bool {
    true
}

impl DatasetSpec {
    /// How tables name it.
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// All datasets of a folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// In the order of the tables' columns.
    #[serde(rename = "dataset")]
    pub datasets: Vec<DatasetSpec>,
}

impl Manifest {
    /// Of a folder: its own manifest, or that of the paper's eight as NPZ files, as far as they are there.
    ///
    /// # Errors
    /// When the manifest cannot be read or understood, or there is none and none of the eight.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let own = path.exists();
        let text =
            if own { std::fs::read_to_string(&path).map_err(Error::file(&path))? } else { EIGHT.to_owned() };
        let name = path.display().to_string();
        let mut manifest = Self::parse(&text, &name)?;
        for dataset in &mut manifest.datasets {
            dataset.file = folder.join(&dataset.file);
        }
        if own {
            if let Some(missing) = manifest.datasets.iter().find(|d| !d.file.exists()) {
                let file = missing.file.display();
                return Err(Error::wrong(
                    name,
                    format!("the file of {:?}, {file}, is not there", missing.name),
                ));
            }
        } else {
            manifest.datasets.retain(|dataset| dataset.file.exists());
        }
        if manifest.datasets.is_empty() {
            let problem = format!(
                "there is no {FILE} here, nor any of the paper's datasets as NPZ files (seeds.npz, orl.npz, …); \
                 write one: [[dataset]] with name, file, truth and, if you like, scale, k and title"
            );
            return Err(Error::wrong(folder.display().to_string(), problem));
        }
        Ok(manifest)
    }

    fn parse(text: &str, file: &str) -> Result<Self> {
        let manifest: Self =
            toml::from_str(text).map_err(|error| Error::wrong(file, error.to_string().trim().to_owned()))?;
        for (at, dataset) in manifest.datasets.iter().enumerate() {
            if manifest.datasets[..at].iter().any(|other| other.name == dataset.name) {
                return Err(Error::wrong(file, format!("two datasets are called {:?}", dataset.name)));
            }
        }
        Ok(manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eight_are_understood() {
        let manifest = Manifest::parse(EIGHT, "built in").unwrap();
        assert_eq!(manifest.datasets.len(), 8);
        assert_eq!(manifest.datasets.iter().filter(|d| !d.same_samples).count(), 2);
    }

    #[test]
    fn errors_name_the_file_and_what_is_wrong() {
        let twice = "[[dataset]]\nname = \"a\"\nfile = \"x\"\ntruth = \"y\"\n".repeat(2);
        assert_eq!(
            Manifest::parse(&twice, "m.toml").unwrap_err().to_string(),
            "m.toml: two datasets are called \"a\""
        );
        let nameless = "[[dataset]]\nfile = \"x\"\ntruth = \"y\"\n";
        let message = Manifest::parse(nameless, "m.toml").unwrap_err().to_string();
        assert!(message.contains("name") && message.contains("line 1"), "{message}");
    }
}
