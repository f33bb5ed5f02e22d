//! Turns that only talk: text, reasoning, a question.

use std::time::Duration;

use accord_agent::{
    Error, Filled, Visit,
    protocol::{
        open::Ordered,
        v1::{ElicitationSchema, IntegerPropertySchema, StringPropertySchema},
    },
    runtime::{Projection, Turn},
};

/// How long a slow turn waits between two words.
const BEAT: Duration = Duration::from_millis(50);

/// `count` chunks of `size` bytes each.
pub(super) async fn stream(turn: &Turn, count: usize, size: usize) -> Result<(), Error> {
    let chunk = "x".repeat(size);
    for _ in 0..count {
        turn.say(chunk.as_str()).await?;
        beat(turn).await?;
    }
    Ok(())
}

pub(super) async fn think(turn: &Turn, text: String) -> Result<(), Error> {
    turn.think(format!("About: {text}")).await?;
    turn.say(text).await
}

/// The text in a few pieces, as a model would bring it.
pub(super) async fn echo(turn: &Turn, text: &str) -> Result<(), Error> {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    for piece in words.chunks(words.len().div_ceil(3).max(1)) {
        turn.say(piece.concat()).await?;
    }
    Ok(())
}

/// A client that sees no pieces gets each of them as a message of its own, so that it can watch.
async fn beat(turn: &Turn) -> Result<(), Error> {
    match turn.projection() {
        Projection::Live => Ok(()),
        _ => turn.end_message().await,
    }
}

/// A word each beat until the time is up or the turn is cancelled.
pub(super) async fn slow(turn: &Turn, milliseconds: u64) -> Result<(), Error> {
    let end = tokio::time::Instant::now() + Duration::from_millis(milliseconds);
    let mut word = 0;
    while tokio::time::Instant::now() < end {
        word += 1;
        turn.say(format!("word{word} ")).await?;
        beat(turn).await?;
        turn.or_cancelled(tokio::time::sleep(BEAT)).await?;
    }
    Ok(())
}

/// A form, where the client has forms.
pub(super) async fn ask(turn: &Turn) -> Result<(), Error> {
    let client = turn.client();
    if !client.has_forms() {
        return turn.say("this client has no forms").await;
    }
    let colours = ["red", "green"].map(str::to_owned);
    let schema = ElicitationSchema::new()
        .title("A few questions")
        .properties(Ordered::from([
            ("colour", StringPropertySchema::new().title("Colour").r#enum(colours).into()),
            ("count", IntegerPropertySchema::new().title("Count").minimum(1).maximum(9).into()),
        ]))
        .required(["colour".to_owned()]);
    match client.fill_in("Which colour, and how many?", schema).await {
        Ok(Filled::Accepted(values)) => {
            let told = serde_json::to_string(&values).map_err(|error| Error::internal(error.to_string()))?;
            turn.say(format!("accepted {told}")).await
        }
        Ok(Filled::Declined) => turn.say("declined").await,
        Ok(_) if turn.is_cancelled() => Err(Error::cancelled()),
        Ok(_) => turn.say("cancelled").await,
        Err(error) => turn.say(format!("no proper answer: {error}")).await,
    }
}

/// An address to open, where the client opens addresses.
pub(super) async fn visit(turn: &Turn) -> Result<(), Error> {
    let client = turn.client();
    if !client.has_visits() {
        return turn.say("this client opens no addresses").await;
    }
    match client.visit("Confirm it there", "https://example.org/confirm").await {
        Ok((id, Visit::Opened)) => {
            client.visited(id).await?;
            turn.say("opened").await
        }
        Ok(_) if turn.is_cancelled() => Err(Error::cancelled()),
        Ok(_) => turn.say("not opened").await,
        Err(error) => turn.say(format!("no proper answer: {error}")).await,
    }
}
