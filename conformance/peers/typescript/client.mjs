// A client on the official TypeScript SDK: client.mjs AGENT_COMMAND PROMPT.
import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { PROTOCOL_VERSION, client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const [command, prompt] = process.argv.slice(2);
const slow = "ACPBENCH_SLOW" in process.env;
// Quotes keep an argument together, as in the other clients.
const [program, ...rest] = command.match(/'[^']*'|"[^"]*"|[^\s'"]+/g).map((word) => word.replace(/^(['"])(.*)\1$/, "$2"));
const child = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
let count = 0;
let bytes = 0;

await client({ name: "typescript-client" })
  .onNotification(methods.client.session.update, async ({ params: { update } }) => {
    if (update.content?.type === "text") bytes += update.content.text.length;
    count += 1;
    if (slow && count % 100 === 0) await setTimeout(1);
  })
  .onRequest(methods.client.session.requestPermission, ({ params }) => ({
    outcome: { outcome: "selected", optionId: params.options[0].optionId },
  }))
  .connectWith(stream, async (agent) => {
    await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: "/tmp", mcpServers: [] });
    const began = performance.now();
    await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: prompt }] });
    console.log(JSON.stringify({ count, bytes, elapsed_ms: performance.now() - began }));
  });
child.stdin.end();
child.kill();
