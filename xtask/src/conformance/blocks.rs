//! Several runs of the kit one after another: each with its heading and its report, and one word on all of them at the end.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::cargo::root;

/// The runs so far.
pub(super) struct Blocks {
    kit: PathBuf,
    reports: PathBuf,
    /// What was asked for on the command line.
    pub(super) flags: Vec<String>,
    done: Vec<Block>,
}

struct Block {
    name: &'static str,
    title: &'static str,
    holds: bool,
}

impl Blocks {
    /// The reports go beside the kit.
    pub(super) fn beside(kit: &Path, flags: &[String]) -> Result<Self, String> {
        let reports = kit.parent().unwrap_or(Path::new(".")).join("conformance");
        fs::create_dir_all(&reports).map_err(|error| format!("{}: {error}", reports.display()))?;
        Ok(Self { kit: kit.to_owned(), reports, flags: flags.to_vec(), done: Vec::new() })
    }

    /// Whether single checks were asked for.
    pub(super) fn chosen(&self) -> bool {
        self.flags.iter().any(|flag| flag == "--only" || flag.starts_with("--only="))
    }

    /// Runs the kit with these arguments; a failure is told at the end, so that all runs come about.
    pub(super) fn run(&mut self, name: &'static str, title: &'static str, call: &[String]) {
        println!("\n──── {title}\n");
        let mut kit = Command::new(&self.kit);
        let (command, rest) = call.split_at(1);
        kit.args(command);
        for (form, end) in [("html", "html"), ("json", "json"), ("junit", "xml")] {
            let path = self.reports.join(name).with_extension(end);
            // A report of an earlier run would be taken for this one's.
            let _ = fs::remove_file(&path);
            kit.arg(format!("--{form}={}", path.display()));
        }
        let status = kit.args(rest).status();
        if let Err(error) = &status {
            println!("{}: {error}", self.kit.display());
        }
        self.done.push(Block { name, title, holds: status.is_ok_and(|status| status.success()) });
    }

    /// A line for each run, and one for all.
    pub(super) fn sum(&self) -> Result<(), String> {
        println!("\n──── all runs\n");
        for block in &self.done {
            let verdict = if block.holds { "holds" } else { "FAILS" };
            println!("  {verdict}  {:<62} {}", block.title, self.counts(block.name));
        }
        let all = self.done.len();
        let failed: Vec<&str> =
            self.done.iter().filter(|block| !block.holds).map(|block| block.title).collect();
        let reports = self.reports.strip_prefix(root()).unwrap_or(&self.reports).display();
        let told = format!("{} of {all} runs hold; the reports: {reports}/*.html", all - failed.len());
        if failed.is_empty() {
            println!("\nconformance: {told}");
            Ok(())
        } else {
            Err(format!("{told}; what fails: {}", failed.join("; ")))
        }
    }

    /// What the report for programs says.
    fn counts(&self, name: &str) -> String {
        let path = self.reports.join(name).with_extension("json");
        let report: Value =
            fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let steps = report["scenario"].as_array().map_or(0, Vec::len);
        let of = |verdict: &str| report["counts"][verdict].as_u64().unwrap_or_default();
        let checks = ["passed", "failed", "skipped", "inconclusive"].map(|verdict| (of(verdict), verdict));
        let steps = (steps > 0).then(|| format!("{steps} steps"));
        let checks = checks
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, verdict)| format!("{count} {verdict}"));
        steps.into_iter().chain(checks).collect::<Vec<_>>().join(", ")
    }
}
