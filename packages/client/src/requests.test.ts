import { expect, test } from "vitest";
import { Listeners } from "./listeners.ts";
import { type Reply, Requests, requestsMax } from "./requests.ts";
import { turns } from "./test-kit/net.ts";

test("[CLIENT-9] a reply comes exactly once, to the command that it names", () => {
  const requests = new Requests();
  const replies: [string, Reply["kind"]][] = [];
  const [a, b, c] = ["a", "b", "c"].map((name) => requests.open((reply) => replies.push([name, reply.kind])));
  requests.take({ type: "ack", re: b ?? 0, state: "done" });
  requests.take({ type: "ack", re: b ?? 0, state: "done" });
  requests.take({ type: "err", re: a ?? 0, code: "tab-running", message: "m" });
  requests.take({ type: "err", code: "bad-json", message: "names nothing" });
  requests.take({ type: "ack", re: 999, state: "done" });
  requests.done(c ?? 0);
  requests.loseAll();
  expect(replies).toEqual([
    ["b", "ack"],
    ["a", "err"],
  ]);
});
test("[CLIENT-9] an error code that this client does not know counts as internal", () => {
  const requests = new Requests();
  const replies: Reply[] = [];
  const re = requests.open((reply) => replies.push(reply)) ?? 0;
  requests.take({ type: "err", re, code: "brand-new", message: "m" });
  expect(replies).toEqual([{ kind: "err", error: { code: "internal", message: "m" } }]);
});
test("[CLIENT-9] answers awaited at once are bounded", () => {
  const requests = new Requests();
  let lost = 0;
  for (let i = 0; i < requestsMax; i++) expect(requests.open(() => (lost += 1))).toBe(i + 1);
  expect(requests.open(() => {})).toBeNull();
  requests.loseAll();
  expect(lost).toBe(requestsMax);
  expect(requests.open(() => {})).toBe(requestsMax + 1);
});
test("[CLIENT-14] a listener that leaves, or comes, while others are told", async () => {
  const listeners = new Listeners();
  const heard: string[] = [];
  const leave = listeners.add(() => heard.push("second"));
  const stop = listeners.add(() => heard.push("third"));
  listeners.add(() => {
    heard.push("first");
    stop();
  });
  leave();
  listeners.add(() => heard.push("last"));
  listeners.changed();
  listeners.changed();
  await turns();
  expect(heard).toEqual(["third", "first", "last"]);
  listeners.changed();
  await turns();
  expect(heard.slice(3)).toEqual(["first", "last"]);
  listeners.clear();
  listeners.changed();
  await turns();
  expect(heard).toHaveLength(5);
});
