/** A model that says, thinks, reads and asks whatever the attacks are. Which of it, a message tells by its first word. */
import { call, freshText, say } from "../e2e/scripted-agent.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply, ReplyFunction } from "../provider/script.ts";
import type { Attack } from "./attacks.ts";

/** A file for each attack, named like it as far as a file can be. */
export const fileName = ({ text }: Attack, index: number): string =>
  `${index} ${text
    .replace(/[/\0\n\r]/g, "|")
    .toWellFormed()
    .slice(0, 60)}`;

export interface HostileTexts {
  readonly attacks: readonly Attack[];
  readonly bombs: readonly Attack[];
}

export const hostileModel = ({ attacks, bombs }: HostileTexts): ReplyFunction => {
  return (request: FakeRequest): Reply => {
    if (freshText(request) === "") return { blocks: [say("That was all.")] };
    const [, act = "", at = "0"] = /\b(show|fail|run|write|ask|bomb) (\d+)\s*$/.exec(request.lastUserText) ?? [];
    const first = Number(at);
    const some = attacks.slice(first, first + (act === "run" || act === "write" ? shownAtOnce : batch));
    switch (act) {
      case "show":
        return {
          blocks: attacks
            .slice(first, first + shownAtOnce)
            .flatMap((attack, index) => [
              { type: "thinking", text: attack.text },
              say(attack.text),
              say(`- ${attack.text}\n\n> ${attack.text}\n\n| ${attack.text} |\n|---|\n| ${attack.text} |`),
              call("read", { path: fileName(attack, first + index) }),
            ]),
        };
      case "fail":
        return { fail: { kind: "status", status: 400, message: some.map(({ text }) => text).join("\n\n") } };
      case "run":
        return { blocks: some.map(({ text }) => call("bash", { command: `: '${text.replaceAll("\0", "")}'` })) };
      case "write":
        return {
          blocks: some.map((attack, index) =>
            call("write", { path: `new ${fileName(attack, index)}`, content: attack.text }),
          ),
        };
      case "ask":
        return {
          blocks: [
            call("ask", {
              question: some
                .map(({ text }) => text)
                .join("\n\n")
                .slice(0, 3_900),
              options: some.map(({ text }) => text.slice(0, 190)),
            }),
          ],
        };
      case "bomb":
        return { blocks: [say(bombs[Number(at)]?.text ?? ""), say("The bomb has gone off.")] };
      default:
        return { blocks: [say("Hello.")] };
    }
  };
};

/** Attacks of one answer: its rows fit into the window of a page. */
export const shownAtOnce = 30;
/** Attacks of one message, question or failure that shows plain text. */
export const batch = 8;
