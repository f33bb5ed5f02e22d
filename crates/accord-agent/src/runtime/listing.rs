//! `session/list`: pages of stored sessions, newest first.

use std::{fs, path::Path};

use accord_protocol::v1::{ListSessionsRequest, ListSessionsResponse, SessionInfo};

use super::backend::Backend;
use super::builder::Active;
use super::{Runtime, Shared, store_error};
use crate::{
    handler::{Error, Listing},
    store::{Key, Listed, Query},
};

/// Sessions on a page.
const PAGE: usize = 50;

impl<B: Backend> Listing for Runtime<B> {
    async fn list(&self, request: ListSessionsRequest) -> Result<ListSessionsResponse, Error> {
        let store =
            self.shared.parts.store.as_ref().ok_or_else(|| Error::method_not_found("session/list"))?;
        let mut query = Query::newest(PAGE);
        if self.shared.active == Active::Reopenable {
            query = query.with_active();
        }
        if let Some(cursor) = request.cursor.get() {
            let after: Key = cursor
                .parse()
                .map_err(|_| Error::invalid_params("cursor", "the nextCursor of an earlier page"))?;
            query = query.after(after);
        }
        if let Some(cwd) = request.cwd.get() {
            // A directory that has vanished since is found by the path it was stored under.
            let physical = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.clone());
            query = query.cwd(physical.to_string_lossy());
        }
        let page = store.list(query).await.map_err(store_error)?;
        let entries = page.entries.into_iter().map(|entry| self.shared.entry(entry));
        let mut response = ListSessionsResponse::new(entries.collect::<Vec<_>>());
        response.next_cursor = page.next.map(|key| key.to_string()).into();
        Ok(response)
    }
}

impl<B: Backend> Shared<B> {
    fn entry(&self, entry: Listed) -> SessionInfo {
        let mut info = SessionInfo::new(entry.header.id, Path::new(&entry.header.cwd));
        let directories = entry.directories.into_iter().map(Into::into).collect::<Vec<_>>();
        info.additional_directories = Some(directories).filter(|directories| !directories.is_empty());
        info.updated_at = iso_8601(entry.updated.unwrap_or(entry.header.created)).into();
        if self.parts.projection.shows_titles() {
            info.title = entry.title.into();
        }
        info
    }
}

/// Milliseconds since the epoch as `2026-08-22T12:34:56.789Z`.
fn iso_8601(milliseconds: u64) -> String {
    let (seconds, millis) = (milliseconds / 1000, milliseconds % 1000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Civil from days, counted in eras of 400 years that begin on a first of March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second % 3600 / 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::iso_8601;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (milliseconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_827_696_789, "2000-02-29T12:34:56.789Z"),
            (1_709_164_799_999, "2024-02-28T23:59:59.999Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59.000Z"),
            (4_102_444_800_000, "2100-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso_8601(milliseconds), expected);
        }
    }
}
