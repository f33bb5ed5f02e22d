// An agent on the official TypeScript SDK that does what accord-bench asks of it.
import { Readable, Writable } from "node:stream";
import { agent, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const LINE = "The quick brown fox jumps over the lazy dog; fn main() {}\n";
const DONE = { stopReason: "end_turn" };
let sessions = 0;

const text = (bytes) => LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes);
const chunk = (words) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } });

const works = {
  async stream({ update }, count, bytes) {
    const words = text(bytes);
    for (let i = 0; i < count; i++) await update(chunk(words));
  },
  async tools({ update }, count) {
    const edited = text(2048);
    for (let i = 0; i < count; i++) {
      const toolCallId = `call-${i}`;
      await update({ sessionUpdate: "tool_call", toolCallId, title: "Edit src/main.rs", kind: "edit", status: "pending" });
      const content = [{ type: "diff", path: "/project/src/main.rs", newText: edited }];
      await update({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", content });
    }
  },
  async permit({ client, sessionId }, count) {
    const options = [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "reject", name: "Reject", kind: "reject_once" },
    ];
    for (let i = 0; i < count; i++) {
      const toolCall = { toolCallId: `call-${i}`, title: "Edit src/main.rs" };
      await client.request(methods.client.session.requestPermission, { sessionId, toolCall, options });
    }
  },
};

async function turn({ client, params: { sessionId, prompt } }) {
  const words = prompt[0].text;
  const update = (body) => client.notify(methods.client.session.update, { sessionId, update: body });
  if (words.startsWith("echo ")) {
    await update(chunk(words.slice("echo ".length)));
  } else if (words !== "ping") {
    const [name, ...numbers] = words.split(" ");
    await works[name]({ client, sessionId, update }, ...numbers.map(Number));
  }
  return DONE;
}

agent({ name: "typescript-agent" })
  .onRequest(methods.agent.initialize, ({ params }) => ({ protocolVersion: params.protocolVersion, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: `sess-${++sessions}` }))
  .onRequest(methods.agent.session.prompt, turn)
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
