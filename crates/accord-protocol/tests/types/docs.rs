//! What a reader of the documentation finds about every message: who sends it, and the specification's page.

use std::{collections::BTreeMap, fs, path::Path};

use accord_protocol::v1::{AgentNotification, AgentRequest, ClientNotification, ClientRequest};

/// The documentation of every type in `v1`, by the type's name.
fn documentation() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/v1")).expect("the sources") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("it reads");
        let mut docs = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(doc) = line.strip_prefix("///") {
                docs.push_str(doc);
                docs.push('\n');
                continue;
            }
            let item = ["struct", "message", "part", "enum"]
                .into_iter()
                .find_map(|kind| line.strip_prefix("pub ")?.strip_prefix(kind)?.strip_prefix(' '));
            if let Some(name) = item.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric()).next()) {
                found.insert(name.to_owned(), docs.clone());
            }
            if !line.starts_with("#[") {
                docs.clear();
            }
        }
    }
    found
}

#[test]
fn every_message_names_its_sender_and_its_page() {
    let docs = documentation();
    let mut wanted: Vec<(&str, String)> = Vec::new();
    for (sender, answerer, methods) in
        [("client", "agent", ClientRequest::METHODS), ("agent", "client", AgentRequest::METHODS)]
    {
        for (_, params, answer) in methods {
            wanted.push((params, format!("Sent by the {sender}; answered with [`{answer}`].")));
            wanted.push((answer, format!("The {answerer}'s answer to [`{params}`].")));
        }
    }
    for (_, params) in [ClientNotification::METHODS, AgentNotification::METHODS].concat() {
        wanted.push((params, "Sent by ".to_owned()));
    }
    for (name, sender) in wanted {
        let said = &docs[name];
        assert!(said.contains(&sender), "{name}: {said}");
        assert!(said.contains("](https://agentclientprotocol.com/protocol/v1/"), "{name}: {said}");
    }
}
