//! What one run measured.

use std::collections::BTreeMap;

use serde::Serialize;

/// A thing that is measured, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Processor time of the process with all its threads, in milliseconds; of a client, less what an empty run takes.
    CpuMs,
    /// Time of the work by the clock on the wall, in milliseconds.
    WallMs,
    /// The most memory that was resident, in megabytes of 2^20 bytes.
    PeakMb,
    /// The median of the round trips, in microseconds.
    P50Us,
    /// The round trip that one in a hundred exceeds, in microseconds.
    P99Us,
    /// The median of the pages at the start of a list, in microseconds.
    FirstUs,
    /// The median of the pages at the end of a list, in microseconds.
    LastUs,
    /// From the start of the process to the answer to `initialize`, in milliseconds.
    StartMs,
    /// Memory that is resident while nothing happens, in megabytes of 2^20 bytes.
    IdleMb,
    /// From the end of its input to the end of the process, in milliseconds.
    ExitMs,
    /// Instructions outside the kernel for one repetition: an update, a pair of tool updates, a round trip.
    Instructions,
}

impl Metric {
    /// The heading of its column.
    pub fn label(self) -> &'static str {
        match self {
            Self::CpuMs => "CPU ms",
            Self::WallMs => "wall ms",
            Self::PeakMb => "peak MB",
            Self::P50Us => "p50 us",
            Self::P99Us => "p99 us",
            Self::FirstUs => "first us",
            Self::LastUs => "last us",
            Self::StartMs => "start ms",
            Self::IdleMb => "idle MB",
            Self::ExitMs => "exit ms",
            Self::Instructions => "instructions",
        }
    }
}

/// What one run measured.
pub type Sample = BTreeMap<Metric, f64>;

/// Milliseconds of a duration.
pub fn ms(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Megabytes of a count of kilobytes, as the kernel counts them.
#[expect(clippy::cast_precision_loss, reason = "a size in kilobytes is far below 2^52")]
pub fn mb(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1024.0
}

/// The median of the round trips and the one that one in a hundred exceeds, in microseconds.
#[expect(clippy::cast_precision_loss, reason = "a round trip in nanoseconds is far below 2^52")]
pub fn percentiles(mut nanoseconds: Vec<u64>) -> Option<(f64, f64)> {
    nanoseconds.sort_unstable();
    let last = nanoseconds.len().checked_sub(1)?;
    let at = |percent: usize| nanoseconds[last * percent / 100] as f64 / 1e3;
    Some((at(50), at(99)))
}
