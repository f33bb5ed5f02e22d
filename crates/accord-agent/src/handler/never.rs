//! The groups of methods of an agent that does not have them.

use accord_protocol::{
    unstable::{ForkSessionRequest, ForkSessionResponse},
    v1::{
        AuthMethod, AuthMethodId, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
        LoadSessionResponse, ResumeSessionRequest, ResumeSessionResponse, SessionConfigOption, SessionId,
        SessionModeId, SetSessionConfigOptionRequest,
    },
};

use super::{
    Auth, Closing, Config, Deleting, Error, Forking, Listing, Loading, LoggingOut, Modes, Never, Resuming,
    Reviving,
};
use crate::session::Session;

impl Listing for Never {
    async fn list(&self, _: ListSessionsRequest) -> Result<ListSessionsResponse, Error> {
        match *self {}
    }
}

impl Loading for Never {
    async fn load(&self, _: LoadSessionRequest, _: Session) -> Result<LoadSessionResponse, Error> {
        match *self {}
    }
}

impl Resuming for Never {
    async fn resume(&self, _: ResumeSessionRequest) -> Result<ResumeSessionResponse, Error> {
        match *self {}
    }
}

impl Forking for Never {
    async fn fork(&self, _: ForkSessionRequest) -> Result<ForkSessionResponse, Error> {
        match *self {}
    }
}

impl Reviving for Never {
    async fn revive(&self, _: SessionId) -> Result<(), Error> {
        match *self {}
    }
}

impl Closing for Never {
    async fn close(&self, _: SessionId) -> Result<(), Error> {
        match *self {}
    }
}

impl Deleting for Never {
    async fn delete(&self, _: SessionId) -> Result<(), Error> {
        match *self {}
    }
}

impl Modes for Never {
    async fn set_mode(&self, _: SessionId, _: SessionModeId) -> Result<(), Error> {
        match *self {}
    }
}

impl Config for Never {
    async fn set_option(&self, _: SetSessionConfigOptionRequest) -> Result<Vec<SessionConfigOption>, Error> {
        match *self {}
    }
}

impl Auth for Never {
    fn methods(&self) -> Vec<AuthMethod> {
        match *self {}
    }

    async fn ready(&self) -> Result<(), Error> {
        match *self {}
    }

    async fn authenticate(&self, _: AuthMethodId) -> Result<(), Error> {
        match *self {}
    }
}

impl LoggingOut for Never {
    async fn logout(&self) -> Result<(), Error> {
        match *self {}
    }
}
