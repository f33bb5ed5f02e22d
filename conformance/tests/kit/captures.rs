//! The witness on recorded sessions of published agents: it must find their known faults, and no others.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;

use accord_conformance::wire::frame::Direction;
use accord_conformance::wire::recording::Recording;
use accord_conformance::wire::witness::judge;

use crate::fixtures::captures;

/// What was looked at by hand in the recordings and is a true fault. `ACP-SCHEMA-002` and `ACPX-EXT-009` are members of the draft
/// schema; `ACPX-PROMPT-014` is a turn that the agent begins by itself.
const KNOWN: &str = "\
auggie: ACPX-EXT-001 ACPX-PERM-003
claude: ACP-SCHEMA-002 ACPX-COMPACT-002 ACPX-EXT-001 ACPX-EXT-006 ACPX-EXT-009
codex: ACP-RESUME-002 ACP-SCHEMA-002 ACPX-CONFIG-015 ACPX-EXT-001 ACPX-EXT-006 ACPX-EXT-009 ACPX-TOOL-007 ACPX-TOOL-008
copilot: ACP-SCHEMA-002 ACPX-CONFIG-015 ACPX-SESS-013 ACPX-TOOL-007
deepagents: ACP-SCHEMA-001 ACPX-PERM-003
fast: ACP-RESUME-002
gemini: ACP-LOAD-002 ACPX-EXT-001 ACPX-PERM-003 ACPX-TOOL-005
hermes: ACP-AUTH-002 ACP-CANCEL-001 ACP-SCHEMA-002 ACPX-EXT-001 ACPX-EXT-009 ACPX-PERM-003 ACPX-TOOL-007
opencode: ACP-CLIENTCAP-001 ACP-SCHEMA-002 ACPX-EXT-009
qwen: ACPX-EXT-001 ACPX-EXT-002 ACPX-PROMPT-014
tee: ACP-SCHEMA-002 ACPX-EXT-001 ACPX-EXT-009
zed: ACPX-EXT-001 ACPX-EXT-009 ACPX-TOOL-007 ACPX-TOOL-009
";

#[test]
fn published_agents_show_their_known_faults_and_no_others() {
    let files = captures();
    if files.is_empty() {
        eprintln!("skipped: there are no recordings here; ACCORD_CAPTURES names their folder");
        return;
    }
    let mut found = BTreeSet::new();
    for path in files {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a file name").to_owned();
        let recording = Recording::read(BufReader::new(File::open(&path).unwrap())).unwrap();
        let agent = name.split('-').next().expect("a first part").to_owned();
        for finding in judge(&recording.frames).findings {
            if finding.direction == Direction::ToClient && found.insert((agent.clone(), finding.id)) {
                println!("{agent} {} {name}:{} {}", finding.id, finding.frame + 1, finding.text);
            }
        }
    }
    let agents: BTreeSet<&String> = found.iter().map(|(agent, _)| agent).collect();
    let told: String = agents
        .into_iter()
        .map(|agent| {
            let ids = found.iter().filter(|(other, _)| other == agent);
            let ids: Vec<&str> = ids.map(|(_, id)| *id).collect();
            [agent, ": ", &ids.join(" "), "\n"].concat()
        })
        .collect();
    assert_eq!(told, KNOWN);
}
