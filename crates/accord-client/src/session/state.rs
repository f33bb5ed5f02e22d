//! What the agent last said about a session as a whole: modes, options, commands, title, usage.

use accord_protocol::v1::{
    AvailableCommand, SessionConfigOption, SessionModeState, SessionUpdate, UsageUpdate,
};

/// What the agent last said about a session as a whole.
///
/// Kept up to date in the order of the wire, also between turns. Each list replaces the one before it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionState {
    /// The modes it offers and the current one, if it has modes.
    pub modes: Option<SessionModeState>,
    /// Its configuration options with their current values, in the agent's order.
    pub config_options: Vec<SessionConfigOption>,
    /// The slash commands it takes.
    pub commands: Vec<AvailableCommand>,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// When it last changed, as the agent writes times.
    pub updated_at: Option<String>,
    /// How full its context is.
    pub usage: Option<UsageUpdate>,
}

impl SessionState {
    /// Takes in what an update says about the session as a whole; other updates change nothing.
    pub fn apply(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::AvailableCommandsUpdate(update) => {
                self.commands.clone_from(&update.available_commands);
            }
            SessionUpdate::ConfigOptionUpdate(update) => {
                self.config_options.clone_from(&update.config_options);
            }
            SessionUpdate::CurrentModeUpdate(update) => match &mut self.modes {
                Some(modes) => modes.current_mode_id = update.current_mode_id.clone(),
                None => self.modes = Some(SessionModeState::new(update.current_mode_id.clone(), Vec::new())),
            },
            SessionUpdate::SessionInfoUpdate(update) => {
                // Absent leaves what is known, null clears it.
                if !update.title.is_absent() {
                    self.title = update.title.get().cloned();
                }
                if !update.updated_at.is_absent() {
                    self.updated_at = update.updated_at.get().cloned();
                }
            }
            SessionUpdate::UsageUpdate(update) => self.usage = Some(update.clone()),
            _ => {}
        }
    }
}
