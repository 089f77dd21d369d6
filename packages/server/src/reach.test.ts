/** What a tab's tools may reach, as a person sets it: through the real doors, with the real tools. */
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endsTurn, rowsOf } from "./testing/frames.ts";
import { type House, openHouse, temporaryFolder } from "./testing/house.ts";
import { Stream } from "./testing/stream.ts";

let house: House;
let added: string;
beforeAll(async () => {
  added = temporaryFolder();
  const write = { path: join(added, "by-write.txt"), content: "x" };
  const command = `echo y > ${added}/by-bash.txt; ls -A "$0" ${process.env.HOME} > /dev/null; cat /proc/1/comm`;
  house = await openHouse({
    script: [
      {
        blocks: [
          { type: "tool_use", id: "c1", name: "write", input: write },
          { type: "tool_use", id: "c2", name: "bash", input: { command } },
        ],
      },
      { blocks: [{ type: "text", text: "done" }] },
    ],
  });
});
afterAll(async () => {
  await house[Symbol.asyncDispose]();
  rmSync(added, { recursive: true, force: true });
});

const patch = (id: string, options: unknown) => house.call("PATCH", `/api/tabs/${id}`, { options });

test("[HTTP-18] settings say whether this machine has a sandbox, and if not, why", async () => {
  const { json } = await house.call("GET", "/api/settings");
  const sandbox: unknown = Reflect.get(Object(json), "sandbox");
  expect(sandbox).toEqual(
    process.platform === "linux" && existsSync("/usr/bin/bwrap")
      ? expect.objectContaining({ available: expect.any(Boolean) })
      : { available: false, reason: expect.stringMatching(/\w{3,}.*\.$/) },
  );
});

test("[TAB-115] an added directory is kept by its real path, once; what may not be added is refused and changes nothing", async () => {
  const { id } = await house.tab();
  mkdirSync(join(house.project, "below"));
  symlinkSync(added, join(house.project, "link"));
  const link = join(house.project, "link");
  const options = { directories: [added] };
  expect(await patch(id, { directories: [link, added] })).toMatchObject({ status: 200, json: { options } });
  for (const path of [
    "/",
    dirname(realpathSync(house.home)),
    house.home,
    join(house.home, "x"),
    join(added, "none"),
    "rel",
  ]) {
    expect(await patch(id, { directories: [path] }), path).toMatchObject({
      status: 400,
      json: { error: { code: "bad-directory" } },
    });
  }
  for (const network of [["*", "a.example"], ["http://a.example"], ["a b"], ["a.example:99999"]]) {
    expect(await patch(id, { network }), network.join()).toMatchObject({
      status: 400,
      json: { error: { code: "bad-request" } },
    });
  }
  expect(await house.call("GET", `/api/tabs/${id}`)).toMatchObject({ json: { options } });
  const made = await house.call("POST", "/api/tabs", { cwd: house.project, options: { directories: ["/"] } });
  expect(made).toMatchObject({ status: 400, json: { error: { code: "bad-directory" } } });
  expect(await patch(id, { network: ["*"], sandbox: "required", directories: null })).toMatchObject({
    json: { options: { network: ["*"], sandbox: "required" } },
  });
});

test("[TAB-115] the tab's calls use what was added, and its commands the sandbox where there is one", async () => {
  const { id } = await house.tab({
    model: "openai-compatible/test-model",
    permissions: "allow",
    options: { directories: [added], sandbox: "on" },
  });
  const host = "127.0.0.1:4477";
  const headers = { host, authorization: `Bearer ${house.parts.token}` };
  const stream = new Stream(await house.parts.doors.app.request(`http://${host}/api/tabs/${id}/events`, { headers }));
  await house.call("POST", `/api/tabs/${id}/messages`, { id: "m1", text: "go" });
  await stream.next(endsTurn);
  const results = stream.frames.flatMap(rowsOf).flatMap((row) => (row.type === "tool_result" ? [row.data] : []));
  expect(results.map(({ isError }) => isError)).toEqual([false, expect.any(Boolean)]);
  expect(readFileSync(join(added, "by-write.txt"), "utf8")).toBe("x");
  expect(readFileSync(join(added, "by-bash.txt"), "utf8")).toBe("y\n");
  const found = await house.parts.operations.sandbox?.find();
  expect(results[1]?.details).toMatchObject({ sandbox: found?.available === true ? "bubblewrap" : "none" });
  if (found?.available === true) expect(results[1]?.result).toContain("bwrap");
  await stream.close();
});
