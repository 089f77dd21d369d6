/** `varve token`: named tokens for programs, through the running server. */
import { bearerRest } from "@varve/client/node";
import { type ErrorBody, isFault, unreachable } from "@varve/protocol";
import { findServer } from "@varve/server";
import type { TokenCommand } from "./arguments.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { exitCodeOf, sentenceOf } from "./say.ts";
import type { World } from "./world.ts";

type Rest = ReturnType<typeof bearerRest>;

export async function token(command: TokenCommand, world: World): Promise<ExitCode> {
  const server = await findServer(command.home, world);
  const printed = isFault(server)
    ? server
    : await carriedOut(command, bearerRest({ baseUrl: server.url, token: server.token }));
  if (typeof printed === "string") {
    world.out(printed);
    return exitCodes.done;
  }
  world.err(sentenceOf(printed));
  return exitCodeOf(printed);
}

/** What is printed, or why nothing is. */
async function carriedOut(command: TokenCommand, rest: Rest): Promise<string | ErrorBody> {
  switch (command.act) {
    case "add": {
      const { name, days } = command;
      const answer = await rest({
        method: "POST",
        path: "/tokens",
        body: { name, ...(days !== undefined && { days }) },
      });
      return answer.ok ? `${textOf(answer.body, "secret")}\n` : answer.error;
    }
    case "list": {
      const answer = await rest({ method: "GET", path: "/tokens" });
      return answer.ok ? listText(fieldOf(answer.body, "tokens")) : answer.error;
    }
    case "remove": {
      const answer = await rest({ method: "DELETE", path: `/tokens/${encodeURIComponent(command.id)}` });
      return answer.ok ? `${textOf(answer.body, "id")}\n` : answer.error;
    }
    default:
      return unreachable(command);
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
const textOf = (value: unknown, name: string): string => String(fieldOf(value, name) ?? "");

/** One JSON text a line, as everything that programs may read. */
const listText = (tokens: unknown): string =>
  (Array.isArray(tokens) ? tokens : []).map((one: unknown) => `${JSON.stringify(one)}\n`).join("");
